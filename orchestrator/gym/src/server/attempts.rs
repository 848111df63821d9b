//! The attempts that a gym has begun, and `run.json`, which lists them.
//!
//! ```text
//! book -> run.json is written -> the episode is played -> it stays
//!              | fails                 | has no result, or its client disconnected
//!              `-----------------------+--> as if it had never begun
//! ```
//!
//! Digests and files are computed on blocking threads, one attempt at a time. Each file of the
//! world is digested once, because its snapshots stay those that were opened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use play::blocking;
use play::run::{HostFacts, out, record};
use play::{Error, Options};
use results::Summary;
use results::suite_digest::Digests;
use results::{Conditions, EpisodeId, RunFolder, RunRecord};
use tasks::{Suite, Task};

use super::client::SPEECH;
use super::state::NoSession;

/// The attempts of one gym. Clones share them.
#[derive(Clone)]
pub(super) struct Attempts(Arc<Inner>);

struct Inner {
    suite: Suite,
    options: Options,
    machine: HostFacts,
    run: RunFolder,
    begun: Timestamp,
    /// Only blocking threads lock it.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The attempts that were begun, by task.
    begun: BTreeMap<String, BTreeSet<u32>>,
    digests: Digests,
}

impl Attempts {
    /// Opens the run's folder: a new one, or an existing one to continue.
    pub(super) async fn open(
        suite: &Suite,
        options: &Options,
        machine: HostFacts,
    ) -> Result<Attempts, Error> {
        let (suite, options) = (suite.clone(), options.clone());
        let opened = blocking(move || Inner::open(suite, options, machine)).await?;
        Ok(Attempts(Arc::new(opened)))
    }

    pub(super) fn run(&self) -> &RunFolder {
        &self.0.run
    }

    /// Books an attempt: the requested one, or the first that has not begun.
    pub(super) async fn book(
        &self,
        task: &str,
        repeat: Option<u32>,
    ) -> Result<EpisodeId, NoSession> {
        let (inner, task) = (self.0.clone(), task.to_owned());
        blocking(move || inner.book(&task, repeat)).await
    }

    /// Removes an attempt, as if it had never begun.
    pub(super) async fn unbook(&self, id: &EpisodeId) {
        let (inner, id) = (self.0.clone(), id.clone());
        blocking(move || inner.unbook(&id)).await;
    }

    /// The summary of the run. `None` if nothing was played; then the folder is removed.
    pub(super) async fn conclude(&self) -> Result<Option<Summary>, Error> {
        let run = self.0.run.clone();
        let concluded = move || {
            if run.episodes()?.is_empty() {
                run.discard()?;
                return Ok(None);
            }
            Ok(Some(Summary::read(run.path())?))
        };
        blocking(concluded).await
    }
}

impl Inner {
    fn open(suite: Suite, options: Options, machine: HostFacts) -> Result<Inner, Error> {
        let mut state = State::default();
        let run = open_folder(&suite, &options, &machine, &mut state.digests)?;
        let begun = run.run()?.started;
        for episode in run.episodes()? {
            state.begun.entry(episode.task).or_default().insert(episode.repeat);
        }
        let inner = Inner { suite, options, machine, run, begun, state: Mutex::new(state) };
        // Removes attempts that were in progress when an earlier gym was killed.
        inner.write(&mut inner.state())?;
        Ok(inner)
    }

    fn book(&self, task: &str, repeat: Option<u32>) -> Result<EpisodeId, NoSession> {
        let mut state = self.state();
        let of = state.begun.entry(task.to_owned()).or_default();
        let repeat =
            repeat.unwrap_or_else(|| (1..).find(|free| !of.contains(free)).unwrap_or(u32::MAX));
        let id = EpisodeId { task: task.to_owned(), repeat };
        if !of.insert(repeat) {
            return Err(NoSession::Taken(id));
        }
        if let Err(error) = self.write(&mut state) {
            state.forget(&id);
            return Err(NoSession::Results(error));
        }
        Ok(id)
    }

    fn unbook(&self, id: &EpisodeId) {
        let mut state = self.state();
        state.forget(id);
        if let Err(error) = self.write(&mut state) {
            tracing::warn!(%error, "the run still lists an attempt that did not begin");
        }
    }

    /// The run contains only the requested tasks, so that it is complete when they are.
    fn write(&self, state: &mut State) -> Result<(), Error> {
        let begun = |task: &&Task| state.begun.get(&task.id).is_some_and(|of| !of.is_empty());
        let tasks: Vec<Task> = self.suite.tasks.iter().filter(begun).cloned().collect();
        let repeat = state.begun.values().filter_map(BTreeSet::last).max().copied().unwrap_or(1);
        let written =
            written(&self.suite, &self.options, &tasks, repeat, &self.machine, &mut state.digests)?;
        Ok(self.run.rewrite(&RunRecord { started: self.begun, ..written })?)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn forget(&mut self, id: &EpisodeId) {
        if let Some(of) = self.begun.get_mut(&id.task) {
            of.remove(&id.repeat);
        }
    }
}

fn open_folder(
    suite: &Suite,
    options: &Options,
    machine: &HostFacts,
    digests: &mut Digests,
) -> Result<RunFolder, Error> {
    let path = out(suite, "gym", options, Timestamp::now());
    if !options.resume {
        return Ok(RunFolder::create(&path, &written(suite, options, &[], 1, machine, digests)?)?);
    }
    let there = RunFolder::open(&path)?.run()?;
    let tasks: Vec<Task> = there
        .tasks
        .iter()
        .map(|task| suite.task(&task.id).cloned())
        .collect::<Result<_, tasks::UnknownTask>>()?;
    let written = written(suite, options, &tasks, there.repeat, machine, digests)?;
    Ok(RunFolder::resume(&path, &written)?)
}

fn written(
    suite: &Suite,
    options: &Options,
    tasks: &[Task],
    repeat: u32,
    machine: &HostFacts,
    digests: &mut Digests,
) -> Result<RunRecord, Error> {
    let (multiaction, scoring_mode) = (SPEECH.multiaction, options.scoring_mode);
    Ok(RunRecord {
        multiaction,
        scoring_mode,
        conditions: Some(Conditions::served()),
        ..record(suite, tasks, "gym".to_owned(), repeat, machine, digests)?
    })
}
