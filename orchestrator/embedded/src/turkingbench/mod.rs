//! Pages of TurkingBench's tasks, made of a folder of the user's when they are asked for, and what is sent by their forms.
//!
//! ```text
//! GET  /                     the tasks
//! GET  /<task>/<instance>    the page of an instance, counted from 0
//! POST /<task>/<instance>    keeps what the form has sent, then leads to:
//! GET  /<task>/<instance>/sent        a page that says so
//! GET  /<task>/<instance>/sent.json   what was sent last, as pairs of name and value; null where nothing was
//! ```
//!
//! Templates and tables are read when the first of a task's pages is asked for, and kept for all copies. What is sent is in the copy's database.

mod library;
mod pages;
mod sent;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing;
use rusqlite::Connection;

use crate::error::sqlite;
use crate::golden::Recipe;
use crate::live::Live;
use crate::{Clock, Error, Golden, Options, SiteCopy};

pub use library::Library;

/// More than any form of the benchmark's holds.
const LARGEST_FORM: usize = 4 << 20;

/// What one copy is served from.
#[derive(Clone)]
struct Host {
    library: Library,
    live: Arc<Live>,
    clock: Clock,
}

/// Starts a copy for a folder of tasks.
pub fn start(golden: &Golden, options: &Options, library: &Library) -> Result<SiteCopy, Error> {
    let store = golden.copy(&recipe())?;
    let host = Host { library: library.clone(), live: store.live(), clock: options.clock.clone() };
    let router = Router::new()
        .route("/", routing::get(pages::list))
        .route("/{task}/{instance}", routing::get(pages::show).post(pages::send))
        .route("/{task}/{instance}/sent", routing::get(pages::thanks))
        .route("/{task}/{instance}/sent.json", routing::get(pages::sent))
        .layer(DefaultBodyLimit::max(LARGEST_FORM))
        .with_state(host);
    Ok(SiteCopy::new(store, router))
}

fn recipe() -> Recipe {
    Recipe { site: "turk", version: format!("1-{}", rusqlite::version()), fill }
}

fn fill(db: &Connection) -> Result<(), Error> {
    db.execute_batch(sent::SCHEMA).map_err(sqlite("write the golden turk"))
}
