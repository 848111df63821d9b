//! What a run may be told.

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

/// How a suite is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder for the results; by default `runs/<suite>-<agent>-<time>`.
    pub out: Option<Utf8PathBuf>,
    /// Go on with the run in `out` instead of beginning one.
    pub resume: bool,
    /// When resuming, attempt again what had ended in an error.
    pub retry_errors: bool,
    /// Attempts at each task.
    pub repeat: u32,
    /// Episodes at a time, each with its own browser and gateway.
    pub workers: usize,
    /// The notation that a program speaks.
    pub dialect: Dialect,
    /// A reply may hold several actions. They are carried out in their order, the page coming to
    /// rest after each, up to the first that fails, and are one step; the page is not looked at in
    /// between.
    pub multiaction: bool,
    /// What a program sees of the environment besides what every program needs. Kept nowhere.
    pub agent_variables: Vec<Variable>,
    /// The variables of the environment that manifests of sites may take. Kept nowhere.
    pub site_variables: Vec<Variable>,
    /// Where a packed run was unpacked, with all that its suite may read.
    pub unpacked: Option<Utf8PathBuf>,
    /// What the user has agreed to of what the suite would do outside of its world.
    pub agreed: Agreed,
    /// Take a screenshot of each step. Without them a step costs less, and agents see none. An
    /// attached browser has them in any case.
    pub screenshots: bool,
    /// Keep what pages have in the browser when an episode ends, with its other results. Whoever
    /// has that may be logged in by it.
    pub keep_storage: bool,
    /// Keep everything that passes over the network, with an episode's other results. Log-ins are
    /// in it.
    pub keep_network: bool,
    /// Keep the order of what happens in the pages, with an episode's other results.
    pub keep_order: bool,
    /// How much memory sites and browsers may take, in bytes; most of what is free when absent.
    pub memory: Option<u64>,
    /// Which part of the run to play; all of it when absent.
    pub shard: Option<Shard>,
    /// The episodes of the part, if they are named; the shard then only numbers it.
    pub episodes: Option<Vec<EpisodeId>>,
    /// Begin no further episode when so many have ended in an error.
    pub max_errors: Option<usize>,
    /// Begin no further episode when models and judges have cost so many US dollars.
    pub max_cost: Option<f64>,
    /// Ids of the tasks to run; all when empty.
    pub tasks: Vec<String>,
    /// How many of those to run, from the first; all when absent.
    pub limit: Option<usize>,
    /// Actions that a task may have at most, whatever it says itself.
    pub max_steps: Option<u32>,
    /// Folder where the indexes of snapshots are kept between runs; temporary files when absent.
    pub index_cache: Option<Utf8PathBuf>,
    /// Folder for the golden states and the copies of sites; one in the system's folder for
    /// temporary files when absent.
    pub town: Option<Utf8PathBuf>,
    /// Whether published bugs are reproduced.
    pub scoring_mode: ScoringMode,
    /// The executable `sandbox`, which starts programs confined; without it they run as the user,
    /// and those of scorers are only told which proxy to use.
    pub helper: Option<Utf8PathBuf>,
    /// How far programs are confined that the user or a suite names.
    pub confinement: ConfinementOptions,
    /// Show an attached browser in a window.
    pub headed: bool,
    /// Serve WebDriver clients of an attached browser, too.
    pub webdriver: bool,
    /// Where what the snapshots lack comes from, and goes to. Without it, it is a miss.
    pub fill: Option<LiveFill>,
    /// Who rules on what a scorer's rules leave open; by default nobody.
    pub judge: Model,
    /// What an episode may take.
    pub limits: Limits,
}

/// The live web behind the snapshots: what they lack is fetched once and recorded.
#[derive(Clone)]
pub struct LiveFill {
    /// Records it.
    pub recorder: Arc<Recorder>,
    /// How the live web is reached, with the limits of that. Its authority and routes do not count.
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

/// How far programs are confined.
#[derive(Debug, Clone, Default)]
pub struct ConfinementOptions {
    /// How far.
    pub level: Level,
    /// What agents reach of the network where they are confined strictly.
    pub hosts: Vec<Host>,
    /// What is hidden besides the suite and the run: the user's data.
    pub hidden: Vec<Utf8PathBuf>,
}

/// What an episode may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For all of it.
    pub episode: Duration,
    /// For one reply of the agent, all that it asks models included.
    pub answer: Duration,
    /// For looking at the page once, and for an action with all that follows from it.
    pub step: Duration,
    /// For a page to come to rest after an action.
    pub settle: Duration,
}

impl Options {
    /// How programs write their actions.
    pub(crate) fn action_format(&self) -> ActionFormat {
        ActionFormat { dialect: self.dialect, multiaction: self.multiaction }
    }

    /// Where golden states and copies of sites are.
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
