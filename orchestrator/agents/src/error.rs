//! Everything that can go wrong with an agent, one variant each.

use std::time::Duration;

use crate::quoted::quoted;

/// Why an agent gave no reply. Ends the episode, never the run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The oracle's step names an element that the page does not have.
    #[error("find {role} {name:?}{} for oracle step {step} on {url}{}", which(.nth), closest(.near))]
    ElementMissing {
        /// Number of the oracle step, from 1.
        step: usize,
        /// Role looked for.
        role: String,
        /// Name looked for.
        name: String,
        /// Which of several, from 0.
        nth: usize,
        /// Page it was looked for on.
        url: String,
        /// Names of elements of that role which the page has.
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
    /// The task has nothing written down for an agent that plays what is.
    #[error(
        "play the {what} of the task {task}: it has none; write its steps under `{what}`, or choose another agent"
    )]
    NothingToPlay {
        /// The key of the task's file.
        what: &'static str,
        /// The task.
        task: String,
    },
    /// The program could not be started.
    #[error("start the agent program `{command}`: {source}")]
    Start {
        /// The command line.
        command: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file for the program's standard error could not be made.
    #[error("create {path} for the agent program's standard error: {source}")]
    Stderr {
        /// Path of the file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The agent did not answer in time.
    #[error("get an answer to `{asked}` from {who} within {} s", .after.as_secs_f64())]
    Timeout {
        /// Kind of the message sent.
        asked: &'static str,
        /// The program or the server.
        who: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The program closed its output, by leaving or otherwise, while an answer was due.
    #[error("get an answer to `{asked}` from the agent program: it {how}{}", quoted("its standard error ends with", .stderr))]
    Left {
        /// Kind of the message sent.
        asked: &'static str,
        /// How it left.
        how: String,
        /// The last lines of its standard error.
        stderr: String,
    },
    /// The agent wrote something that is not an answer.
    #[error("understand {who}'s answer to `{asked}`: {why}; it wrote {excerpt:?}")]
    Garbage {
        /// Kind of the message sent.
        asked: &'static str,
        /// The program or the server.
        who: String,
        /// What is wrong with it.
        why: String,
        /// Its beginning.
        excerpt: String,
    },
    /// The agent wrote more than is read.
    #[error("read {who}'s answer to `{asked}`: the {what} is longer than {limit} bytes")]
    Oversized {
        /// Kind of the message sent.
        asked: &'static str,
        /// The program or the server.
        who: String,
        /// A line or a body.
        what: &'static str,
        /// Bytes allowed.
        limit: usize,
    },
    /// The agent speaks another version of the protocol.
    #[error("agree on a protocol with {who}: it speaks version {theirs}, this is version {ours}")]
    Protocol {
        /// The program or the server.
        who: String,
        /// Its version.
        theirs: u64,
        /// Our version.
        ours: u64,
    },
    /// Reading or writing the pipes failed.
    #[error("exchange `{asked}` with the agent program: {source}")]
    Pipe {
        /// Kind of the message sent.
        asked: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The server of an agent could not be reached, or broke off.
    #[error(
        "send `{asked}` to the agent at {address}: {reason}; see that it runs, and that this is its address"
    )]
    Unreachable {
        /// Kind of the message sent.
        asked: &'static str,
        /// Where it was sent.
        address: String,
        /// What went wrong.
        reason: String,
    },
    /// The server of an agent answered with a status that is no success.
    #[error("get an answer to `{asked}` from the agent at {address}: its status is {status}, and it should be 200{}", quoted("it said", .excerpt))]
    Refused {
        /// Kind of the message sent.
        asked: &'static str,
        /// Where it was sent.
        address: String,
        /// The status.
        status: u16,
        /// The beginning of what it said.
        excerpt: String,
    },
    /// Whoever steps the episode from outside did nothing any more.
    #[error("get an action from the client within {} s: it sent none, so that its episode was ended", .after.as_secs_f64())]
    ClientSilent {
        /// How long it was waited for.
        after: Duration,
    },
    /// Whoever steps the episode from outside broke off while it waited.
    #[error("show the page to the client: it has gone, so that its episode was ended")]
    ClientLeft,
    /// The agent's model gave no reply.
    #[error("ask the agent's model: {0}")]
    Model(#[from] models::Error),
    /// A prompt could not be filled in.
    #[error("fill in the prompt {name}: {reason}")]
    Prompt {
        /// The prompt.
        name: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// A prompt is too long for the model, and what can be cut of it is cut.
    #[error(
        "fit the prompt {name} into the model's context: without its page it has {tokens} tokens still; name a model with a longer context, or set `max_prompt_tokens` of `model` and ask for less (`examples`, `history`, `tries`)"
    )]
    PromptTooLong {
        /// The prompt.
        name: String,
        /// Tokens of its words, as we count them.
        tokens: usize,
    },
    /// A picture for a prompt could not be read.
    #[error("read the picture {path} for a prompt: {source}")]
    Picture {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
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
