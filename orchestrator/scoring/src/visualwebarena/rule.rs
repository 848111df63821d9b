//! VisualWebArena's `eval` as the rule of a task.

use serde::{Deserialize, Serialize};

use super::Evaluation;
use crate::judge::Question;
use crate::webarena::{Ending, PageEvidence};
use crate::{Conduct, Evidence, Moment, Rule, Score, ScoreError, Source};

/// What it remembers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// What was read of pages in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageEvidence>,
}

impl Rule for Evaluation {
    type State = State;
    const SOURCE: Source = Source::Pages;

    fn start(&self) -> State {
        State::default()
    }

    async fn collect<E: Evidence>(
        &self,
        state: &mut State,
        moment: Moment,
        _: &Conduct,
        evidence: &mut E,
    ) -> Result<bool, E::Error> {
        if moment == Moment::End {
            state.pages = Some(self.read(evidence).await?);
        }
        Ok(false)
    }

    fn accept_pages(&self, state: &mut State, pages: &PageEvidence) {
        state.pages = Some(pages.clone());
    }

    fn is_complete(&self, state: &State) -> bool {
        state.pages.is_some()
    }

    fn questions(&self, state: &State, conduct: &Conduct) -> Vec<Question> {
        state.pages.as_ref().map(|pages| self.open_questions(Ending::new(conduct, pages))).unwrap_or_default()
    }

    fn score(&self, state: &State, conduct: &Conduct) -> Result<Score, ScoreError> {
        match &state.pages {
            Some(pages) => self.score_ending(Ending::new(conduct, pages)),
            None => Ok(Score::broken_off()),
        }
    }
}
