//! What a browser session is started with.

use std::{net::SocketAddr, path::PathBuf};

use gateway::Activity;
use jiff::Timestamp;

use crate::Device;

/// The most that downloads may hold, unless told otherwise.
const DEFAULT_DOWNLOAD_LIMIT: u64 = 1 << 30;

/// Where benchmarks' agents search unless told otherwise.
const DEFAULT_SEARCH: &str = "https://www.google.com/search?q={}";

/// The settings of a session.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The gateway's address: the only one that the browser ever connects to.
    pub proxy: SocketAddr,
    /// SHA-256 of the gateway's CA key (subject public key info) in base64; empty where no TLS is used.
    pub ca_spki: String,
    /// Without a window on the screen.
    pub headless: bool,
    /// What the pages of the first episode see of it.
    pub device: Device,
    /// The address of a search engine's results, with `{}` where the query goes.
    pub search: String,
    /// A folder whose files agents may give to pages, besides what they have downloaded.
    pub files: Option<PathBuf>,
    /// The most that an episode's downloads may hold together, in bytes.
    pub downloads: u64,
    /// What the gateway is doing. With it, a frozen world's pages get their answers one at a time, in the same order each time.
    pub activity: Option<Activity>,
    /// The world of the first episode, frozen unless the browser is `open`. `None`: a live browser with real time and real randomness, for
    /// recording.
    pub determinism: Option<Determinism>,
    /// Open to programs that drive it themselves, over its DevTools address. In a world, all of its pages are the episode's then, and clocks
    /// start at the world's and run on.
    pub attach_mode: bool,
}

impl Launch {
    /// Settings with the defaults: headless, the usual [`Device`], Google, live.
    pub fn new(proxy: SocketAddr, ca_spki: impl Into<String>) -> Self {
        Self {
            proxy,
            ca_spki: ca_spki.into(),
            headless: true,
            device: Device::default(),
            search: DEFAULT_SEARCH.to_owned(),
            files: None,
            downloads: DEFAULT_DOWNLOAD_LIMIT,
            activity: None,
            determinism: None,
            attach_mode: false,
        }
    }

    /// Whether pages' time and frames move only when they are told to.
    pub(crate) fn is_frozen(&self) -> bool {
        self.determinism.is_some() && !self.attach_mode
    }

    /// The address of the search engine's results for a query.
    pub(crate) fn search_url(&self, query: &str) -> String {
        let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        self.search.replace("{}", &query)
    }
}

/// What an episode's pages see instead of the machine's clock and randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Determinism {
    /// The time at which the episode starts.
    pub clock_start: Timestamp,
    /// All randomness is derived from this and from the page that asks.
    pub seed: u64,
}
