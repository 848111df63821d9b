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
//! The process leads its own process group, so that an interrupt at the terminal reaches the run
//! first. Where it is confined ([`processes::confine`]), everything that it started ends with it;
//! otherwise what has stayed in its group.

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
use observation::ObservationOptions;
use processes::Variable;
use processes::confine::Confined;
pub use protocol::VERSION;
use protocol::{Message, ObservationMessage};
use transport::Transport;

use crate::{ActionFormat, Agent, BeginOptions, Error, Goal, NextReply, Reply, View};

/// Maximum size of an answer (a line or body) in bytes.
const LINE_LIMIT: usize = 1 << 20;
/// How long an agent may take to exit after the episode ends or its output closes.
const LEAVE_WITHIN: Duration = Duration::from_secs(2);

/// The address or command of an external agent.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// A program to start for the episode.
    Command {
        /// Command line for `sh -c`.
        line: String,
        /// The file for the program's standard error.
        stderr: PathBuf,
        /// Environment variables besides [`processes::minimal`].
        variables: Vec<Variable>,
        /// How it is kept from what it must not see. Absent where it runs as the user.
        confined: Option<Box<Confined>>,
    },
    /// A running server.
    Server(Address),
}

/// The settings of an external agent.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its address or command.
    pub contact: Endpoint,
    /// The format of its actions.
    pub speech: ActionFormat,
    /// Time limit of the handshake, including the program's start.
    pub hello_within: Duration,
    /// Time limit of an answer.
    pub answer_within: Duration,
}

impl Settings {
    /// The settings of a program, with its command line and a file for its standard error.
    pub fn new(command: impl Into<String>, stderr: impl Into<PathBuf>) -> Settings {
        let (line, stderr, variables, confined) = (command.into(), stderr.into(), Vec::new(), None);
        Settings::to(Endpoint::Command { line, stderr, variables, confined })
    }

    /// Defaults: one BrowserGym action in each reply, 30 s for the handshake, 120 s for an answer.
    pub fn to(contact: Endpoint) -> Settings {
        Settings {
            contact,
            speech: ActionFormat::default(),
            hello_within: Duration::from_secs(30),
            answer_within: Duration::from_secs(120),
        }
    }
}

/// An external agent. A program starts when the episode begins.
#[derive(Debug)]
pub struct Program {
    settings: Settings,
    transport: Option<Transport>,
    name: Option<String>,
    options: ObservationOptions,
}

impl Program {
    /// Creates the agent. It starts nothing yet.
    pub fn new(settings: Settings) -> Program {
        Program { settings, transport: None, name: None, options: ObservationOptions::default() }
    }

    /// The name that the agent gave in the handshake.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Connects to the agent and sends the task. The agent says which observation formats it wants.
    async fn greet(&mut self, goal: &Goal) -> Result<(), Error> {
        let mut transport = Transport::open(&self.settings.contact)?;
        let greeted = self.exchange_greetings(&mut transport, goal).await;
        self.keep(transport, greeted.is_ok());
        greeted
    }

    async fn exchange_greetings(
        &mut self,
        transport: &mut Transport,
        goal: &Goal,
    ) -> Result<(), Error> {
        let ActionFormat { dialect, multiaction } = self.settings.speech;
        let sandbox = env!("CARGO_PKG_VERSION");
        let hello = Message::Hello { protocol: VERSION, sandbox, dialect, multiaction };
        let line = transport.ask(&hello, self.settings.hello_within).await?;
        let protocol::Greeting { name, options } = protocol::read_hello(&transport.who(), &line)?;
        self.name = name;
        self.options = options;
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
        // Taken out until it has answered: a process that failed or was cancelled once is not used
        // again.
        let Some(mut transport) = self.transport.take() else { unreachable!("it was greeted") };
        let observation =
            Message::Observation(Box::new(ObservationMessage::new(view, &self.options)));
        let answered = transport.ask(&observation, self.settings.answer_within).await;
        let format = self.settings.speech;
        let reply =
            answered.and_then(|line| protocol::read_answer(&transport.who(), &line, format));
        self.keep(transport, reply.is_ok());
        reply
    }

    /// Keeps the connection to the agent if it still works.
    fn keep(&mut self, transport: Transport, is_well: bool) {
        self.transport = Some(transport).filter(|transport| is_well || transport.outlives_errors());
    }
}

impl Agent for Program {
    fn begin<'a>(&'a mut self, goal: &'a Goal) -> BeginOptions<'a> {
        Box::pin(async {
            self.greet(goal).await?;
            Ok(self.options.clone())
        })
    }

    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        Box::pin(self.answer(goal, view))
    }

    fn end<'a>(&'a mut self, outcome: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            if let Some(transport) = self.transport.take() {
                transport.leave(outcome).await;
            }
        })
    }
}
