//! A check of WARC-Bench as the rule of a task.

use serde::{Deserialize, Serialize};

use super::{Check, Ending};
use crate::evidence::PageEvidence;
use crate::{AgentRecord, Evidence, EvidenceKind, Moment, Rule, Score, ScoreError, ScoringMode};

/// The state of the rule.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// The values that were read from the active page in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageEvidence>,
    /// The values that were read from the start page, where the rules look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<PageEvidence>,
}

impl Rule for Check {
    type State = State;
    const SOURCE: EvidenceKind = EvidenceKind::Pages;

    fn forgeable(&self) -> Vec<&'static str> {
        self.reads_pages().then_some(self.eval_type()).into_iter().collect()
    }

    async fn collect<E: Evidence>(
        &self,
        state: &mut State,
        moment: Moment,
        conduct: &AgentRecord,
        evidence: &mut E,
    ) -> Result<bool, E::Error> {
        if !self.reads_pages() {
            return Ok(false);
        }
        match moment {
            // Published rules never look at it.
            Moment::Start if conduct.mode == ScoringMode::Fixed => {
                state.before = Some(self.read(evidence, conduct.mode).await?);
            }
            Moment::Start | Moment::Settled => {}
            Moment::End => state.pages = Some(self.read(evidence, conduct.mode).await?),
        }
        Ok(false)
    }

    fn accept_pages(&self, state: &mut State, pages: &PageEvidence) {
        if self.reads_pages() {
            state.pages = Some(pages.clone());
        }
    }

    fn is_complete(&self, state: &State) -> bool {
        state.pages.is_some() || !self.reads_pages()
    }

    fn score(&self, state: &State, conduct: &AgentRecord) -> Result<Score, ScoreError> {
        self.score_ending(&Ending {
            answer: conduct.answer.as_deref().unwrap_or_default(),
            found: state.pages.as_ref(),
            before: state.before.as_ref(),
            mode: conduct.mode,
        })
    }
}
