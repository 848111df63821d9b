//! Runs the web applications of the sandbox and gives each episode pristine instances of them.
//!
//! A [`Site`] is the content of `sites/<name>/site.yaml`. A [`SiteGroup`] runs several sites, each
//! in as many instances as are needed at the same time. All instances of a site have the same URLs;
//! only the address that the gateway routes to differs. To use an instance, take a [`Lease`] of it
//! and hand it back.
//!
//! ```text
//! SiteGroup::start -> one pool a site: absent -> starting -> ready -> leased -> recycling -> ready ...
//!      |                                        |                              |
//!      |  lease(site) -> Lease                  +-> failed                     +-> absent
//!      |                   |- upstream()     where the gateway sends requests
//!      |                   |- set_clock()    the site's wall clock
//!      |                   |- login(account) cookies and header fields for the browser
//!      |                   |- probe(name)    the state, read for scorers
//!      |                   |- caller(account) its interface for programs
//!      |                   `- hand_back()
//!      `- stop()
//! ```
//!
//! This crate does not drive browsers and does not respond to their requests: it starts, monitors,
//! resets and stops instances. One task for each site owns the transitions, in `pool`. `driver`
//! runs instances, `content` is the state of one instance, and [`state`] restores state on disk.

mod adapt;
mod addresses;
mod api_client;
mod clock;
mod content;
mod driver;
mod engine;
mod error;
mod event;
mod firewall;
mod follow;
mod golden;
mod group;
mod http;
mod instance;
mod lease;
mod login;
pub mod manifest;
mod network;
mod owner;
mod pool;
mod probe;
mod quota;
mod ready;
pub mod relay;
pub mod schema;
pub mod state;
mod status;
mod sweep;

pub use adapt::missing_limits;
pub use api_client::{ApiClient, ApiResponse};
pub use doors::SiteTarget;
pub use error::Error;
pub use event::{Event, Events, ResetMethod};
pub use group::{Options, SiteGroup};
pub use lease::Lease;
pub use login::LoginSession;
pub use manifest::{Site, is_shipped};
pub use status::{InstanceStatus, Phase, SiteState, SiteStatus};
pub use sweep::{Leftover, SweepReport, SweepScope, sweep, sweep_folder};
