//! The client of the Chrome DevTools Protocol (CDP), and the state of the browser that its events
//! tell.
//!
//! ```text
//! pipe              the two pipes to and from the browser
//! bad_ports         the ports that no page may use
//! connection        commands, their answers, and events in their order
//! cpu_time          what the browser's processes have used
//! guests            other programs on the same connection
//! targets           prepares each page, frame and worker before its first script runs
//! tracker           the state: open pages and workers, counters, what a wait waits for
//! traffic           the part of the state about requests and navigations
//! service_workers   the part of it about service workers
//! worker_order      the order of workers, and when each begins
//! ```
//!
//! Nothing here decides when a page is done, and nothing here moves a page's time: that is `clock`.
//! No folder above is known here. They hear of events as parts of the tracker's state
//! ([`tracker::EventSink`]), and prepare targets by [`targets::Preparation`].

pub(crate) mod bad_ports;
pub(crate) mod connection;
pub(crate) mod cpu_time;
pub(crate) mod guests;
pub(crate) mod pipe;
pub(crate) mod service_workers;
pub(crate) mod targets;
pub(crate) mod tracker;
pub(crate) mod traffic;
pub(crate) mod worker_order;
