//! The one trait of this crate and what goes in and out of it.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use browser::Observation;

use crate::Error;

/// What the agent is to achieve. The same for every step of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// Id of the task.
    pub task: String,
    /// The goal in words.
    pub text: String,
    /// The page the episode starts on, if the task names one.
    pub start_url: Option<String>,
    /// Actions allowed.
    pub max_steps: u32,
}

/// What the agent sees before it acts.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Number of the action asked for; the first is 1.
    pub step: u32,
    /// The page.
    pub observation: &'a Observation,
    /// Why the previous action failed, if it did.
    pub last_action_error: Option<&'a str>,
    /// The page as a PNG file.
    pub screenshot: Option<&'a Path>,
}

/// What the agent wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Perform this action, written as BrowserGym writes it. The text is kept as the agent gave it: if it cannot be read, that is the agent's
    /// failed step and not a failed episode.
    Act {
        /// For example `click('12')`.
        action: String,
        /// Why, in the agent's words.
        reason: Option<String>,
    },
    /// End the episode here, without an answer.
    Stop {
        /// Why, in the agent's words.
        reason: Option<String>,
    },
}

/// A reply on its way.
pub type NextReply<'a> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send + 'a>>;

/// One agent in one episode.
pub trait Agent: Send {
    /// The next action for what is seen now.
    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a>;

    /// The episode is over; `outcome` is the word for how. Nothing that goes wrong here can change a result, hence no error.
    fn end<'a>(&'a mut self, outcome: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let _ = outcome;
        Box::pin(std::future::ready(()))
    }
}
