//! Confines the programs of an episode: agents, commands of attach mode, and scorers.
//!
//! ```text
//! hidden    the suite's folder, and all that its world and its tasks name elsewhere; the results
//!           of this run and of others beside it; the user's data; the repositories that hold any
//!           of these; this executable, which has the demo in it; all temporary folders of ours
//! shown     the episode's folder; files for uploads; downloads; the folder in which the program
//!           lies, but for what the suite names
//! writable  the folder in which a program of attach mode leaves its answer
//! ```

mod hidden;
mod program;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agents::AgentSpec;
use camino::Utf8Path;
use hidden::{Secrets, of_runs};
use processes::confine::{Confined, Confinement, Helper, Level, Network, Plan, Shown};
use processes::temporary;
use results::EpisodeFolder;
use tasks::{Suite, Task};
use tokio::sync::OnceCell;

use crate::Options;

/// Starts the programs of a run, confined.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    helper: Helper,
    options: Arc<Options>,
    secrets: Arc<Secrets>,
}

/// The folders that a program of attach mode shares with us, as absolute paths.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The folder for its answer, the only one of ours into which it writes.
    pub(crate) answer: PathBuf,
    /// The folder of the browser's downloads.
    pub(crate) downloads: PathBuf,
}

/// The helper that starts programs. It is looked for once.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoundHelper(Arc<OnceCell<Helper>>);

impl FoundHelper {
    /// Finds out how far programs can be confined. Warns once if that is less than the user asked
    /// for.
    pub(crate) async fn get(&self, options: &Options, wanted: Level) -> &Helper {
        let program = options.helper.as_deref().map(Utf8Path::as_std_path);
        self.0
            .get_or_init(|| async {
                let helper = match (program, wanted) {
                    (None, Level::On | Level::Strict) => Helper::none(),
                    _ => Helper::find(program, wanted).await,
                };
                // Within the search for it, which is done once: so a run warns once.
                if let Some(why) = helper.why() {
                    let had = match helper.confinement() {
                        Confinement::Hidden => " strictly; they are confined as with --confine on",
                        _ => "; they run as you, and can read the suite with its solutions",
                    };
                    let why = why.lines().next().unwrap_or_default();
                    tracing::warn!("this system does not let programs be confined{had} ({why})");
                }
                helper
            })
            .await
    }
}

impl Programs {
    /// Prepares the start of the programs of a suite.
    pub(crate) async fn of(suite: &Suite, options: &Options, cassettes: Vec<PathBuf>) -> Programs {
        let helper = FoundHelper::default().get(options, options.confinement.level).await.clone();
        let secrets = Secrets::of(suite, options, cassettes);
        Programs { helper, options: Arc::new(options.clone()), secrets: Arc::new(secrets) }
    }

    /// Returns the programs of a run with this agent; none if it starts none.
    pub(crate) async fn of_run(
        suite: &Suite,
        agent: &AgentSpec,
        options: &Options,
    ) -> Option<Programs> {
        if agent.programs().is_empty() {
            return None;
        }
        let models = agent.models().into_iter().chain([&options.judge]);
        let cassettes =
            models.filter_map(|model| Some(model.cassette.as_ref()?.path().into())).collect();
        Some(Programs::of(suite, options, cassettes).await)
    }

    /// Returns how far they are confined.
    pub(crate) fn confinement(&self) -> Confinement {
        self.helper.confinement()
    }

    /// Returns the start of a program with this command line, in an episode with this folder below
    /// that of its run. In attach mode it sees the downloads of the browser, and writes into the
    /// folder for answers.
    pub(crate) fn in_episode(
        &self,
        words: &str,
        run: &Path,
        folder: &EpisodeFolder,
        attached: Option<&Places>,
    ) -> Confined {
        let Secrets { suite, named, elsewhere, visible } = &*self.secrets;
        let episode = absolute(folder.path().as_std_path());
        let lies_in = program::folders(words, suite);
        let seen = [episode].into_iter().chain(visible.iter().cloned());
        let seen: Vec<PathBuf> =
            seen.chain(attached.map(|places| places.downloads.clone())).collect();
        let mut shown: Vec<Shown> =
            seen.iter().map(|path| Shown { path: path.clone(), writable: false }).collect();
        let mut hidden = vec![suite.clone()];
        hidden.extend(elsewhere.iter().chain(named).cloned());
        hidden.extend(of_runs(run));
        hidden.extend(temporaries());
        for folder in &lies_in {
            shown.extend(program::shown(folder, suite, named));
        }
        let mut plan = Plan { hidden, shown, ..Plan::default() };
        if self.helper.confinement() == Confinement::Strict {
            let hosts = self.options.confinement.hosts.clone();
            plan.network = Some(Network { proxy: None, hosts });
            plan.scratch = vec![std::env::temp_dir(), "/dev/shm".into()];
            plan.readable = program::needs(words);
            plan.readable.extend(lies_in);
            plan.readable.extend(seen);
            let scratch = plan.scratch.clone();
            let in_scratch =
                |path: &&PathBuf| scratch.iter().any(|folder| path.starts_with(folder));
            let kept = plan.readable.iter().filter(in_scratch).cloned();
            plan.shown.extend(kept.map(|path| Shown { path, writable: false }).collect::<Vec<_>>());
            plan.writable.extend(attached.map(|places| places.answer.clone()));
        }
        // Last, because it lies in the episode's folder.
        plan.shown
            .extend(attached.map(|places| Shown { path: places.answer.clone(), writable: true }));
        self.helper.plan(plan)
    }
}

/// Whether the tasks have programs that score.
pub(crate) fn have_programs(tasks: &[Task]) -> bool {
    tasks
        .iter()
        .any(|task| task.scorer.requirements().into_iter().any(|one| one.program().is_some()))
}

/// Returns the plan for a scorer's program, from which results and the user's data are hidden. It
/// sees the suite, and the files that it is given.
pub(crate) fn scorer_plan(options: &Options, own: &[&Path], network: Option<Network>) -> Plan {
    let mut hidden: Vec<PathBuf> = options.confinement.hidden.iter().map(Into::into).collect();
    hidden.extend(temporaries());
    hidden.extend(of_runs(options.out.as_deref().unwrap_or(Utf8Path::new("runs/x")).as_std_path()));
    // What is its own may lie in what is hidden, as the suite of a packed run does.
    let own = own.iter().map(|path| absolute(path));
    let own = own.filter(|path| hidden.iter().any(|folder| path.starts_with(folder)));
    let shown = own.map(|path| Shown { path, writable: false }).collect();
    Plan { hidden, shown, network, ..Plan::default() }
}

/// Returns the folders for temporary files. The usual one exists always, so that it can be covered.
fn temporaries() -> Vec<PathBuf> {
    if let Err(error) = temporary::folder() {
        tracing::debug!(%error, "there is no folder for temporary files");
    }
    temporary::all()
}

/// Returns the absolute path, so that it means the same in another working folder.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
