//! The settings with which a browser session starts.

use std::env;
use std::path::PathBuf;

use doors::Door;
use in_flight::InFlight;

use crate::{Capture, Determinism, Device, Pace};

/// The default limit of downloads, in bytes.
const DEFAULT_DOWNLOAD_LIMIT: u64 = 1 << 30;

/// The default limit of a browser's memory, in bytes. Pages that people visit take a third of it.
const DEFAULT_MEMORY_LIMIT: u64 = 1536 << 20;

/// The default search engine, which the agents of benchmarks use.
const DEFAULT_SEARCH: &str = "https://www.google.com/search?q={}";

/// The settings of a session.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The way to the gateway. The browser connects to nothing else.
    pub door: Door,
    /// SHA-256 of the gateway's CA key (subject public key info) in base64; empty where no TLS is
    /// used.
    pub ca_spki: String,
    /// Without a window on the screen.
    pub headless: bool,
    /// The device of the first episode's pages.
    pub device: Device,
    /// The URL of a search engine's results, with `{}` for the query.
    pub search: String,
    /// A folder whose files agents may upload, besides the downloads of the episode.
    pub files: Option<PathBuf>,
    /// The limit of an episode's downloads together, in bytes.
    pub downloads: u64,
    /// The limit of what the browser's processes may take together, in bytes.
    pub memory: u64,
    /// The gateway's activity. With it, the pages of a frozen world get their responses one at a
    /// time, in the same order in each run.
    pub in_flight: Option<InFlight>,
    /// The clock and seed of the first episode. Its world is frozen, except in `attach_mode`.
    /// `None` is a live browser with real time and real randomness, for recording.
    pub determinism: Option<Determinism>,
    /// How much of their own time frozen pages get before they are looked at.
    pub pace: Pace,
    /// Whether the order of what happens in frozen pages is kept, for
    /// [`Session::take_order`](crate::Session::take_order). Pages are a little slower then.
    pub keeps_order: bool,
    /// Attach mode: other programs drive the browser, over its DevTools address. In a world all
    /// pages are the episode's then. Clocks start at the world's time and run on.
    pub attach_mode: bool,
    /// The sender for a person's inputs in pages. Not for frozen worlds.
    pub capture: Option<Capture>,
}

impl Launch {
    /// The default settings: headless, the usual [`Device`], Google, live.
    pub fn new(door: impl Into<Door>, ca_spki: impl Into<String>) -> Self {
        Self {
            door: door.into(),
            ca_spki: ca_spki.into(),
            headless: true,
            device: Device::default(),
            search: DEFAULT_SEARCH.to_owned(),
            files: None,
            downloads: DEFAULT_DOWNLOAD_LIMIT,
            memory: DEFAULT_MEMORY_LIMIT,
            in_flight: None,
            determinism: None,
            pace: Pace::default(),
            keeps_order: false,
            attach_mode: false,
            capture: None,
        }
    }

    /// Whether the pages' time and frames move only on command.
    pub(crate) fn is_frozen(&self) -> bool {
        self.determinism.is_some() && !self.attach_mode
    }

    /// Whether it can be shown from a network namespace of its own. A display over TCP cannot be
    /// reached from there.
    pub(crate) fn fits_own_network(&self) -> bool {
        let is_local = |display: String| display.starts_with(':') || display.starts_with("unix:");
        self.headless || env::var("DISPLAY").ok().is_none_or(is_local)
    }

    /// The URL of the search results for a query.
    pub(crate) fn search_url(&self, query: &str) -> String {
        let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        self.search.replace("{}", &query)
    }
}
