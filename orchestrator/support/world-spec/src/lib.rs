//! What a world is, as suites and command lines say it, and as gateways and browsers do it.
//!
//! The crate has values and their spellings alone: it matches nothing and opens nothing.

mod answers;
mod cookie;
mod device;
mod pace;
mod site_search;
mod storage;

pub use answers::{BadMatchLevel, MatchLevel, StatePolicy};
pub use cookie::Cookie;
pub use device::{Device, Geolocation};
pub use pace::Pace;
pub use site_search::SiteSearch;
pub use storage::{Entry, OriginState, StorageState, StoredCookie};
