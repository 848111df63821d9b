//! A running instance of an embedded site, with a database of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use ring::digest;
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
    /// The passwords of users, for sites that let their caller choose them ([`crate::itsm`]).
    pub passwords: Passwords,
}

/// Passwords by user name, in place of those that the golden state has.
pub type Passwords = Arc<BTreeMap<String, String>>;

impl Options {
    /// Settings with this clock and the default seed.
    pub fn new(clock: Clock) -> Self {
        Self { clock, seed: 0, passwords: Passwords::default() }
    }

    /// The same with these passwords, and with a seed that follows from them: who does not know
    /// the passwords cannot sign a cookie either.
    #[must_use]
    pub fn with_passwords(self, passwords: Passwords) -> Self {
        let mut sum = digest::Context::new(&digest::SHA256);
        for (user, password) in passwords.iter() {
            sum.update(format!("{user:?} {password:?}\n").as_bytes());
        }
        let mut seed = [0; 8];
        seed.copy_from_slice(&sum.finish().as_ref()[..8]);
        Self { seed: u64::from_be_bytes(seed), passwords, ..self }
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
