//! What an episode is worth, with a judge's help where it takes one.

use parking_lot::Mutex;

use models::{Chat, Message, Model, Role, Sampling};
use scoring::judge::{Judge, Prompt, ask};
use scoring::{Score, ScoreError, ScoreState, Scorer};

use crate::results::{EpisodeRecord, ModelUsage, Outcome};

/// What an episode has come to.
pub(crate) struct ScoredEpisode {
    pub(crate) outcome: Outcome,
    /// Nothing where a judge has to decide and has not.
    pub(crate) score: Option<f64>,
    pub(crate) detail: Option<Score>,
    /// Why the judge has not.
    pub(crate) unjudged: Option<String>,
    /// There is a judge, and asking it failed.
    pub(crate) judge_failed: bool,
    /// What the judge took.
    pub(crate) judging: Option<ModelUsage>,
}

impl ScoredEpisode {
    /// Makes it what the record says.
    pub(crate) fn put_into(self, record: &mut EpisodeRecord) {
        record.outcome = self.outcome;
        record.score = self.score;
        record.success = self.detail.as_ref().is_some_and(|score| score.success);
        record.detail = self.detail;
        record.unjudged = self.unjudged;
        record.judge_failed = self.judge_failed;
        record.judging = ModelUsage::sum(record.judging.take().into_iter().chain(self.judging));
    }
}

/// Scores an episode with this goal that ended so. What the judge rules becomes part of the state.
pub(crate) async fn scored(
    scorer: &Scorer,
    state: &mut ScoreState,
    goal: &str,
    outcome: Outcome,
    model: &Model,
) -> ScoredEpisode {
    let judging: Mutex<Option<ModelUsage>> = Mutex::default();
    let scored = |outcome, score, detail| {
        let judging = judging.lock().clone();
        ScoredEpisode { outcome, score, detail, unjudged: None, judge_failed: false, judging }
    };
    if matches!(outcome, Outcome::Error { .. }) {
        return scored(outcome, Some(0.0), None);
    }
    let why = judge(scorer, state, goal, &JudgeModel { model, spent: &judging }).await;
    match scorer.score(state) {
        Ok(score) => scored(outcome, Some(score.value), Some(score)),
        Err(ScoreError::NeedsJudge) => {
            let unclear = || Some("the judge's reply says neither yes nor no".to_owned());
            // Where nobody can be asked it waits for somebody.
            let judge_failed =
                why.as_ref().is_some_and(|why| !matches!(why, models::Error::NotRecorded { .. }));
            let why = why.map(|error| format!("failed to {error}"));
            ScoredEpisode { unjudged: why.or_else(unclear), judge_failed, ..scored(outcome, None, None) }
        }
        // Whoever ruled on it, nobody could tell.
        Err(error @ ScoreError::FromTheStart) => {
            ScoredEpisode { unjudged: Some(error.to_string()), ..scored(outcome, None, None) }
        }
        Err(error) => {
            scored(Outcome::Error { message: format!("failed to score: {error}") }, Some(0.0), None)
        }
    }
}

struct JudgeModel<'a> {
    model: &'a Model,
    spent: &'a Mutex<Option<ModelUsage>>,
}

impl JudgeModel<'_> {
    fn add(&self, one: ModelUsage) {
        let mut spent = self.spent.lock();
        *spent = ModelUsage::sum(spent.take().into_iter().chain([one]));
    }
}

impl Judge for JudgeModel<'_> {
    type Error = models::Error;

    async fn reply(&self, prompt: &Prompt, attempt: u32) -> Result<String, models::Error> {
        let Prompt { text, picture, temperature, max_tokens } = prompt.clone();
        let words = Message::text(Role::User, text);
        let message = match picture {
            Some(picture) => words.with_image(picture),
            None => words,
        };
        let published =
            Sampling { temperature: Some(temperature), max_tokens: Some(max_tokens), ..Sampling::default() };
        let sampling = self.model.sampling.clone().or(published);
        let chat = Chat { messages: vec![message], sampling, attempt, repeat: 0 };
        let said = match self.model.ask(&chat).await {
            Ok(said) => said,
            Err(error) => {
                if !matches!(error, models::Error::NotRecorded { .. }) {
                    let cost = self.model.price.map(|_| 0.0);
                    let one = ModelUsage::one(self.model.name.as_deref(), models::Usage::default(), None);
                    self.add(ModelUsage { failed: 1, cost, ..one });
                }
                return Err(error);
            }
        };
        let usage = said.reply.usage;
        let one = ModelUsage {
            recorded: u64::from(said.recorded),
            cost: self.model.price.map(|price| price.of(usage)),
            ..ModelUsage::one(said.model.as_deref(), usage, said.reply.fault)
        };
        self.add(one);
        Ok(said.reply.words().to_owned())
    }
}

/// Has everything ruled on that the score waits for. Gives the reason where that cannot be done.
async fn judge(
    scorer: &Scorer,
    state: &mut ScoreState,
    goal: &str,
    judge: &JudgeModel<'_>,
) -> Option<models::Error> {
    for question in scorer.questions_to_judge(state) {
        match ask(judge, goal, &question).await {
            Ok(judgement) => scorer.judged(state, &judgement),
            Err(error) => return Some(error),
        }
    }
    None
}
