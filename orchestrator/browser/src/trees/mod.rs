//! The browser's trees of a page, and the ids (bids) by which agents name elements.
//!
//! ```text
//! frames, marks     the frames of a page; bids, and how they get into the browser's trees
//! axtree            BrowserGym's text of the accessibility tree
//! axtree_object, dom_snapshot, node_numbers   the browser's own trees, as programs get them
//! properties        visibility, bounding box and clickability of elements
//! bounds            the longest texts
//! ```

pub(crate) mod axtree;
pub(crate) mod axtree_object;
pub(crate) mod bounds;
pub(crate) mod dom_snapshot;
pub(crate) mod frames;
pub(crate) mod marks;
pub(crate) mod node_numbers;
pub(crate) mod properties;
