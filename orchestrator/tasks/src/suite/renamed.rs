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

/// Which names keys are given.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    Older,
    Both,
}

impl Task {
    /// The task as the digest of its suite has it: as JSON under the older names of its keys, in
    /// the order in which they always stood.
    ///
    /// # Errors
    ///
    /// When a value of the task has no form in JSON.
    pub fn for_digest(&self) -> Result<Value, serde_json::Error> {
        self.named(Names::Older)
    }

    /// The task as `--json` prints it. A key that programs have read before 0.2 is there under its
    /// older name, too.
    ///
    /// # Errors
    ///
    /// When a value of the task has no form in JSON.
    pub fn for_programs(&self) -> Result<Value, serde_json::Error> {
        self.named(Names::Both)
    }

    fn named(&self, names: Names) -> Result<Value, serde_json::Error> {
        let mut task = renamed(serde_json::to_value(self)?, &KEYS, names);
        rename_params(&mut task["scorer"], names);
        Ok(task)
    }
}

/// Gives the keys of an object their older names. They keep their places; where both names are
/// wanted, the older one follows.
fn renamed(value: Value, keys: &[Renamed], names: Names) -> Value {
    let Value::Object(fields) = value else { return value };
    let mut named = Map::new();
    for (key, value) in fields {
        let older = keys.iter().find(|renamed| renamed.name == key).map(|renamed| renamed.older);
        if older.is_none() || names == Names::Both {
            named.insert(key, value.clone());
        }
        if let Some(older) = older {
            named.insert(older.to_owned(), value);
        }
    }
    Value::Object(named)
}

/// Gives `params` of the probes of a scorer its older name. A scorer may have several parts; what
/// benchmarks have of that name stays.
fn rename_params(scorer: &mut Value, names: Names) {
    if let Some(parts) = scorer.get_mut("all").and_then(Value::as_array_mut) {
        parts.iter_mut().for_each(|part| rename_params(part, names));
    }
    if let Some(state) = scorer.get_mut("state") {
        *state = renamed(state.take(), &[PARAMS], names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_find_a_key_under_both_names() {
        let text = "id: one\ngoal: Look.\nsetup_script: go()\nscorer:\n  \
            state: {site: s, probe: p, params: {n: 1}, expect: {count: 1}}\n";
        let task: Task = serde_yaml::from_str(text).unwrap();
        let shown = task.for_programs().unwrap();
        assert_eq!((&shown["setup_script"], &shown["begin"]), (&"go()".into(), &"go()".into()));
        let state = &shown["scorer"]["state"];
        assert_eq!((&state["params"]["n"], &state["with"]["n"]), (&1.into(), &1.into()));
    }
}
