//! A model with a cassette: a recorded chat is never sent to the server again.

use std::sync::Arc;

use crate::{Cassette, Chat, Client, Error, Fault, Message, Price, Reply, Role, Sampling};

/// The chat that tests the connection.
const GREETING: &str = "Reply with OK.";
/// Maximum length of the reply to it. Some servers refuse smaller values.
const GREETING_TOKENS: u32 = 16;

/// A language model: a cassette, a server, or both. Clones share cassette and connections.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The model's name at its server. Without a name the cassette answers for any model.
    pub name: Option<String>,
    /// Looked up first; new replies are added to it.
    pub cassette: Option<Arc<Cassette>>,
    /// The server for chats that the cassette lacks. Not used without a name.
    pub client: Option<Client>,
    /// The price of its tokens, if known.
    pub price: Option<Price>,
    /// Sampling settings of a judge that replace those published with its benchmark.
    pub sampling: Sampling,
}

/// A reply and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelReply {
    /// The model's reply.
    pub reply: Reply,
    /// Whether it came from the cassette, without a request.
    pub recorded: bool,
    /// The model's name at its server.
    pub model: Option<String>,
}

impl Model {
    /// Gets the reply to a chat. The error that a prompt is too long is recorded like a reply,
    /// because agents then send a shorter prompt.
    ///
    /// # Errors
    /// [`Error::NotRecorded`] if the cassette lacks the chat and there is no server to call.
    /// Otherwise as [`Client::ask`], or when the reply cannot be recorded.
    pub async fn ask(&self, chat: &Chat) -> Result<ModelReply, Error> {
        let recorded =
            self.cassette.as_ref().and_then(|cassette| cassette.find(self.name.as_deref(), chat));
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

    /// Sends a short test chat, so that a wrong key, address or name shows up before work is lost.
    /// Sends nothing if the cassette has replies of the model or there is no server. The reply is
    /// not recorded.
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

/// Turns a recorded "prompt too long" back into its error.
fn taken(reply: Reply) -> Result<Reply, Error> {
    match reply.fault {
        Some(Fault::TooLong) => {
            Err(Error::too_long("the model's server", reply.refusal.unwrap_or_default()))
        }
        _ => Ok(reply),
    }
}
