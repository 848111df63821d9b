//! What belongs to one episode and starts anew with the next: the ledger, and which recorded answer comes next.

use std::sync::Arc;

use crate::Ledger;

/// The state of one episode. Snapshots are read-only; everything that changes while replaying stands here.
#[derive(Debug, Default)]
pub struct Episode {
    ledger: Arc<Ledger>,
}

impl Episode {
    /// An episode in which nothing has been asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The requests of this episode.
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }
}
