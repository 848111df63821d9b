//! How well a snapshot replays: every recorded page is visited twice, offline, each time from a pristine browser.
//!
//! Two visits that end in different documents show what the snapshot and the frozen clock do not hold still; a miss
//! shows what was not recorded. Both are listed by page, so that a snapshot can be judged before tasks are built on it.

use std::collections::BTreeSet;
use std::time::Duration;

use browser::{Action, Launch, Session, StorageState};
use gateway::replay::ReplayOptions;
use gateway::{Answer, CertificateAuthority, Config, Gateway, Replay, Routes, Target};
use serde::Serialize;
use snapshots::Page;
use snapshots::index::ReplaySet;
use tokio_util::sync::CancellationToken;

use crate::environment::EnvironmentError;
use crate::kept;

/// What visiting the pages of a snapshot twice has shown.
#[derive(Debug, Default, Serialize)]
pub struct Fidelity {
    /// One entry a page, in the order of recording.
    pub pages: Vec<PageFidelity>,
    /// Whether it ended before all pages were visited.
    pub interrupted: bool,
}

/// What two visits to one page have shown.
#[derive(Debug, Default, Serialize)]
pub struct PageFidelity {
    /// The page.
    pub url: String,
    /// Whether both visits ended in the same document.
    pub same: bool,
    /// Digest of the document after each visit.
    pub digests: Vec<String>,
    /// Requests that were answered, over both visits.
    pub answered: u64,
    /// Requests that the snapshot could not answer, each once.
    pub misses: BTreeSet<String>,
    /// What kept a visit from coming to rest.
    pub unsettled: Option<String>,
}

impl Fidelity {
    /// Whether every page gave the same document twice.
    pub fn holds_still(&self) -> bool {
        self.pages.iter().all(|page| page.same)
    }
}

/// Visits each page twice. `on` is told the page that is visited next and how many are done.
///
/// # Errors
/// When the gateway or the browser cannot be started, or the browser is gone.
pub async fn check(
    set: ReplaySet,
    pages: &[Page],
    settle_within: Duration,
    cancel: &CancellationToken,
    on: &dyn Fn(&Page, usize),
) -> Result<Fidelity, EnvironmentError> {
    let authority = CertificateAuthority::in_memory()
        .map_err(EnvironmentError::while_doing("make a certificate authority"))?;
    let spki = authority.spki_sha256_base64().to_owned();
    let kept = kept::kept(&set);
    let routes = Routes::all(Target::Replay(Replay::new(set, ReplayOptions::default()).into()));
    let gateway = Gateway::start(Config::new(authority.into(), routes))
        .await
        .map_err(EnvironmentError::while_doing("start the gateway"))?;
    let mut visitor = Visitor { gateway, spki, kept, session: None, settle_within };
    let mut fidelity = Fidelity::default();
    for (done, page) in pages.iter().enumerate() {
        on(page, done);
        let mut result = PageFidelity { url: page.url.clone(), ..PageFidelity::default() };
        for _ in 0..2 {
            if !cancel.is_cancelled() {
                visitor
                    .visit(page, &mut result)
                    .await
                    .map_err(EnvironmentError::while_doing("visit a page"))?;
            }
        }
        if cancel.is_cancelled() {
            fidelity.interrupted = true;
            break;
        }
        result.same = result.digests.first() == result.digests.last();
        fidelity.pages.push(result);
    }
    visitor.leave().await.map_err(EnvironmentError::while_doing("close the browser"))?;
    Ok(fidelity)
}

/// A browser, started at the first visit and pristine at each, and the gateway it goes through.
struct Visitor {
    gateway: Gateway,
    spki: String,
    /// What pages had kept when they were recorded.
    kept: StorageState,
    session: Option<Session>,
    settle_within: Duration,
}

impl Visitor {
    async fn visit(&mut self, page: &Page, result: &mut PageFidelity) -> Result<(), browser::Error> {
        let world = browser::World { clock: page.ts.inner(), seed: 0 };
        let mut session = match self.session.take() {
            Some(mut session) => {
                session.reset(Some(world)).await?;
                session
            }
            None => {
                let launch = Launch::new(self.gateway.local_addr(), self.spki.clone());
                let activity = Some(self.gateway.activity());
                Session::start(&Launch { world: Some(world), activity, ..launch }).await?
            }
        };
        kept::give(&mut session, &self.kept).await?;
        self.gateway.begin_episode();
        if let Err(error) = session.act(&Action::Goto { url: page.url.clone() }).await {
            result.unsettled = Some(format!("failed to {error}"));
        }
        match session.settle(&self.gateway.activity(), self.settle_within).await {
            Ok(_) => {}
            Err(error @ (browser::Error::Deadline { .. } | browser::Error::Network(_))) => {
                result.unsettled = Some(format!("failed to {error}"));
            }
            Err(error) => return Err(error),
        }
        result.digests.push(session.dom_digest().await?);
        for entry in self.gateway.ledger().entries() {
            match &entry.answer {
                Answer::Miss { .. } => drop(result.misses.insert(format!("{} {}", entry.method, entry.url))),
                _ => result.answered += 1,
            }
        }
        self.session = Some(session);
        Ok(())
    }

    async fn leave(self) -> Result<(), browser::Error> {
        if let Some(session) = self.session {
            session.close().await?;
        }
        self.gateway.shutdown().await;
        Ok(())
    }
}
