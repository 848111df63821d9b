//! What a browser session is started with.

use std::{
    env,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use gateway::Activity;
use jiff::Timestamp;

use crate::{Device, Error};

/// Overrides where Chromium is looked for; a headless shell is then looked for no more.
pub const CHROMIUM_VARIABLE: &str = "SANDBOX_CHROMIUM";
/// Overrides where chromedriver is looked for.
pub const CHROMEDRIVER_VARIABLE: &str = "SANDBOX_CHROMEDRIVER";

const INSTALL: &str = "apt-get install -y chromium chromium-headless-shell chromium-driver";

/// The most that downloads may hold, unless told otherwise.
const DOWNLOADS: u64 = 1 << 30;

/// Where benchmarks' agents search unless told otherwise.
const GOOGLE: &str = "https://www.google.com/search?q={}";

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
    pub world: Option<World>,
    /// Open to programs that drive it themselves, over its DevTools address. In a world, all of its pages are the episode's then, and clocks
    /// start at the world's and run on.
    pub open: bool,
}

impl Launch {
    /// Settings with the defaults: headless, the usual [`Device`], Google, live.
    pub fn new(proxy: SocketAddr, ca_spki: impl Into<String>) -> Self {
        Self {
            proxy,
            ca_spki: ca_spki.into(),
            headless: true,
            device: Device::default(),
            search: GOOGLE.to_owned(),
            files: None,
            downloads: DOWNLOADS,
            activity: None,
            world: None,
            open: false,
        }
    }

    /// Whether pages' time and frames move only when they are told to.
    pub(crate) fn freezes(&self) -> bool {
        self.world.is_some() && !self.open
    }

    /// The address of the search engine's results for a query.
    pub(crate) fn results(&self, query: &str) -> String {
        let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
        self.search.replace("{}", &query)
    }
}

/// What an episode's pages see instead of the machine's clock and randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct World {
    /// The time at which the episode starts.
    pub clock: Timestamp,
    /// All randomness is derived from this and from the page that asks.
    pub seed: u64,
}

/// Where the programs are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// Chromium itself, not Debian's start script: that one adds options which differ between machines.
    pub chromium: PathBuf,
    /// Chromium without its window, where there is one: for frozen worlds, in which it shows pages in half the time.
    pub headless_shell: Option<PathBuf>,
    /// The WebDriver server for it.
    pub chromedriver: PathBuf,
}

impl Programs {
    /// Looks in the environment, then in the usual places.
    pub fn find() -> Result<Self, Error> {
        let chromium = find(
            CHROMIUM_VARIABLE,
            &[
                "/usr/lib/chromium/chromium",
                "/usr/lib/chromium-browser/chromium-browser",
                "/opt/google/chrome/chrome",
                "/usr/bin/chromium",
            ],
        );
        let headless_shell = match named(CHROMIUM_VARIABLE) {
            Some(_) => None,
            None => existing(&["/usr/lib/chromium/chromium-headless-shell"]),
        };
        let chromedriver = find(
            CHROMEDRIVER_VARIABLE,
            &[
                "/usr/bin/chromedriver",
                "/usr/lib/chromium-browser/chromedriver",
                "/usr/local/bin/chromedriver",
            ],
        );
        Ok(Self {
            chromium: chromium.ok_or(Error::Missing { program: "Chromium", install: INSTALL })?,
            headless_shell,
            chromedriver: chromedriver.ok_or(Error::Missing { program: "chromedriver", install: INSTALL })?,
        })
    }

    /// The browser for a session. The live web sees the one that people use.
    pub(crate) fn browser(&self, launch: &Launch) -> &Path {
        match &self.headless_shell {
            Some(shell) if launch.headless && launch.world.is_some() => shell,
            _ => &self.chromium,
        }
    }
}

fn find(variable: &str, places: &[&str]) -> Option<PathBuf> {
    named(variable).or_else(|| existing(places))
}

fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn existing(places: &[&str]) -> Option<PathBuf> {
    places.iter().map(PathBuf::from).find(|path| path.is_file())
}
