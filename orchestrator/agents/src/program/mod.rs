#![doc = include_str!("../../PROTOCOL.md")]
//!
//! # Life of the process
//!
//! ```text
//! start -> hello sent -> hello read -> task sent -> (observation -> answer)* -> end sent -> left
//!             |              |                          |                           |
//!             +--------------+------ an error ----------+---> killed <-- too slow --+
//! ```
//!
//! The process leads a group of its own, so that killing it takes along whatever it started, and so that an interrupt typed at the terminal
//! reaches the run first.

mod lines;
mod process;
mod protocol;

use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use process::Process;
pub use protocol::VERSION;
use protocol::{Message, Seen};

use browser::Look;

use crate::{Agent, Error, FirstLook, Goal, NextReply, Reply, Speech, View};

/// How an external program is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Command line for `sh -c`.
    pub command: String,
    /// File that takes the program's standard error.
    pub stderr: PathBuf,
    /// How the program is to write its actions.
    pub speech: Speech,
    /// How long the handshake may take, the program's own start included.
    pub hello_within: Duration,
    /// How long an answer may take.
    pub answer_within: Duration,
}

impl Settings {
    /// One action a reply, in BrowserGym's notation; 30 s for the handshake, 120 s for an answer.
    pub fn new(command: impl Into<String>, stderr: impl Into<PathBuf>) -> Settings {
        Settings {
            command: command.into(),
            stderr: stderr.into(),
            speech: Speech::default(),
            hello_within: Duration::from_secs(30),
            answer_within: Duration::from_secs(120),
        }
    }
}

/// An external program as an agent. It is started when the episode begins.
#[derive(Debug)]
pub struct Program {
    settings: Settings,
    process: Option<Process>,
    name: Option<String>,
    look: Look,
}

impl Program {
    /// Starts nothing yet.
    pub fn new(settings: Settings) -> Program {
        Program { settings, process: None, name: None, look: Look::default() }
    }

    /// The name that the program gave itself.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Starts the program and tells it the task; it says what it wants to see.
    async fn greet(&mut self, goal: &Goal) -> Result<Process, Error> {
        let mut process = Process::start(&self.settings.command, &self.settings.stderr)?;
        let Speech { dialect, multiaction } = self.settings.speech;
        let sandbox = env!("CARGO_PKG_VERSION");
        let hello = Message::Hello { protocol: VERSION, sandbox, dialect, multiaction };
        let line = process.ask(&hello, self.settings.hello_within).await?;
        let protocol::Greeting { name, look } = protocol::read_hello(&line)?;
        self.name = name;
        self.look = look;
        let task = Message::Task {
            task: &goal.task,
            goal: &goal.text,
            images: &goal.images,
            start_url: goal.start_url.as_deref(),
            max_steps: goal.max_steps,
        };
        process.tell(&task, self.settings.answer_within).await?;
        Ok(process)
    }

    async fn answer(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        // Taken until it has answered: a process that has failed once is not asked again.
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.greet(goal).await?,
        };
        let observation = Message::Observation(Box::new(Seen::new(view, &self.look)));
        let line = process.ask(&observation, self.settings.answer_within).await?;
        let reply = protocol::read_answer(&line)?;
        self.process = Some(process);
        Ok(reply)
    }
}

impl Agent for Program {
    fn begin<'a>(&'a mut self, goal: &'a Goal) -> FirstLook<'a> {
        Box::pin(async {
            self.process = Some(self.greet(goal).await?);
            Ok(self.look.clone())
        })
    }

    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        Box::pin(self.answer(goal, view))
    }

    fn speech(&self) -> Speech {
        self.settings.speech
    }

    fn end<'a>(&'a mut self, outcome: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            if let Some(process) = self.process.take() {
                process.leave(outcome).await;
            }
        })
    }
}
