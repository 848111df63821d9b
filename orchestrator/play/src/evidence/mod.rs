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

use actions::Action;
use scoring::evidence::Session;
use scoring::{
    Decision, Evidence, Fetch, FetchResponse, Pages, ProbeQuestion, ProgramCheck, Requirement,
    Undecided,
};
use serde_json::Value;

use crate::environment::{Environment, EnvironmentError, NotActed};
use crate::evidence::servicenow::ServiceNow;
use crate::evidence::workarena_session::WorkArenaSession;

/// The evidence of an episode, as the trait `Evidence` of rules.
pub(crate) struct EpisodeEvidence<'a, E> {
    pub(crate) environment: &'a mut E,
    pub(crate) session: &'a WorkArenaSession,
    /// The traffic until the agent ended, as HAR.
    pub(crate) traffic: Option<&'a [u8]>,
    /// The last message of the agent that was no answer.
    pub(crate) last_message: Option<&'a str>,
    /// The requirements that the task has declared beforehand.
    pub(crate) requirements: &'a [Requirement<'a>],
}

/// Refuses a requirement that the task has not declared: nobody has agreed to it, and no digest or
/// pack has it.
fn check_told(told: &[Requirement<'_>], wanted: Requirement<'_>) -> Result<(), EnvironmentError> {
    if told.contains(&wanted) {
        return Ok(());
    }
    let why = format!("its rule does not require it: {wanted:?}");
    Err(EnvironmentError::while_doing("collect evidence")(why))
}

impl<E: Environment> EpisodeEvidence<'_, E> {
    /// Performs an action and lets the page settle. A refusal by the page is no error.
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
        check_told(self.requirements, Requirement::Probe(question))?;
        self.environment.probe(question).await
    }

    async fn decide(
        &mut self,
        program: &ProgramCheck,
        answer: Option<&str>,
    ) -> Result<Result<Decision, Undecided>, EnvironmentError> {
        check_told(self.requirements, Requirement::Program(program))?;
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use scoring::Scorer;

    use super::*;

    #[test]
    fn only_what_the_task_has_told_is_asked_for() {
        let scorer = r#"{"all": [{"program": ["verify", "a"]}, {"equals": "x"}]}"#;
        let scorer: Scorer = serde_json::from_str(scorer).unwrap();
        let told = scorer.requirements();
        let of = |words: &str| serde_json::from_str::<ProgramCheck>(words).unwrap();
        let (known, other) = (of(r#"["verify", "a"]"#), of(r#"["verify", "b"]"#));
        assert!(check_told(&told, Requirement::Program(&known)).is_ok());
        assert!(check_told(&told, Requirement::Program(&other)).is_err());
        assert!(check_told(&[], Requirement::Program(&known)).is_err());
    }
}
