//! `run.json`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use browser::Dialect;
use jiff::Timestamp;
use scoring::rules::Rules;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{EpisodeId, FORMAT, Format};

/// What was run. Two runs with the same suite, digest and agent may be compared, and one may go on where it was interrupted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the files.
    pub format: Format,
    /// Version of the program that wrote them.
    pub sandbox: String,
    /// Name of the suite.
    pub suite: String,
    /// SHA-256 over the tasks and the world they run in.
    pub suite_digest: String,
    /// What that world is made of.
    #[serde(default)]
    pub world: WorldRecord,
    /// The agent, as given on the command line.
    pub agent: String,
    /// What decides how it acts besides: settings, model, digest of its prompts; not written where nothing does.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub settings: Value,
    /// The notation of its actions; not written where it is BrowserGym's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dialect: Dialect,
    /// Whether a reply might hold several actions; not written where it might not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub multiaction: bool,
    /// By which rules episodes are scored; not written where they are the published ones, bug for bug.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rules: Rules,
    /// How often each task is attempted.
    pub repeat: u32,
    /// The tasks of the run, in the order of the suite.
    pub tasks: Vec<TaskRecord>,
    /// Which part of the run is played here; all of it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// When the run was begun.
    pub started: Timestamp,
}

/// What the world of a run is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldRecord {
    /// When its clocks start.
    pub clock: Timestamp,
    /// What its randomness comes of.
    pub seed: u64,
    /// SHA-256 over the length and both ends of each snapshot, in hexadecimal, by the names of
    /// their files: the end has the checksums of all that is in one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "read_digests")]
    pub snapshots: BTreeMap<String, String>,
    /// Ids of the images that sites run from, by the sites' names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, String>,
}

/// One of several equal parts of a run, which are played apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which part, from 1.
    pub index: u32,
    /// How many parts there are.
    pub count: u32,
}

/// The text is no shard.
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
    /// Whether the task at this place of the run, from 0, belongs to it.
    fn has(self, place: usize) -> bool {
        place % self.count.max(1) as usize + 1 == self.index as usize
    }
}

/// A task, as far as results need it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRecord {
    /// Its id.
    pub id: String,
    /// The goal in words.
    pub goal: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
    /// Words to tell it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How many actions a person has needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_steps: Option<u32>,
}

impl RunRecord {
    /// A record of now.
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
            rules: Rules::default(),
            repeat,
            tasks,
            shard: None,
            started: Timestamp::now(),
        }
    }

    /// The tasks that are played here.
    pub fn own_tasks(&self) -> impl Iterator<Item = &TaskRecord> {
        let own = move |place| self.shard.is_none_or(|shard| shard.has(place));
        self.tasks.iter().enumerate().filter(move |(place, _)| own(*place)).map(|(_, task)| task)
    }

    /// The episodes that are played here, repeat after repeat.
    pub fn planned(&self) -> Vec<EpisodeId> {
        let of = |repeat| self.own_tasks().map(move |task| EpisodeId { task: task.id.clone(), repeat });
        (1..=self.repeat).flat_map(of).collect()
    }

    /// The first thing in which two runs are not the same experiment: its name and both values.
    pub fn differs_from(&self, other: &RunRecord) -> Option<(&'static str, String, String)> {
        let text = |run: &RunRecord| {
            [
                ("suite", run.suite.clone()),
                ("agent", run.agent.clone()),
                ("agent's settings, model or prompts", run.settings.to_string()),
                ("dialect", run.dialect.to_string()),
                ("number of actions in a reply", (if run.multiaction { "any" } else { "one" }).to_owned()),
                ("rules", run.rules.to_string()),
                ("suite digest (tasks, world or snapshots)", run.suite_digest.clone()),
            ]
        };
        let pairs = text(self).into_iter().zip(text(other));
        pairs.into_iter().find(|(a, b)| a != b).map(|((name, a), (_, b))| (name, a, b))
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads digests as they are written now, and as older programs wrote them: a list of bytes in a
/// string, such as `[7f, 3]`.
fn read_digests<'de, D: Deserializer<'de>>(reader: D) -> Result<BTreeMap<String, String>, D::Error> {
    let read = BTreeMap::<String, String>::deserialize(reader)?;
    let plain = |digest: String| listed_bytes(&digest).map_or(digest, |bytes| hex::encode(bytes));
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
        // What nobody understands is left as it is: nothing depends on it.
        for odd in ["[]", "[7f, 300]", "[7f", "none"] {
            assert_eq!(read(odd), odd);
        }
    }
}
