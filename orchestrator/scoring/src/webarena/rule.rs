//! An `eval` of WebArena's family as the rule of a task.

use std::future::Future;

use serde::{Deserialize, Serialize};

use super::{Ending, Evaluation};
use crate::evidence::{PageEvidence, Pages};
use crate::judge::Question;
use crate::{AgentRecord, Evidence, EvidenceKind, Moment, Rule, Score, ScoreError};

/// An `eval` that is scored by the answer and by what pages say once the agent has ended. WebArena
/// and VisualWebArena have one each.
pub trait PageEvaluation: Sync {
    /// The evaluators that read the page which is open when the episode ends, or its address.
    fn reads_of_the_open_page(&self) -> Vec<&'static str>;

    /// Reads what it needs of pages.
    fn read_pages<P: Pages + Send>(
        &self,
        pages: &mut P,
    ) -> impl Future<Output = Result<PageEvidence, P::Error>> + Send;

    /// Returns the questions for a judge about such an ending.
    fn judge_questions(&self, ending: Ending<'_>) -> Vec<Question>;

    /// The score of such an ending.
    ///
    /// # Errors
    /// As [`Rule::score`].
    fn ending_score(&self, ending: Ending<'_>) -> Result<Score, ScoreError>;
}

impl PageEvaluation for Evaluation {
    fn reads_of_the_open_page(&self) -> Vec<&'static str> {
        self.reads_of_the_open_page()
    }

    async fn read_pages<P: Pages + Send>(&self, pages: &mut P) -> Result<PageEvidence, P::Error> {
        self.read(pages).await
    }

    fn judge_questions(&self, ending: Ending<'_>) -> Vec<Question> {
        self.open_questions(ending)
    }

    fn ending_score(&self, ending: Ending<'_>) -> Result<Score, ScoreError> {
        self.score_ending(ending)
    }
}

/// The state of such a rule.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// The pages as they were when the agent had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageEvidence>,
}

impl<T: PageEvaluation> Rule for T {
    type State = State;
    const SOURCE: EvidenceKind = EvidenceKind::Pages;

    fn forgeable(&self) -> Vec<&'static str> {
        self.reads_of_the_open_page()
    }

    async fn collect<E: Evidence>(
        &self,
        state: &mut State,
        moment: Moment,
        _: &AgentRecord,
        evidence: &mut E,
    ) -> Result<bool, E::Error> {
        if moment == Moment::End {
            state.pages = Some(self.read_pages(evidence).await?);
        }
        Ok(false)
    }

    fn accept_pages(&self, state: &mut State, pages: &PageEvidence) {
        state.pages = Some(pages.clone());
    }

    fn is_complete(&self, state: &State) -> bool {
        state.pages.is_some()
    }

    fn questions(&self, state: &State, conduct: &AgentRecord) -> Vec<Question> {
        let pages = state.pages.as_ref();
        pages.map(|pages| self.judge_questions(Ending::new(conduct, pages))).unwrap_or_default()
    }

    fn score(&self, state: &State, conduct: &AgentRecord) -> Result<Score, ScoreError> {
        match &state.pages {
            Some(pages) => self.ending_score(Ending::new(conduct, pages)),
            None => Ok(Score::broken_off()),
        }
    }
}
