//! A site that shows the tasks of TurkingBench from a folder of the user, and stores what their
//! forms send.
//!
//! ```text
//! GET  /                     the list of tasks
//! GET  /<task>/<instance>    the page of an instance, counted from 0
//! POST /<task>/<instance>    stores the form, then redirects to:
//! GET  /<task>/<instance>/sent        a confirmation page
//! GET  /<task>/<instance>/sent.json   the last form as pairs of name and value, or null
//! ```
//!
//! In these paths, an instance is one of a task, not one of the site. Templates and tables are
//! parsed at the first request for a task, and shared by all instances of the site. Forms are
//! stored in the site instance's database.

mod library;
mod pages;
mod sent;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::{Router, routing};
pub use library::Library;
use rusqlite::Connection;

use crate::error::sqlite;
use crate::golden::Recipe;
use crate::live::Live;
use crate::{Clock, EmbeddedInstance, Error, Golden, Options};

/// Maximum size of a form. No form of the benchmark is larger.
const LARGEST_FORM: usize = 4 << 20;

/// The state that serves one instance of the site.
#[derive(Clone)]
struct Host {
    library: Library,
    live: Arc<Live>,
    clock: Clock,
}

/// Starts an instance of the site for a folder of tasks.
pub fn start(
    golden: &Golden,
    options: &Options,
    library: &Library,
) -> Result<EmbeddedInstance, Error> {
    let store = golden.copy(&recipe())?;
    let host = Host { library: library.clone(), live: store.live(), clock: options.clock.clone() };
    let router = Router::new()
        .route("/", routing::get(pages::list))
        .route("/{task}/{instance}", routing::get(pages::show).post(pages::send))
        .route("/{task}/{instance}/sent", routing::get(pages::thanks))
        .route("/{task}/{instance}/sent.json", routing::get(pages::sent))
        .layer(DefaultBodyLimit::max(LARGEST_FORM))
        .with_state(host);
    Ok(EmbeddedInstance::new(store, router))
}

fn recipe() -> Recipe {
    Recipe { site: "turk", version: format!("1-{}", rusqlite::version()), fill: Box::new(fill) }
}

fn fill(db: &Connection) -> Result<(), Error> {
    db.execute_batch(sent::SCHEMA).map_err(sqlite("write the golden turk"))
}
