//! The failures of agents that end an episode early, and earlier attempts at it.

use agents::Fault;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{EpisodeRecord, Outcome};

/// A failure of the agent that ends an episode. Such an episode is lost: an agent could cause each
/// of these at will, and would otherwise have as many attempts as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentFailure {
    /// The agent gave no reply in time.
    Late,
    /// The agent ended, or closed the connection, instead of replying.
    Left,
    /// The agent's reply is no answer.
    Unreadable,
    /// The agent's reply is too long.
    TooLong,
    /// The agent asks for something that the run does not provide.
    Unsupported,
    /// A page hung after the agent's actions.
    PageHung,
    /// The browser failed after the agent's actions.
    BrowserFailed,
    /// The scorer has no score for the agent's actions.
    NotScored,
    /// Scoring the agent's actions took too long.
    ScoringTooLong,
    /// The replies of a recorded episode that ended by its agent's doing.
    Recorded,
}

impl From<Fault> for AgentFailure {
    fn from(fault: Fault) -> AgentFailure {
        match fault {
            Fault::Late => AgentFailure::Late,
            Fault::Left => AgentFailure::Left,
            Fault::Unreadable => AgentFailure::Unreadable,
            Fault::TooLong => AgentFailure::TooLong,
            Fault::Unsupported => AgentFailure::Unsupported,
            Fault::Recorded => AgentFailure::Recorded,
        }
    }
}

impl AgentFailure {
    /// Whether the episode was played to its end and lacks only the score.
    pub fn is_of_scoring(self) -> bool {
        matches!(self, AgentFailure::NotScored | AgentFailure::ScoringTooLong)
    }
}

/// An attempt at an episode that a later attempt has replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierAttempt {
    /// When it began.
    pub started: Timestamp,
    /// Number of actions.
    pub steps: u32,
    /// The reason why it was tried again.
    pub reason: String,
}

impl EarlierAttempt {
    /// All attempts up to this one, which is about to be replaced.
    pub fn up_to(record: &EpisodeRecord) -> Vec<EarlierAttempt> {
        let reason = match &record.outcome {
            Outcome::Error { message } | Outcome::AgentFailed { message, .. } => message.clone(),
            other => other.kind().to_owned(),
        };
        let last = EarlierAttempt { started: record.started, steps: record.steps, reason };
        record.earlier.iter().cloned().chain([last]).collect()
    }
}
