//! The trait [`Environment`], which an episode drives: a browser in a world. It is a trait so that
//! whole runs can be tested without Chromium.

use std::future::Future;

use actions::Action;
use browser::{
    ActionError, ActionTarget, ConsoleMessage, Observation, ObservationOptions, ScreenshotOptions,
    StorageState,
};
use gateway::Entry;
use scoring::{Decision, Fetch, FetchResponse, ProbeQuestion, ProgramCheck, Undecided};
use serde_json::Value;
use sites::ApiClient;
use snapshots::Exchange;
use tasks::Task;

/// A failure of the world or the browser. It ends the episode; the next one gets a new environment.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {source}")]
pub struct EnvironmentError {
    /// The action that failed, such as `start the browser`.
    pub doing: &'static str,
    /// The cause.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl EnvironmentError {
    /// For `map_err`: wraps the error of this action.
    pub fn while_doing<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        doing: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |source| EnvironmentError { doing, source: source.into() }
    }

    /// The browser's error, if the browser broke.
    pub(crate) fn browser_error(&self) -> Option<&browser::Error> {
        if let Some(ActionError::Browser(error)) = self.source.downcast_ref() {
            return Some(error);
        }
        self.source.downcast_ref()
    }

    /// Makes an error of evidence that is there, but that a rule cannot read.
    pub(crate) fn of_evidence(doing: &'static str, why: String) -> Self {
        EnvironmentError::while_doing(doing)(UnreadableEvidence(why))
    }

    /// Returns whether a rule found its evidence but could not read it. An agent's actions can be
    /// the cause.
    pub(crate) fn is_of_evidence(&self) -> bool {
        self.source.is::<UnreadableEvidence>()
            || matches!(self.source.downcast_ref(), Some(sites::Error::ProbeAnswer { .. }))
    }

    /// Whether the browser or a page broke, and neither a site nor a disk.
    pub(crate) fn is_of_browser(&self) -> bool {
        self.browser_error().is_some() || self.source.is::<ActionError>()
    }
}

/// The reason why a rule cannot read its evidence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UnreadableEvidence(String);

/// The reason why an action was not performed.
#[derive(Debug)]
pub enum NotActed {
    /// The page does not allow it: no such element, hidden, disabled. The agent gets the message,
    /// and the episode goes on.
    Refused(String),
    /// The environment broke.
    Broken(EnvironmentError),
}

/// One worker's browser and world. Used for one episode after another.
pub trait Environment: Send + Sized + 'static {
    /// Makes everything pristine and opens the task's start page. Returns when the page has
    /// settled.
    fn begin(&mut self, task: &Task) -> impl Future<Output = Result<(), EnvironmentError>> + Send;

    /// Returns the value of a script that runs in the page's own context, as JSON, or the
    /// exception.
    fn evaluate(
        &mut self,
        script: &str,
    ) -> impl Future<Output = Result<Result<Value, String>, EnvironmentError>> + Send;

    /// Observes the page in the agent's format.
    fn observe(
        &mut self,
        options: &ObservationOptions,
    ) -> impl Future<Output = Result<Observation, EnvironmentError>> + Send;

    /// Takes a screenshot with the agent's options, as PNG.
    fn screenshot(
        &mut self,
        picture: &ScreenshotOptions,
    ) -> impl Future<Output = Result<Vec<u8>, EnvironmentError>> + Send;

    /// Draws the page as for a screenshot of the view, without the screenshot.
    fn render_frame(&mut self) -> impl Future<Output = Result<(), EnvironmentError>> + Send;

    /// Performs an action. Returns the element that it was about, if any. Answers and reports of
    /// infeasibility are never passed here.
    fn act(
        &mut self,
        action: &Action,
    ) -> impl Future<Output = Result<Option<ActionTarget>, NotActed>> + Send;

    /// Waits until the page has settled. Returns the reason if it has not in time.
    fn settle(&mut self) -> impl Future<Output = Result<Option<String>, EnvironmentError>> + Send;

    /// Returns the element that received the last action, if that is known.
    fn receiver(&self) -> Option<String> {
        None
    }

    /// Returns why a page crashed since the last call. An empty page has replaced it.
    fn take_crash(&mut self) -> Option<String> {
        None
    }

    /// Reads the state of a site, as it is now.
    fn probe(
        &mut self,
        question: ProbeQuestion<'_>,
    ) -> impl Future<Output = Result<Value, EnvironmentError>> + Send;

    /// Runs a scorer's program and returns its decision. The program reaches the episode's sites
    /// and gets the agent's answer.
    fn decide(
        &mut self,
        program: &ProgramCheck,
        answer: Option<&str>,
    ) -> impl Future<Output = Result<Result<Decision, Undecided>, EnvironmentError>> + Send;

    /// Sends a request to a server of the world, but not from the browser.
    fn fetch(
        &mut self,
        request: &Fetch,
    ) -> impl Future<Output = Result<Result<FetchResponse, String>, EnvironmentError>> + Send;

    /// Calls a site of the episode as its account `admin`.
    fn api_client(&mut self, site: &str) -> Result<ApiClient, EnvironmentError>;

    /// The requests since the last call or the beginning of the episode, in order of arrival.
    fn requests(&mut self) -> Vec<Entry>;

    /// The console messages of pages since the last call or the beginning of the episode.
    fn console(&mut self) -> Vec<ConsoleMessage> {
        Vec::new()
    }

    /// Returns the events in the pages since the last call or the beginning of the episode, a line
    /// an event, if they are kept.
    fn order(&mut self) -> impl Future<Output = Result<Vec<String>, EnvironmentError>> + Send {
        std::future::ready(Ok(Vec::new()))
    }

    /// Keeps the traffic from the next episode on, or stops keeping it.
    fn keep_network(&mut self, keep: bool);

    /// Returns the traffic since the last call or the beginning of the episode, in the order of the
    /// requests. None if it is not kept.
    fn network(&mut self) -> Option<Vec<Exchange>>;

    /// Returns cookies and storage of the pages. The open page is left for that.
    fn storage_state(
        &mut self,
    ) -> impl Future<Output = Result<StorageState, EnvironmentError>> + Send;

    /// Checks that everything the episode depends on was there to its end. A lost site or snapshot
    /// looks to the agent like any other page, or like none.
    fn check(&mut self) -> impl Future<Output = Result<(), EnvironmentError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Hands back the episode's resources that others may wait for. After that only
    /// [`begin`](Self::begin) may be called.
    fn hand_back(&mut self) -> impl Future<Output = Result<(), EnvironmentError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Ends the environment. A failure here cannot change a result, and is not reported.
    fn close(self) -> impl Future<Output = ()> + Send;
}
