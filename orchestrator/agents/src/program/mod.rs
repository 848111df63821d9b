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

mod http;
mod lines;
mod process;
mod protocol;
pub mod schema;
mod transport;

use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

pub use http::{Address, AddressError};
pub use protocol::VERSION;
use protocol::{Message, ObservationMessage};
use transport::Transport;

use browser::Look;
use processes::Variable;

use crate::{ActionFormat, Agent, Error, FirstLook, Goal, NextReply, Reply, View};

/// The most that is read of one answer, a line or a body.
const LINE_LIMIT: usize = 1 << 20;
/// How long an agent may take to leave after it was told that the episode is over, or after it closed its output.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

/// Where an agent is found.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// A program that is started for the episode.
    Command {
        /// Command line for `sh -c`.
        line: String,
        /// File that takes the program's standard error.
        stderr: PathBuf,
        /// What it sees of the environment besides [`processes::minimal`].
        variables: Vec<Variable>,
    },
    /// A server that is there already.
    Server(Address),
}

/// How an external agent is spoken to.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it is.
    pub contact: Endpoint,
    /// How it is to write its actions.
    pub speech: ActionFormat,
    /// How long the handshake may take, the program's own start included.
    pub hello_within: Duration,
    /// How long an answer may take.
    pub answer_within: Duration,
}

impl Settings {
    /// A command line and a file for its standard error; the rest as in [`Settings::to`].
    pub fn new(command: impl Into<String>, stderr: impl Into<PathBuf>) -> Settings {
        let (line, stderr, variables) = (command.into(), stderr.into(), Vec::new());
        Settings::to(Endpoint::Command { line, stderr, variables })
    }

    /// One action a reply, in BrowserGym's notation; 30 s for the handshake, 120 s for an answer.
    pub fn to(contact: Endpoint) -> Settings {
        Settings {
            contact,
            speech: ActionFormat::default(),
            hello_within: Duration::from_secs(30),
            answer_within: Duration::from_secs(120),
        }
    }
}

/// An external agent. A program is started when the episode begins.
#[derive(Debug)]
pub struct Program {
    settings: Settings,
    transport: Option<Transport>,
    name: Option<String>,
    look: Look,
}

impl Program {
    /// Starts nothing yet.
    pub fn new(settings: Settings) -> Program {
        Program { settings, transport: None, name: None, look: Look::default() }
    }

    /// The name that the agent gave itself.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Finds the agent and tells it the task; it says what it wants to see.
    async fn greet(&mut self, goal: &Goal) -> Result<(), Error> {
        let mut transport = Transport::open(&self.settings.contact)?;
        let greeted = self.exchange_greetings(&mut transport, goal).await;
        self.keep(transport, greeted.is_ok());
        greeted
    }

    async fn exchange_greetings(&mut self, transport: &mut Transport, goal: &Goal) -> Result<(), Error> {
        let ActionFormat { dialect, multiaction } = self.settings.speech;
        let sandbox = env!("CARGO_PKG_VERSION");
        let hello = Message::Hello { protocol: VERSION, sandbox, dialect, multiaction };
        let line = transport.ask(&hello, self.settings.hello_within).await?;
        let protocol::Greeting { name, look } = protocol::read_hello(&transport.who(), &line)?;
        self.name = name;
        self.look = look;
        let task = Message::Task {
            task: &goal.task,
            goal: &goal.text,
            images: &goal.images,
            start_url: goal.start_url.as_deref(),
            max_steps: goal.max_steps,
        };
        transport.tell(&task, self.settings.answer_within).await
    }

    async fn answer(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        if self.transport.is_none() {
            self.greet(goal).await?;
        }
        // Taken until it has answered: a process that has failed once is not asked again, also where this is given up half-way.
        let Some(mut transport) = self.transport.take() else { unreachable!("it was greeted") };
        let observation = Message::Observation(Box::new(ObservationMessage::new(view, &self.look)));
        let answered = transport.ask(&observation, self.settings.answer_within).await;
        let reply = answered.and_then(|line| protocol::read_answer(&transport.who(), &line));
        self.keep(transport, reply.is_ok());
        reply
    }

    /// Keeps the way to the agent, if it is still one.
    fn keep(&mut self, transport: Transport, is_well: bool) {
        self.transport = Some(transport).filter(|transport| is_well || transport.outlives_errors());
    }
}

impl Agent for Program {
    fn begin<'a>(&'a mut self, goal: &'a Goal) -> FirstLook<'a> {
        Box::pin(async {
            self.greet(goal).await?;
            Ok(self.look.clone())
        })
    }

    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        Box::pin(self.answer(goal, view))
    }

    fn speech(&self) -> ActionFormat {
        self.settings.speech
    }

    fn end<'a>(&'a mut self, outcome: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            if let Some(transport) = self.transport.take() {
                transport.leave(outcome).await;
            }
        })
    }
}
