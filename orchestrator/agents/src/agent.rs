//! The [`Agent`] trait, its inputs and its replies.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use actions::{Action, Dialect, ParseError};
use observation::{Observation, ObservationOptions};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Call, Error};

/// The goal of an episode. It is the same in every step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// The id of the task.
    pub task: String,
    /// The goal as text.
    pub text: String,
    /// Images that belong to the goal.
    pub images: Vec<GoalImage>,
    /// The page where the episode starts, if the task names one.
    pub start_url: Option<String>,
    /// Maximum number of actions.
    pub max_steps: u32,
}

/// An image that belongs to a goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GoalImage {
    /// Its URL in the world.
    pub url: String,
    /// The path of its file.
    pub path: PathBuf,
}

/// The observation of an agent before it acts.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The number of the next action, from 1.
    pub step: u32,
    /// The observation of the page.
    pub observation: &'a Observation,
    /// The conversation so far. It begins with the goal.
    pub chat: &'a [Utterance],
    /// Why the previous action failed, if it did.
    pub last_action_error: Option<&'a str>,
    /// The path of a PNG screenshot of the page.
    pub screenshot: Option<&'a Path>,
}

/// A message in the episode's conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Utterance {
    /// Its author.
    pub role: Role,
    /// Its text.
    pub text: String,
}

/// A participant of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user who set the goal.
    User,
    /// The agent.
    Assistant,
}

/// An agent's answer to an observation.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Performs actions, in order. If there is none that can be read, the step fails but the
    /// episode continues.
    Act {
        /// At least one.
        actions: Result<Vec<Action>, ParseError>,
        /// The text that is kept. It is as a program or a model wrote it, so it may have more than
        /// the actions. An action that nobody wrote is in BrowserGym's notation.
        text: String,
        /// The agent's reason.
        reason: Option<String>,
    },
    /// Ends the episode without an answer.
    Stop {
        /// The agent's reason.
        reason: Option<String>,
    },
}

impl Reply {
    /// Performs an action that nobody has written, in [`ActionFormat::UNWRITTEN`].
    pub fn act(action: Action, reason: Option<String>) -> Reply {
        Reply::Act { text: action.to_string(), actions: Ok(vec![action]), reason }
    }
}

/// How an agent writes its actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ActionFormat {
    /// The action dialect.
    pub dialect: Dialect,
    /// Whether a reply may contain several actions.
    pub multiaction: bool,
}

impl ActionFormat {
    /// The format of actions that nobody has written: see [`Reply::act`].
    pub const UNWRITTEN: ActionFormat =
        ActionFormat { dialect: Dialect::BrowserGym, multiaction: false };

    /// Parses the actions of a reply, in order. There is at least one.
    pub fn read(self, text: &str) -> Result<Vec<Action>, ParseError> {
        if self.multiaction {
            self.dialect.read(text)
        } else {
            Ok(vec![self.dialect.read_one(text)?])
        }
    }

    /// The reply of an agent that wrote this text.
    pub fn read_reply(self, text: String, reason: Option<String>) -> Reply {
        Reply::Act { actions: self.read(&text), text, reason }
    }
}

/// The future of [`Agent::begin`]: the observation formats that the agent wants.
pub type BeginOptions<'a> =
    Pin<Box<dyn Future<Output = Result<ObservationOptions, Error>> + Send + 'a>>;

/// The future of [`Agent::next`].
pub type NextReply<'a> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send + 'a>>;

/// An agent in one episode.
pub trait Agent: Send {
    /// Begins the episode and returns the observation formats that the agent wants.
    fn begin<'a>(&'a mut self, goal: &'a Goal) -> BeginOptions<'a> {
        let _ = goal;
        Box::pin(std::future::ready(Ok(ObservationOptions::default())))
    }

    /// Returns the next action for the current view.
    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a>;

    /// Returns the model calls since the last time and clears the list.
    fn take_calls(&mut self) -> Vec<Call> {
        Vec::new()
    }

    /// Whether its replies come from this program or from the task's file. Then nobody chooses them
    /// for a better score, and a browser that breaks is the machine's fault.
    fn is_built_in(&self) -> bool {
        false
    }

    /// Ends the episode with its `outcome`. Returns no error, because the result is already final.
    fn end<'a>(&'a mut self, outcome: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        let _ = outcome;
        Box::pin(std::future::ready(()))
    }
}
