//! Transports of the agent protocol: the pipes of a process, or HTTP requests to a server.

use std::time::Duration;

use super::http::Caller;
use super::process::Process;
use super::protocol::Message;
use super::{Endpoint, LEAVE_WITHIN};
use crate::Error;

/// The connection to one agent in one episode.
#[derive(Debug)]
pub(super) enum Transport {
    Process(Process),
    Http(Caller),
}

impl Transport {
    /// Starts a program. A server already runs.
    pub(super) fn open(contact: &Endpoint) -> Result<Transport, Error> {
        Ok(match contact {
            Endpoint::Command { line, stderr, variables, confined } => {
                Transport::Process(Process::start(line, stderr, variables, confined.as_deref())?)
            }
            Endpoint::Server(address) => Transport::Http(Caller::new(address.clone())),
        })
    }

    /// The agent's name in errors.
    pub(super) fn who(&self) -> String {
        match self {
            Transport::Process(process) => process.who(),
            Transport::Http(caller) => caller.who(),
        }
    }

    /// Whether it works after an error. A process does not: a late answer would be taken for the
    /// next one.
    pub(super) fn outlives_errors(&self) -> bool {
        matches!(self, Transport::Http(_))
    }

    /// Sends a message that needs no answer.
    pub(super) async fn tell(
        &mut self,
        message: &Message<'_>,
        within: Duration,
    ) -> Result<(), Error> {
        match self {
            Transport::Process(process) => process.tell(message, within).await,
            Transport::Http(caller) => caller.ask(message, within).await.map(drop),
        }
    }

    /// Sends a message and returns the answer.
    pub(super) async fn ask(
        &mut self,
        message: &Message<'_>,
        within: Duration,
    ) -> Result<Vec<u8>, Error> {
        match self {
            Transport::Process(process) => process.ask(message, within).await,
            Transport::Http(caller) => caller.ask(message, within).await,
        }
    }

    /// Sends the end of the episode.
    pub(super) async fn leave(self, outcome: &str) {
        match self {
            Transport::Process(process) => process.leave(outcome).await,
            Transport::Http(mut caller) => {
                if let Err(error) = caller.ask(&Message::End { outcome }, LEAVE_WITHIN).await {
                    tracing::debug!(%error, "the agent did not hear that the episode is over");
                }
            }
        }
    }
}
