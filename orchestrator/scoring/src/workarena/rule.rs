//! A task of WorkArena as the rule of one of ours.

use serde::{Deserialize, Serialize};

use super::{Config, Failure, Verdict};
use crate::evidence::Session;
use crate::{AgentRecord, Evidence, EvidenceKind, Moment, Rule, Score, ScoreError};

/// The state of the rule.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// The last verdict on the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Verdict>,
}

impl Rule for Config {
    type State = State;
    const SOURCE: EvidenceKind = EvidenceKind::ServiceNow;

    /// The platform's checks ask the page itself.
    fn forgeable(&self) -> Vec<&'static str> {
        vec!["workarena"]
    }

    async fn collect<E: Evidence>(
        &self,
        state: &mut State,
        moment: Moment,
        conduct: &AgentRecord,
        evidence: &mut E,
    ) -> Result<bool, E::Error> {
        let was_done = state.instance.as_ref().is_some_and(|verdict| verdict.done);
        if moment == Moment::Start || (moment == Moment::End && was_done) {
            return Ok(was_done);
        }
        let Some(session) = evidence.servicenow().await else { return Ok(false) };
        let said = conduct.answer.as_deref().or(evidence.last_message()).map(str::to_owned);
        let verdict = prepare_and_validate(self, session, evidence, said.as_deref())
            .await
            .map_err(foreign::<E>)?;
        let done = verdict.done;
        state.instance = Some(verdict);
        Ok(done)
    }

    fn is_complete(&self, state: &State) -> bool {
        state.instance.is_some()
    }

    fn score(&self, state: &State, _: &AgentRecord) -> Result<Score, ScoreError> {
        state.instance.as_ref().map(Verdict::score).ok_or(ScoreError::NotLooked)
    }
}

/// Prepares the page as the published code does, and validates.
async fn prepare_and_validate<E: Evidence>(
    config: &Config,
    mut session: Session<E::Tables>,
    evidence: &mut E,
    said: Option<&str>,
) -> Result<Verdict, Failure<E::Error>> {
    config.tend(evidence).await?;
    config.validate(&session.visit, &mut session.tables, evidence, said).await
}

fn foreign<E: Evidence>(failure: Failure<E::Error>) -> E::Error {
    const DOING: &str = "look at what was done";
    match failure.foreign() {
        Ok(error) => error,
        Err(other @ Failure::SetUp(_)) => E::failure(DOING, other.to_string()),
        Err(other) => E::unreadable(DOING, other.to_string()),
    }
}
