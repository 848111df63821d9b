//! Agent specifications, as given on the command line.

mod syntax;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use llm_client::Model;
use processes::Variable;
use processes::confine::Confined;
use serde_json::{Value, json};
use syntax::THEN;
pub use syntax::{UnknownAgent, is_random};
use tasks::Task;

use crate::fallback::Fallback;
use crate::llm::{self, ModelSettings, Settings, Templates};
use crate::noop::Noop;
use crate::oracle::Oracle;
use crate::program::{self, Address, Endpoint, Program};
use crate::random::Random;
use crate::recorded::RecordedReplies;
use crate::{ActionFormat, Agent, Error, Goal, GoalImage};

/// The specification of an agent. Each episode gets its own [`Agent`].
#[derive(Debug, Clone)]
pub enum AgentSpec {
    /// `oracle`: plays the task's solution.
    Oracle,
    /// `negative`: plays the task's wrong solution, as a negative control of the scorer.
    Negative,
    /// `noop`: does nothing.
    Noop,
    /// `random`: acts at random.
    Random,
    /// `program:COMMAND`: an external program.
    Program {
        /// Command line for `sh -c`.
        command: String,
    },
    /// `http://HOST:PORT/PATH`: a server that speaks the agent protocol.
    Server(Address),
    /// The name of a preset or a settings file: uses a language model.
    Model(Box<LlmAgent>),
    /// `A->B`: B takes over if A gives no answer.
    Fallback(Vec<AgentSpec>),
    /// Gives the replies of a run again. No text names it.
    Recorded(Arc<RecordedReplies>),
}

/// An agent that uses a language model.
#[derive(Debug, Clone)]
pub struct LlmAgent {
    /// The name of the preset or the file.
    name: String,
    settings: Settings,
    templates: Arc<Templates>,
    model: Model,
}

/// The inputs for an agent of one episode.
#[derive(Debug, Clone)]
pub struct EpisodeContext<'a> {
    /// The task.
    pub task: &'a Task,
    /// The number of the attempt, from 1.
    pub repeat: u32,
    /// The world's seed.
    pub seed: u64,
    /// The file for an external program's standard error.
    pub stderr: PathBuf,
    /// Time limit of an external agent for one action.
    pub answer_within: Duration,
    /// The action format for external agents.
    pub speech: ActionFormat,
    /// Environment variables of an external program, besides the minimal ones.
    pub variables: &'a [Variable],
    /// How an external program is kept from what it must not see.
    pub confined: Option<&'a Confined>,
}

impl AgentSpec {
    /// The agent that a run has played with, by its name there and its
    /// [`settings`](Self::settings). `None` if that is not enough: for programs, servers, and
    /// prompts that this version has not.
    pub fn of_run(name: &str, settings: &Value) -> Option<AgentSpec> {
        match name {
            "oracle" | "negative" | "noop" | "random" => return name.parse().ok(),
            _ if name.starts_with("program:") => return None,
            _ => {}
        }
        if name.contains(THEN) {
            let each = name.split(THEN).zip(settings.as_array()?);
            let specs = each.map(|(name, settings)| AgentSpec::of_run(name, settings));
            return Some(AgentSpec::Fallback(specs.collect::<Option<_>>()?));
        }
        let mut of_agent: Settings =
            serde_json::from_value(settings.get("settings")?.clone()).ok()?;
        if of_agent.templates.is_some() {
            return None;
        }
        let templates = Templates::load(None).ok()?;
        if settings.get("templates")? != templates.digest() {
            return None;
        }
        of_agent.model.name = settings.get("model").and_then(Value::as_str).map(str::to_owned);
        let (name, templates, model) = (name.to_owned(), Arc::new(templates), Model::default());
        Some(AgentSpec::Model(Box::new(LlmAgent { name, settings: of_agent, templates, model })))
    }

    /// A word for file names.
    pub fn slug(&self) -> String {
        match self {
            AgentSpec::Oracle | AgentSpec::Negative | AgentSpec::Noop | AgentSpec::Random => {
                self.to_string()
            }
            AgentSpec::Program { .. } => "program".to_owned(),
            AgentSpec::Server(_) => "http".to_owned(),
            AgentSpec::Model(asking) => {
                Utf8Path::new(&asking.name).file_stem().unwrap_or("model").to_owned()
            }
            AgentSpec::Fallback(specs) => {
                specs.iter().map(AgentSpec::slug).collect::<Vec<_>>().join("-")
            }
            AgentSpec::Recorded(_) => "recorded".to_owned(),
        }
    }

    /// The format of its actions. External agents use `requested`; built-in agents have their own.
    pub fn action_format(&self, requested: ActionFormat) -> ActionFormat {
        match self {
            AgentSpec::Oracle | AgentSpec::Negative | AgentSpec::Noop | AgentSpec::Random => {
                ActionFormat::UNWRITTEN
            }
            AgentSpec::Program { .. } | AgentSpec::Server(_) => requested,
            AgentSpec::Model(asking) => asking.settings.agent.action_format(),
            AgentSpec::Fallback(specs) => {
                specs.first().map_or(requested, |spec| spec.action_format(requested))
            }
            AgentSpec::Recorded(replies) => replies.action_format(),
        }
    }

    /// The error if the task lacks the steps that this agent plays. Ensembles have none: they
    /// continue with the next agent.
    pub fn missing_for(&self, task: &Task) -> Option<Error> {
        let what = match self {
            AgentSpec::Oracle if task.oracle.is_empty() => "oracle",
            AgentSpec::Negative if task.wrong_solution.is_empty() => "wrong_solution",
            _ => return None,
        };
        Some(Error::NothingToPlay { what, task: task.id.clone() })
    }

    /// Whether it starts a program.
    pub fn starts_a_program(&self) -> bool {
        match self {
            AgentSpec::Program { .. } => true,
            AgentSpec::Fallback(specs) => specs.iter().any(AgentSpec::starts_a_program),
            _ => false,
        }
    }

    /// The command lines of the programs that it starts.
    pub fn programs(&self) -> Vec<&str> {
        match self {
            AgentSpec::Program { command } => vec![command],
            AgentSpec::Fallback(specs) => specs.iter().flat_map(AgentSpec::programs).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether it asks a server of the user's.
    pub fn asks_a_server(&self) -> bool {
        match self {
            AgentSpec::Server(_) => true,
            AgentSpec::Fallback(specs) => specs.iter().any(AgentSpec::asks_a_server),
            _ => false,
        }
    }

    /// The files of settings, and the folders of templates, that it was read from.
    pub fn files(&self) -> Vec<&Utf8Path> {
        match self {
            AgentSpec::Model(asking) if Settings::preset(&asking.name).is_none() => {
                let templates = asking.settings.templates.as_deref();
                [Utf8Path::new(&asking.name)].into_iter().chain(templates).collect()
            }
            AgentSpec::Fallback(specs) => specs.iter().flat_map(AgentSpec::files).collect(),
            _ => Vec::new(),
        }
    }

    /// Itself or those of an ensemble that use a language model.
    fn llm_agents(&self) -> Vec<&LlmAgent> {
        match self {
            AgentSpec::Model(asking) => vec![asking],
            AgentSpec::Fallback(specs) => specs.iter().flat_map(AgentSpec::llm_agents).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether it uses a language model.
    pub fn asks_a_model(&self) -> bool {
        !self.llm_agents().is_empty()
    }

    /// Whether it shows screenshots to a language model. What programs and servers look at is not
    /// known.
    pub fn looks_at_screenshots(&self) -> bool {
        self.llm_agents().iter().any(|asking| asking.settings.agent.looks_at_screenshots())
    }

    /// Overrides the model settings of agents that use a model.
    pub fn set(&mut self, model: &ModelSettings) {
        match self {
            AgentSpec::Model(asking) => {
                asking.settings.model = model.clone().or(&asking.settings.model);
            }
            AgentSpec::Fallback(specs) => specs.iter_mut().for_each(|spec| spec.set(model)),
            _ => {}
        }
    }

    /// Gives each agent that uses a model its model. `make` creates it from the agent's settings.
    ///
    /// # Errors
    /// The errors of `make`.
    pub fn connect<E>(
        &mut self,
        make: &mut impl FnMut(&ModelSettings) -> Result<Model, E>,
    ) -> Result<(), E> {
        match self {
            AgentSpec::Model(asking) => asking.model = make(&asking.settings.model)?,
            AgentSpec::Fallback(specs) => {
                for spec in specs {
                    spec.connect(make)?;
                }
            }
            AgentSpec::Oracle
            | AgentSpec::Negative
            | AgentSpec::Noop
            | AgentSpec::Random
            | AgentSpec::Program { .. }
            | AgentSpec::Server(_)
            | AgentSpec::Recorded(_) => {}
        }
        Ok(())
    }

    /// The models that it uses.
    pub fn models(&self) -> Vec<&Model> {
        self.llm_agents().into_iter().map(|asking| &asking.model).collect()
    }

    /// Returns everything that determines its behaviour besides its name: settings, templates and
    /// model. Null if there is nothing.
    pub fn settings(&self) -> Value {
        match self {
            AgentSpec::Oracle
            | AgentSpec::Negative
            | AgentSpec::Noop
            | AgentSpec::Random
            | AgentSpec::Program { .. }
            | AgentSpec::Server(_)
            | AgentSpec::Recorded(_) => Value::Null,
            AgentSpec::Model(asking) => json!({
                "settings": asking.settings,
                "model": asking.model.name,
                "templates": asking.templates.digest(),
            }),
            AgentSpec::Fallback(specs) => specs.iter().map(AgentSpec::settings).collect(),
        }
    }

    /// Creates an agent for one episode.
    pub fn agent(&self, context: &EpisodeContext<'_>) -> Box<dyn Agent> {
        let EpisodeContext { task, repeat, seed, stderr, variables, confined, .. } = context;
        match self {
            AgentSpec::Oracle => Box::new(Oracle::new(task.oracle.clone())),
            AgentSpec::Negative => Box::new(Oracle::new(task.wrong_solution.clone())),
            AgentSpec::Noop => Box::new(Noop),
            AgentSpec::Random => Box::new(Random::new(*seed, *repeat)),
            AgentSpec::Program { command } => {
                let (line, stderr, variables) =
                    (command.clone(), stderr.clone(), variables.to_vec());
                let confined = confined.cloned().map(Box::new);
                external(context, Endpoint::Command { line, stderr, variables, confined })
            }
            AgentSpec::Server(address) => external(context, Endpoint::Server(address.clone())),
            AgentSpec::Model(asking) => {
                llm::agent(&asking.settings, &asking.templates, &asking.model, task, *repeat)
            }
            AgentSpec::Fallback(specs) => {
                Box::new(Fallback::new(specs.iter().map(|spec| spec.agent(context)).collect()))
            }
            AgentSpec::Recorded(replies) => Box::new(replies.episode(&task.id, *repeat)),
        }
    }
}

fn external(context: &EpisodeContext<'_>, contact: Endpoint) -> Box<dyn Agent> {
    let EpisodeContext { answer_within, speech, .. } = *context;
    Box::new(Program::new(program::Settings {
        answer_within,
        speech,
        ..program::Settings::to(contact)
    }))
}

impl Goal {
    /// The goal of a task, with the text of its file or of its page.
    pub fn of(task: &Task, text: String, images: Vec<GoalImage>) -> Goal {
        let (start_url, max_steps) = (task.start_url.clone(), task.max_steps);
        Goal { task: task.id.clone(), text, images, start_url, max_steps }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::llm::PRESETS;

    #[test]
    fn an_ensemble_needs_what_its_agents_need() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.yaml");
        std::fs::write(&file, PRESETS[0].1).unwrap();
        let file = file.to_str().unwrap();
        let spec: AgentSpec = format!("noop->{file}->http://localhost:9000/a").parse().unwrap();
        assert!(spec.asks_a_server() && spec.files() == [Utf8Path::new(file)]);
        let spec: AgentSpec = "cot->program:http://localhost:9000/a".parse().unwrap();
        assert!(!spec.asks_a_server() && spec.files().is_empty());
    }

    #[test]
    fn an_agent_is_made_again_of_what_a_run_says() {
        for name in ["oracle", "negative", "noop", "random", "cot", "see-plan-act->closed-book"] {
            let spec: AgentSpec = name.parse().unwrap();
            let again = AgentSpec::of_run(&spec.to_string(), &spec.settings()).unwrap();
            assert_eq!((again.to_string(), again.settings()), (name.to_owned(), spec.settings()));
        }
        for name in
            ["program:true", "http://127.0.0.1:9000/agent", "noop->program:true", "mine.yaml"]
        {
            assert!(AgentSpec::of_run(name, &Value::Null).is_none(), "{name}");
        }
        let mut settings = "cot".parse::<AgentSpec>().unwrap().settings();
        settings["templates"] = "other".into();
        assert!(AgentSpec::of_run("cot", &settings).is_none(), "prompts of another version");
    }

    #[test]
    fn an_ensemble_has_a_word_for_a_file_and_the_settings_of_each() {
        let spec: AgentSpec = "see-plan-act->closed-book".parse().unwrap();
        assert_eq!(spec.slug(), "see-plan-act-closed-book");
        assert_eq!(spec.settings()[1]["settings"]["agent"]["closed-book"]["example"], false);
    }

    #[test]
    fn what_plays_solutions_says_where_there_is_none() {
        let task = Task {
            oracle: vec![scoring::solution::OracleStep::GoBack],
            ..Task::new(
                "x".to_owned(),
                tasks::GoalText::Words("x".to_owned()),
                scoring::Scorer::Infeasible(scoring::Infeasible {}),
            )
        };
        let lacks = |name: &str| {
            name.parse::<AgentSpec>().unwrap().missing_for(&task).map(|error| error.to_string())
        };
        assert_eq!((lacks("oracle"), lacks("noop"), lacks("negative->noop")), (None, None, None));
        let message = "play the wrong_solution of the task x: it has none; write its steps under `wrong_solution`, or choose another agent";
        assert_eq!(lacks("negative").as_deref(), Some(message));
    }
}
