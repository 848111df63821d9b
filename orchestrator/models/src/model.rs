//! A model that is asked once and remembered.

use std::sync::Arc;

use crate::{Cassette, Chat, Client, Error, Reply};

/// Who answers chats. Clones share cassette and connections.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// What it is called by its server; where none is named, a cassette answers for whichever it has.
    pub name: Option<String>,
    /// Asked first, and added to.
    pub cassette: Option<Arc<Cassette>>,
    /// Asked for what the cassette does not have. Without a name it never is.
    pub client: Option<Client>,
}

impl Model {
    /// The reply to a chat.
    ///
    /// # Errors
    /// [`Error::NotRecorded`] where nobody can be asked; otherwise as [`Client::ask`], and when the reply cannot be recorded.
    pub async fn ask(&self, chat: &Chat) -> Result<Reply, Error> {
        let recorded = self.cassette.as_ref().and_then(|cassette| cassette.find(self.name.as_deref(), chat));
        if let Some(reply) = recorded {
            return Ok(reply);
        }
        let (Some(client), Some(name)) = (&self.client, &self.name) else {
            let cassette = self.cassette.as_ref().map(|cassette| cassette.path().to_owned());
            return Err(Error::NotRecorded { digest: chat.digest(), cassette });
        };
        let reply = client.ask(name, chat).await?;
        match &self.cassette {
            Some(cassette) => cassette.add(name, chat, reply),
            None => Ok(reply),
        }
    }
}
