//! Observes a page for an agent.
//!
//! ```text
//! observation       one observation, from the marks to the finished text
//! bounds            how long the texts of an observation may be
//! blob_names        numbers in place of the names that the browser makes up for blobs
//! notices           texts that come and go between two observations
//! boxes             where the elements in view are, for those who look at a trace
//! screenshot, overlay   pictures, and bids drawn on them
//! console           what pages write to the console, and their errors; agents do not see it
//! ```
//!
//! The trees and bids are of [`trees`](crate::trees), the formats of other papers' agents of
//! [`formats`](crate::formats). Looking never moves a page's time and never shows in the page. No
//! text, id or order comes from numbers that the browser makes up.

pub(crate) mod blob_names;
pub(crate) mod bounds;
pub(crate) mod boxes;
pub(crate) mod console;
mod notices;
pub(crate) mod observation;
pub(crate) mod overlay;
pub(crate) mod screenshot;
