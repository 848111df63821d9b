//! The page and its browser context from the outside: scripts, text and links, cookies, storage,
//! tabs, and the addresses that may be opened.
//!
//! Nothing here is an action of an agent: those are in `act`.

pub(crate) mod addresses;
pub(crate) mod cookies;
mod document;
pub(crate) mod evaluate;
pub(crate) mod storage;
pub(crate) mod survey;
pub(crate) mod tabs;
