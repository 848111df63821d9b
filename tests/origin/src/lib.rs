//! The demo web: a small invented country on real HTTP, for tests and for the demo suite.
//!
//! A national railway, a cinema guide and a property market live under `.test` names, with the
//! hosts such sites lean on: a CDN, a weather API, a rating widget, a sign-in host and a page of
//! clocks. Behind them are two hundred small shops, for recordings of whole suites.
//! [`Origin::start`] serves all of them on loopback, as plain HTTP and as TLS (HTTP/1.1 and HTTP/2)
//! under a certificate authority made for the occasion.
//!
//! Everything a page shows follows from [`data::World`], which code makes from one seed, so the
//! same variant serves the same bytes for ever. Only what a real server dates by its own clock (the
//! `Date` header, absolute cookie expiry) moves.
//!
//! It never speaks to any other machine and keeps no state between requests, but for the count of
//! requests that one kind of shop limits: whatever else depends on what a visitor did before
//! travels in cookies and URLs.
//!
//! ```text
//! server ── TLS, h1/h2, one task per connection
//!   └─ call ── host, path, query, headers, body
//!        └─ sites::answer ── a Reply made from data and templates
//!             └─ validators (ETag, ranges) ── encoding (br, zstd, gzip) ── the wire
//! ```

pub mod call;
mod captures;
pub mod data;
pub mod encoding;
pub mod errands;
pub mod reply;
pub mod sites;
pub mod validators;

mod authority;
mod error;
mod server;
mod websocket;

pub use error::Error;
pub use server::{Options, Origin};
pub use sites::{HOSTS, Web};
