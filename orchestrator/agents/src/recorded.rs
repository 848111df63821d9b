//! An agent that gives the replies again that another agent gave in a run. It needs neither that
//! agent nor a model.

use std::collections::HashMap;

use crate::{ActionFormat, Agent, Error, Goal, NextReply, Reply, View};

/// The replies of a run's agent.
#[derive(Debug, Clone)]
pub struct RecordedReplies {
    agent: String,
    speech: ActionFormat,
    episodes: HashMap<(String, u32), RecordedEpisode>,
}

/// The replies of one episode.
#[derive(Debug, Clone, Default)]
pub struct RecordedEpisode {
    /// In order. The agent stops after the last one.
    pub replies: Vec<Reply>,
    /// The error that ended the episode. The agent then fails after its last reply.
    pub failure: Option<RecordedFailure>,
}

/// The error that ended a recorded episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFailure {
    /// Its text.
    pub message: String,
    /// Whether the agent caused it.
    pub by_agent: bool,
}

impl RecordedReplies {
    /// No replies yet, of an agent of this name whose actions have this format.
    pub fn new(agent: String, speech: ActionFormat) -> RecordedReplies {
        RecordedReplies { agent, speech, episodes: HashMap::new() }
    }

    /// Adds the replies of an episode: a task, and the number of the attempt from 1.
    pub fn add(&mut self, task: &str, repeat: u32, episode: RecordedEpisode) {
        self.episodes.insert((task.to_owned(), repeat), episode);
    }

    /// The name of the agent that gave them.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The format of its actions.
    pub fn action_format(&self) -> ActionFormat {
        self.speech
    }

    /// The agent of one episode.
    pub(crate) fn episode(&self, task: &str, repeat: u32) -> Recorded {
        let episode = self.episodes.get(&(task.to_owned(), repeat)).cloned().unwrap_or_default();
        Recorded { replies: episode.replies.into_iter(), failure: episode.failure }
    }
}

/// The agent of one episode.
#[derive(Debug)]
pub(crate) struct Recorded {
    replies: std::vec::IntoIter<Reply>,
    failure: Option<RecordedFailure>,
}

impl Agent for Recorded {
    fn next<'a>(&'a mut self, _goal: &'a Goal, _view: View<'a>) -> NextReply<'a> {
        let reply = match (self.replies.next(), self.failure.take()) {
            (Some(reply), failure) => {
                self.failure = failure;
                Ok(reply)
            }
            (None, Some(RecordedFailure { message, by_agent })) => {
                Err(Error::Recorded { message, by_agent })
            }
            (None, None) => Ok(Reply::Stop { reason: None }),
        };
        Box::pin(std::future::ready(reply))
    }
}
