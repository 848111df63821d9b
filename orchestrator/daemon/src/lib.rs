//! A town that stays up: one process that holds sites behind a gateway, and a socket by which commands talk to it.
//!
//! ```text
//! sandbox up, down, status, ...  --- Client --- control socket --+
//! a benchmark's "full reset" ---------- HTTP on loopback --------+--> router --> SiteGroup (instances of sites)
//! a browser ------------------------------- proxy ---------------+        `--> Gateway (routes to the instances held)
//! ```
//!
//! The router holds one instance of every site, which the gateway leads to. A reset takes a waiting instance, moves the route to it
//! and gives the used one back to be made pristine. A lock on a file of the folder keeps a second town out.

mod client;
mod clocks;
mod control;
mod error;
mod folder;
mod full_reset;
mod serve;
mod site_router;
mod site_routes;
mod status;

pub use client::Client;
pub use error::Error;
pub use folder::Folder;
pub use serve::{Served, serve};
pub use site_routes::SiteRoutes;
pub use status::TownStatus;
