//! Observations in the formats that agents of other papers read.
//!
//! Each format follows published code, which the head of its module names. Ids are always our bids.
//! Nothing here asks the browser: a format is text made of trees and snapshots that
//! [`trees`](crate::trees) has read.

pub(crate) mod html;
pub(crate) mod prune;
pub(crate) mod turkingbench;
pub(crate) mod visualwebarena;
pub(crate) mod webarena;
pub(crate) mod webcanvas;
