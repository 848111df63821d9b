//! Asks a language model to judge criteria that rules leave open.

use llm_client::{Chat, Message, Model, Role, Sampling};
use parking_lot::Mutex;
use results::ModelUsage;
use scoring::judge::{Judge, Prompt};

/// A judge, and its usage so far.
pub(crate) struct JudgeModel<'a> {
    model: &'a Model,
    spent: Mutex<Option<ModelUsage>>,
}

impl JudgeModel<'_> {
    pub(crate) fn new(model: &Model) -> JudgeModel<'_> {
        JudgeModel { model, spent: Mutex::default() }
    }

    /// Returns its usage so far; none if it was not called.
    pub(crate) fn usage(&self) -> Option<ModelUsage> {
        self.spent.lock().clone()
    }

    fn add(&self, one: ModelUsage) {
        let mut spent = self.spent.lock();
        *spent = ModelUsage::sum(spent.take().into_iter().chain([one]));
    }
}

impl Judge for JudgeModel<'_> {
    type Error = llm_client::Error;

    async fn reply(&self, prompt: &Prompt, attempt: u32) -> Result<String, llm_client::Error> {
        let Prompt { text, picture, temperature, max_tokens } = prompt.clone();
        let words = Message::text(Role::User, text);
        let message = match picture {
            Some(picture) => words.with_image(picture),
            None => words,
        };
        let published = Sampling {
            temperature: Some(temperature),
            max_tokens: Some(max_tokens),
            ..Sampling::default()
        };
        let sampling = self.model.sampling.clone().or(published);
        let chat = Chat { messages: vec![message], sampling, attempt, repeat: 0 };
        let said = match self.model.ask(&chat).await {
            Ok(said) => said,
            Err(error) => {
                // A reply that is not in the cassette was never asked for, so there is no call to
                // count.
                if !matches!(error, llm_client::Error::NotRecorded { .. }) {
                    let cost = self.model.price.map(|_| 0.0);
                    let one = ModelUsage::one(
                        self.model.name.as_deref(),
                        llm_client::Usage::default(),
                        None,
                    );
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
