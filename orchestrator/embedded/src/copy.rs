//! One running copy of a site, whichever site it is.

use std::sync::Arc;

use axum::Router;
use serde_json::{Map, Value};

use crate::store::Store;
use crate::{Clock, Digest, Error};

/// How a copy is started.
#[derive(Debug, Clone)]
pub struct Options {
    /// The copy's wall clock.
    pub clock: Clock,
    /// Signs cookies and form tokens. Copies with one seed honour each other's log-ins and give the same bytes.
    pub seed: u64,
}

impl Options {
    /// A copy that lives by `clock`, with the seed that all copies share unless told otherwise.
    pub fn new(clock: Clock) -> Self {
        Self { clock, seed: 0 }
    }
}

/// A copy with a database of its own. Clones are handles on the same copy.
#[derive(Clone)]
pub struct SiteCopy {
    store: Arc<Store>,
    router: Router,
}

impl SiteCopy {
    pub(crate) fn new(store: Store, router: Router) -> Self {
        Self { store: Arc::new(store), router }
    }

    /// The site, ready to be served. It reads paths and headers only; any host name is its own.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Puts the golden state back. A request under way is finished first. Log-ins stay; what was done with them goes.
    pub fn reset(&self) -> Result<(), Error> {
        self.store.reset()
    }

    /// A digest over every row of every table as it is now.
    pub fn digest(&self) -> Result<Digest, Error> {
        self.store.digest()
    }

    /// The digest of the golden state, taken when the copy was started.
    pub fn pristine(&self) -> Digest {
        self.store.pristine()
    }

    /// The rows of one statement that only reads, as JSON objects; `parameters` by name (`:name` in the statement).
    /// Anything that would write, attach or configure is refused, and so is what runs for longer than some seconds.
    pub fn query(&self, sql: &str, parameters: &[(&str, Value)]) -> Result<Vec<Map<String, Value>>, Error> {
        self.store.query(sql, parameters)
    }
}
