//! Keys of task files that had another name before 0.2. Files are read under both; everything that
//! is written has the names of today. Only the digests of suites keep the older ones, so that a
//! suite which has not changed keeps its digest.

use camino::Utf8Path;
use serde_json::{Map, Value};

use super::{Error, Task};

/// Keys of a task: the older name, and the name now.
const RENAMED: [(&str, &str); 5] = [
    ("mistake", "wrong_solution"),
    ("user", "messages"),
    ("begin", "setup_script"),
    ("stop", "early_stop"),
    ("images", "goal_images"),
];

/// What a probe is asked with, below `scorer`: the older name, and the name now.
const RENAMED_PARAMS: (&str, &str) = ("with", "params");

/// Reads the file of one task as it stands: its paths are not resolved, and nothing of it is
/// compared with its suite. Older names of keys are logged.
///
/// # Errors
///
/// When the file cannot be read, or is no task.
pub fn read_task(file: &Utf8Path) -> Result<Task, Error> {
    Ok(yaml::read_renamed(file, &RENAMED)?)
}

impl Task {
    /// The task as the digest of its suite has it: as JSON under the older names of its keys, in
    /// the order in which they always stood.
    ///
    /// # Errors
    ///
    /// When a value of the task has no form in JSON.
    pub fn for_digest(&self) -> Result<Value, serde_json::Error> {
        let mut task = older(serde_json::to_value(self)?, &RENAMED);
        if let Some(scorer) = task.get_mut("scorer") {
            older_params(scorer);
        }
        Ok(task)
    }
}

/// Gives the keys of an object their older names. They keep their places.
fn older(value: Value, renamed: &[(&str, &str)]) -> Value {
    let Value::Object(fields) = value else { return value };
    let named = fields.into_iter().map(|(key, value)| {
        let older = renamed.iter().find(|(_, name)| *name == key).map(|(older, _)| (*older).into());
        (older.unwrap_or(key), value)
    });
    Value::Object(named.collect::<Map<_, _>>())
}

/// Gives `params` of each probe below `value` its older name.
fn older_params(value: &mut Value) {
    match value {
        Value::Object(fields) if fields.contains_key("probe") => {
            *value = older(value.take(), &[RENAMED_PARAMS]);
        }
        Value::Object(fields) => fields.values_mut().for_each(older_params),
        Value::Array(items) => items.iter_mut().for_each(older_params),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of every release so far, in the order in which digests have them.
    #[test]
    fn a_digest_has_the_older_names_in_their_places() {
        let text = "id: one\ngoal: Look.\ngoal_images: [https://a.test/1.png]\nsetup_script: go()\n\
            messages: [{step: 2, says: Hurry.}]\nearly_stop: {repeats: 3}\n\
            scorer:\n  state: {site: shop, probe: orders, params: {probe: 1}, expect: {count: 1}}\n\
            wrong_solution: [{answer: no}]\n";
        let task: Task = serde_yaml::from_str(text).unwrap();
        let digested = task.for_digest().unwrap();
        let scorer =
            r#"{"state":{"site":"shop","probe":"orders","with":{"probe":1},"expect":{"count":1}}}"#;
        assert_eq!(digested["scorer"].to_string(), scorer);
        let keys =
            ["id", "goal", "images", "begin", "user", "max_steps", "stop", "scorer", "mistake"];
        assert!(digested.as_object().unwrap().keys().eq(keys), "{digested}");
    }
}
