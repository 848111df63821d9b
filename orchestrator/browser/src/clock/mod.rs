//! The time of a frozen world, and when a page is done.
//!
//! ```text
//! determinism         the clock and seed of a world
//! settle              when a page is done: slices of its time, with rests in between
//! pace                how much time a page gets, and in which slices
//! lull                the same for pages of the live web, whose time is real
//! schedule            where the slices end, whatever the requests in between took
//! socket_messages     the messages of WebSockets
//! slice               one slice of a page's time, past requests that never end
//! virtual_time        the commands that grant time to a page and stop it again
//! screen              frames, drawn at the page's own time
//! blocked             whether a page waits for a response in a script
//! idle                whether the renderer processes have something to do, as the kernel tells
//! response_ordering   the gateway's answers, one at a time, in the same order in each run
//! state               what the browser's events have told of all this
//! liveness            waits for what may never come, with an end that a busy machine does not move
//! ```
//!
//! The inputs of a page from outside, the time at which they are let in, and the events before it:
//!
//! | what | let in | after |
//! | --- | --- | --- |
//! | responses | one at a time, in the order of the requests (`response_ordering`) | the page, its threads and the network have nothing to do |
//! | a frame, with the observers that it feeds | in a drain, on command (`screen`) | all responses, and those to what follows from them |
//! | messages of WebSockets | in a drain, counted on both sides, with what a site answers at once (`socket_messages`); a site is held back until then | the frame |
//! | timers and animation frames of documents | in a slice (`slice`) | all awaited replies (`inject/awaited.js`) |
//! | results of promises of other processes and threads, and locks that are granted | one at a time, in the order of the calls | `load`, the document's own tasks, and the events that it awaits |
//! | what servers say over sockets and streams, to documents | one event at a time, socket by socket (`inject/arrivals.js`) | `load`, all events and all results |
//! | events of databases and channels | as they come, before any timer | – |
//! | `DOMContentLoaded`, `load` and the states of the document | in their order (`inject/lifecycle.js`) | the document's own tasks, and the events that it awaits |
//! | events of a media element that loads or seeks | one element after the other, after `load` (`inject/playback.js`) | all media elements |
//! | positions and ends of media | by timers of the page (`inject/playback.js`, `inject/sound.js`) | – |
//! | responses for media | as others, but all threads are idle before the next one | – |
//! | the first script of a worker | one worker after the other, in the order of the calls (`cdp::worker_order`) | all responses |
//! | timers of workers, and their messages by `postMessage`, ports and channels, but for those of service workers | at each step of the time that scripts see (`pace`), one worker after the other (`virtual_time`) | all responses, and the frame if there is one |
//! | what an animation does | in a drain, in the step in which it is due (`pace`) | the frame |
//! | pieces of a body | of one size (`inject/bodies.js`) | – |
//! | input | while responses are held back | the page is idle |
//! | the clock of another process | begins at the page's time (`virtual_time`) | – |
//!
//! While nobody settles, a frozen page's time stands still. Nothing here waits for an amount of
//! real time where a condition can be named.

pub(crate) mod blocked;
pub(crate) mod determinism;
pub(crate) mod idle;
pub(crate) mod liveness;
mod lull;
pub(crate) mod pace;
pub(crate) mod response_ordering;
pub(crate) mod schedule;
pub(crate) mod screen;
pub(crate) mod settle;
mod slice;
pub(crate) mod socket_messages;
pub(crate) mod state;
pub(crate) mod virtual_time;
