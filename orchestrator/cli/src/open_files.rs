//! How many files this process may have open.
//!
//! Shells give their programs room for 1,024 by custom, so that those survive which handle files by
//! `select`. A gateway has a connection or two for each client, and a run has many gateways.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many as all that we run have a use for. Not more, though more may be allowed: programs that
/// we start inherit it, and some of them close every file that they could have.
const ENOUGH: u64 = 65_536;

/// Raises the limit as far as it may be, and is of use.
pub(crate) fn allow_many() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(ENOUGH, |maximum| maximum.min(ENOUGH));
    if current.is_none_or(|current| current >= wanted) {
        return;
    }
    // Where it cannot be raised, the gateway takes fewer clients.
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
        tracing::debug!(%error, "the number of open files stays limited");
    }
}
