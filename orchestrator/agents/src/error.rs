//! The errors of agents.

use std::time::Duration;

use crate::quoted::quoted;

/// Why an agent gave no reply. It ends the episode but never the run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The page lacks the element that the oracle's step names.
    #[error("find {role} {name:?}{} for oracle step {step} on {url}{}", which(.nth), closest(.near))]
    ElementMissing {
        /// The number of the oracle step, from 1.
        step: usize,
        /// The role of the element.
        role: String,
        /// The accessible name of the element.
        name: String,
        /// Which of several such elements, from 0.
        nth: usize,
        /// The URL of the page.
        url: String,
        /// The names of elements with this role on the page.
        near: Vec<String>,
    },
    /// The oracle's action failed in the browser: the solution does not fit the page.
    #[error("perform oracle step {step}: {message}")]
    OracleFailed {
        /// Number of the oracle step, from 1.
        step: usize,
        /// Why the action failed.
        message: String,
    },
    /// The task lacks the steps that the agent plays.
    #[error(
        "play the {what} of the task {task}: it has none; write its steps under `{what}`, or choose another agent"
    )]
    NothingToPlay {
        /// The key in the task's file.
        what: &'static str,
        /// The task.
        task: String,
    },
    /// The program did not start.
    #[error("start the agent program `{command}`: {source}")]
    Start {
        /// The command line.
        command: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file for the program's standard error cannot be created.
    #[error("create {path} for the agent program's standard error: {source}")]
    Stderr {
        /// The path of the file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The agent did not answer in time.
    #[error("get an answer to `{message_type}` from {who} within {} s", .after.as_secs_f64())]
    Timeout {
        /// The type of the message.
        message_type: &'static str,
        /// The program or server.
        who: String,
        /// The time limit.
        after: Duration,
    },
    /// The program exited or closed its output instead of answering.
    #[error("get an answer to `{message_type}` from the agent program: it {how}{}", quoted("its standard error ends with", .stderr))]
    Left {
        /// The type of the message.
        message_type: &'static str,
        /// How it exited.
        how: String,
        /// The last lines of its standard error.
        stderr: String,
    },
    /// The agent wrote something that is not an answer.
    #[error("understand {who}'s answer to `{message_type}`: {why}; it wrote {excerpt:?}")]
    Garbage {
        /// The type of the message.
        message_type: &'static str,
        /// The program or server.
        who: String,
        /// What is wrong with the answer.
        why: String,
        /// The beginning of the answer.
        excerpt: String,
    },
    /// The agent's answer is too long.
    #[error("read {who}'s answer to `{message_type}`: the {what} is longer than {limit} bytes")]
    Oversized {
        /// The type of the message.
        message_type: &'static str,
        /// The program or server.
        who: String,
        /// `line` or `body`.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// The agent uses another version of the protocol.
    #[error("agree on a protocol with {who}: it speaks version {theirs}, this is version {ours}")]
    Protocol {
        /// The program or server.
        who: String,
        /// The agent's version.
        theirs: u64,
        /// The version of this program.
        ours: u64,
    },
    /// Reading or writing the pipes failed.
    #[error("exchange `{message_type}` with the agent program: {source}")]
    Pipe {
        /// The type of the message.
        message_type: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The agent's server cannot be reached, or closed the connection.
    #[error(
        "send `{message_type}` to the agent at {address}: {reason}; check that it runs and that this is its address"
    )]
    Unreachable {
        /// The type of the message.
        message_type: &'static str,
        /// The agent's address.
        address: String,
        /// What went wrong.
        reason: String,
        /// Whether the agent could be reached before in this episode.
        connected: bool,
    },
    /// The agent's server answered with an error status.
    #[error("get an answer to `{message_type}` from the agent at {address}: the status is {status} instead of 200{}", quoted("it said", .excerpt))]
    Refused {
        /// The type of the message.
        message_type: &'static str,
        /// The agent's address.
        address: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of the answer.
        excerpt: String,
    },
    /// The client that steps the episode sent no action in time.
    #[error("get an action from the client within {} s: it sent none, so the episode was ended", .after.as_secs_f64())]
    ClientSilent {
        /// The time limit.
        after: Duration,
    },
    /// The client that steps the episode disconnected.
    #[error("show the page to the client: it disconnected, so the episode was ended")]
    ClientLeft,
    /// The episode whose replies are given again ended here in an error.
    #[error("go on: the recorded episode ended here, as it {message}")]
    Recorded {
        /// The error of the recorded episode.
        message: String,
        /// Whether the recorded agent caused it.
        by_agent: bool,
    },
    /// The agent's model gave no reply.
    #[error("ask the agent's model: {0}")]
    Model(#[from] llm_client::Error),
    /// A prompt template cannot be filled in.
    #[error("fill in the prompt {name}: {reason}")]
    Prompt {
        /// The name of the template.
        name: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// A prompt is too long for the model, even with the page cut.
    #[error(
        "fit the prompt {name} into the model's context: even without the page it has {tokens} tokens; choose a model with a longer context, or set `max_prompt_tokens` of `model` and reduce `examples`, `history` or `tries`"
    )]
    PromptTooLong {
        /// The name of the template.
        name: String,
        /// Tokens of the text, by our count.
        tokens: usize,
    },
    /// An image for a prompt cannot be read.
    #[error("read the image {path} for a prompt: {source}")]
    Picture {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
}

/// An agent's own mistake, as the cause of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It gave no reply in time.
    Late,
    /// It ended, or closed the connection, instead of replying.
    Left,
    /// It replied with something that is no answer.
    Unreadable,
    /// Its reply is too long.
    TooLong,
    /// It wants what this run does not have.
    Unsupported,
    /// A recorded agent whose episode ended by its own doing.
    Recorded,
}

impl Error {
    /// Returns the agent's mistake, if its replies, or their absence, are the cause. Every other
    /// error has a cause that no reply can have: a program that does not start, a full disk, a
    /// model's server, a setting.
    ///
    /// There is no wildcard here: who adds an error decides whether an agent can cause it at will.
    /// If it can, the episode is lost. It is never played again as a failure of the machine.
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Error::Timeout { .. } | Error::ClientSilent { .. } => Some(Fault::Late),
            Error::Left { .. } | Error::Pipe { .. } | Error::ClientLeft => Some(Fault::Left),
            // A server that was never reached has seen nothing of the task.
            Error::Unreachable { connected, .. } => connected.then_some(Fault::Left),
            Error::Garbage { .. } | Error::Refused { .. } => Some(Fault::Unreadable),
            Error::Oversized { .. } => Some(Fault::TooLong),
            Error::Protocol { .. } => Some(Fault::Unsupported),
            Error::Recorded { by_agent, .. } => by_agent.then_some(Fault::Recorded),
            Error::ElementMissing { .. }
            | Error::OracleFailed { .. }
            | Error::NothingToPlay { .. }
            | Error::Start { .. }
            | Error::Stderr { .. }
            | Error::Model(_)
            | Error::Prompt { .. }
            | Error::PromptTooLong { .. }
            | Error::Picture { .. } => None,
        }
    }
}

fn which(nth: &usize) -> String {
    match nth {
        0 => String::new(),
        nth => format!(" (number {})", nth + 1),
    }
}

fn closest(near: &[String]) -> String {
    match near {
        [] => "; it has none of that role".to_owned(),
        names => format!(
            "; it has {}",
            names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
        ),
    }
}
