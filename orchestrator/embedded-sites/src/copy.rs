//! A running instance of an embedded site, with a database of its own.

use std::sync::Arc;

use axum::Router;
use serde_json::{Map, Value};

use crate::store::Store;
use crate::{Clock, Digest, Error};

/// The settings of an instance.
#[derive(Debug, Clone)]
pub struct Options {
    /// The instance's wall clock.
    pub clock: Clock,
    /// The seed of signatures on cookies and form tokens. Instances with the same seed accept each
    /// other's log-ins and give the same bytes.
    pub seed: u64,
}

impl Options {
    /// Settings with this clock and the default seed.
    pub fn new(clock: Clock) -> Self {
        Self { clock, seed: 0 }
    }
}

/// An instance with a database of its own. Clones are handles on the same instance.
#[derive(Clone)]
pub struct EmbeddedInstance {
    store: Arc<Store>,
    router: Router,
}

impl EmbeddedInstance {
    pub(crate) fn new(store: Store, router: Router) -> Self {
        Self { store: Arc::new(store), router }
    }

    /// The site's router. It ignores the host name and reads only path and headers.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Restores the golden state, after the request in flight has finished. Log-ins stay valid; all
    /// other changes are lost.
    pub fn reset(&self) -> Result<(), Error> {
        self.store.reset()
    }

    /// A digest over every row of every table in the current state.
    pub fn digest(&self) -> Result<Digest, Error> {
        self.store.digest()
    }

    /// The digest of the golden state, computed when the instance started.
    pub fn pristine(&self) -> Digest {
        self.store.pristine()
    }

    /// Runs one read-only SQL statement and returns its rows as JSON objects. `parameters` are
    /// named (`:name` in the statement). Statements that write, attach or configure are refused,
    /// and so are those that run for more than a few seconds.
    pub fn query(
        &self,
        sql: &str,
        parameters: &[(&str, Value)],
    ) -> Result<Vec<Map<String, Value>>, Error> {
        self.store.query(sql, parameters)
    }
}
