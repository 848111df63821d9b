//! Reports a person's inputs in the pages while they happen: clicks, texts, choices, keys,
//! navigations and tabs.
//!
//! A script in an isolated world of every document listens to the events of the person's devices
//! (`capture.js`). It reports through a function that exists in that world only. A page can neither
//! see the script nor call the function, and events that a page makes up do not count.
//!
//! A picture of the page is asked for the moment an event arrives, so that it shows the page before
//! the effect as far as the browser can still tell.

mod input;
mod password;
mod picture;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
pub use input::{InputKind, PersonInput, PersonTarget};
use parking_lot::Mutex;
pub use password::Password;
pub use picture::outlined;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::cdp::connection::{Cdp, Reply, SessionId};
use crate::{Error, Session};

/// The name of the isolated world.
const WORLD: &str = "sandbox-capture";
/// The function in it that reports.
const REPORT: &str = "sandboxReport";
const SCRIPT: &str = include_str!("capture.js");
/// How long a picture of a page may take.
const PICTURE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a page may take to tell what is typed into it and not told yet.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
/// Makes the browser tell scripts the role and name that it computes for elements.
pub(crate) const FLAG: &str = "--enable-blink-features=ComputedAccessibilityInfo";

/// The sender for a person's inputs. Part of the settings of a [`Launch`](crate::Launch).
#[derive(Clone)]
pub struct Capture {
    shared: Arc<Shared>,
}

struct Shared {
    sender: mpsc::UnboundedSender<CaptureEvent>,
    tabs: Mutex<Tabs>,
    /// Navigations wait for pictures.
    holds: AtomicBool,
}

#[derive(Default)]
struct Tabs {
    /// The tab of each session of a page or frame.
    of_session: HashMap<SessionId, String>,
    /// The session of each tab's page.
    pages: HashMap<String, SessionId>,
    /// Tabs in which a button of the mouse went down, whose picture is that of the click, too.
    pointed: HashSet<String>,
    /// How many pictures of a tab are being taken.
    pictures: HashMap<String, usize>,
    /// Requests for documents that wait until the pictures of their tab are taken.
    held: HashMap<String, Vec<(SessionId, String)>>,
}

/// Something that has happened in a captured browser.
#[derive(Debug)]
pub enum CaptureEvent {
    /// A tab was opened.
    TabOpened {
        /// Names the tab.
        tab: String,
        /// Whether a page opened it, and not the person.
        by_page: bool,
    },
    /// A tab was closed.
    TabClosed {
        /// Names the tab.
        tab: String,
    },
    /// A tab shows another URL.
    Navigated {
        /// Names the tab.
        tab: String,
        /// The URL.
        url: String,
        /// The history of the tab now.
        history: PendingHistory,
    },
    /// The person did something in a page.
    Input {
        /// Names the tab.
        tab: String,
        /// The input.
        input: Box<PersonInput>,
        /// The tab's visible part at this time.
        picture: PendingPicture,
    },
}

/// A picture that the browser still takes.
pub struct PendingPicture(Option<oneshot::Receiver<Option<Vec<u8>>>>);

/// A history that the browser still tells.
pub struct PendingHistory(oneshot::Receiver<Reply>);

/// The history of a tab.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TabHistory {
    /// The place of the shown entry.
    pub current_index: usize,
    /// The entries, the oldest first.
    pub entries: Vec<HistoryEntry>,
}

/// A page in the history of a tab.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// Names the entry.
    pub id: i64,
    /// Its URL.
    pub url: String,
    /// The URL that the person typed, before redirects.
    #[serde(default, rename = "userTypedURL")]
    pub typed_url: String,
    /// The type of the navigation, such as `link` or `typed`.
    pub transition_type: String,
}

impl Capture {
    /// Returns the setting, and the receiver of its events.
    pub fn new() -> (Capture, mpsc::UnboundedReceiver<CaptureEvent>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let shared =
            Arc::new(Shared { sender, tabs: Mutex::default(), holds: AtomicBool::new(false) });
        (Capture { shared }, receiver)
    }

    /// The commands that make a page or frame tell.
    pub(crate) fn commands() -> [(&'static str, Value); 4] {
        let source = format!("(() => {{ const REPORT = {};\n{SCRIPT}\n}})();", json!(REPORT));
        [
            ("Accessibility.enable", json!({})),
            ("Runtime.enable", json!({})),
            ("Runtime.addBinding", json!({ "name": REPORT, "executionContextName": WORLD })),
            (
                "Page.addScriptToEvaluateOnNewDocument",
                json!({ "source": source, "worldName": WORLD, "runImmediately": true }),
            ),
        ]
    }

    /// The command that makes a page wait, before it leaves a document, for the picture of it.
    pub(crate) fn hold_command(&self) -> Option<(&'static str, Value)> {
        let patterns = json!([{ "urlPattern": "*", "resourceType": "Document" }]);
        self.holds().then(|| ("Fetch.enable", json!({ "patterns": patterns })))
    }

    pub(crate) fn holds(&self) -> bool {
        self.shared.holds.load(Ordering::Relaxed)
    }

    /// A request for a document waits for its tab's pictures.
    fn on_request_paused(&self, cdp: &Cdp, session: &SessionId, tab: &str, request: &str) {
        {
            let mut tabs = self.shared.tabs.lock();
            if tabs.pictures.get(tab).is_some_and(|count| *count > 0) {
                tabs.held
                    .entry(tab.to_owned())
                    .or_default()
                    .push((session.clone(), request.to_owned()));
                return;
            }
        }
        resume(cdp, session, request);
    }

    /// Takes a picture of a tab. What leaves its page waits meanwhile.
    fn take_picture(
        &self,
        cdp: &Cdp,
        page: &SessionId,
        tab: &str,
    ) -> oneshot::Receiver<Option<Vec<u8>>> {
        *self.shared.tabs.lock().pictures.entry(tab.to_owned()).or_default() += 1;
        let format = json!({ "format": "png", "optimizeForSpeed": true });
        let reply = cdp.send(Some(page), "Page.captureScreenshot", format);
        let (sender, receiver) = oneshot::channel();
        let (shared, cdp, tab) = (Arc::clone(&self.shared), cdp.clone(), tab.to_owned());
        tokio::spawn(async move {
            let taken = picture(timeout(PICTURE_TIMEOUT, reply).await);
            let held = {
                let mut tabs = shared.tabs.lock();
                let count = tabs.pictures.entry(tab.clone()).or_default();
                *count = count.saturating_sub(1);
                if *count == 0 { tabs.held.remove(&tab).unwrap_or_default() } else { Vec::new() }
            };
            held.iter().for_each(|(session, request)| resume(&cdp, session, request));
            // Whoever wanted it may have gone.
            let _ = sender.send(taken);
        });
        receiver
    }

    /// A page or frame has its session.
    pub(crate) fn on_attached(
        &self,
        session: &SessionId,
        parent: Option<&SessionId>,
        target: &Value,
    ) {
        let text = |name: &str| target[name].as_str().unwrap_or_default().to_owned();
        let mut tabs = self.shared.tabs.lock();
        if target["type"] == "page" {
            tabs.of_session.insert(session.clone(), text("targetId"));
            tabs.pages.insert(text("targetId"), session.clone());
            let by_page = target["openerId"].is_string();
            self.tell(CaptureEvent::TabOpened { tab: text("targetId"), by_page });
        } else if let Some(tab) = parent.and_then(|parent| tabs.of_session.get(parent).cloned()) {
            tabs.of_session.insert(session.clone(), tab);
        }
    }

    pub(crate) fn on_event(
        &self,
        cdp: &Cdp,
        session: Option<&SessionId>,
        method: &str,
        params: &Value,
    ) {
        let text =
            |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if method == "Target.detachedFromTarget" {
            let session = SessionId::from(text("/sessionId"));
            let closed = {
                let mut tabs = self.shared.tabs.lock();
                let tab = tabs.of_session.remove(&session);
                tab.filter(|tab| tabs.pages.get(tab) == Some(&session)).inspect(|tab| {
                    tabs.pages.remove(tab);
                })
            };
            if let Some(tab) = closed {
                self.tell(CaptureEvent::TabClosed { tab });
            }
            return;
        }
        let Some(session) = session else { return };
        let (tab, page) = {
            let tabs = self.shared.tabs.lock();
            let Some(tab) = tabs.of_session.get(session).cloned() else { return };
            let page = tabs.pages.get(&tab).unwrap_or(session).clone();
            (tab, page)
        };
        let navigated = |url: String| {
            let history =
                PendingHistory(cdp.send(Some(session), "Page.getNavigationHistory", json!({})));
            self.tell(CaptureEvent::Navigated { tab: tab.clone(), url, history });
        };
        if method == "Page.frameNavigated" {
            // Keeps the tree of the new document. Without it each role and name that the script
            // reads makes the whole tree anew, which takes a tenth of a second on large pages.
            let frame = json!({ "frameId": text("/frame/id") });
            drop(cdp.send(Some(session), "Accessibility.getRootAXNode", frame));
        }
        match method {
            "Page.frameNavigated" if text("/frame/id") == tab => {
                navigated(format!("{}{}", text("/frame/url"), text("/frame/urlFragment")));
            }
            "Page.navigatedWithinDocument" if text("/frameId") == tab => {
                navigated(text("/url").to_owned())
            }
            "Runtime.bindingCalled" if text("/name") == REPORT => {
                let Ok(input) = serde_json::from_str::<PersonInput>(text("/payload")) else {
                    tracing::warn!("a page's script reported something that is no input");
                    return;
                };
                let has_picture = self.has_picture(&tab, input.kind);
                let picture = (!has_picture && !input.shows_secret)
                    .then(|| self.take_picture(cdp, &page, &tab));
                let picture = PendingPicture(picture);
                self.tell(CaptureEvent::Input { tab, input: Box::new(input), picture });
            }
            "Fetch.requestPaused" if self.holds() => {
                self.on_request_paused(cdp, session, &tab, text("/requestId"));
            }
            _ => {}
        }
    }

    /// Whether the picture of this input is asked for already: one at a time is what a browser that
    /// leaves a page can do.
    fn has_picture(&self, tab: &str, kind: InputKind) -> bool {
        let mut tabs = self.shared.tabs.lock();
        match kind {
            InputKind::Point => {
                tabs.pointed.insert(tab.to_owned());
                false
            }
            InputKind::Click => tabs.pointed.remove(tab),
            _ => false,
        }
    }

    fn tell(&self, event: CaptureEvent) {
        // Whoever listened may have ended.
        let _ = self.shared.sender.send(event);
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").finish_non_exhaustive()
    }
}

impl fmt::Debug for PendingPicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingPicture").finish_non_exhaustive()
    }
}

impl fmt::Debug for PendingHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingHistory").finish_non_exhaustive()
    }
}

impl PendingPicture {
    /// The PNG file; nothing where another input has it, or the tab could not be shown any more.
    pub async fn png(self) -> Option<Vec<u8>> {
        self.0?.await.ok()?
    }
}

impl PendingHistory {
    /// The history; nothing where the tab has gone.
    pub async fn get(self) -> Option<TabHistory> {
        let reply = timeout(PICTURE_TIMEOUT, self.0).await.ok()?.ok()?.ok()?;
        serde_json::from_str(reply.get()).ok()
    }
}

/// The picture in the browser's reply.
fn picture(reply: Result<Result<Reply, oneshot::error::RecvError>, Elapsed>) -> Option<Vec<u8>> {
    match reply {
        Ok(Ok(Ok(reply))) => {
            let reply: Value = serde_json::from_str(reply.get()).ok()?;
            STANDARD.decode(reply.get("data")?.as_str()?).ok()
        }
        Ok(Ok(Err(error))) => {
            tracing::debug!(%error, "there is no picture of a step");
            None
        }
        Ok(Err(_)) | Err(_) => {
            tracing::debug!("there is no picture of a step in time");
            None
        }
    }
}

fn resume(cdp: &Cdp, session: &SessionId, request: &str) {
    drop(cdp.send(Some(session), "Fetch.continueRequest", json!({ "requestId": request })));
}

impl Session {
    /// From now on no page is left before its picture is taken, where a person does something that
    /// leaves it. To be called once pages are given what they had kept.
    ///
    /// # Errors
    /// When the browser has ended.
    pub async fn hold_for_pictures(&self) -> Result<(), Error> {
        let Some(capture) = &self.launch.capture else { return Ok(()) };
        capture.shared.holds.store(true, Ordering::Relaxed);
        let pages = self.tracker.lock().pages.clone();
        for page in pages {
            if let Some((method, params)) = capture.hold_command() {
                self.cdp().call(Some(&page.session), method, params).await?;
            }
        }
        Ok(())
    }

    /// Has every page tell what is typed into it and not told yet. The events have arrived when
    /// this returns.
    ///
    /// # Errors
    /// When the browser has ended. A page that has gone or hangs is passed over.
    pub async fn flush_captured(&self) -> Result<(), Error> {
        let pages = self.tracker.lock().pages.clone();
        for page in pages {
            for frame in self.frames(&page).await.unwrap_or_default() {
                let params = json!({ "frameId": frame.id, "worldName": WORLD });
                // The world is there already. This returns its id.
                let Ok(world) =
                    self.cdp().call(Some(&page.session), "Page.createIsolatedWorld", params).await
                else {
                    continue;
                };
                let Some(world) = world["executionContextId"].as_i64() else { continue };
                match self
                    .evaluate_in(&page, world, "globalThis.flushCaptured?.()", FLUSH_TIMEOUT)
                    .await
                {
                    Err(error @ Error::Gone { .. }) => return Err(error),
                    Err(error) => tracing::debug!(%error, "a page does not tell what was typed"),
                    Ok(_) => {}
                }
            }
        }
        Ok(())
    }
}
