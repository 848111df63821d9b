//! Plays a packed run again: chooses its agent and its options.

use std::sync::Arc;
use std::time::Duration;

use agents::AgentSpec;
use agents::llm::ModelSettings;
use llm_client::{Cassette, Model};
use results::pack::{Unpacked, recorded_replies, was_attached};
use results::{RunFolder, RunRecord};

use crate::{Error, Limits, Options};

/// The agent that plays a packed run again.
#[derive(Debug)]
pub struct AgentAgain {
    /// The agent, with models that answer from the file alone.
    pub agent: AgentSpec,
    /// The way it plays, for people, such as `oracle in place of random`.
    pub played: String,
}

/// Returns the agent of a packed run, or the one that is `named`. The recorded actions are played
/// if the agent is not in the file, or if the user asks for them.
///
/// # Errors
/// When the run was driven in attach mode, or what was recorded of it cannot be read.
pub fn agent_again(
    unpacked: &Unpacked,
    named: Option<&AgentSpec>,
    recorded_actions: bool,
) -> Result<AgentAgain, Error> {
    let run = RunFolder::open(&unpacked.run())?;
    let record = run.run()?;
    if was_attached(&run)? {
        return Err(Error::Attached);
    }
    let models = RecordedModels::of(unpacked)?;
    if let Some(agent) = named {
        let mut agent = agent.clone();
        models.connect(&mut agent)?;
        let played = format!("{agent} in place of {}", record.agent);
        return Ok(AgentAgain { agent, played });
    }
    // An agent that asks a model needs its recorded replies. Without them, or if the user wants
    // that, the recorded actions take its place.
    let same = AgentSpec::of_run(&record.agent, &record.settings)
        .filter(|agent| !recorded_actions && (!agent.asks_a_model() || models.cassette.is_some()));
    if let Some(mut agent) = same {
        models.connect(&mut agent)?;
        let played = match agent.asks_a_model() {
            true => format!("{agent}, with the recorded replies of its model"),
            false => agent.to_string(),
        };
        return Ok(AgentAgain { agent, played });
    }
    let replies = recorded_replies(&run)?;
    let played = format!("the recorded actions of {}", replies.agent());
    Ok(AgentAgain { agent: AgentSpec::Recorded(Arc::new(replies)), played })
}

/// Returns the options of a packed run. `here` has the options that are no part of the run itself.
///
/// # Errors
/// When what was recorded of models cannot be read.
pub fn options_again(
    unpacked: &Unpacked,
    record: &RunRecord,
    here: Options,
) -> Result<Options, Error> {
    let settings = &unpacked.manifest().settings;
    let usual = Limits::default();
    let limits = settings.limits.map_or(usual, |limits| Limits {
        episode: Duration::from_millis(limits.episode_ms),
        answer: Duration::from_millis(limits.answer_ms),
        step: Duration::from_millis(limits.step_ms),
        // The manifest does not have the time to settle.
        ..usual
    });
    let judge = match &settings.judge {
        Some(judge) => {
            let models = RecordedModels::of(unpacked)?;
            let model = models.model(Some(judge.name.clone()), &ModelSettings::default());
            Model { sampling: judge.sampling.clone(), ..model }
        }
        None => Model::default(),
    };
    Ok(Options {
        repeat: record.repeat,
        dialect: record.dialect,
        multiaction: record.multiaction,
        screenshots: !record.no_screenshots,
        shard: record.shard,
        tasks: record.tasks.iter().map(|task| task.id.clone()).collect(),
        max_steps: settings.max_steps,
        scoring_mode: record.scoring_mode,
        judge,
        limits,
        // The rest says where and how to play, which is this machine's own.
        ..here
    })
}

/// The models of a packed run, which answer from its file alone.
struct RecordedModels {
    cassette: Option<Arc<Cassette>>,
}

impl RecordedModels {
    fn of(unpacked: &Unpacked) -> Result<RecordedModels, Error> {
        let opened = unpacked.cassette().map(|path| Cassette::open(&path)).transpose();
        let cassette = opened.map_err(|source| Error::Cassette { source })?.map(Arc::new);
        Ok(RecordedModels { cassette })
    }

    /// Returns a model. If the file knows only one, it is that one, whatever its name.
    fn model(&self, name: Option<String>, settings: &ModelSettings) -> Model {
        let known = || self.cassette.as_ref().and_then(|cassette| cassette.only_model());
        Model {
            name: name.or_else(known),
            cassette: self.cassette.clone(),
            price: settings.price,
            ..Model::default()
        }
    }

    fn connect(&self, agent: &mut AgentSpec) -> Result<(), Error> {
        agent.connect(&mut |settings| Ok(self.model(settings.name.clone(), settings)))
    }
}
