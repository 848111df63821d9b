//! The one proxy between a browser and its world.
//!
//! Everything a browser asks for arrives here and is answered by what the [`Routes`] say: a
//! snapshot ([`Replay`]), the live web while it is being recorded ([`Recorder`]), both (`fill`),
//! the live web as it is (`forward`, the baseline of the benchmarks), or a refusal. Nothing else is
//! reachable.
//!
//! A request's way through the crate:
//!
//! ```text
//! proxy::listener   accept, bound what a client may hold open; proxy::clients says who makes room
//! proxy::wire       HTTP/1 as RFC 9112 has it, before hyper sees it
//! proxy::connect    CONNECT, then look at the first bytes: TLS (tls/), or plain HTTP, or a WebSocket
//! proxy::service    one request: URL, route, ledger entry, in_flight
//!   |- replay/      answer from a snapshot           -> Reply
//!   |- fill         answer from snapshots and from what was fetched before
//!   |- upstream/    the live web: connector, pools, guard
//!   |- record/      what passes is kept before the client has all of it
//!   `- failure      every error becomes one named response
//! ```
//!
//! The crate never changes a body, and never answers from the live web unless the route says so.

mod blocking;
pub mod body;
mod budget;
mod complaints;
mod config;
mod destination;
pub mod episode;
mod fetch;
mod fill;
mod gateway;
pub mod in_flight;
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

pub use body::Body;
pub use config::Config;
pub use episode::Episode;
pub use fetch::{FetchError, FetchedResponse};
pub use fill::Fill;
pub use gateway::{Gateway, StartError};
pub use in_flight::{FrameHold, InFlight, InFlightCounts, NotIdle, ResponseQueue};
pub use ledger::{Answer, Entry, Ledger, Levels, NearestRequest};
pub use limits::Limits;
pub use message::{Reply, RequestHead, Scheme};
pub use record::{Recorder, RecorderReport, Redact};
pub use replay::{DatePolicy, MatchLevel, Replay, ReplayOptions};
pub use routes::{BadPattern, Routes, Target};
pub use site::{BadHeader, Site};
pub use tls::{CertificateAuthority, ClientTls};
pub use traffic_capture::TrafficCapture;
pub use upstream::ConnectTo;
