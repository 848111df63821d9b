//! Web applications that we host, and how each episode gets pristine instances of them.
//!
//! A [`Site`] is what `sites/<name>/site.yaml` says. A [`SiteGroup`] runs several, each in as many
//! instances as are needed at once, all of them under the same URLs: what tells instances apart is
//! only the address that the gateway is told. Who needs an instance takes a [`Lease`] of it, and
//! hands it back.
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
//! This crate never sees a browser and never answers a request: it starts, watches, resets and
//! stops. The transitions are owned by one task for each site, in `pool`; `driver` is what runs
//! instances, `content` the state of one, [`state`] how state is put back on disk.

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
pub mod schema;
pub mod state;
mod status;
mod sweep;

pub use api_client::{ApiClient, ApiResponse};
pub use error::Error;
pub use event::{Event, Events, ResetMethod};
pub use group::{Options, SiteGroup};
pub use instance::Upstream;
pub use lease::Lease;
pub use login::{Cookie, LoginSession};
pub use manifest::Site;
pub use status::{InstanceStatus, Phase, SiteState, SiteStatus};
pub use sweep::{Leftover, SweepReport, SweepScope, sweep, sweep_folder};
