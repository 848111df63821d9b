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
    /// Chromium itself, not Debian's start script: that one adds options which differ between
    /// machines. For the live web and for windows; for frozen worlds where there is nothing else.
    pub chromium: Option<PathBuf>,
    /// Chromium without its window: for frozen worlds, in which it shows pages in half the time.
    pub headless_shell: Option<PathBuf>,
    /// The WebDriver server for it.
    pub chromedriver: PathBuf,
}

impl Programs {
    /// Looks in the environment, then in the usual places.
    ///
    /// # Errors
    /// When there is no driver, or neither Chromium nor its headless shell.
    pub fn find() -> Result<Self, Error> {
        let named =
            |variable: &str| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self::find_among(named, Path::is_file)
    }

    /// The same where `named` has the variables, and `is_there` says which files there are.
    fn find_among(
        named: impl Fn(&str) -> Option<PathBuf>,
        is_there: impl Fn(&Path) -> bool,
    ) -> Result<Self, Error> {
        let first = |places: &[&str]| places.iter().map(PathBuf::from).find(|place| is_there(place));
        let (chromium, headless_shell) = match named(CHROMIUM_VARIABLE) {
            Some(chromium) => (Some(chromium), None),
            None => (first(CHROMIUM), first(HEADLESS_SHELL)),
        };
        if chromium.is_none() && headless_shell.is_none() {
            return Err(Error::Missing { program: "Chromium", install: INSTALL });
        }
        let chromedriver = named(CHROMEDRIVER_VARIABLE).or_else(|| first(CHROMEDRIVER));
        let chromedriver =
            chromedriver.ok_or(Error::Missing { program: "chromedriver", install: INSTALL })?;
        Ok(Self { chromium, headless_shell, chromedriver })
    }

    /// The browser for a session. The live web sees the one that people use.
    pub(crate) fn browser(&self, launch: &Launch) -> Result<&Path, Error> {
        let frozen = launch.headless && launch.world.is_some();
        let shell = self.headless_shell.as_deref().filter(|_| frozen);
        shell.or(self.chromium.as_deref()).ok_or(Error::Missing {
            program: "Chromium, as its headless shell does for frozen worlds without a window alone",
            install: INSTALL,
        })
    }
}

const CHROMIUM: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/usr/bin/chromium",
];
const HEADLESS_SHELL: &[&str] = &["/usr/lib/chromium/chromium-headless-shell"];
const CHROMEDRIVER: &[&str] =
    &["/usr/bin/chromedriver", "/usr/lib/chromium-browser/chromedriver", "/usr/local/bin/chromedriver"];

/// Whether a window can be shown on this machine.
///
/// # Errors
/// When there is no display.
pub(crate) fn check_display(launch: &Launch) -> Result<(), Error> {
    let set = |variable| env::var_os(variable).is_some_and(|value| !value.is_empty());
    if launch.headless || ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(set) {
        Ok(())
    } else {
        Err(Error::NoDisplay)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn found(there: &[&str]) -> Result<Programs, Error> {
        Programs::find_among(|_| None, |path| there.iter().any(|place| Path::new(place) == path))
    }

    #[test]
    fn the_headless_shell_alone_is_enough_for_frozen_worlds() {
        let (shell, driver) = (HEADLESS_SHELL[0], CHROMEDRIVER[0]);
        let programs = found(&[shell, driver]).unwrap();
        let live = Launch::new(([127, 0, 0, 1], 1).into(), "");
        let world = Some(World { clock: Timestamp::UNIX_EPOCH, seed: 0 });
        let frozen = Launch { world, ..live.clone() };
        assert_eq!(programs.browser(&frozen).unwrap(), Path::new(shell));
        let window = Launch { headless: false, ..frozen.clone() };
        for launch in [&live, &window] {
            let error = programs.browser(launch).unwrap_err().to_string();
            assert!(error.starts_with("find Chromium, as its headless shell does for frozen"), "{error}");
        }
        let both = found(&[CHROMIUM[3], shell, driver]).unwrap();
        assert_eq!(both.browser(&live).unwrap(), Path::new(CHROMIUM[3]));
        assert_eq!(both.browser(&frozen).unwrap(), Path::new(shell));
        assert!(found(&[driver]).is_err() && found(&[shell]).is_err());
    }
}
