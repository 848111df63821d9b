//! A browser and the episode that it runs.
//!
//! ```text
//! start -> episode -> reset -> episode ... -> close
//! ```
//!
//! The browser stays. Each episode has a browser context of its own, in memory, with its own
//! cookies, storage, caches, service workers and connections. A reset disposes of the context, and
//! with it of the renderer process and its clock.

mod preparation;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::act::element::ActionTarget;
use crate::act::input::InputState;
use crate::act::state::ActState;
use crate::attach::proxy::Server;
use crate::attach::webdriver;
use crate::cdp::connection::{Cdp, Connection, SessionId};
use crate::cdp::pipe::Pipe;
use crate::cdp::targets::{self, with_browser_context};
use crate::cdp::tracker::{BrowserState, FOREVER, Page, Tracker};
use crate::clock::response_ordering::{self, ResponseOrdering};
use crate::clock::screen::FrameClock;
use crate::clock::state::ClockState;
use crate::clock::virtual_time;
use crate::launch::chromium::{Chromium, START_TIMEOUT};
use crate::launch::device;
use crate::launch::memory::MemoryWatch;
use crate::launch::process::Ends;
use crate::launch::services::ServiceProcesses;
use crate::observe::blob_names::BlobNames;
use crate::observe::console::ConsoleBuffer;
use crate::order::{OrderWriter, RunningTrace};
use crate::trees::frames::Bids;
use crate::{Determinism, Device, Error, Launch};

/// How long a browser may take to end in order.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// How much more memory a browser of the live web may take.
const LIVE_SHARES: u64 = 4;

/// A running browser with one episode's pages.
#[derive(Debug)]
pub struct Session {
    pub(crate) launch: Launch,
    pub(crate) determinism: Option<Determinism>,
    pub(crate) tracker: Arc<Tracker>,
    pub(crate) last_action: Option<String>,
    pub(crate) last_action_error: Option<String>,
    pub(crate) action_target: Option<ActionTarget>,
    /// The element that received the last action.
    pub(crate) receiver: Option<String>,
    /// Texts that have appeared since the last action and are gone again.
    pub(crate) notices: Vec<String>,
    pub(crate) bids: Bids,
    pub(crate) order: OrderWriter,
    pub(crate) blobs: BlobNames,
    pub(crate) input_state: InputState,
    connection: Connection,
    pub(crate) chromium: Chromium,
    version: String,
    /// Chromium's first tab, which belongs to no episode; `None` where it is closed.
    pub(crate) first_tab: Option<SessionId>,
    services: ServiceProcesses,
    memory: Option<MemoryWatch>,
    /// The door for WebDriver clients, if there is one.
    pub(crate) webdriver: Option<webdriver::Server>,
    /// The DevTools proxy, once another program drives the pages.
    pub(crate) devtools: Option<Server>,
    /// The context of pages that are opened after another program has driven the browser.
    pub(crate) clean_context: Option<String>,
    _response_ordering: Option<ResponseOrdering>,
}

impl Session {
    /// Starts a browser and its first episode. Where a program is missing, the error names the
    /// command that installs it.
    pub async fn start(launch: &Launch) -> Result<Self, Error> {
        let (chromium, Ends { commands, replies, last_words, .. }) =
            Chromium::start(launch).await?;
        let tracker = Arc::new(new_tracker());
        let listener = Arc::clone(&tracker);
        let pipe = Pipe::new(commands, replies).map_err(Error::Pipe)?;
        let connection = Connection::open(pipe, move |cdp, event| listener.on_event(cdp, event));
        let version = match version(&connection.cdp).await {
            Err(Error::Gone { .. }) => {
                let reason =
                    last_words.last_line().unwrap_or_else(|| "it ended without a word".to_owned());
                return Err(Error::Session { reason });
            }
            version => version?,
        };
        let first_tab = find_first_tab(&connection.cdp).await?;
        // Its window would cover the intended one, or be taken for it.
        let keeps_first_tab = launch.headless && !launch.attach_mode;
        let first_session = match &first_tab {
            Some(target) if keeps_first_tab => {
                tracker.set_first_tab(target.clone());
                Some(attach(&connection.cdp, target).await?)
            }
            _ => None,
        };
        connection.cdp.call(None, "Target.setAutoAttach", targets::auto_attach(false)).await?;
        let frozen = launch.in_flight.as_ref().filter(|_| launch.is_frozen());
        let response_ordering =
            frozen.map(|in_flight| response_ordering::start(in_flight, &tracker, &connection.cdp));
        let mut session = Self {
            launch: launch.clone(),
            determinism: launch.determinism,
            tracker,
            last_action: None,
            last_action_error: None,
            action_target: None,
            receiver: None,
            notices: Vec::new(),
            bids: Bids::default(),
            order: OrderWriter::default(),
            blobs: BlobNames::default(),
            input_state: InputState::default(),
            connection,
            chromium,
            version,
            first_tab: first_session,
            services: ServiceProcesses::default(),
            memory: None,
            webdriver: None,
            devtools: None,
            clean_context: None,
            _response_ordering: response_ordering,
        };
        session.begin_episode().await?;
        session.services = ServiceProcesses::find(session.cdp()).await?;
        // A live browser has its user's pages, and more of them at once.
        let limit =
            if launch.determinism.is_some() { launch.memory } else { launch.memory * LIVE_SHARES };
        session.memory = session.services.browser.map(|id| MemoryWatch::start(id, limit));
        if let Some(target) = first_tab.filter(|_| !keeps_first_tab) {
            session.cdp().call(None, "Target.closeTarget", json!({ "targetId": target })).await?;
        }
        Ok(session)
    }

    /// Chromium's version, such as `156.0.8078.79`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Ends the present episode and begins a new one, with nothing left of the old one. A browser
    /// that is broken, or too busy to end an episode, is replaced, which takes longer.
    pub async fn reset(&mut self, determinism: Option<Determinism>) -> Result<(), Error> {
        self.reset_with_device(determinism, self.launch.device.clone()).await
    }

    /// Resets, and uses another device for the pages from now on.
    pub async fn reset_with_device(
        &mut self,
        determinism: Option<Determinism>,
        device: Device,
    ) -> Result<(), Error> {
        self.determinism = determinism;
        self.launch.device = device;
        self.last_action = None;
        self.last_action_error = None;
        self.action_target = None;
        self.receiver = None;
        self.notices.clear();
        self.bids = Bids::default();
        self.order = OrderWriter::default();
        self.blobs = BlobNames::default();
        self.input_state = InputState::default();
        // In attach mode the pages are in the browser's own profile, which cannot be disposed of.
        let fits =
            self.launch.determinism.is_some() == determinism.is_some() && !self.launch.attach_mode;
        // What the last episode's pages still do is not of this one.
        let fits = fits && self.end_trace().await.is_ok();
        if fits {
            let context = self.tracker.lock().end_episode();
            // At the same time: the old context and the new one have nothing in common.
            let ended_and_begun = tokio::try_join!(self.end_episode(context), self.begin_episode());
            // A browser whose graphics process was ended is replaced, too.
            match ended_and_begun.and_then(|_| self.services.check(None)) {
                Ok(()) => return Ok(()),
                Err(error) => tracing::warn!(%error, "the browser is replaced"),
            }
        }
        // A frozen world needs another command line than the live web, too.
        *self = Self::start(&Launch { determinism, ..self.launch.clone() }).await?;
        Ok(())
    }

    /// Checks that all processes of the browser still run.
    ///
    /// # Errors
    /// [`Error::ServiceEnded`] if one has ended by itself. Then the pages cannot be trusted.
    pub fn check(&self) -> Result<(), Error> {
        self.services.check(self.memory.as_ref().and_then(MemoryWatch::ended_graphics))
    }

    /// Waits until a person has closed the last page, or the browser has ended.
    pub async fn wait_until_closed(&self) {
        let wait_until_closed = |state: &BrowserState| state.active().is_err().then_some(());
        // The end of the browser is an expected result, too.
        let _ = self
            .tracker
            .wait_for(FOREVER, |_| "the window to be closed".to_owned(), wait_until_closed)
            .await;
    }

    /// Whether a page has crashed, or the browser has ended while pages were open. A window that a
    /// person closes has no pages any more.
    pub fn has_crashed(&self) -> bool {
        self.tracker.lock().has_crashed()
    }

    /// Puts an empty tab in the place of pages that have crashed; says why they have, if any have.
    ///
    /// # Errors
    /// When the browser has ended, or does not open a tab.
    pub async fn replace_crashed_pages(&mut self) -> Result<Option<String>, Error> {
        let Some((crashed, at)) = self.tracker.lock().take_crashed() else { return Ok(None) };
        if self.tracker.lock().pages.is_empty() {
            let page = self.open_tab(self.context()?.as_deref()).await?;
            self.tracker.lock().focused_tab = Some(page.session);
        }
        for page in crashed {
            let close = json!({ "targetId": page.target });
            match self.cdp().call(None, "Target.closeTarget", close).await {
                // It has closed by itself.
                Ok(_) | Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let too_large = self.memory.as_ref().filter(|memory| memory.explains(at));
        Ok(Some(match too_large {
            Some(memory) => {
                format!(
                    "the page crashed: it used more than {} MiB of memory",
                    memory.limit() >> 20
                )
            }
            None => "the page crashed".to_owned(),
        }))
    }

    /// Ends the browser.
    pub async fn close(self) -> Result<(), Error> {
        let Self { connection, chromium, tracker, webdriver, .. } = self;
        if let Some(webdriver) = webdriver {
            // Its files are in the browser's folder.
            webdriver.end().await;
        }
        drop(connection.cdp.send(None, "Browser.close", json!({})));
        let ended = |state: &BrowserState| state.is_disconnected().then_some(());
        let ending =
            tracker.wait_for(END_TIMEOUT, |_| "the browser to end".to_owned(), ended).await;
        if let Err(Error::Deadline { .. }) = ending {
            tracing::debug!("the browser did not end in order");
        }
        drop(connection);
        chromium.end().await;
        Ok(())
    }

    pub(crate) fn cdp(&self) -> &Cdp {
        &self.connection.cdp
    }

    /// Whether frames are drawn on command and at no other time (Chromium's `BeginFrameControl`).
    pub(crate) fn begin_frame_control(&self) -> bool {
        self.chromium.begin_frame_control
    }

    /// The folder of the episode's downloads.
    pub fn downloads_folder(&self) -> PathBuf {
        self.chromium.folder().join("downloads")
    }

    /// The clock and seed of a frozen world; `None` where time runs by itself.
    pub(crate) fn frozen(&self) -> Option<Determinism> {
        self.determinism.filter(|_| self.launch.is_frozen())
    }

    async fn begin_episode(&self) -> Result<(), Error> {
        let context =
            if self.launch.attach_mode { None } else { Some(self.create_context().await?) };
        let permissions = device::permissions(&self.launch.device);
        if !permissions.is_empty() {
            let params =
                with_browser_context(json!({ "permissions": permissions }), context.as_deref());
            self.cdp().call(None, "Browser.grantPermissions", params).await?;
        }
        let name = self.user_agent_override().await?;
        {
            let setup = preparation::setup(
                &self.launch,
                self.determinism,
                context.clone(),
                name,
                self.downloads_folder(),
            );
            let start = match self.frozen() {
                None => 0.0,
                Some(determinism) => virtual_time::millis_before_head_start(determinism),
            };
            self.tracker.lock().begin_episode(setup, start);
            // What the last episode's sockets were told is not for those of this one.
            if let Some(in_flight) = &self.launch.in_flight {
                in_flight.take_answered_sockets();
                self.tracker.lock().part_mut::<ClockState>().sockets.begin(in_flight.counts());
                in_flight.hold_servers(self.frozen().is_some());
            }
        }
        self.set_download_folder(context.as_deref()).await?;
        let page = self.open_tab(context.as_deref()).await?;
        if let Some(determinism) = self.frozen() {
            virtual_time::run_head_start(self.cdp(), &self.tracker, &page, determinism).await?;
            if self.begin_frame_control() {
                let ticks = virtual_time::ticks(self.cdp(), &page, determinism).await?;
                self.tracker.lock().part_mut::<ClockState>().frame_clock = FrameClock::starting_at(
                    ticks,
                    virtual_time::millis_before_head_start(determinism),
                );
            }
        }
        // Threads of low priority set up the storage of a context when it is first asked for. No
        // page is to wait for that, and nobody waits for this reply.
        let asks = json!({ "origin": "http://127.0.0.1/" });
        drop(self.cdp().send(Some(&page.session), "Storage.getUsageAndQuota", asks));
        // A headed browser has the user's clipboard.
        if self.frozen().is_some() && self.launch.headless {
            self.clear_clipboard(&page).await?;
        }
        self.begin_trace().await
    }

    /// Clears what pages of the last episode have copied. The clipboard belongs to the browser, not
    /// to a context.
    async fn clear_clipboard(&self, page: &Page) -> Result<(), Error> {
        const EMPTY: &str = "(() => {
            const empty = event => { event.clipboardData.setData('text/plain', ''); event.preventDefault(); };
            document.addEventListener('copy', empty);
            document.execCommand('copy');
            document.removeEventListener('copy', empty);
        })()";
        let isolated_world = self.isolated_world(page, &page.target).await?;
        let params =
            json!({ "expression": EMPTY, "contextId": isolated_world, "userGesture": true });
        self.cdp().call(Some(&page.session), "Runtime.evaluate", params).await?;
        Ok(())
    }

    /// Creates a browser context that reaches only the gateway.
    pub(crate) async fn create_context(&self) -> Result<String, Error> {
        const METHOD: &str = "Target.createBrowserContext";
        let params = json!({
            "disposeOnDetach": true,
            "proxyServer": format!("http://{}", self.chromium.proxy),
            // The loopback gets no exception.
            "proxyBypassList": "<-loopback>",
        });
        let context = self.cdp().call(None, METHOD, params).await?;
        let context = context.get("browserContextId").and_then(Value::as_str);
        Ok(context.ok_or(Error::Shape { method: METHOD, field: "browserContextId" })?.to_owned())
    }

    async fn end_episode(&self, context: Option<String>) -> Result<(), Error> {
        let Some(context) = context else { return Ok(()) };
        let params = json!({ "browserContextId": context });
        self.cdp().call(None, "Target.disposeBrowserContext", params).await?;
        // Chromium keeps one thing across contexts: which favicons were not found. A forced reload
        // clears it.
        let Some(first_tab) = &self.first_tab else { return Ok(()) };
        self.cdp().call(Some(first_tab), "Page.reload", json!({ "ignoreCache": true })).await?;
        Ok(())
    }
}

/// A tracker with the state of each folder that keeps one.
fn new_tracker() -> Tracker {
    Tracker::new(vec![
        Box::<ClockState>::default(),
        Box::<ConsoleBuffer>::default(),
        Box::<RunningTrace>::default(),
        Box::<ActState>::default(),
    ])
}

/// Chromium's version. The first reply of a browser that starts may take a while.
async fn version(cdp: &Cdp) -> Result<String, Error> {
    const METHOD: &str = "Browser.getVersion";
    let reply = cdp.call_within(None, METHOD, json!({}), START_TIMEOUT).await?;
    let product = reply.get("product").and_then(Value::as_str);
    let product = product.ok_or(Error::Shape { method: METHOD, field: "product" })?;
    Ok(product.rsplit('/').next().unwrap_or(product).to_owned())
}

/// The target of Chromium's first tab.
async fn find_first_tab(cdp: &Cdp) -> Result<Option<String>, Error> {
    let reply = cdp.call(None, "Target.getTargets", json!({})).await?;
    let page = reply["targetInfos"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|target| target["type"] == "page");
    Ok(page.and_then(|page| page["targetId"].as_str()).map(str::to_owned))
}

async fn attach(cdp: &Cdp, target: &str) -> Result<SessionId, Error> {
    const METHOD: &str = "Target.attachToTarget";
    let reply = cdp.call(None, METHOD, json!({ "targetId": target, "flatten": true })).await?;
    let session = reply.get("sessionId").and_then(Value::as_str);
    Ok(session.ok_or(Error::Shape { method: METHOD, field: "sessionId" })?.into())
}
