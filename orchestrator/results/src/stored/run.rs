//! The description of a run (`run.json`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use actions::Dialect;
use jiff::Timestamp;
use jiff::civil::Date;
use processes::confine::Confinement;
use scoring::mode::ScoringMode;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{Conditions, EpisodeId, FORMAT, Format};

/// The description of a run. Runs with the same suite, digest and agent can be compared, and an
/// interrupted one can be resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The version of the files.
    pub format: Format,
    /// The version of the program that wrote them.
    pub sandbox: String,
    /// The name of the suite.
    pub suite: String,
    /// SHA-256 over the tasks and their world.
    pub suite_digest: String,
    /// The parts of the world.
    #[serde(default)]
    pub world: WorldRecord,
    /// The agent, as given on the command line.
    pub agent: String,
    /// Everything that determines the agent's behaviour besides its name: its settings, its model,
    /// a digest of its prompts. Omitted if there is nothing.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub settings: Value,
    /// The dialect of its actions. Omitted for BrowserGym's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dialect: Dialect,
    /// Whether a reply may contain several actions. Omitted if not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub multiaction: bool,
    /// Whether no screenshots are taken. Omitted if they are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub no_screenshots: bool,
    /// The scoring rules. Omitted for the published ones (bug for bug).
    #[serde(default, rename = "rules", skip_serializing_if = "is_default")]
    pub scoring_mode: ScoringMode,
    /// The conditions on which trust in the scores depends. Absent before format 2.6: then nothing
    /// is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    /// Number of attempts at each task.
    pub repeat: u32,
    /// The tasks of the run, in the order of the suite.
    pub tasks: Vec<TaskRecord>,
    /// The part of the run that is played here. Absent if it is the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The episodes of the part, if they were assigned by name. Absent if the shard decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episodes: Option<Vec<EpisodeId>>,
    /// The confinement of the run's programs: the agent, and those of scorers. Absent if it has
    /// none, and before format 2.6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// The start time of the run.
    pub started: Timestamp,
}

/// The parts of a run's world.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldRecord {
    /// The start time of its clocks.
    pub clock: Timestamp,
    /// The seed of its randomness.
    pub seed: u64,
    /// Digests of the snapshots by file name: SHA-256 over the length and both ends, in
    /// hexadecimal. The end of a WACZ has the checksums of its content.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "read_digests"
    )]
    pub snapshots: BTreeMap<String, String>,
    /// The day of the snapshots, if the suite has versions of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Date>,
    /// The version of Chromium that showed the pages, such as `156.0.8078.108`. Absent before
    /// format 2.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chromium: Option<String>,
    /// The image ids of the sites, by the sites' names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, String>,
}

/// One of several equal parts of a run, which are played separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The number of the part, from 1.
    pub index: u32,
    /// The number of parts.
    pub count: u32,
}

/// The text is not a shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read {0:?} as a part of a run: write 2/5 for the second of five")]
pub struct NoShard(String);

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Shard, NoShard> {
        let read = || {
            let (index, count) = text.split_once('/')?;
            let shard = Shard { index: index.parse().ok()?, count: count.parse().ok()? };
            (1..=shard.count).contains(&shard.index).then_some(shard)
        };
        read().ok_or_else(|| NoShard(text.to_owned()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Shard {
    /// Whether the task at this index of the run, from 0, belongs to the shard.
    pub fn has(self, place: usize) -> bool {
        place % self.count.max(1) as usize + 1 == self.index as usize
    }
}

/// The part of a task that results need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRecord {
    /// The id of the task.
    pub id: String,
    /// The goal as text.
    pub goal: String,
    /// The sites that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
    /// The tags of the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Number of actions that a person needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_steps: Option<u32>,
}

impl RunRecord {
    /// Takes over the confinement and conditions of a part, if its scores can be trusted less.
    pub fn weaken(&mut self, part: &RunRecord) {
        self.confinement = match (self.confinement, part.confinement) {
            (Some(there), Some(here)) => Some(there.weaker(here)),
            (there, here) => there.or(here),
        };
        // Nothing is known of a part from before format 2.6.
        let (there, here) = (self.conditions.take(), part.conditions.clone());
        let is_known = there.is_some() || here.is_some();
        self.conditions =
            is_known.then(|| there.unwrap_or_default().weaker(&here.unwrap_or_default()));
    }

    /// A record with the current time and version.
    pub fn new(
        suite: &str,
        suite_digest: String,
        agent: String,
        repeat: u32,
        tasks: Vec<TaskRecord>,
    ) -> RunRecord {
        RunRecord {
            format: FORMAT,
            sandbox: env!("CARGO_PKG_VERSION").to_owned(),
            suite: suite.to_owned(),
            suite_digest,
            world: WorldRecord::default(),
            agent,
            settings: Value::Null,
            dialect: Dialect::default(),
            multiaction: false,
            no_screenshots: false,
            scoring_mode: ScoringMode::default(),
            conditions: None,
            repeat,
            tasks,
            shard: None,
            episodes: None,
            confinement: None,
            started: Timestamp::now(),
        }
    }

    /// The tasks of this run or shard.
    pub fn own_tasks(&self) -> impl Iterator<Item = &TaskRecord> {
        let named: Option<BTreeSet<&str>> =
            self.episodes.as_ref().map(|ids| ids.iter().map(|id| id.task.as_str()).collect());
        let own = move |place, task: &TaskRecord| match &named {
            Some(named) => named.contains(task.id.as_str()),
            None => self.shard.is_none_or(|shard| shard.has(place)),
        };
        self.tasks
            .iter()
            .enumerate()
            .filter(move |(place, task)| own(*place, task))
            .map(|(_, task)| task)
    }

    /// The episodes of this run or shard, repeat after repeat.
    pub fn planned(&self) -> Vec<EpisodeId> {
        if let Some(episodes) = &self.episodes {
            return episodes.clone();
        }
        let of =
            |repeat| self.own_tasks().map(move |task| EpisodeId { task: task.id.clone(), repeat });
        (1..=self.repeat).flat_map(of).collect()
    }

    /// The first difference that makes two runs different experiments: its name and both values.
    pub fn differs_from(&self, other: &RunRecord) -> Option<(&'static str, String, String)> {
        let text = |run: &RunRecord| {
            [
                ("suite", run.suite.clone()),
                ("agent", run.agent.clone()),
                ("agent's settings, model or prompts", run.settings.to_string()),
                ("dialect", run.dialect.to_string()),
                (
                    "number of actions in a reply",
                    (if run.multiaction { "any" } else { "one" }).to_owned(),
                ),
                (
                    "screenshot setting",
                    (if run.no_screenshots { "none" } else { "each step" }).to_owned(),
                ),
                ("rules", run.scoring_mode.to_string()),
                ("suite digest (tasks, world or snapshots)", run.suite_digest.clone()),
            ]
        };
        let pairs = text(self).into_iter().zip(text(other));
        pairs.into_iter().find(|(a, b)| a != b).map(|((name, a), (_, b))| (name, a, b))
    }

    /// The first difference between the machines of two parts of one run: its name and both values.
    /// A value that one of them lacks is no difference.
    pub fn differs_in_machine(&self, other: &RunRecord) -> Option<(String, String, String)> {
        if let (Some(a), Some(b)) = (&self.world.chromium, &other.world.chromium)
            && a != b
        {
            return Some(("Chromium".to_owned(), a.clone(), b.clone()));
        }
        let images = self.world.images.iter();
        let mut both =
            images.filter_map(|(site, id)| Some((site, id, other.world.images.get(site)?)));
        let (site, a, b) = both.find(|(_, a, b)| a != b)?;
        Some((format!("image of the site {site}"), a.clone(), b.clone()))
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Parses digests in the current form, and in that of older programs: a list of bytes such as `[7f,
/// 3]`.
fn read_digests<'de, D: Deserializer<'de>>(
    reader: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let read = BTreeMap::<String, String>::deserialize(reader)?;
    let plain = |digest: String| listed_bytes(&digest).map_or(digest, hex::encode);
    Ok(read.into_iter().map(|(name, digest)| (name, plain(digest))).collect())
}

fn listed_bytes(text: &str) -> Option<Vec<u8>> {
    let list = text.strip_prefix('[')?.strip_suffix(']')?;
    list.split(", ").map(|byte| u8::from_str_radix(byte, 16).ok()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn record(chromium: Option<&str>, images: &[(&str, &str)]) -> RunRecord {
        let owned = |text: &str| text.to_owned();
        let task = |id: &str| TaskRecord {
            id: owned(id),
            goal: String::new(),
            sites: Vec::new(),
            tags: Vec::new(),
            reference_steps: None,
        };
        let tasks = vec![task("tea"), task("bike-2")];
        let mut run = RunRecord::new("town", String::new(), owned("oracle"), 2, tasks);
        run.world.chromium = chromium.map(owned);
        run.world.images = images.iter().map(|(site, id)| (owned(site), owned(id))).collect();
        run
    }

    #[test]
    fn machines_differ_in_what_both_say() {
        let differs = |a: &RunRecord, b: &RunRecord| a.differs_in_machine(b).map(|(what, ..)| what);
        let (old, new) = (record(Some("155.1"), &[]), record(Some("156.1"), &[]));
        assert_eq!(differs(&old, &new).as_deref(), Some("Chromium"));
        assert_eq!(differs(&record(None, &[]), &new), None);
        let mail = record(Some("156.1"), &[("mail", "a"), ("wiki", "b")]);
        assert_eq!(differs(&mail, &record(None, &[("wiki", "b"), ("map", "c")])), None);
        let other = record(None, &[("wiki", "c")]);
        assert_eq!(differs(&mail, &other).as_deref(), Some("image of the site wiki"));
    }

    #[test]
    fn a_part_may_have_its_episodes_by_name() {
        let id = |text: &str| text.parse::<EpisodeId>().unwrap();
        let episodes = Some(vec![id("bike-2-1"), id("bike-2-2")]);
        let run = RunRecord { shard: Some("3/9".parse().unwrap()), episodes, ..record(None, &[]) };
        let written = serde_json::to_value(&run).unwrap();
        assert_eq!(written["episodes"], serde_json::json!(["bike-2-1", "bike-2-2"]));
        let read: RunRecord = serde_json::from_value(written).unwrap();
        assert_eq!(read, run);
        assert_eq!(read.own_tasks().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["bike-2"]);
        assert_eq!(read.planned().iter().map(|id| id.repeat).collect::<Vec<_>>(), [1, 2]);
        for odd in ["tea", "tea-", "tea-0", "-1", "tea-x"] {
            assert!(odd.parse::<EpisodeId>().is_err(), "{odd}");
        }
    }

    #[test]
    fn digests_are_read_as_they_were_once_written() {
        let read = |digest: &str| {
            let world = WorldRecord {
                snapshots: BTreeMap::from([("x.wacz".to_owned(), digest.to_owned())]),
                ..WorldRecord::default()
            };
            let text = serde_json::to_string(&world).unwrap();
            serde_json::from_str::<WorldRecord>(&text).unwrap().snapshots["x.wacz"].clone()
        };
        assert_eq!(read("[7f, 3, a0, 0]"), "7f03a000");
        assert_eq!(read("7f03a000"), "7f03a000");
        // Unknown forms are kept unchanged, because nothing depends on them.
        for odd in ["[]", "[7f, 300]", "[7f", "none"] {
            assert_eq!(read(odd), odd);
        }
    }
}
