//! VisualWebArena's `eval` as the rule of a task.

use super::Evaluation;
use crate::evidence::{PageEvidence, Pages};
use crate::judge::Question;
use crate::webarena::{Ending, PageEvaluation};
use crate::{Score, ScoreError};

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
