//! The real environment: Chromium behind a gateway that answers from the suite's snapshots and its
//! sites, and refuses everything else.
//!
//! Each worker has a gateway and a browser of its own, and each episode copies of its own of the
//! sites that its task names, so parallel episodes cannot see each other; the opened snapshots and
//! the certificate authority, which lives in memory and dies with the run, are shared.

pub mod browser_state;
mod instances;
mod memory;
mod resources;
pub mod running_sites;
mod snapshot_set;
pub mod start_pages;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actions::Action;
use browser::{
    ActionError, ActionTarget, ConsoleMessage, Device, Launch, Observation, ObservationOptions,
    ScreenshotOptions, Session, StorageState,
};
use gateway::{Entry, Episode, Gateway, Ledger, Routes, TrafficCapture};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use jiff::SignedDuration;
use scoring::{Decision, Fetch, FetchResponse, ProbeQuestion, ProgramCheck, Undecided};
use serde_json::Value;
use sites::ApiClient;
use snapshots::Exchange;
use tasks::{Task, WorldSpec};

use crate::environment::{Environment, EnvironmentError, NotActed};
use crate::evidence::programs::ProgramContext;
use crate::options::Options;
pub use crate::world::resources::WorldResources;
use crate::world::running_sites::LeasedSites;
use crate::world::snapshot_set::FailedReads;

/// The driver of the pages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BrowserMode {
    /// This program, for an agent.
    Agent,
    /// Another program.
    Attached,
    /// Another program, or a person in a window.
    Window,
}

/// One worker's gateway and browser.
pub struct World {
    gateway: Gateway,
    shared: WorldResources,
    sites: LeasedSites,
    /// The routes of this episode: which servers answer which hosts.
    routes: Routes,
    /// The page on which the present episode begins, as programs get it.
    url: String,
    /// Actions since the episode began.
    actions: u32,
    /// The begin of the episode; from then on an open world's time runs.
    began: Instant,
    session: Session,
    /// The world of tasks that change nothing of it.
    spec: WorldSpec,
    determinism: browser::Determinism,
    /// The device of the present episode's task.
    device: Device,
    settle_within: Duration,
    /// The session has had no episode yet, and needs no reset.
    fresh: bool,
    ledger: Arc<Ledger>,
    failed_reads: FailedReads,
    taken: BTreeSet<u64>,
    /// The reason of a page's crash that was not reported yet.
    crash: Option<String>,
    /// Whether traffic is kept, from the next episode on.
    keeps_network: bool,
    /// The traffic of this episode.
    network: Option<Arc<TrafficCapture>>,
}

impl World {
    /// Starts a gateway and a browser that can reach nothing but it, in which time moves only with
    /// the episode's actions.
    pub async fn bring_up(
        spec: &WorldSpec,
        shared: WorldResources,
        settle_within: Duration,
    ) -> Result<World, EnvironmentError> {
        World::start(spec, spec.device(), shared, settle_within, BrowserMode::Agent).await
    }

    /// Starts them for another program to drive, in a world whose time runs on. Good for one
    /// episode of this task.
    pub async fn bring_up_attached(
        spec: &WorldSpec,
        task: &Task,
        shared: WorldResources,
        options: &Options,
    ) -> Result<World, EnvironmentError> {
        let spec = task.world(spec);
        let device = task.device.in_world(&spec);
        let mode = if options.headed { BrowserMode::Window } else { BrowserMode::Attached };
        World::start(&spec, device, shared, options.limits.settle, mode).await
    }

    async fn start(
        spec: &WorldSpec,
        device: Device,
        shared: WorldResources,
        settle_within: Duration,
        mode: BrowserMode,
    ) -> Result<World, EnvironmentError> {
        let gateway = shared.gateway(Routes::new()).await?;
        let determinism = browser::Determinism { clock_start: spec.clock, seed: spec.seed };
        let mut launch = Launch {
            device: device.clone(),
            files: spec.files.clone().map(Into::into),
            in_flight: Some(gateway.in_flight()),
            determinism: Some(determinism),
            pace: spec.pace,
            keeps_order: shared.keeps_order,
            attach_mode: mode != BrowserMode::Agent,
            headless: mode != BrowserMode::Window,
            ..Launch::new(&gateway, shared.authority.spki_sha256_base64())
        };
        if let Some(share) = shared.browser_memory {
            launch.memory = launch.memory.min(share);
        }
        if let Some(search) = &spec.search {
            launch.search.clone_from(search);
        }
        let session = Session::start(&launch)
            .await
            .map_err(EnvironmentError::while_doing("start the browser"))?;
        let ledger = gateway.ledger();
        Ok(World {
            gateway,
            shared,
            sites: LeasedSites::default(),
            routes: Routes::new(),
            url: String::new(),
            actions: 0,
            began: Instant::now(),
            session,
            spec: spec.clone(),
            determinism,
            device,
            settle_within,
            fresh: true,
            ledger,
            failed_reads: FailedReads::default(),
            taken: BTreeSet::new(),
            crash: None,
            keeps_network: false,
            network: None,
        })
    }

    pub(crate) fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The real time since the episode of an open world began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Sets the sites' clocks to an open world's time, and checks that all sites still run.
    pub(crate) fn keep_time(&self) -> Result<(), EnvironmentError> {
        let passed = SignedDuration::try_from(self.began.elapsed()).unwrap_or_default();
        self.sites.set_clocks(
            self.determinism
                .clock_start
                .saturating_add(passed)
                .unwrap_or(self.determinism.clock_start),
        )?;
        self.sites.health()?;
        self.session.check().map_err(EnvironmentError::while_doing("keep the browser"))
    }

    /// Resets the browser, and then hands the sites back.
    async fn leave(&mut self) -> Result<(), EnvironmentError> {
        self.session
            .reset_with_device(Some(self.determinism), self.device.clone())
            .await
            .map_err(EnvironmentError::while_doing("reset the browser"))?;
        self.gateway.in_flight().idle(self.settle_within).await.map_err(
            EnvironmentError::while_doing("wait for the last episode's requests to end"),
        )?;
        self.shared.ask_again(&self.gateway).await;
        self.sites.end().await;
        Ok(())
    }

    /// Resets the browser, leases pristine sites and empties the ledger, in this order: requests of
    /// the old pages belong to the old episode.
    async fn begin_episode(&mut self, task: &Task) -> Result<(), EnvironmentError> {
        let spec = task.world(&self.spec);
        let device = task.device.in_world(&spec);
        let determinism = browser::Determinism { clock_start: spec.clock, seed: spec.seed };
        let fits = device == self.device && determinism == self.determinism;
        (self.device, self.determinism) = (device, determinism);
        // A fresh browser was started for this device and clock, and needs no reset.
        if !std::mem::take(&mut self.fresh) || !fits {
            self.leave().await?;
        }
        self.actions = 0;
        self.began = Instant::now();
        let recorded = self.shared.recorded(&spec)?;
        self.failed_reads = FailedReads::of(recorded);
        let mut routes = recorded.routes.clone();
        if let Some(town) = &self.shared.town {
            let (sites, cookies) =
                LeasedSites::begin(town, task, self.determinism.clock_start).await?;
            sites.add_routes(&mut routes)?;
            self.sites = sites;
            let given = self.session.set_cookies(&cookies).await;
            given.map_err(EnvironmentError::while_doing("give the browser its cookies"))?;
        }
        self.url = running_sites::address(task, &self.sites);
        self.routes = routes.clone();
        self.gateway.set_routes(routes);
        let given = browser_state::restore(&mut self.session, &recorded.browser_state).await;
        given.map_err(EnvironmentError::while_doing("give the browser what pages had kept"))?;
        if let Some(path) = &spec.storage_state {
            let state = browser_state::read(&self.shared.files, path)?;
            let given = self.session.set_storage_state(&state).await;
            given.map_err(EnvironmentError::while_doing("give the browser its storage"))?;
        }
        self.network = self.keeps_network.then(Arc::default);
        let episode = self.network.clone().map_or_else(Episode::new, Episode::with_capture);
        self.gateway.begin(match self.shared.visit() {
            Some(visit) => episode.of_visit(visit),
            None => episode,
        });
        self.ledger = self.gateway.ledger();
        self.taken.clear();
        Ok(())
    }

    /// Opens a page that is there when the episode begins, and lets it settle.
    async fn turn_to(&mut self, task: &Task, actions: &[Action]) -> Result<(), EnvironmentError> {
        for action in actions {
            if let Err(error) = self.session.act(action).await {
                let crash = self.replace_crashed().await?;
                if crash.is_none() {
                    return Err(EnvironmentError::while_doing("open the start page")(error));
                }
                self.crash = crash;
            }
        }
        if let Some(why) = self.settle().await? {
            tracing::warn!(
                task = task.id,
                why,
                "a page did not come to rest before the episode began"
            );
        }
        Ok(())
    }

    /// Replaces a crashed page by an empty one. Returns the reason of the crash.
    async fn replace_crashed(&mut self) -> Result<Option<String>, EnvironmentError> {
        let replaced = self.session.replace_crashed_pages().await;
        replaced
            .map_err(EnvironmentError::while_doing("open a page in the place of one that crashed"))
    }

    async fn settle_page(&mut self) -> Result<Option<String>, EnvironmentError> {
        match self.session.settle(&self.gateway.in_flight(), self.settle_within).await {
            Ok(settled) if settled.idle => Ok(None),
            Ok(_) => Ok(Some("the page was still busy".to_owned())),
            // A page may be restless for ever; that is the page's nature and not a broken browser.
            Err(error @ (browser::Error::Deadline { .. } | browser::Error::Network(_))) => {
                Ok(Some(format!("failed to {error}")))
            }
            Err(error) => Err(EnvironmentError::while_doing("let the page settle")(error)),
        }
    }
}

impl Environment for World {
    async fn begin(&mut self, task: &Task) -> Result<(), EnvironmentError> {
        self.begin_episode(task).await?;
        let goto = |url: &String| Action::Goto { url: url.clone() };
        let start: Vec<Action> = task.start_url.iter().map(goto).collect();
        self.turn_to(task, &start).await?;
        for url in &task.tabs {
            self.turn_to(task, &[Action::NewTab, goto(url)]).await?;
        }
        if !task.tabs.is_empty() {
            self.turn_to(task, &[Action::FocusTab { index: 0 }]).await?;
        }
        Ok(())
    }

    async fn evaluate(&mut self, script: &str) -> Result<Result<Value, String>, EnvironmentError> {
        match self.session.evaluate(script).await {
            Ok(value) => Ok(Ok(value)),
            Err(browser::Error::Script { message }) => Ok(Err(message)),
            Err(error) => Err(EnvironmentError::while_doing("run a script in the page")(error)),
        }
    }

    async fn observe(
        &mut self,
        options: &ObservationOptions,
    ) -> Result<Observation, EnvironmentError> {
        let mut seen = self.session.observe_with(options).await;
        if seen.is_err()
            && let Some(crash) = self.replace_crashed().await?
        {
            self.crash = Some(crash);
            self.settle_page().await?;
            seen = self.session.observe_with(options).await;
        }
        seen.map_err(EnvironmentError::while_doing("observe the page"))
    }

    async fn screenshot(
        &mut self,
        picture: &ScreenshotOptions,
    ) -> Result<Vec<u8>, EnvironmentError> {
        self.session
            .picture(picture)
            .await
            .map_err(EnvironmentError::while_doing("take a screenshot"))
    }

    async fn render_frame(&mut self) -> Result<(), EnvironmentError> {
        self.session.draw().await.map_err(EnvironmentError::while_doing("draw the page"))
    }

    async fn act(&mut self, action: &Action) -> Result<Option<ActionTarget>, NotActed> {
        self.gateway.wait_for_page_age().await;
        self.actions += 1;
        self.sites
            .set_clocks(running_sites::after(self.determinism.clock_start, self.actions))
            .map_err(NotActed::Broken)?;
        match self.session.act(action).await {
            Ok(()) => Ok(self.session.action_target().cloned()),
            Err(ActionError::Browser(error)) => {
                if let Some(crash) = self.replace_crashed().await.map_err(NotActed::Broken)? {
                    return Err(NotActed::Refused(crash));
                }
                // What one page cannot do is no fault of the browser.
                if matches!(
                    error,
                    browser::Error::Deadline { .. }
                        | browser::Error::Refused { .. }
                        | browser::Error::Script { .. }
                        | browser::Error::Shape { .. }
                        | browser::Error::Network(_)
                ) {
                    return Err(NotActed::Refused(format!("failed to {error}")));
                }
                Err(NotActed::Broken(EnvironmentError::while_doing("act in the browser")(error)))
            }
            Err(error) => Err(NotActed::Refused(format!("failed to {error}"))),
        }
    }

    async fn settle(&mut self) -> Result<Option<String>, EnvironmentError> {
        let settled = self.settle_page().await;
        if let Some(crash) = self.replace_crashed().await? {
            self.crash = Some(crash);
            return self.settle_page().await;
        }
        // Where a site or a part of the browser has ended, that is what happened, whatever the
        // pages look like now.
        self.sites.health()?;
        self.session.check().map_err(EnvironmentError::while_doing("act in the browser"))?;
        settled
    }

    fn receiver(&self) -> Option<String> {
        self.session.receiver().map(str::to_owned)
    }

    fn take_crash(&mut self) -> Option<String> {
        self.crash.take()
    }

    fn requests(&mut self) -> Vec<Entry> {
        self.ledger.entries().into_iter().filter(|entry| self.taken.insert(entry.seq)).collect()
    }

    fn console(&mut self) -> Vec<ConsoleMessage> {
        self.session.take_console()
    }

    async fn order(&mut self) -> Result<Vec<String>, EnvironmentError> {
        match self.session.take_order().await {
            Err(error @ browser::Error::Gone { .. }) => {
                Err(EnvironmentError::while_doing("read the order of events")(error))
            }
            // It is for people, and no part of what is played.
            Err(error) => {
                tracing::warn!(%error, "the order of events of a step is lost");
                Ok(Vec::new())
            }
            order => Ok(order.unwrap_or_default()),
        }
    }

    fn keep_network(&mut self, keep: bool) {
        self.keeps_network = keep;
    }

    fn network(&mut self) -> Option<Vec<Exchange>> {
        self.network.as_ref().map(|network| network.take())
    }

    async fn probe(&mut self, question: ProbeQuestion<'_>) -> Result<Value, EnvironmentError> {
        self.sites.probe(question).await
    }

    async fn decide(
        &mut self,
        program: &ProgramCheck,
        answer: Option<&str>,
    ) -> Result<Result<Decision, Undecided>, EnvironmentError> {
        let gateway = self.shared.gateway(self.routes.clone()).await?;
        let world = ProgramContext {
            url: &self.url,
            answer,
            gateway: &gateway,
            certificate: self.shared.authority.certificate_pem(),
        };
        let decided = self.shared.confinement.decide(program, &world).await;
        gateway.shutdown().await;
        Ok(decided)
    }

    async fn fetch(
        &mut self,
        request: &Fetch,
    ) -> Result<Result<FetchResponse, String>, EnvironmentError> {
        let Fetch { method, url, headers, body } = request;
        let read = || {
            let method =
                Method::from_bytes(method.as_bytes()).map_err(|error| error.to_string())?;
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                let value = HeaderValue::from_str(value).map_err(|error| error.to_string())?;
                let name = HeaderName::try_from(*name).map_err(|error| error.to_string())?;
                map.insert(name, value);
            }
            Ok((method, map))
        };
        // The rule's own mistake, which it gets as text. The world is not broken.
        let (method, headers) = match read() {
            Ok(read) => read,
            Err(why) => return Ok(Err(why)),
        };
        let answer = self.gateway.fetch(method, url, headers, body.clone().into()).await;
        let response = |answer: gateway::FetchedResponse| FetchResponse {
            status: answer.status.as_u16(),
            body: answer.body.to_vec(),
        };
        Ok(answer.map(response).map_err(|error| format!("failed to {error}")))
    }

    fn api_client(&mut self, site: &str) -> Result<ApiClient, EnvironmentError> {
        self.sites.api_client(site)
    }

    async fn storage_state(&mut self) -> Result<StorageState, EnvironmentError> {
        self.session
            .storage_state()
            .await
            .map_err(EnvironmentError::while_doing("read what pages keep"))
    }

    async fn check(&mut self) -> Result<(), EnvironmentError> {
        self.failed_reads.check()?;
        self.sites.check().await?;
        self.session.check().map_err(EnvironmentError::while_doing("keep the browser"))
    }

    async fn hand_back(&mut self) -> Result<(), EnvironmentError> {
        self.leave().await?;
        self.fresh = true;
        Ok(())
    }

    async fn close(mut self) {
        self.shared.ask_again(&self.gateway).await;
        self.sites.end().await;
        if let Err(error) = self.session.close().await {
            tracing::warn!(%error, "the browser did not end in good order");
        }
        self.gateway.shutdown().await;
    }
}
