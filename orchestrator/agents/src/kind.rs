//! Which agent, as named on the command line.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use browser::Dialect;
use tasks::Task;

use crate::noop::Noop;
use crate::oracle::Oracle;
use crate::program::{Program, Settings};
use crate::{Agent, Goal, GoalImage, Speech};

/// A kind of agent; one [`Agent`] of it is made for each episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `oracle`: plays the task's own solution.
    Oracle,
    /// `mistaken`: plays what the task's author wrote down as a mistake.
    Mistaken,
    /// `noop`: does nothing.
    Noop,
    /// `program:COMMAND`: an external program.
    Program {
        /// Command line for `sh -c`.
        command: String,
    },
}

/// The text names no agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("find an agent called {0:?}; there are `oracle`, `mistaken`, `noop` and `program:COMMAND`")]
pub struct UnknownAgent(
    /// The text.
    pub String,
);

impl FromStr for Kind {
    type Err = UnknownAgent;

    fn from_str(text: &str) -> Result<Kind, UnknownAgent> {
        match text {
            "oracle" => Ok(Kind::Oracle),
            "mistaken" => Ok(Kind::Mistaken),
            "noop" => Ok(Kind::Noop),
            _ => match text.strip_prefix("program:").map(str::trim) {
                Some(command) if !command.is_empty() => Ok(Kind::Program { command: command.to_owned() }),
                Some(_) | None => Err(UnknownAgent(text.to_owned())),
            },
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Oracle => f.write_str("oracle"),
            Kind::Mistaken => f.write_str("mistaken"),
            Kind::Noop => f.write_str("noop"),
            Kind::Program { command } => write!(f, "program:{command}"),
        }
    }
}

impl Kind {
    /// One word that fits into a file name.
    pub fn slug(&self) -> &'static str {
        match self {
            Kind::Oracle => "oracle",
            Kind::Mistaken => "mistaken",
            Kind::Noop => "noop",
            Kind::Program { .. } => "program",
        }
    }

    /// The notation of its actions, if this is the one that is asked for: of a program any, of what is built in its own.
    pub fn speaks(&self, asked: Dialect) -> Dialect {
        match self {
            Kind::Oracle | Kind::Mistaken | Kind::Noop => Dialect::BrowserGym,
            Kind::Program { .. } => asked,
        }
    }

    /// An agent for one episode of the task. `stderr` is the file for what an external program says on the side.
    pub fn agent(
        &self,
        task: &Task,
        stderr: PathBuf,
        answer_within: Duration,
        speech: Speech,
    ) -> Box<dyn Agent> {
        match self {
            Kind::Oracle => Box::new(Oracle::new(task.oracle.clone())),
            Kind::Mistaken => Box::new(Oracle::new(task.mistake.clone())),
            Kind::Noop => Box::new(Noop),
            Kind::Program { command } => {
                let settings = Settings { answer_within, speech, ..Settings::new(command, stderr) };
                Box::new(Program::new(settings))
            }
        }
    }
}

impl Goal {
    /// The goal of a task, in the words of its file or of its page.
    pub fn of(task: &Task, text: String, images: Vec<GoalImage>) -> Goal {
        let (start_url, max_steps) = (task.start_url.clone(), task.max_steps);
        Goal { task: task.id.clone(), text, images, start_url, max_steps }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        for name in ["oracle", "mistaken", "noop", "program:python3 'my agent.py' --fast"] {
            assert_eq!(name.parse::<Kind>().unwrap().to_string(), name);
        }
        for bad in ["", "Oracle", "program:", "program: ", "python3 x.py"] {
            assert_eq!(bad.parse::<Kind>(), Err(UnknownAgent(bad.to_owned())));
        }
    }
}
