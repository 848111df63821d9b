//! A model that is asked once and remembered.

use std::sync::Arc;

use crate::{Cassette, Chat, Client, Error, Fault, Message, Price, Reply, Role, Sampling};

/// What is said before there is something to say.
const GREETING: &str = "Reply with OK.";
/// What the reply to that may have; some servers refuse less.
const GREETING_TOKENS: u32 = 16;

/// Who answers chats. Clones share cassette and connections.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// What it is called by its server; where none is named, a cassette answers for whichever it has.
    pub name: Option<String>,
    /// Asked first, and added to.
    pub cassette: Option<Arc<Cassette>>,
    /// Asked for what the cassette does not have. Without a name it never is.
    pub client: Option<Client>,
    /// What its tokens cost, where that is known.
    pub price: Option<Price>,
    /// How a judge's words are chosen where that is to differ from what its benchmark has published.
    pub sampling: Sampling,
}

/// A reply, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelReply {
    /// What the model said, now or then.
    pub reply: Reply,
    /// It was in the cassette: nobody was asked.
    pub recorded: bool,
    /// Who said it, as a server calls it.
    pub model: Option<String>,
}

impl Model {
    /// The reply to a chat. That a model's server finds a prompt too long is remembered like a reply, as agents ask for
    /// less then.
    ///
    /// # Errors
    /// [`Error::NotRecorded`] where nobody can be asked; otherwise as [`Client::ask`], and when the reply cannot be recorded.
    pub async fn ask(&self, chat: &Chat) -> Result<ModelReply, Error> {
        let recorded = self.cassette.as_ref().and_then(|cassette| cassette.find(self.name.as_deref(), chat));
        if let Some((model, reply)) = recorded {
            return Ok(ModelReply { reply: taken(reply)?, recorded: true, model: Some(model) });
        }
        let (Some(client), Some(name)) = (&self.client, &self.name) else {
            return Err(self.missed(chat));
        };
        let reply = match client.ask(name, chat).await {
            Err(Error::TooLong { message, .. }) => {
                Reply { refusal: Some(message), fault: Some(Fault::TooLong), ..Reply::default() }
            }
            replied => replied?,
        };
        let reply = match &self.cassette {
            Some(cassette) => cassette.add(name, chat, reply)?,
            None => reply,
        };
        Ok(ModelReply { reply: taken(reply)?, recorded: false, model: Some(name.clone()) })
    }

    /// Asks its server for a word, so that a wrong key, address or name is known before there is work to lose. Asks
    /// nobody where a cassette knows the model, or there is no server; what is said is kept nowhere.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub async fn greet(&self) -> Result<(), Error> {
        let (Some(client), Some(name)) = (&self.client, &self.name) else { return Ok(()) };
        if self.cassette.as_ref().is_some_and(|cassette| cassette.knows(Some(name))) {
            return Ok(());
        }
        let sampling = Sampling { max_tokens: Some(GREETING_TOKENS), ..self.sampling.clone() };
        let messages = vec![Message::text(Role::User, GREETING)];
        client.ask(name, &Chat { messages, sampling, attempt: 0, repeat: 0 }).await.map(|_| ())
    }

    fn missed(&self, chat: &Chat) -> Error {
        let cassette = self.cassette.as_ref();
        let nearest = cassette.and_then(|cassette| cassette.nearest(self.name.as_deref(), chat));
        let cassette = cassette.map(|cassette| cassette.path().to_owned());
        Error::NotRecorded { digest: chat.digest(), cassette, nearest }
    }
}

/// A reply that is one.
fn taken(reply: Reply) -> Result<Reply, Error> {
    match reply.fault {
        Some(Fault::TooLong) => Err(Error::too_long("the model's server", reply.refusal.unwrap_or_default())),
        _ => Ok(reply),
    }
}
