//! Shows recorded pages offline, each from a pristine browser.

use std::time::Duration;

use actions::Action;
use browser::{Device, Launch, Session, StorageState};
use gateway::replay::ReplayOptions;
use gateway::{Answer, CertificateAuthority, Config, Entry, Gateway, Replay, Routes, Target};
use results::analysis::order;
use snapshots::Page;
use snapshots::index::ReplaySet;

use crate::environment::EnvironmentError;
use crate::world::browser_state;

/// The result of one visit.
pub(crate) struct Visit {
    /// Digest of the document.
    pub(crate) digest: String,
    /// The address at which the browser ended.
    pub(crate) address: String,
    /// The requests.
    pub(crate) entries: Vec<Entry>,
    /// The reason why the page did not settle.
    pub(crate) unsettled: Option<String>,
    /// The events in the page, a line an event, if the visitor keeps them.
    pub(crate) order: Vec<String>,
}

/// A browser, started at the first visit and pristine at each, with its gateway.
pub(crate) struct Visitor {
    gateway: Gateway,
    spki: String,
    /// Cookies and storage of the pages when they were recorded.
    browser_state: StorageState,
    session: Option<Session>,
    device: Device,
    settle_within: Duration,
    /// Whether the order of events is kept.
    keeps_order: bool,
}

impl Visitor {
    /// Makes a visitor of these snapshots. Its browser is started by the first visit.
    pub(crate) async fn open(
        set: ReplaySet,
        options: ReplayOptions,
        device: Device,
        settle_within: Duration,
    ) -> Result<Visitor, EnvironmentError> {
        let authority = CertificateAuthority::in_memory()
            .map_err(EnvironmentError::while_doing("make a certificate authority"))?;
        let spki = authority.spki_sha256_base64().to_owned();
        let browser_state = browser_state::recorded_state(&set);
        let routes = Routes::all(Target::Replay(Replay::new(set, options).into()));
        let gateway = Gateway::start(Config::new(authority.into(), routes))
            .await
            .map_err(EnvironmentError::while_doing("start the gateway"))?;
        Ok(Visitor {
            gateway,
            spki,
            browser_state,
            session: None,
            device,
            settle_within,
            keeps_order: false,
        })
    }

    /// Returns the browser after a visit, with the page open.
    pub(crate) fn session(&mut self) -> Option<&mut Session> {
        self.session.as_mut()
    }

    /// Sets whether the next visits keep the order of events. They get another browser.
    pub(crate) fn keep_order(&mut self, keep: bool) {
        self.keeps_order = keep;
        self.forget();
    }

    /// Drops the browser, for example one that hangs. The next visit starts another one.
    pub(crate) fn forget(&mut self) {
        self.session = None;
    }

    /// Opens a page at the time of its recording, and waits until it has settled.
    pub(crate) async fn visit(&mut self, page: &Page) -> Result<Visit, browser::Error> {
        let determinism = browser::Determinism { clock_start: page.ts.inner(), seed: 0 };
        let mut session = match self.session.take() {
            Some(mut session) => {
                session.reset(Some(determinism)).await?;
                session
            }
            None => {
                let launch = Launch::new(&self.gateway, self.spki.clone());
                let in_flight = Some(self.gateway.in_flight());
                Session::start(&Launch {
                    determinism: Some(determinism),
                    in_flight,
                    device: self.device.clone(),
                    keeps_order: self.keeps_order,
                    ..launch
                })
                .await?
            }
        };
        browser_state::restore(&mut session, &self.browser_state).await?;
        self.gateway.begin_episode();
        let mut unsettled = None;
        // Not an error yet: a page that does not load is a result. If the browser is gone, the next
        // command says so.
        if let Err(error) = session.act(&Action::Goto { url: page.url.clone() }).await {
            unsettled = Some(format!("failed to {error}"));
        }
        match session.settle(&self.gateway.in_flight(), self.settle_within).await {
            Ok(_) => {}
            Err(error @ (browser::Error::Deadline { .. } | browser::Error::Network(_))) => {
                unsettled = Some(format!("failed to {error}"));
            }
            Err(error) => return Err(error),
        }
        let events = session.take_order().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the order of events of a page is lost");
            Vec::new()
        });
        let visit = Visit {
            digest: session.dom_digest().await?,
            address: session.url().await?,
            entries: self.gateway.ledger().entries(),
            unsettled,
            order: events.iter().map(|event| order::at_step(0, event)).collect(),
        };
        // Only here: after an error the browser is dropped, and the next visit starts another one.
        self.session = Some(session);
        Ok(visit)
    }

    /// Closes the browser.
    pub(crate) async fn leave(self) -> Result<(), browser::Error> {
        if let Some(session) = self.session {
            session.close().await?;
        }
        self.gateway.shutdown().await;
        Ok(())
    }
}

/// Returns the reason why a visit did not show the document.
pub(crate) fn absence(visit: &Visit) -> Option<String> {
    if !is_web(&visit.address) {
        let why = visit.unsettled.as_ref().map_or(String::new(), |why| format!(": {why}"));
        return Some(format!("the browser ended at {}{why}", visit.address));
    }
    let address = visit.address.split('#').next().unwrap_or_default();
    let document = visit.entries.iter().rev().find(|entry| {
        entry.url == address && matches!(entry.destination.as_deref(), Some("document") | None)
    });
    match document {
        Some(entry) if !was_answered(entry) => {
            Some(format!("{}: {} {}", entry.answer.level(), entry.method, entry.url))
        }
        Some(entry) if entry.status >= 400 => {
            Some(format!("answered with status {}: {}", entry.status, entry.url))
        }
        Some(entry) if entry.bytes == 0 => Some(format!("recorded without a body: {}", entry.url)),
        _ => None,
    }
}

/// Whether a request got a recorded answer.
pub(crate) fn was_answered(entry: &Entry) -> bool {
    !matches!(entry.answer, Answer::Miss { .. } | Answer::Refused { .. } | Answer::Failed { .. })
}

/// Whether a browser shows the address.
pub(crate) fn is_web(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}
