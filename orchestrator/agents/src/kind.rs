//! Which agent, as named on the command line.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use browser::Dialect;
use camino::Utf8Path;
use models::Model;
use processes::Variable;
use serde_json::{Value, json};
use tasks::Task;

use crate::fallback::Fallback;
use crate::llm::{self, AgentSettings, ModelSettings, PRESETS, Settings, SettingsError, Templates};
use crate::noop::Noop;
use crate::oracle::Oracle;
use crate::program::{self, Address, AddressError, Contact, Program};
use crate::random::Random;
use crate::{Agent, Error, Goal, GoalImage, Speech};

/// Between the agents of an ensemble.
const THEN: &str = "->";

/// A kind of agent; one [`Agent`] of it is made for each episode.
#[derive(Debug, Clone)]
pub enum Kind {
    /// `oracle`: plays the task's own solution.
    Oracle,
    /// `mistaken`: plays what the task's author wrote down as a mistake.
    Mistaken,
    /// `noop`: does nothing.
    Noop,
    /// `random`: does anything.
    Random,
    /// `program:COMMAND`: an external program.
    Program {
        /// Command line for `sh -c`.
        command: String,
    },
    /// `http://HOST:PORT/PATH`: a server that speaks the protocol of programs.
    Server(Address),
    /// The name of a preset, or a file of settings: asks a language model.
    Model(Box<Asking>),
    /// `A->B`: the next where one does not answer.
    Fallback(Vec<Kind>),
}

/// An agent that asks a language model.
#[derive(Debug, Clone)]
pub struct Asking {
    /// The preset's name, or the file's.
    name: String,
    settings: Settings,
    templates: Arc<Templates>,
    model: Model,
}

/// What an agent is made for: one episode.
#[derive(Debug, Clone)]
pub struct Casting<'a> {
    /// The task.
    pub task: &'a Task,
    /// Which attempt at it, from 1.
    pub repeat: u32,
    /// The world's seed.
    pub seed: u64,
    /// The file for what an external program says on the side.
    pub stderr: PathBuf,
    /// How long an external program may think about one action.
    pub answer_within: Duration,
    /// How an external program is to write its actions.
    pub speech: Speech,
    /// What an external program sees of the environment besides what every program needs.
    pub variables: &'a [Variable],
}

/// The text names no agent.
#[derive(Debug, thiserror::Error)]
pub enum UnknownAgent {
    /// Nothing has that name.
    #[error(
        "find an agent called {0:?}{meant}; there are `oracle`, `mistaken`, `noop`, `random`, {presets}, a file of settings such as `mine.yaml`, `program:COMMAND`, `http://HOST:PORT/PATH`, and `A->B` for one after the other",
        meant = suggestions::did_you_mean(.0, names()),
        presets = PRESETS.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    Name(
        /// The text.
        String,
    ),
    /// Nothing can be asked there.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The file's settings cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

/// The names that agents have.
fn names() -> impl Iterator<Item = &'static str> {
    ["oracle", "mistaken", "noop", "random"].into_iter().chain(PRESETS.iter().map(|(name, _)| *name))
}

impl FromStr for Kind {
    type Err = UnknownAgent;

    /// Reads the file where one is named.
    fn from_str(text: &str) -> Result<Kind, UnknownAgent> {
        let unknown = || UnknownAgent::Name(text.to_owned());
        if let Some(command) = text.strip_prefix("program:").map(str::trim) {
            return if command.is_empty() {
                Err(unknown())
            } else {
                Ok(Kind::Program { command: command.to_owned() })
            };
        }
        if let Some((first, rest)) = text.split_once(THEN) {
            let mut kinds = vec![first.trim().parse()?];
            match rest.trim().parse()? {
                Kind::Fallback(others) => kinds.extend(others),
                other => kinds.push(other),
            }
            return Ok(Kind::Fallback(kinds));
        }
        if text.starts_with("http://") || text.starts_with("https://") {
            return Ok(Kind::Server(text.parse()?));
        }
        match text {
            "oracle" => return Ok(Kind::Oracle),
            "mistaken" => return Ok(Kind::Mistaken),
            "noop" => return Ok(Kind::Noop),
            "random" => return Ok(Kind::Random),
            _ => {}
        }
        let settings = if text.ends_with(".yaml") || text.ends_with(".yml") {
            Settings::read(Utf8Path::new(text))?
        } else {
            Settings::preset(text).ok_or_else(unknown)?
        };
        let templates = Templates::load(settings.templates.as_deref()).map_err(SettingsError::from)?;
        let (name, templates, model) = (text.to_owned(), Arc::new(templates), Model::default());
        Ok(Kind::Model(Box::new(Asking { name, settings, templates, model })))
    }
}

/// Whether the agent of this name acts at random, so that its repeats differ by design.
pub fn is_random(name: &str) -> bool {
    if name.starts_with("program:") {
        return false;
    }
    name.split(THEN).any(|one| one.trim() == "random")
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Oracle => f.write_str("oracle"),
            Kind::Mistaken => f.write_str("mistaken"),
            Kind::Noop => f.write_str("noop"),
            Kind::Random => f.write_str("random"),
            Kind::Program { command } => write!(f, "program:{command}"),
            Kind::Server(address) => write!(f, "{address}"),
            Kind::Model(asking) => f.write_str(&asking.name),
            Kind::Fallback(kinds) => {
                for (place, kind) in kinds.iter().enumerate() {
                    write!(f, "{}{kind}", if place == 0 { "" } else { THEN })?;
                }
                Ok(())
            }
        }
    }
}

impl Kind {
    /// A word that fits into a file name.
    pub fn slug(&self) -> String {
        match self {
            Kind::Oracle | Kind::Mistaken | Kind::Noop | Kind::Random => self.to_string(),
            Kind::Program { .. } => "program".to_owned(),
            Kind::Server(_) => "http".to_owned(),
            Kind::Model(asking) => Utf8Path::new(&asking.name).file_stem().unwrap_or("model").to_owned(),
            Kind::Fallback(kinds) => kinds.iter().map(Kind::slug).collect::<Vec<_>>().join("-"),
        }
    }

    /// How it writes its actions, if this is how it is asked to: a program as asked, what is built in its own way.
    pub fn speech(&self, asked: Speech) -> Speech {
        let speaks = |dialect| Speech { dialect, multiaction: false };
        match self {
            Kind::Oracle | Kind::Mistaken | Kind::Noop | Kind::Random => Speech::default(),
            Kind::Program { .. } | Kind::Server(_) => asked,
            Kind::Model(asking) => match &asking.settings.agent {
                AgentSettings::WebArena(_) => speaks(Dialect::WebArena),
                AgentSettings::React(_) => speaks(Dialect::WebCanvas),
                AgentSettings::Form(_) => Speech { dialect: Dialect::TurkingBench, multiaction: true },
                AgentSettings::Generic(settings) => {
                    Speech { dialect: Dialect::BrowserGym, multiaction: settings.multiaction }
                }
                AgentSettings::SeeAct(_) | AgentSettings::ClosedBook(_) | AgentSettings::Retrieval(_) => {
                    Speech::default()
                }
            },
            Kind::Fallback(kinds) => kinds.first().map_or(asked, |kind| kind.speech(asked)),
        }
    }

    /// What a task has to have written down for this agent, and has not. An ensemble goes on with
    /// the next agent instead.
    pub fn lacks(&self, task: &Task) -> Option<Error> {
        let what = match self {
            Kind::Oracle if task.oracle.is_empty() => "oracle",
            Kind::Mistaken if task.mistake.is_empty() => "mistake",
            _ => return None,
        };
        Some(Error::NothingToPlay { what, task: task.id.clone() })
    }

    /// Whether a program is started.
    pub fn starts_a_program(&self) -> bool {
        match self {
            Kind::Program { .. } => true,
            Kind::Fallback(kinds) => kinds.iter().any(Kind::starts_a_program),
            _ => false,
        }
    }

    /// Whether a language model is asked.
    pub fn asks_a_model(&self) -> bool {
        match self {
            Kind::Model(_) => true,
            Kind::Fallback(kinds) => kinds.iter().any(Kind::asks_a_model),
            _ => false,
        }
    }

    /// Has those that ask a model ask it by these settings, where they say something.
    pub fn set(&mut self, model: &ModelSettings) {
        match self {
            Kind::Model(asking) => {
                asking.settings.model = model.clone().or(&asking.settings.model);
            }
            Kind::Fallback(kinds) => kinds.iter_mut().for_each(|kind| kind.set(model)),
            _ => {}
        }
    }

    /// Gives those that ask a model one, which is made for their settings.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn connect<E>(&mut self, make: &mut impl FnMut(&ModelSettings) -> Result<Model, E>) -> Result<(), E> {
        match self {
            Kind::Model(asking) => asking.model = make(&asking.settings.model)?,
            Kind::Fallback(kinds) => {
                for kind in kinds {
                    kind.connect(make)?;
                }
            }
            Kind::Oracle
            | Kind::Mistaken
            | Kind::Noop
            | Kind::Random
            | Kind::Program { .. }
            | Kind::Server(_) => {}
        }
        Ok(())
    }

    /// The models that are asked.
    pub fn models(&self) -> Vec<&Model> {
        match self {
            Kind::Model(asking) => vec![&asking.model],
            Kind::Fallback(kinds) => kinds.iter().flat_map(Kind::models).collect(),
            _ => Vec::new(),
        }
    }

    /// What decides how it acts besides its name: settings, templates and model; null where nothing does.
    pub fn settings(&self) -> Value {
        match self {
            Kind::Oracle
            | Kind::Mistaken
            | Kind::Noop
            | Kind::Random
            | Kind::Program { .. }
            | Kind::Server(_) => Value::Null,
            Kind::Model(asking) => json!({
                "settings": asking.settings,
                "model": asking.model.name,
                "templates": asking.templates.digest(),
            }),
            Kind::Fallback(kinds) => kinds.iter().map(Kind::settings).collect(),
        }
    }

    /// An agent for one episode.
    pub fn agent(&self, casting: &Casting<'_>) -> Box<dyn Agent> {
        let Casting { task, repeat, seed, stderr, variables, .. } = casting;
        match self {
            Kind::Oracle => Box::new(Oracle::new(task.oracle.clone())),
            Kind::Mistaken => Box::new(Oracle::new(task.mistake.clone())),
            Kind::Noop => Box::new(Noop),
            Kind::Random => Box::new(Random::new(*seed, *repeat)),
            Kind::Program { command } => {
                let (line, stderr, variables) = (command.clone(), stderr.clone(), variables.to_vec());
                external(casting, Contact::Command { line, stderr, variables })
            }
            Kind::Server(address) => external(casting, Contact::Server(address.clone())),
            Kind::Model(asking) => {
                llm::agent(&asking.settings, &asking.templates, &asking.model, task, *repeat)
            }
            Kind::Fallback(kinds) => {
                Box::new(Fallback::new(kinds.iter().map(|kind| kind.agent(casting)).collect()))
            }
        }
    }
}

fn external(casting: &Casting<'_>, contact: Contact) -> Box<dyn Agent> {
    let Casting { answer_within, speech, .. } = *casting;
    Box::new(Program::new(program::Settings { answer_within, speech, ..program::Settings::to(contact) }))
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
        let names = ["oracle", "mistaken", "noop", "random", "cot", "see-plan-act->closed-book-1"];
        for name in names.into_iter().chain([
            "program:python3 'my agent.py' --fast",
            "cot->noop->program:a -> b",
            "http://127.0.0.1:9000/agent",
            "cot->http://localhost:9000->noop",
        ]) {
            assert_eq!(name.parse::<Kind>().unwrap().to_string(), name);
        }
        for bad in ["", "Oracle", "program:", "program: ", "python3 x.py", "cot->", "->cot"] {
            assert!(matches!(bad.parse::<Kind>(), Err(UnknownAgent::Name(_))), "{bad}");
        }
        for bad in ["http://", "https://127.0.0.1/", "cot->https://127.0.0.1/"] {
            assert!(matches!(bad.parse::<Kind>(), Err(UnknownAgent::Address(_))), "{bad}");
        }
        assert!(matches!("nowhere.yaml".parse::<Kind>(), Err(UnknownAgent::Settings(_))));
    }

    #[test]
    fn an_ensemble_has_a_word_for_a_file_and_the_settings_of_each() {
        let kind: Kind = "see-plan-act->closed-book".parse().unwrap();
        assert_eq!(kind.slug(), "see-plan-act-closed-book");
        assert_eq!(kind.settings()[1]["settings"]["agent"]["closed-book"]["example"], false);
    }

    #[test]
    fn what_plays_solutions_says_where_there_is_none() {
        let task = Task {
            oracle: vec![scoring::solution::OracleStep::GoBack],
            ..Task::new(
                "x".to_owned(),
                tasks::GoalText::Words("x".to_owned()),
                scoring::Scorer::Infeasible {},
            )
        };
        let lacks = |name: &str| name.parse::<Kind>().unwrap().lacks(&task).map(|error| error.to_string());
        assert_eq!((lacks("oracle"), lacks("noop"), lacks("mistaken->noop")), (None, None, None));
        let told = "play the mistake of the task x: it has none; write its steps under `mistake`, or choose another agent";
        assert_eq!(lacks("mistaken").as_deref(), Some(told));
    }
}
