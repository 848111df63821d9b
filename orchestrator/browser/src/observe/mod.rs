//! What an agent sees of a page, and the ids (bids) by which it names elements.
//!
//! ```text
//! options           which parts of an observation are wanted, and how they are written
//! observation       one observation, from the marks to the finished text
//! frames, marks     the frames of a page; bids, and how they get into the browser's trees
//! axtree            BrowserGym's text of the accessibility tree
//! axtree_object, dom_snapshot, node_numbers   the browser's own trees, as programs get them
//! bounds            how long the texts of an observation may be
//! blob_names        numbers in place of the names that the browser makes up for blobs
//! notices           texts that come and go between two observations
//! boxes             where the elements in view are, for those who look at a trace
//! properties        visibility, bounding box and clickability of elements
//! reports           dialogs and downloads
//! screenshot, overlay   pictures, and bids drawn on them
//! console           what pages write to the console, and their errors; agents do not see it
//! ```
//!
//! The formats of other papers' agents are in [`formats`](crate::formats). Looking never moves a
//! page's time and never shows in the page. No text, id or order comes from numbers that the
//! browser makes up.

pub(crate) mod axtree;
mod axtree_object;
pub(crate) mod blob_names;
pub(crate) mod bounds;
pub(crate) mod boxes;
pub(crate) mod console;
pub(crate) mod dom_snapshot;
pub(crate) mod frames;
pub(crate) mod marks;
mod node_numbers;
mod notices;
pub(crate) mod observation;
pub(crate) mod options;
pub(crate) mod overlay;
pub(crate) mod properties;
pub(crate) mod reports;
pub(crate) mod screenshot;
