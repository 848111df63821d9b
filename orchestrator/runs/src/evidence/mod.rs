//! The evidence of an episode: what rules ask of its environment.
//!
//! ```text
//! mod                 pages and servers, probes of sites, the captured traffic
//! programs            running a scorer's program, and keeping it from the network
//! servicenow          the tables of a ServiceNow instance, over HTTP
//! workarena_session   a task of WorkArena on such an instance: set up, looked at, torn down
//! judge               a language model that rules on what rules leave open
//! ```

pub(crate) mod judge;
pub(crate) mod programs;
pub(crate) mod servicenow;
pub(crate) mod workarena_session;

use browser::Action;
use scoring::evidence::Session;
use scoring::{
    Decision, Evidence, Fetch, FetchResponse, Pages, ProbeQuestion, ProgramCheck, Undecided,
};
use serde_json::Value;

use crate::evidence::servicenow::ServiceNow;
use crate::evidence::workarena_session::WorkArenaSession;
use crate::play::environment::{Environment, EnvironmentError, NotActed};

/// What an episode's rules may ask.
pub(crate) struct EpisodeEvidence<'a, E> {
    pub(crate) environment: &'a mut E,
    pub(crate) session: &'a WorkArenaSession,
    /// What passed over the network until the agent ended, as HAR.
    pub(crate) traffic: Option<&'a [u8]>,
    /// What the agent said last that was no answer.
    pub(crate) last_message: Option<&'a str>,
}

impl<E: Environment> EpisodeEvidence<'_, E> {
    /// Acts and lets the page come to rest. What a page does not allow is no error.
    async fn act(&mut self, action: Action) -> Result<(), EnvironmentError> {
        match self.environment.act(&action).await {
            Ok(_) => {}
            Err(NotActed::Refused(why)) => {
                tracing::debug!(%action, why, "a page that the score depends on does not open");
            }
            Err(NotActed::Broken(error)) => return Err(error),
        }
        self.environment.settle().await.map(drop)
    }
}

impl<E: Environment> Pages for EpisodeEvidence<'_, E> {
    type Error = EnvironmentError;

    async fn open(&mut self, url: &str) -> Result<(), EnvironmentError> {
        self.act(Action::Goto { url: url.to_owned() }).await
    }

    async fn open_beside(&mut self, url: &str) -> Result<(), EnvironmentError> {
        self.act(Action::NewTab).await?;
        self.open(url).await
    }

    async fn close_beside(&mut self) -> Result<(), EnvironmentError> {
        self.act(Action::CloseTab).await
    }

    async fn evaluate(
        &mut self,
        expression: &str,
    ) -> Result<Result<Value, String>, EnvironmentError> {
        self.environment.evaluate(expression).await
    }

    async fn fetch(
        &mut self,
        request: &Fetch,
    ) -> Result<Result<FetchResponse, String>, EnvironmentError> {
        self.environment.fetch(request).await
    }
}

impl<E: Environment> Evidence for EpisodeEvidence<'_, E> {
    type Tables = ServiceNow;

    async fn probe(&mut self, question: ProbeQuestion<'_>) -> Result<Value, EnvironmentError> {
        self.environment.probe(question).await
    }

    async fn decide(
        &mut self,
        program: &ProgramCheck,
        answer: Option<&str>,
    ) -> Result<Result<Decision, Undecided>, EnvironmentError> {
        self.environment.decide(program, answer).await
    }

    fn traffic(&self) -> Option<&[u8]> {
        self.traffic
    }

    async fn servicenow(&mut self) -> Option<Session<ServiceNow>> {
        self.session.instance().await
    }

    fn last_message(&self) -> Option<&str> {
        self.last_message
    }

    fn failure(doing: &'static str, why: String) -> EnvironmentError {
        EnvironmentError::while_doing(doing)(why)
    }

    fn unreadable(doing: &'static str, why: String) -> EnvironmentError {
        EnvironmentError::of_evidence(doing, why)
    }
}
