//! The daemon: the background process that `sandbox up` starts. It runs a site group behind a
//! gateway. The `sandbox` commands control it over a socket.
//!
//! ```text
//! sandbox up, down, ... -- Client -- control socket --+
//! a benchmark's "full reset" ----- HTTP on loopback --+--> SiteRouter --> SiteGroup (instances)
//! a browser -------------------------------- proxy ---+               `-> Gateway (routes)
//! a program of this user --------- HTTP on loopback --'
//! ```
//!
//! The `SiteRouter` leases one instance of every site, and the gateway routes the site's hosts to
//! it. A reset leases a spare instance, moves the route to it, and hands the used one back to be
//! reset. A lock on a file of the folder prevents a second daemon.

mod bring_up;
mod client;
mod clocks;
mod control;
mod direct;
mod error;
mod folder;
mod full_reset;
mod serve;
mod site_router;
mod site_routes;
mod startable;
mod status;

pub use bring_up::{OTHER_IS_UP, end, is_at, settle};
pub use client::Client;
pub use direct::DirectAddress;
pub use error::Error;
pub use folder::Folder;
pub use serve::{DaemonOptions, DirectSettings, serve};
pub use site_routes::SiteRoutes;
pub use startable::{RequestedSites, startable};
pub use status::DaemonStatus;
