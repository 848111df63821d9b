//! The file of a task: its goal, its start page and its scorer.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use schemars::JsonSchema;
use scoring::solution::OracleStep;
use scoring::{Scorer, read_text};
use serde::{Deserialize, Deserializer, Serialize};

use super::world::{read_some_clock, write_some_clock};
use super::{DeviceSpec, GoalText, StopRules, WorldSpec};

/// A goal with its scorer and a solution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Unique in the suite: ASCII letters, digits, `-`, `_` and `.`, so that it can name a folder.
    #[serde(deserialize_with = "read_id")]
    pub id: String,
    /// The instruction to the agent.
    pub goal: GoalText,
    /// Pictures that belong to the goal, by their addresses in the world.
    #[serde(default, alias = "images", skip_serializing_if = "Vec::is_empty")]
    pub goal_images: Vec<String>,
    /// The page on which the episode begins; an empty page when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_url: Option<String>,
    /// Other pages that are open then, each in a tab of its own behind the start page's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tabs: Vec<String>,
    /// Pages that the task's author knows to matter, such as those where its answer stands. A
    /// recording of the suite begins with them; no score follows from them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seed_urls: Vec<String>,
    /// A script that is run among the page's own once the start page has come to rest. The page
    /// comes to rest again before its goal is read and the agent sees it; what the script throws
    /// breaks the episode.
    #[serde(
        default,
        alias = "begin",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "read_script"
    )]
    pub setup_script: Option<String>,
    /// The sites of the task. In a world with sites these are their names, and an episode gets
    /// instances of these alone; otherwise hosts, for people and for filters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
    /// The accounts that are logged in when the episode begins: accounts of the manifests, by site.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub login: BTreeMap<String, String>,
    /// Snapshot files that it is done in, in place of the world's. Resolved against the suite's
    /// folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub snapshots: Option<Vec<Utf8PathBuf>>,
    /// The time of page clocks when its episodes begin, in place of the world's.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "read_some_clock",
        serialize_with = "write_some_clock"
    )]
    #[schemars(with = "Option<String>")]
    pub clock: Option<Timestamp>,
    /// A file with cookies and storage that the browser begins with, in place of the world's, as
    /// Playwright's `storage_state` writes it. Resolved against the suite's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub storage_state: Option<Utf8PathBuf>,
    /// The device on which it is done, where that is not the world's.
    #[serde(default, skip_serializing_if = "DeviceSpec::is_usual")]
    pub device: DeviceSpec,
    /// The user's messages besides the goal, and their times.
    #[serde(default, alias = "user", skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<UserMessage>,
    /// How many actions an agent may take.
    #[serde(default = "default_max_steps", deserialize_with = "read_max_steps")]
    pub max_steps: u32,
    /// How many actions a person has needed; results say how an agent's course compares with that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_steps: Option<u32>,
    /// When an agent that gets nowhere is stopped before that.
    #[serde(default, alias = "stop", skip_serializing_if = "StopRules::is_never")]
    pub early_stop: StopRules,
    /// Words to select tasks by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The rule that decides the score.
    #[serde(with = "serde_yaml::with::singleton_map_recursive")]
    #[schemars(with = "Scorer")]
    pub scorer: Scorer,
    /// Steps that are known to solve the task, in order; empty when nobody has written them down.
    #[serde(
        default,
        with = "serde_yaml::with::singleton_map_recursive",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Vec<OracleStep>")]
    pub oracle: Vec<OracleStep>,
    /// Steps that come near and must earn nothing: they show that the scorer can tell.
    #[serde(
        default,
        alias = "mistake",
        with = "serde_yaml::with::singleton_map_recursive",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[schemars(with = "Vec<OracleStep>")]
    pub wrong_solution: Vec<OracleStep>,
}

impl Task {
    /// A task with nothing but what each has to have; the rest is as where its file says nothing.
    pub fn new(id: String, goal: GoalText, scorer: Scorer) -> Task {
        Task {
            id,
            goal,
            goal_images: Vec::new(),
            start_url: None,
            tabs: Vec::new(),
            seed_urls: Vec::new(),
            setup_script: None,
            sites: Vec::new(),
            login: BTreeMap::new(),
            snapshots: None,
            clock: None,
            storage_state: None,
            device: DeviceSpec::default(),
            messages: Vec::new(),
            max_steps: default_max_steps(),
            reference_steps: None,
            early_stop: StopRules::default(),
            tags: Vec::new(),
            scorer,
            oracle: Vec::new(),
            wrong_solution: Vec::new(),
        }
    }

    /// The world that its episodes begin in: its suite's, but for what it says itself.
    pub fn world(&self, of_suite: &WorldSpec) -> WorldSpec {
        let own = self.clone();
        WorldSpec {
            snapshots: own.snapshots.unwrap_or_else(|| of_suite.snapshots.clone()),
            clock: own.clock.unwrap_or(of_suite.clock),
            storage_state: own.storage_state.or_else(|| of_suite.storage_state.clone()),
            ..of_suite.clone()
        }
    }
}

/// Something that the user says while the agent is at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserMessage {
    /// It is heard before this action.
    pub step: NonZeroU32,
    /// The words.
    pub says: String,
}

fn default_max_steps() -> u32 {
    30
}

fn read_id<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    yaml::text(input, |text| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let names_a_folder =
            (1..=200).contains(&text.len()) && !text.starts_with('.') && text.chars().all(allowed);
        if names_a_folder {
            return Ok(text.to_owned());
        }
        Err(format!("`{text}` is not 1 to 200 letters, digits, `-`, `_` and `.`"))
    })
}

fn read_script<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    read_text(input).map(Some)
}

fn read_max_steps<'de, D: Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
    NonZeroU32::deserialize(input).map(NonZeroU32::get)
}
