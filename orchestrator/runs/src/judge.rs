//! Models as judges: what a scorer's rules leave open is asked once the episode has ended.

use models::{Chat, Message, Model, Role};
use tasks::scoring::judge::{Judge, Prompt, ask};
use tasks::{ScoreState, Scorer};

struct Asked<'a>(&'a Model);

impl Judge for Asked<'_> {
    type Error = models::Error;

    async fn reply(&self, prompt: &Prompt, attempt: u32) -> Result<String, models::Error> {
        let Prompt { text, temperature, max_tokens } = prompt.clone();
        let chat = Chat { messages: vec![Message::text(Role::User, text)], temperature, max_tokens, attempt };
        Ok(self.0.ask(&chat).await?.text)
    }
}

/// Has everything ruled on that the score of an episode with this goal waits for. Gives the reason where that cannot be done.
pub(crate) async fn judge(
    scorer: &Scorer,
    state: &mut ScoreState,
    goal: &str,
    model: &Model,
) -> Option<String> {
    for question in scorer.questions_to_judge(state) {
        match ask(&Asked(model), goal, &question).await {
            Ok(judgement) => scorer.judged(state, &judgement),
            Err(error) => return Some(format!("failed to {error}")),
        }
    }
    None
}
