//! The doors between browsers, sites and gateways: listeners, and who may come in by each.
//!
//! Loopback is no boundary: every program and every user of a machine reaches it. So a door either
//! is where only the right client can get to (in a network namespace, or behind a Unix socket in a
//! folder of mode 0700), or it asks who comes: for a key, or the system.
//!
//! A refused client gets an answer, and leaves nothing in any ledger.

mod admission;
mod door;
mod key;
mod rest;
mod site_target;
pub mod unix;

pub use admission::{Admission, Ends, PeerCheck};
pub use door::{Door, Entrance, LocalGateway, accept, rest_after};
pub use key::Key;
pub use rest::{Kept, Rest, kept};
pub use site_target::{Connection, SiteTarget};
