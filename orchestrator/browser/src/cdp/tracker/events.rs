//! Takes the browser's events into the state.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::{BrowserEvent, Page, Tracker};
use crate::cdp::connection::{Cdp, Event, SessionId};
use crate::cdp::targets;

impl Tracker {
    /// Handles one event; `None` is the end of the connection.
    pub(crate) fn on_event(self: &Arc<Self>, cdp: &Cdp, event: Option<Event>) {
        match event {
            None => self.lock().disconnected = true,
            Some(Event { session, method, params }) => self.record(cdp, session, &method, &params),
        }
        self.notify();
    }

    fn record(
        self: &Arc<Self>,
        cdp: &Cdp,
        session: Option<SessionId>,
        method: &str,
        params: &Value,
    ) {
        let text =
            |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if method == "Target.attachedToTarget" {
            targets::on_attached(self, cdp, session.as_ref(), params);
            return;
        }
        let setup = self.lock().setup.clone();
        if let Some(setup) = &setup {
            setup.preparation.on_event(cdp, session.as_ref(), method, params);
        }
        let holds = setup.is_some_and(|setup| setup.preparation.holds_requests());
        let mut state = self.lock();
        if method == "Network.requestWillBeSent" {
            state.worker_order.requested(text("/requestId"), text("/request/url"));
        }
        if let Some(session) = &session {
            let has_started = state.traffic.on_event(session, method, params);
            state.started_count += u64::from(has_started);
            if has_started && !state.is_worker(session) {
                state.request_count += u64::from(match method {
                    "Network.requestWillBeSent" => text("/initiator/type") != "preflight",
                    "Network.webSocketCreated" => true,
                    _ => false,
                });
            }
        }
        match method {
            "Target.detachedFromTarget" => {
                let left = SessionId::from(text("/sessionId"));
                state.remove_session(&left);
                cdp.fail_pending(&left);
            }
            "Inspector.targetCrashed" => {
                if let Some(session) = session {
                    // In attach mode the other program has more pages, or opens another.
                    let crashed = state.pages.iter().find(|page| page.session == session).cloned();
                    let crashed = crashed.filter(|_| !state.externally_driven);
                    if crashed.is_some() {
                        state.crashed = Some(Instant::now());
                    }
                    state.crashed_pages.extend(crashed);
                    state.workers.retain(|worker| worker.session != session);
                    state.detached.insert(session.clone());
                    cdp.fail_pending(&session);
                }
            }
            "Emulation.virtualTimeBudgetExpired" => {
                if let Some(session) = session {
                    *state.expired_budgets.entry(session).or_default() += 1;
                }
            }
            // Only while storage is read or written: see `page::storage`.
            "Fetch.requestPaused" if !holds => {
                let answer = json!({
                    "requestId": text("/requestId"),
                    "responseCode": 200,
                    "responseHeaders": [{ "name": "Content-Type", "value": "text/html" }],
                    "body": "",
                });
                drop(cdp.send(session.as_ref(), "Fetch.fulfillRequest", answer));
            }
            "Page.frameNavigated" => {
                if let Some(session) = session {
                    let top = params.pointer("/frame/parentId").is_none();
                    let origin = text("/frame/securityOrigin");
                    if origin.starts_with("http") {
                        state.visited_origins.insert(origin.to_owned());
                    }
                    if top {
                        state.without_document.remove(&session);
                        state.record_navigation(
                            &session,
                            text("/frame/url"),
                            text("/frame/urlFragment"),
                        );
                    }
                    state.document_count += u64::from(top);
                    state.url_changes += u64::from(top);
                }
            }
            "Page.navigatedWithinDocument" => {
                state.url_changes += 1;
                let page = |page: &Page| {
                    Some(&page.session) == session.as_ref() && page.target == text("/frameId")
                };
                if let Some(page) = state.pages.iter().find(|open| page(open)) {
                    let session = page.session.clone();
                    state.record_navigation(&session, text("/url"), "");
                }
            }
            // Each event is handled here or by one of the parts.
            _ => {
                state.tell_parts(&BrowserEvent { cdp, session: session.as_ref(), method, params });
            }
        }
    }
}
