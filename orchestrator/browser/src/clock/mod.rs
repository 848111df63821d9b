//! The time of a frozen world, and when a page is done.
//!
//! ```text
//! settle              when a page is done: slices of its time, with rests in between
//! lull                the same for pages of the live web, whose time is real
//! schedule            where the slices end, whatever the requests in between took
//! socket_messages     the messages of WebSockets
//! slice               one slice of a page's time, past requests that never end
//! virtual_time        the commands that grant time to a page and stop it again
//! screen              frames, drawn at the page's own time
//! idle                whether the renderer processes have something to do, as the kernel tells
//! response_ordering   the gateway's answers, one at a time, in the same order in each run
//! liveness            waits for what may never come, with an end that a busy machine does not move
//! ```
//!
//! While nobody settles, a frozen page's time stands still. Nothing here waits for an amount of
//! real time where a condition can be named.

pub(crate) mod idle;
pub(crate) mod liveness;
mod lull;
pub(crate) mod response_ordering;
pub(crate) mod schedule;
pub(crate) mod screen;
pub(crate) mod settle;
mod slice;
mod socket_messages;
pub(crate) mod virtual_time;
