//! A model that is asked once and remembered.

use std::sync::Arc;

use crate::{Cassette, Chat, Client, Error, Price, Reply};

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
}

/// A reply, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What the model said, now or then.
    pub reply: Reply,
    /// It was in the cassette: nobody was asked.
    pub recorded: bool,
}

impl Model {
    /// The reply to a chat.
    ///
    /// # Errors
    /// [`Error::NotRecorded`] where nobody can be asked; otherwise as [`Client::ask`], and when the reply cannot be recorded.
    pub async fn ask(&self, chat: &Chat) -> Result<Said, Error> {
        let recorded = self.cassette.as_ref().and_then(|cassette| cassette.find(self.name.as_deref(), chat));
        if let Some(reply) = recorded {
            return Ok(Said { reply, recorded: true });
        }
        let (Some(client), Some(name)) = (&self.client, &self.name) else {
            return Err(self.missed(chat));
        };
        let reply = client.ask(name, chat).await?;
        let reply = match &self.cassette {
            Some(cassette) => cassette.add(name, chat, reply)?,
            None => reply,
        };
        Ok(Said { reply, recorded: false })
    }

    fn missed(&self, chat: &Chat) -> Error {
        let cassette = self.cassette.as_ref();
        let nearest = cassette.and_then(|cassette| cassette.nearest(self.name.as_deref(), chat));
        let cassette = cassette.map(|cassette| cassette.path().to_owned());
        Error::NotRecorded { digest: chat.digest(), cassette, nearest }
    }
}
