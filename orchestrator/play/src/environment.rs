//! What an episode drives: a browser in a world. The trait stands here so that whole runs can be
//! tested without Chromium.

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

/// The world or the browser broke. Ends the episode; the next one gets a new environment.
#[derive(Debug, thiserror::Error)]
#[error("{doing}: {source}")]
pub struct EnvironmentError {
    /// What was being done, such as `start the browser`.
    pub doing: &'static str,
    /// What went wrong.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl EnvironmentError {
    /// For `map_err`: what went wrong while doing this.
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

    /// What a rule looks at is not what it can read.
    pub(crate) fn of_evidence(doing: &'static str, why: String) -> Self {
        EnvironmentError::while_doing(doing)(UnreadableEvidence(why))
    }

    /// Whether what a rule looks at is there, and not what it can read: what an agent did there can
    /// be the cause.
    pub(crate) fn is_of_evidence(&self) -> bool {
        self.source.is::<UnreadableEvidence>()
            || matches!(self.source.downcast_ref(), Some(sites::Error::ProbeAnswer { .. }))
    }

    /// Whether the browser or a page broke, and neither a site nor a disk.
    pub(crate) fn is_of_browser(&self) -> bool {
        self.browser_error().is_some() || self.source.is::<ActionError>()
    }
}

/// What a rule cannot read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UnreadableEvidence(String);

/// Why an action was not performed.
#[derive(Debug)]
pub enum NotActed {
    /// The page does not allow it: no such element, hidden, disabled. The agent is told and goes
    /// on.
    Refused(String),
    /// The environment broke.
    Broken(EnvironmentError),
}

/// One worker's browser and world. Used for one episode after another.
pub trait Environment: Send + Sized + 'static {
    /// Makes everything pristine and opens the task's start page; comes back when the page has
    /// settled.
    fn begin(&mut self, task: &Task) -> impl Future<Output = Result<(), EnvironmentError>> + Send;

    /// The value of a script that is run among the page's own, as JSON; or what it threw.
    fn evaluate(
        &mut self,
        script: &str,
    ) -> impl Future<Output = Result<Result<Value, String>, EnvironmentError>> + Send;

    /// The page as the agent wants to see it.
    fn observe(
        &mut self,
        options: &ObservationOptions,
    ) -> impl Future<Output = Result<Observation, EnvironmentError>> + Send;

    /// The page as a PNG, taken as the agent wants it.
    fn screenshot(
        &mut self,
        picture: &ScreenshotOptions,
    ) -> impl Future<Output = Result<Vec<u8>, EnvironmentError>> + Send;

    /// Draws the page as for a screenshot of the view, without the screenshot.
    fn render_frame(&mut self) -> impl Future<Output = Result<(), EnvironmentError>> + Send;

    /// Performs an action; gives the element it was about, if it was about one. Neither an answer
    /// nor a report of infeasibility ever comes here.
    fn act(
        &mut self,
        action: &Action,
    ) -> impl Future<Output = Result<Option<ActionTarget>, NotActed>> + Send;

    /// Waits until the page has come to rest; says why if it did not in time.
    fn settle(&mut self) -> impl Future<Output = Result<Option<String>, EnvironmentError>> + Send;

    /// What received the last action, if that is known.
    fn receiver(&self) -> Option<String> {
        None
    }

    /// Why a page crashed since the last call, which an empty one has replaced.
    fn take_crash(&mut self) -> Option<String> {
        None
    }

    /// The answer to a question about the state of a site, as it is now.
    fn probe(
        &mut self,
        question: ProbeQuestion<'_>,
    ) -> impl Future<Output = Result<Value, EnvironmentError>> + Send;

    /// What a scorer's program decides, which reaches the episode's sites and is told what the
    /// agent answered; or why it has not.
    fn decide(
        &mut self,
        program: &ProgramCheck,
        answer: Option<&str>,
    ) -> impl Future<Output = Result<Result<Decision, Undecided>, EnvironmentError>> + Send;

    /// What a server of the world answers to somebody who is not the browser, or why it did not.
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

    /// What has happened in the pages since the last call or the beginning of the episode, a line
    /// an event, where that is kept.
    fn order(&mut self) -> impl Future<Output = Result<Vec<String>, EnvironmentError>> + Send {
        std::future::ready(Ok(Vec::new()))
    }

    /// Has everything that passes from the next episode's beginning on kept, or not kept.
    fn keep_network(&mut self, keep: bool);

    /// What has passed since the last call or the beginning of the episode, in the order in which
    /// it was asked; nothing where it is not kept.
    fn network(&mut self) -> Option<Vec<Exchange>>;

    /// What pages keep in the browser. The page that is open is left for it.
    fn storage_state(
        &mut self,
    ) -> impl Future<Output = Result<StorageState, EnvironmentError>> + Send;

    /// Whether all that the episode hangs on has been there to its end: what is lost on the way
    /// looks like any other page, or like none.
    fn check(&mut self) -> impl Future<Output = Result<(), EnvironmentError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Hands back what the episode had for itself and others may wait for. What is there afterwards
    /// is good for [`begin`](Self::begin) alone.
    fn hand_back(&mut self) -> impl Future<Output = Result<(), EnvironmentError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Ends it. Nothing that goes wrong here can change a result.
    fn close(self) -> impl Future<Output = ()> + Send;
}
