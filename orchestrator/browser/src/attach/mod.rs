//! Attach mode: other programs drive the browser, over its DevTools address, or by WebDriver.
//!
//! Such a program does not know when a page has settled. It waits in real time, for frames, timers
//! and events, in tabs and contexts that it opens as it likes. So time cannot stand still between
//! its actions, and virtual time cannot run at the real pace either.
//!
//! That was tried. Granted in slices of 50 ms, virtual time keeps pace well: 60 frames a second,
//! punctual timers, seven tabs at once. But it belongs to a renderer process. After a page that
//! failed to load, the tab is in another process and shows the machine's time for good. A page in a
//! context of its own starts with a time of its own.
//!
//! Here the clocks are the machine's, shifted to the world's. The scripts that also seed randomness
//! do that (`inject/running.js`): the same everywhere, from the first script on, at no cost. The
//! rest shows the machine's time: `document.lastModified` of a page without a date, and the date of
//! a file that a script creates.
//!
//! All contexts of the browser use the gateway as their proxy, also those that the program creates.
//! The first tab and the cookies of the episode are in the browser's own profile, which Playwright
//! lists as the first context.

mod door;
pub(crate) mod proxy;
mod reclaim;
pub(crate) mod webdriver;

use std::time::Duration;

use processes::own_network;
use serde_json::json;

use crate::attach::proxy::{Limits, Server};
use crate::attach::webdriver::Browser;
use crate::cdp::tracker::{BrowserState, FOREVER};
use crate::{Error, Programs, Session};

/// The addresses of a browser's DevTools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevToolsAddress {
    /// For clients that ask for targets: `http://127.0.0.1:PORT/KEY`.
    pub url: String,
    /// The WebSocket of the browser as a whole, for clients that begin with that.
    pub socket: String,
}

/// Checks, as far as that is known beforehand, that this machine can serve WebDriver clients.
///
/// # Errors
/// If there is no chromedriver, or no network namespace for it.
pub fn can_serve_webdriver() -> Result<(), Error> {
    Programs::find()?.driver()?;
    match own_network::lacking() {
        None => Ok(()),
        Some(reason) => Err(Error::NoNetwork { reason: reason.to_owned() }),
    }
}

impl Session {
    /// Leaves the pages to another program from now on. Dialogs are its own to answer, too. Returns
    /// the addresses of their DevTools. Through them the program reaches the pages of the episode
    /// and nothing else of the machine.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn serve_devtools(&mut self) -> Result<DevToolsAddress, Error> {
        // Clients would take it for a page of the episode.
        if let Some(first_tab) = self.first_tab.take() {
            self.cdp().call(Some(&first_tab), "Page.close", json!({})).await?;
        }
        let listening = Server::start(self.cdp(), self.limits()).await;
        let server = listening
            .map_err(|error| Error::Session { reason: format!("there is no port: {error}") })?;
        self.tracker.lock().externally_driven = true;
        let address = DevToolsAddress { url: server.url.clone(), socket: server.socket.clone() };
        self.devtools = Some(server);
        Ok(address)
    }

    /// Serves WebDriver clients from now on, by the same rules. Returns the address for them,
    /// `http://127.0.0.1:PORT/KEY`.
    ///
    /// # Errors
    /// If there is no chromedriver, no network namespace for it, or it cannot use the browser.
    pub async fn serve_webdriver(&mut self) -> Result<String, Error> {
        can_serve_webdriver()?;
        let chromedriver = Programs::find()?.driver()?.to_owned();
        let browser = Browser {
            cdp: self.cdp(),
            limits: self.limits(),
            folder: self.chromium.folder(),
            version: self.version(),
        };
        let server = webdriver::Server::start(chromedriver, browser).await?;
        self.tracker.lock().externally_driven = true;
        let url = server.url.clone();
        self.webdriver = Some(server);
        Ok(url)
    }

    fn limits(&self) -> Limits {
        Limits {
            proxy: self.chromium.proxy,
            uploads: self.upload_folders(),
            downloads: self.downloads_folder(),
        }
    }

    /// Waits for a navigation and returns the URLs that tabs have opened, in their order, without
    /// the first `since`.
    ///
    /// # Errors
    /// If the browser has ended.
    pub async fn wait_for_navigations(&self, since: usize) -> Result<Vec<String>, Error> {
        let condition = |_: &BrowserState| "a tab to open another URL".to_owned();
        let more = |state: &BrowserState| {
            state.navigations.get(since..).filter(|more| !more.is_empty()).map(<[_]>::to_vec)
        };
        self.tracker.wait_for(FOREVER, condition, more).await
    }

    /// Waits until nothing is on its way to the pages, or a tab has opened another URL than the
    /// first `since`. Some pages never become idle, so it waits for `within` at most. Returns
    /// whether no other URL was opened.
    ///
    /// # Errors
    /// If the browser has ended.
    pub async fn wait_for_network_idle(
        &self,
        since: usize,
        within: Duration,
    ) -> Result<bool, Error> {
        let condition = |state: &BrowserState| {
            format!("a page to load (pending: {})", state.traffic.describe())
        };
        let quiet = |state: &BrowserState| {
            state.traffic.pending() == 0 && state.traffic.navigation_count() == 0
        };
        let there = |state: &BrowserState| match state.navigations.len() > since {
            true => Some(false),
            false => quiet(state).then_some(true),
        };
        match self.tracker.wait_for(within, condition, there).await {
            Err(Error::Deadline { .. }) => Ok(self.tracker.lock().navigations.len() <= since),
            result => result,
        }
    }

    /// The URLs that tabs have opened so far, without the first `since`.
    pub fn navigations_since(&self, since: usize) -> Vec<String> {
        self.tracker.lock().navigations.get(since..).map(<[_]>::to_vec).unwrap_or_default()
    }
}
