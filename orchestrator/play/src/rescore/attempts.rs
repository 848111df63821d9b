//! Joins saved attempts of several systems at the tasks of a benchmark.

use tasks::saved::{SavedAttempt, read_saved};
use tasks::{AttemptFallback, Task};

/// The attempts to score.
#[derive(Debug)]
pub struct ChosenAttempts {
    /// The attempts. An attempt of the first system without an answer has that of the first one
    /// after it that has one.
    pub attempts: Vec<SavedAttempt>,
    /// The number of answers of each system; empty if there is one system.
    pub answers: Vec<usize>,
    /// The tasks that are scored.
    pub tasks: Vec<Task>,
    /// The ids of tasks without an attempt.
    pub missing: Vec<String>,
}

/// Joins the attempts of several systems. The first system is the one that is scored. With `all`,
/// tasks without an attempt count as attempts without a result; otherwise they are left out.
pub fn choose_attempts(
    tasks: &[Task],
    systems: Vec<Vec<SavedAttempt>>,
    all: bool,
) -> ChosenAttempts {
    let (mut attempts, answers) = match systems.len() {
        0 | 1 => (systems.into_iter().flatten().collect(), Vec::new()),
        _ => {
            let combined = AttemptFallback::of(tasks, &systems);
            (combined.attempts, combined.answers)
        }
    };
    let has_none =
        |task: &&Task| !attempts.iter().any(|attempt: &SavedAttempt| attempt.is_of(task));
    let missing: Vec<String> = tasks.iter().filter(has_none).map(|task| task.id.clone()).collect();
    if all {
        let nothing = missing.iter().map(|id| serde_json::json!({ "task": id }).to_string());
        let nothing: Vec<String> = nothing.collect();
        attempts.extend(read_saved(&nothing.join("\n")).expect("ids are attempts"));
    }
    let is_scored = |task: &&Task| all || !missing.contains(&task.id);
    let tasks = tasks.iter().filter(is_scored).cloned().collect();
    ChosenAttempts { attempts, answers, tasks, missing }
}
