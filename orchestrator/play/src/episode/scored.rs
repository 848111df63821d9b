//! Scores an episode, with a judge's help if its rule needs one.

use std::time::Duration;

use llm_client::Model;
use results::{EpisodeRecord, ModelUsage, Outcome};
use scoring::{Assessment, Score, ScoreError};

use crate::episode::blame::{self, Suspect};
use crate::episode::deadline::{self, NotScored};
use crate::evidence::judge::JudgeModel;

/// The score of an episode.
pub(crate) struct ScoredEpisode {
    pub(crate) outcome: Outcome,
    /// Absent if a judge has to decide and has not.
    pub(crate) score: Option<f64>,
    pub(crate) detail: Option<Score>,
    /// The reason why the judge has given no verdict.
    pub(crate) unjudged: Option<String>,
    /// Whether there is a judge, and the call of its model failed.
    pub(crate) judge_failed: bool,
    /// The usage of the judge's model.
    pub(crate) judging: Option<ModelUsage>,
}

impl ScoredEpisode {
    /// Writes the score into the record.
    pub(crate) fn write_to(self, record: &mut EpisodeRecord) {
        record.outcome = self.outcome;
        record.score = self.score;
        record.success = self.detail.as_ref().is_some_and(|score| score.success);
        record.detail = self.detail;
        record.unjudged = self.unjudged;
        record.judge_failed = self.judge_failed;
        record.judging = ModelUsage::sum(record.judging.take().into_iter().chain(self.judging));
    }
}

/// Scores an episode with this goal and end. The judge's verdicts become part of the assessment. If
/// the agent may have caused that there is no score, it has lost.
pub(crate) async fn score_episode(
    assessment: &mut Assessment,
    goal: &str,
    outcome: Outcome,
    model: &Model,
    suspect: Suspect,
    within: Duration,
) -> ScoredEpisode {
    let judge = JudgeModel::new(model);
    let scored = |outcome, score, detail| {
        let judging = judge.usage();
        ScoredEpisode { outcome, score, detail, unjudged: None, judge_failed: false, judging }
    };
    if outcome.failure().is_some() {
        return scored(outcome, Some(0.0), None);
    }
    let judged = consult(assessment, &judge, goal, within).await;
    let (why, score) = match judged {
        Ok(why) => (why, by_deadline(assessment, within, |assessment| assessment.score()).await),
        Err(late) => (None, Err(late)),
    };
    let score = match score {
        Ok(score) => score,
        Err(why) => return scored(blame::of_no_score(&why, suspect), Some(0.0), None),
    };
    match score {
        Ok(score) => scored(outcome, Some(score.value), Some(score)),
        Err(ScoreError::NeedsJudge) => {
            let unclear = || Some("the judge's reply says neither yes nor no".to_owned());
            // Where nobody can be asked it waits for somebody.
            let judge_failed = why
                .as_ref()
                .is_some_and(|why| !matches!(why, llm_client::Error::NotRecorded { .. }));
            let why = why.map(|error| format!("failed to {error}"));
            ScoredEpisode {
                unjudged: why.or_else(unclear),
                judge_failed,
                ..scored(outcome, None, None)
            }
        }
        // Whoever ruled on it, nobody could tell.
        Err(error @ ScoreError::FromTheStart) => {
            ScoredEpisode { unjudged: Some(error.to_string()), ..scored(outcome, None, None) }
        }
        Err(error) => scored(blame::of_score_error(&error, suspect), Some(0.0), None),
    }
}

/// Asks the judge for the verdicts that the score waits for. Returns the judge's error, if it
/// fails.
async fn consult(
    assessment: &mut Assessment,
    judge: &JudgeModel<'_>,
    goal: &str,
    within: Duration,
) -> Result<Option<llm_client::Error>, NotScored> {
    for question in by_deadline(assessment, within, |assessment| assessment.questions()).await? {
        match scoring::judge::ask(judge, goal, &question).await {
            Ok(judgement) => assessment.accept(&judgement),
            Err(error) => return Ok(Some(error)),
        }
    }
    Ok(None)
}

/// Computes something from a copy of the assessment, before the deadline.
async fn by_deadline<T: Send + 'static>(
    assessment: &Assessment,
    within: Duration,
    read: impl FnOnce(&Assessment) -> T + Send + 'static,
) -> Result<T, NotScored> {
    let copy = assessment.clone();
    deadline::within(within, move || read(&copy)).await
}

#[cfg(test)]
#[path = "scored_tests.rs"]
mod tests;
