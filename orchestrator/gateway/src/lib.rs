//! The proxy between a browser and the web that it is allowed to see.
//!
//! Every request of the browser arrives here. The [`Routes`] decide what answers it:
//!
//! - a snapshot ([`Replay`]),
//! - the live web while it is recorded ([`Recorder`]),
//! - both (`fill`),
//! - the unrecorded live web (`forward`, the baseline of the benchmarks),
//! - or a refusal.
//!
//! Nothing else is reachable.
//!
//! A request passes through the crate as follows:
//!
//! ```text
//! proxy::listener   accepts clients, limits what they hold open; proxy::clients selects which one to close
//! proxy::wire       HTTP/1 strictly by RFC 9112, before hyper parses it
//! proxy::connect    CONNECT, then detection by the first bytes: TLS (tls/), plain HTTP, or a WebSocket
//! proxy::service    one request: URL, route, ledger entry, in-flight count
//!   |- replay/      responses from a snapshot          -> Reply
//!   |- fill         responses from snapshots and from earlier fetches
//!   |- upstream/    the live web: connector, pools, guard against private addresses
//!   |- write_guard  requests that may change something at third parties
//!   |- record/      records traffic before the client has received all of it
//!   `- failure      turns every error into one named response
//! ```
//!
//! The crate never changes a body, and never uses the live web unless the route says so.

mod blocking;
pub mod body;
mod budget;
mod complaints;
mod config;
mod destination;
mod door;
pub mod episode;
mod fetch;
mod fill;
mod gateway;
pub mod ledger;
pub mod limits;
pub mod message;
mod miss;
mod proxy;
pub mod record;
pub mod replay;
pub mod routes;
mod site;
pub mod socket;
pub mod tls;
mod traffic_capture;
pub mod upstream;
mod write_guard;

pub use body::Body;
pub use config::{Config, Listen};
pub use episode::Episode;
pub use fetch::{FetchError, FetchedResponse};
pub use fill::Fill;
pub use gateway::{Gateway, StartError};
pub use ledger::{
    Answer, Entry, GivenCapture, Ledger, Levels, NearestRequest, SiteState, state_words,
};
pub use limits::Limits;
pub use message::{Reply, RequestHead, Scheme};
pub use record::{Recorder, RecorderReport, Redact, Visit};
pub use replay::{DatePolicy, MatchLevel, Replay, ReplayOptions, SiteSearch, StatePolicy};
pub use routes::{BadPattern, Routes, Target};
pub use site::{BadHeader, Site};
pub use tls::CertificateAuthority;
pub use traffic_capture::TrafficCapture;
pub use upstream::ConnectTo;
pub use write_guard::WriteGuard;
