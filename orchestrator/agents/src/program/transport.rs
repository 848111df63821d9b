//! How messages get to an agent: through the pipes of a process, or as requests to a server.

use std::time::Duration;

use super::http::Caller;
use super::process::Process;
use super::protocol::Message;
use super::{Endpoint, LEAVE_WITHIN};
use crate::Error;

/// The way to one agent in one episode.
#[derive(Debug)]
pub(super) enum Transport {
    Process(Process),
    Http(Caller),
}

impl Transport {
    /// Starts a program; a server is there already.
    pub(super) fn open(contact: &Endpoint) -> Result<Transport, Error> {
        Ok(match contact {
            Endpoint::Command { line, stderr, variables } => {
                Transport::Process(Process::start(line, stderr, variables)?)
            }
            Endpoint::Server(address) => Transport::Http(Caller::new(address.clone())),
        })
    }

    /// What is at the other end, in words for errors.
    pub(super) fn who(&self) -> String {
        match self {
            Transport::Process(process) => process.who(),
            Transport::Http(caller) => caller.who(),
        }
    }

    /// Whether it can be used after something has gone wrong. A program that answers out of turn, or late, cannot be told from one that answers.
    pub(super) fn outlives_errors(&self) -> bool {
        matches!(self, Transport::Http(_))
    }

    /// Sends a message that takes no answer.
    pub(super) async fn tell(&mut self, message: &Message<'_>, within: Duration) -> Result<(), Error> {
        match self {
            Transport::Process(process) => process.tell(message, within).await,
            Transport::Http(caller) => caller.ask(message, within).await.map(drop),
        }
    }

    /// Sends a message; gives what answers it.
    pub(super) async fn ask(&mut self, message: &Message<'_>, within: Duration) -> Result<Vec<u8>, Error> {
        match self {
            Transport::Process(process) => process.ask(message, within).await,
            Transport::Http(caller) => caller.ask(message, within).await,
        }
    }

    /// Says that the episode is over.
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
