//! A service desk: lists and forms of records, a catalogue, articles, reports and dashboards.
//!
//! It has the addresses, element names and interfaces that the package `browsergym-workarena`
//! expects of its platform, with our own look, words and base data.
//!
//! ```text
//! seed/            the golden state: our base, and what the user's folder adds
//! golden.rs        the golden database; schema.rs  what its tables are
//! store.rs         the records, within one request; rules.rs  what follows from a change
//! select.rs        encoded queries; knowledge_search.rs  the search over articles
//! table_api.rs     the interface for programs
//! http.rs          requests and replies; visitor.rs  who asks
//! pages/           what answers each address; templates/, assets/  what browsers get
//! ```

mod golden;
mod http;
mod knowledge_search;
mod pages;
mod rules;
mod schema;
mod seed;
mod select;
mod store;
mod table_api;
mod virtual_tables;
mod visitor;

use std::sync::Arc;

pub use golden::Data;

use crate::web::Keys;
use crate::{EmbeddedInstance, Error, Golden, Options};

/// Starts an instance of the desk. Generates the golden database if the folder lacks it.
///
/// # Errors
/// When the golden database can't be generated, written or read.
pub fn start(golden: &Golden, options: &Options, data: &Data) -> Result<EmbeddedInstance, Error> {
    let store = golden.copy(&data.recipe())?;
    let live = store.live();
    let fixed = Arc::new(golden::Fixed::read(&live.lock())?);
    let router = http::router(http::Server {
        live,
        fixed,
        clock: options.clock.clone(),
        keys: Keys::new("itsm", options.seed),
        passwords: Arc::clone(&options.passwords),
    });
    Ok(EmbeddedInstance::new(store, router))
}
