//! A form of TurkingBench as the rule of a task.

use serde::{Deserialize, Serialize};

use super::{Form, FormValues};
use crate::plain::ask;
use crate::{AgentRecord, Evidence, EvidenceKind, Moment, Rule, Score, ScoreError};

/// The state of the rule.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// The contents of the fields in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<FormValues>,
}

impl Rule for Form {
    type State = State;
    const SOURCE: EvidenceKind = EvidenceKind::Form;

    fn forgeable(&self) -> Vec<&'static str> {
        vec!["turkingbench"]
    }

    async fn collect<E: Evidence>(
        &self,
        state: &mut State,
        moment: Moment,
        _: &AgentRecord,
        evidence: &mut E,
    ) -> Result<bool, E::Error> {
        match moment {
            Moment::Start => Ok(false),
            Moment::Settled => Ok(ask(Form::is_sent(), evidence).await?.is_done()),
            Moment::End => {
                state.form = Some(self.read(evidence).await?);
                Ok(false)
            }
        }
    }

    fn is_complete(&self, state: &State) -> bool {
        state.form.is_some()
    }

    fn score(&self, state: &State, conduct: &AgentRecord) -> Result<Score, ScoreError> {
        match &state.form {
            Some(values) => self.score_values(values, conduct.mode),
            None => Ok(Score::broken_off()),
        }
    }
}
