//! The one trait of this crate and what goes in and out of it.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use browser::{Action, Dialect, Look, Observation, ParseError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Call, Error};

/// What the agent is to achieve. The same for every step of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// Id of the task.
    pub task: String,
    /// The goal in words.
    pub text: String,
    /// Pictures that belong to it.
    pub images: Vec<GoalImage>,
    /// The page the episode starts on, if the task names one.
    pub start_url: Option<String>,
    /// Actions allowed.
    pub max_steps: u32,
}

/// A picture that belongs to a goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GoalImage {
    /// Its address in the world.
    pub url: String,
    /// Its file.
    pub path: PathBuf,
}

/// What the agent sees before it acts.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Number of the action asked for; the first is 1.
    pub step: u32,
    /// The page.
    pub observation: &'a Observation,
    /// The conversation so far; the goal is its beginning.
    pub chat: &'a [Utterance],
    /// Why the previous action failed, if it did.
    pub last_action_error: Option<&'a str>,
    /// The page as a PNG file.
    pub screenshot: Option<&'a Path>,
}

/// Something that was said in the episode's conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Utterance {
    /// By whom.
    pub role: Role,
    /// The words.
    pub text: String,
}

/// Who takes part in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Whoever wants something done.
    User,
    /// The agent.
    Assistant,
}

/// What the agent wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Perform this action, in the notation that the agent speaks. The text is kept as the agent gave it: if it cannot be read, that is the
    /// agent's failed step and not a failed episode.
    Act {
        /// For example `click('12')`; or a model's words around it, where the notation says how it is found in them.
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

/// How an agent writes its actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ActionFormat {
    /// The notation.
    pub dialect: Dialect,
    /// A reply may hold several actions.
    pub multiaction: bool,
}

impl ActionFormat {
    /// The actions of a reply, in their order; never none.
    pub fn read(self, text: &str) -> Result<Vec<Action>, ParseError> {
        if self.multiaction { self.dialect.read(text) } else { Ok(vec![self.dialect.read_one(text)?]) }
    }
}

/// How an agent wants to see pages, on its way.
pub type FirstLook<'a> = Pin<Box<dyn Future<Output = Result<Look, Error>> + Send + 'a>>;

/// A reply on its way.
pub type NextReply<'a> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send + 'a>>;

/// One agent in one episode.
pub trait Agent: Send {
    /// The episode begins; says how the agent wants to see its pages.
    fn begin<'a>(&'a mut self, goal: &'a Goal) -> FirstLook<'a> {
        let _ = goal;
        Box::pin(std::future::ready(Ok(Look::default())))
    }

    /// The next action for what is seen now.
    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a>;

    /// How the last reply is written.
    fn speech(&self) -> ActionFormat {
        ActionFormat::default()
    }

    /// What models have been asked since this was called last.
    fn take_calls(&mut self) -> Vec<Call> {
        Vec::new()
    }

    /// The episode is over; `outcome` is the word for how. Nothing that goes wrong here can change a result, hence no error.
    fn end<'a>(&'a mut self, outcome: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let _ = outcome;
        Box::pin(std::future::ready(()))
    }
}
