//! What an episode is worth, with a judge's help where it takes one.

use std::sync::{Mutex, PoisonError};

use models::{Chat, Message, Model, Role, Sampling};
use tasks::scoring::judge::{Judge, Prompt, ask};
use tasks::{Score, ScoreError, ScoreState, Scorer};

use crate::results::{EpisodeRecord, Outcome, Spent};

/// What an episode has come to.
pub(crate) struct Scored {
    pub(crate) outcome: Outcome,
    /// Nothing where a judge has to decide and has not.
    pub(crate) score: Option<f64>,
    pub(crate) detail: Option<Score>,
    /// Why the judge has not.
    pub(crate) unjudged: Option<String>,
    /// What the judge took.
    pub(crate) judging: Option<Spent>,
}

impl Scored {
    /// Makes it what the record says.
    pub(crate) fn put_into(self, record: &mut EpisodeRecord) {
        record.outcome = self.outcome;
        record.score = self.score;
        record.success = self.detail.as_ref().is_some_and(|score| score.success);
        record.detail = self.detail;
        record.unjudged = self.unjudged;
        record.judging = Spent::sum(record.judging.into_iter().chain(self.judging));
    }
}

/// Scores an episode with this goal that ended so. What the judge rules becomes part of the state.
pub(crate) async fn scored(
    scorer: &Scorer,
    state: &mut ScoreState,
    goal: &str,
    outcome: Outcome,
    model: &Model,
) -> Scored {
    let judging = Mutex::default();
    let scored = |outcome, score, detail| {
        let judging = *judging.lock().unwrap_or_else(PoisonError::into_inner);
        Scored { outcome, score, detail, unjudged: None, judging }
    };
    if matches!(outcome, Outcome::Error { .. }) {
        return scored(outcome, Some(0.0), None);
    }
    let why = judge(scorer, state, goal, &Asked { model, spent: &judging }).await;
    match scorer.score(state) {
        Ok(score) => scored(outcome, Some(score.value), Some(score)),
        Err(ScoreError::NeedsJudge) => {
            let unclear = || Some("the judge's reply says neither yes nor no".to_owned());
            Scored { unjudged: why.or_else(unclear), ..scored(outcome, None, None) }
        }
        // Whoever ruled on it, nobody could tell.
        Err(error @ ScoreError::FromTheStart) => {
            Scored { unjudged: Some(error.to_string()), ..scored(outcome, None, None) }
        }
        Err(error) => {
            scored(Outcome::Error { message: format!("failed to score: {error}") }, Some(0.0), None)
        }
    }
}

struct Asked<'a> {
    model: &'a Model,
    spent: &'a Mutex<Option<Spent>>,
}

impl Judge for Asked<'_> {
    type Error = models::Error;

    async fn reply(&self, prompt: &Prompt, attempt: u32) -> Result<String, models::Error> {
        let Prompt { text, picture, temperature, max_tokens } = prompt.clone();
        let words = Message::text(Role::User, text);
        let message = match picture {
            Some(picture) => words.with_image(picture),
            None => words,
        };
        let sampling =
            Sampling { temperature: Some(temperature), max_tokens: Some(max_tokens), ..Sampling::default() };
        let chat = Chat { messages: vec![message], sampling, attempt, repeat: 0 };
        let said = self.model.ask(&chat).await?;
        let usage = said.reply.usage;
        let one = Spent {
            calls: 1,
            recorded: u64::from(said.recorded),
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            cost: self.model.price.map(|price| price.of(usage)),
        };
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        *spent = Spent::sum(spent.into_iter().chain([one]));
        Ok(said.reply.text)
    }
}

/// Has everything ruled on that the score waits for. Gives the reason where that cannot be done.
async fn judge(scorer: &Scorer, state: &mut ScoreState, goal: &str, judge: &Asked<'_>) -> Option<String> {
    for question in scorer.questions_to_judge(state) {
        match ask(judge, goal, &question).await {
            Ok(judgement) => scorer.judged(state, &judgement),
            Err(error) => return Some(format!("failed to {error}")),
        }
    }
    None
}
