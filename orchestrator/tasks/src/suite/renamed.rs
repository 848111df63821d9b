//! Keys of task files that had another name before 0.2. Files are read under both; everything that
//! is written has the names of today. Only the digests of suites keep the older ones, so that a
//! suite which has not changed keeps its digest; a test of `results` holds that.

use camino::Utf8Path;
use serde_json::{Map, Value};
use yaml::Renamed;

use super::{Error, Task};

/// The keys of a task.
const KEYS: [Renamed; 5] = [
    key("mistake", "wrong_solution"),
    key("user", "messages"),
    key("begin", "setup_script"),
    key("stop", "early_stop"),
    key("images", "goal_images"),
];

/// The key of a probe, below `scorer`.
const PARAMS: Renamed = Renamed { older: "with", name: "params", nested: true };

const fn key(older: &'static str, name: &'static str) -> Renamed {
    Renamed { older, name, nested: false }
}

/// Reads the file of one task as it stands: its paths are not resolved, and nothing of it is
/// compared with its suite. Older names of keys are logged.
///
/// # Errors
///
/// When the file cannot be read, or is no task.
pub fn read_task(file: &Utf8Path) -> Result<Task, Error> {
    let renamed: Vec<Renamed> = KEYS.into_iter().chain([PARAMS]).collect();
    Ok(yaml::read_renamed(file, &renamed)?)
}

impl Task {
    /// The task as the digest of its suite has it: as JSON under the older names of its keys, in
    /// the order in which they always stood.
    ///
    /// # Errors
    ///
    /// When a value of the task has no form in JSON.
    pub fn for_digest(&self) -> Result<Value, serde_json::Error> {
        let mut task = older(serde_json::to_value(self)?, &KEYS);
        older_params(&mut task["scorer"]);
        Ok(task)
    }
}

/// Gives the keys of an object their older names. They keep their places.
fn older(value: Value, renamed: &[Renamed]) -> Value {
    let Value::Object(fields) = value else { return value };
    let named = fields.into_iter().map(|(key, value)| {
        let older = renamed.iter().find(|renamed| renamed.name == key);
        (older.map_or(key, |renamed| renamed.older.to_owned()), value)
    });
    Value::Object(named.collect::<Map<_, _>>())
}

/// Gives `params` of the probes of a scorer its older name. A scorer may have several parts; what
/// benchmarks have of that name stays.
fn older_params(scorer: &mut Value) {
    if let Some(parts) = scorer.get_mut("all").and_then(Value::as_array_mut) {
        parts.iter_mut().for_each(older_params);
    }
    if let Some(state) = scorer.get_mut("state") {
        *state = older(state.take(), &[PARAMS]);
    }
}
