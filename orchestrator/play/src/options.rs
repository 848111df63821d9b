//! The options of a run. `cli` fills them in; everything else of the crate only reads them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use actions::Dialect;
use agents::ActionFormat;
use camino::Utf8PathBuf;
use gateway::{Config, Recorder};
use llm_client::Model;
use processes::Variable;
use processes::confine::{Host, Level};
use results::{EpisodeId, Shard};
use scoring::mode::ScoringMode;

use crate::consent::Agreed;

/// The options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder for the results. Default: `runs/<suite>-<agent>-<time>`.
    pub out: Option<Utf8PathBuf>,
    /// Whether to resume the run in `out` instead of beginning one.
    pub resume: bool,
    /// Whether to attempt again, when resuming, the episodes that ended in an error.
    pub retry_errors: bool,
    /// The number of attempts at each task.
    pub repeat: u32,
    /// The number of episodes at a time, each with its own browser and gateway.
    pub workers: usize,
    /// The notation in which a program writes its actions.
    pub dialect: Dialect,
    /// Whether a reply may hold several actions. They are one step. They are carried out in order,
    /// up to the first that fails, and the page settles after each. The agent sees the page only
    /// after the last.
    pub multiaction: bool,
    /// The environment variables of a program besides those that every program needs. They are
    /// never stored.
    pub agent_variables: Vec<Variable>,
    /// The environment variables that manifests of sites may take. They are never stored.
    pub site_variables: Vec<Variable>,
    /// The folder in which a packed run was unpacked, with all that its suite may read.
    pub unpacked: Option<Utf8PathBuf>,
    /// The needs of the suite that the user has agreed to.
    pub agreed: Agreed,
    /// Whether to take a screenshot of each step. Without them a step costs less, and agents see
    /// none. An attached browser takes them in any case.
    pub screenshots: bool,
    /// Whether to write cookies and storage with an episode's results. Whoever has the file may be
    /// logged in by it.
    pub keep_storage: bool,
    /// Whether to write the traffic with an episode's results. Log-ins are in it.
    pub keep_network: bool,
    /// Whether to write the order of events in the pages with an episode's results.
    pub keep_order: bool,
    /// The memory for sites and browsers, in bytes. Default: most of what is free.
    pub memory: Option<u64>,
    /// The part of the run to play. Default: all of it.
    pub shard: Option<Shard>,
    /// The episodes of the part, if they are listed; the shard then only numbers it.
    pub episodes: Option<Vec<EpisodeId>>,
    /// The number of errors after which no further episode begins.
    pub max_errors: Option<usize>,
    /// The cost of models and judges, in US dollars, after which no further episode begins.
    pub max_cost: Option<f64>,
    /// Ids of the tasks to run. Default: all.
    pub tasks: Vec<String>,
    /// The number of tasks to run, from the first. Default: all.
    pub limit: Option<usize>,
    /// The most actions of a task, whatever the task itself allows.
    pub max_steps: Option<u32>,
    /// Folder where the indexes of snapshots are kept between runs. Default: temporary files.
    pub index_cache: Option<Utf8PathBuf>,
    /// Folder for the golden states and the instances of sites. Default: a temporary one.
    pub town: Option<Utf8PathBuf>,
    /// Whether published bugs are reproduced.
    pub scoring_mode: ScoringMode,
    /// The executable `sandbox`, which starts programs confined. Without it they run as the user,
    /// and those of scorers only get the address of the proxy.
    pub helper: Option<Utf8PathBuf>,
    /// The confinement of programs that the user or a suite names.
    pub confinement: ConfinementOptions,
    /// Whether to show an attached browser in a window.
    pub headed: bool,
    /// Whether to serve WebDriver clients of an attached browser, too.
    pub webdriver: bool,
    /// Fetches unrecorded requests from the live web and records them. If unset, they are misses.
    pub fill: Option<LiveFill>,
    /// The model that judges criteria without an automatic rule. Default: none.
    pub judge: Model,
    /// The limits of an episode.
    pub limits: Limits,
}

/// The live web behind the snapshots: a missing response is fetched once and recorded.
#[derive(Clone)]
pub struct LiveFill {
    /// Records it.
    pub recorder: Arc<Recorder>,
    /// The way to the live web, with its limits. Its authority and routes are not used.
    pub live: Config,
    /// Whether the snapshots answer nothing, so that each episode is recorded from start to end.
    pub whole: bool,
    /// The most requests that are made again after a write, so that the recording has both states.
    pub ask_again: usize,
}

impl fmt::Debug for LiveFill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LiveFill")
    }
}

/// The confinement of programs.
#[derive(Debug, Clone, Default)]
pub struct ConfinementOptions {
    /// The level.
    pub level: Level,
    /// The hosts that agents reach if they are confined strictly.
    pub hosts: Vec<Host>,
    /// The files that are hidden besides the suite and the run: the user's data.
    pub hidden: Vec<Utf8PathBuf>,
}

/// The limits of an episode.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For all of it.
    pub episode: Duration,
    /// For one reply of the agent, with all of its calls of models.
    pub answer: Duration,
    /// For one observation, and for an action with all of its effects.
    pub step: Duration,
    /// For a page to settle after an action.
    pub settle: Duration,
}

impl Options {
    /// Returns the format in which programs write their actions.
    pub(crate) fn action_format(&self) -> ActionFormat {
        ActionFormat { dialect: self.dialect, multiaction: self.multiaction }
    }

    /// Returns the folder of golden states and instances of sites.
    pub(crate) fn town_folder(&self) -> Utf8PathBuf {
        let temporary = || {
            let folder = processes::temporary::folder().ok();
            folder
                .and_then(|path| Utf8PathBuf::from_path_buf(path).ok())
                .unwrap_or_else(|| "/tmp".into())
        };
        self.town.clone().unwrap_or_else(|| temporary().join("sites"))
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            out: None,
            resume: false,
            retry_errors: false,
            repeat: 1,
            workers: 1,
            dialect: Dialect::default(),
            multiaction: false,
            agent_variables: Vec::new(),
            site_variables: Vec::new(),
            unpacked: None,
            agreed: Agreed::default(),
            screenshots: true,
            keep_storage: false,
            keep_network: false,
            keep_order: false,
            memory: None,
            shard: None,
            episodes: None,
            max_errors: None,
            max_cost: None,
            tasks: Vec::new(),
            limit: None,
            max_steps: None,
            index_cache: None,
            town: None,
            scoring_mode: ScoringMode::default(),
            helper: None,
            confinement: ConfinementOptions::default(),
            headed: false,
            webdriver: false,
            fill: None,
            judge: Model::default(),
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            episode: Duration::from_secs(600),
            answer: Duration::from_secs(120),
            step: Duration::from_secs(180),
            settle: Duration::from_secs(30),
        }
    }
}
