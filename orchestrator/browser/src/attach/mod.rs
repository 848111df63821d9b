//! A browser that other programs drive, over its DevTools address.
//!
//! Such a program knows nothing of settling: it waits in real time, for frames, timers and events, in tabs and contexts that it opens as it
//! likes. So time cannot stand still between its actions, and virtual time cannot be made to run at the real pace either. That was tried: granted
//! in slices of 50 ms it keeps pace well (60 frames a second, timers in time, seven tabs at once), but it belongs to a renderer process. After a
//! page that failed to load the tab is in another process and shows the machine's time for good, and a page in a context of its own starts with
//! time of its own. Here the clocks are the machine's, and what scripts read of them is moved to the world's by the scripts that also seed
//! randomness (`inject/running.js`): the same everywhere, from the first script on, at no cost. What still tells the machine's time is the rest
//! that scripts do not read by a clock: `document.lastModified` of a page without a date, the date of a file that they make.
//!
//! All contexts of the browser have the gateway for their proxy, also those that the program makes; the first tab and the cookies of the episode
//! are in the browser's own profile, which is the first context that Playwright lists.

pub(crate) mod proxy;

use std::time::Duration;

use crate::{
    Error, Session,
    attach::proxy::{Limits, Server},
    cdp::tracker::{FOREVER, State},
};

impl Session {
    /// Leaves the pages to another program from now on: dialogs are its own to answer. Gives where
    /// it finds their DevTools, `http://127.0.0.1:PORT`, by which it reaches the pages of the
    /// episode and nothing else of the machine.
    ///
    /// # Errors
    /// When no port can be had for it.
    pub async fn serve_devtools(&mut self) -> Result<String, Error> {
        let limits = Limits {
            proxy: self.launch.proxy,
            uploads: self.upload_folders(),
            downloads: self.downloads_folder(),
        };
        let listening = Server::start(&self.driver.debugger, limits).await;
        let server =
            listening.map_err(|error| Error::Session { reason: format!("there is no port: {error}") })?;
        self.watch.lock().externally_driven = true;
        let address = format!("http://{}", server.address);
        self.devtools = Some(server);
        Ok(address)
    }

    /// The addresses that tabs have come to since the pages were handed over, but for the first `since`, in their order. Waits until there is
    /// one.
    ///
    /// # Errors
    /// When the browser is gone.
    pub async fn wait_for_navigations(&self, since: usize) -> Result<Vec<String>, Error> {
        let condition = |_: &State| "a tab to come to another address".to_owned();
        let more =
            |state: &State| state.navigations.get(since..).filter(|more| !more.is_empty()).map(<[_]>::to_vec);
        self.watch.until(FOREVER, condition, more).await
    }

    /// Waits until nothing is on its way to the pages any more, or one has come to another address
    /// than the first `since`; no longer than `within`, as there are pages to which something
    /// always is. Says whether none has.
    ///
    /// # Errors
    /// When the browser is gone.
    pub async fn wait_for_network_idle(&self, since: usize, within: Duration) -> Result<bool, Error> {
        let condition =
            |state: &State| format!("a page to be there; on its way are {}", state.traffic.describe());
        let quiet = |state: &State| state.traffic.pending() == 0 && state.traffic.navigating() == 0;
        let there = |state: &State| match state.navigations.len() > since {
            true => Some(false),
            false => quiet(state).then_some(true),
        };
        match self.watch.until(within, condition, there).await {
            Err(Error::Deadline { .. }) => Ok(self.watch.lock().navigations.len() <= since),
            result => result,
        }
    }

    /// The same, without waiting.
    pub fn navigations_since(&self, since: usize) -> Vec<String> {
        self.watch.lock().navigations.get(since..).map(<[_]>::to_vec).unwrap_or_default()
    }
}
