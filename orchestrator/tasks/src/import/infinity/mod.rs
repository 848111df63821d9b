//! WebArena-Infinity: web applications that keep their state in one JSON document, and for each
//! task a verifier in Python that reads it.
//!
//! An application is a folder with `server.py`, `real-tasks.json` and `function-tasks.json`, and
//! verifiers below. Every episode has a fresh copy of its application. The page makes the first
//! state when it is opened, which is what the benchmark's reset puts back.

mod suite;

use camino::Utf8Path;
use scoring::{ProgramCheck, Scorer};
use serde::Deserialize;
pub use suite::{InfinitySuite, suite};

use super::{Import, ImportError, read_json, task_id};
use crate::{GoalText, MatchLevel, Task, WorldSpec};

/// The link to the benchmark's applications in the suite's folder.
pub const APPS: &str = "apps";
/// The program that runs a verifier, by its name and what is in it.
pub const VERIFY: (&str, &str) = ("verify.py", include_str!("verify.py"));
/// The program that serves an application on loopback alone.
pub const SERVE: (&str, &str) = ("serve.py", include_str!("serve.py"));

/// BrowserGym's window, in CSS pixels; the benchmark names none.
const VIEWPORT: (u32, u32) = (1280, 720);
/// The start of page clocks: the day on which the benchmark was published.
const CLOCK: &str = "2026-03-23T09:00:00Z";
/// The benchmark's own (`evaluation/agents.py`: `BrowserUseAgent`).
const MAX_STEPS: u32 = 50;

/// A list of tasks of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum List {
    /// The tasks of its users.
    #[default]
    Real,
    /// One task for each function that it has.
    Function,
}

impl List {
    /// The file in the application's folder.
    pub fn file(self) -> &'static str {
        match self {
            List::Real => "real-tasks.json",
            List::Function => "function-tasks.json",
        }
    }
}

/// A task. Nothing else of it changes a score, so other keys are passed over.
#[derive(Deserialize)]
struct Row {
    id: String,
    /// Of real tasks alone.
    difficulty: Option<String>,
    instruction: String,
    /// The path of its verifier in the application's folder.
    verify: String,
}

/// The tasks of the application of this name; `json` is one of its lists.
///
/// # Errors
/// When it is no such list.
pub fn infinity(app: &str, json: &str) -> Result<Import, ImportError> {
    let rows: Vec<Row> = read_json(json)?;
    let mut import = Import::default();
    for row in rows {
        let file = format!("{APPS}/{app}/{}", row.verify);
        let words = ["python3", VERIFY.0, &file, "{url}"];
        let command = words.map(str::to_owned).to_vec();
        import.tasks.push(Task {
            start_url: Some(format!("https://{}/", host(app))),
            sites: vec![app.to_owned()],
            max_steps: MAX_STEPS,
            tags: [app.to_owned()].into_iter().chain(row.difficulty).collect(),
            ..Task::new(
                task_id(app, &row.id),
                GoalText::Words(row.instruction),
                Scorer::Program(ProgramCheck::new(command)),
            )
        });
    }
    Ok(import)
}

/// The host that an application is reached by.
pub fn host(app: &str) -> String {
    format!("{app}.test")
}

/// The manifest of an application, for the folder `sites/APP` of the suite.
pub fn manifest(app: &str) -> String {
    // A JSON text is a YAML text, too, whatever is in a name.
    let text = |text: String| serde_json::Value::from(text);
    let folder = Utf8Path::new("../..").join(APPS).join(app);
    format!(
        "title: {title}
description: {about}
driver: process
command: [python3, ../../{serve}, {folder}, \"{{port}}\"]
hosts: [{host}]
ready:
  front page: {{get: /, status: 200}}
",
        title = text(app.to_owned()),
        about = text(format!("The application {app} of WebArena-Infinity.")),
        serve = SERVE.0,
        folder = text(folder.into_string()),
        host = text(host(app)),
    )
}

/// The world of such a suite; manifests are in the folder `sites` beside it.
pub fn world() -> WorldSpec {
    WorldSpec {
        sites: Some("sites".into()),
        viewport: VIEWPORT,
        match_level: MatchLevel::Exact,
        ..WorldSpec::new(CLOCK.parse().expect("the clock is a time"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const LIST: &str = r#"[
        {"id": "task_e1", "difficulty": "easy", "instruction": "Pin the note.", "verify": "real-tasks/task_e1.py"},
        {"id": "task_1", "instruction": "Open a note.", "verify": "function-tasks/task_1.py", "added": "later"},
        {"id": "task_2", "instruction": " ", "verify": "function-tasks/task_2.py"}
    ]"#;

    #[test]
    fn a_line_becomes_a_task_with_its_own_verifier() {
        let import = infinity("notes", LIST).unwrap();
        assert!(import.skipped.is_empty(), "one without words is a task as well");
        let [first, second, _] = &import.tasks[..] else { panic!("{import:?}") };
        assert_eq!((first.id.as_str(), second.id.as_str()), ("notes-task_e1", "notes-task_1"));
        assert_eq!(first.start_url.as_deref(), Some("https://notes.test/"));
        assert_eq!(
            (&first.tags[..], &second.tags[..]),
            (&["notes", "easy"].map(String::from)[..], &["notes".to_owned()][..])
        );
        let Scorer::Program(check) = &first.scorer else { panic!("{:?}", first.scorer) };
        assert_eq!(
            check.words("URL"),
            ["python3", "verify.py", "apps/notes/real-tasks/task_e1.py", "URL"]
        );
        for task in &import.tasks {
            let yaml = serde_yaml::to_string(task).unwrap();
            assert_eq!(&serde_yaml::from_str::<Task>(&yaml).unwrap(), task);
        }
        let error =
            infinity("notes", r#"[{"id": "a", "instruction": "b"}]"#).unwrap_err().to_string();
        assert!(error.contains("missing field `verify`"), "{error}");
    }

    #[test]
    fn the_world_can_be_read_again() {
        let yaml = serde_yaml::to_string(&world()).unwrap();
        assert_eq!(serde_yaml::from_str::<WorldSpec>(&yaml).unwrap(), world());
    }
}
