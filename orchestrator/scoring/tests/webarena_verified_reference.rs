//! WebArena-Verified's scores beside its own package's, for made-up runs of every task: what came
//! of each of its evaluators. The package's tasks and what it said come from outside; `make
//! conformance`.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};

use scoring::webarena_verified::{Config, Run, Status, Task, evaluate, read};
use serde::Deserialize;

/// A run, and what the package says of it.
#[derive(Deserialize)]
struct Case {
    task: i64,
    answer: String,
    har: String,
    status: String,
    score: f64,
    by_evaluator: Vec<String>,
}

fn set(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is set by `make conformance SHARED=FOLDER`"))
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Success => "success",
        Status::Failure => "failure",
        Status::Error => "error",
    }
}

#[test]
fn scores_are_the_packages() {
    let tasks = read(&fs::read_to_string(set("SANDBOX_VERIFIED")).unwrap()).unwrap();
    let tasks: BTreeMap<i64, Task> = tasks.into_iter().map(|task| (task.task_id, task)).collect();
    let mut lines = BufReader::new(File::open(set("SANDBOX_VERIFIED_REFERENCE")).unwrap()).lines();
    let config = Config::read(&lines.next().unwrap().unwrap()).unwrap();
    let (mut differ, mut counts) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for line in lines {
        let case: Case = serde_json::from_str(&line.unwrap()).unwrap();
        let run = Run { agent_response: case.answer.as_bytes(), network: case.har.as_bytes() };
        let ours = evaluate(&tasks[&case.task], &config, &run);
        let by_evaluator: Vec<&str> =
            ours.evaluators_results.iter().map(|one| word(one.status)).collect();
        *counts.entry(word(ours.status)).or_default() += 1;
        if (word(ours.status), ours.score) != (&*case.status, case.score)
            || by_evaluator != case.by_evaluator
        {
            let said: Vec<&str> = ours.wrong().collect();
            differ.push(format!(
                "task {}: {} {:?}, the package {} {:?}\n  answer {}\n  network {}\n  {said:?}",
                case.task,
                word(ours.status),
                by_evaluator,
                case.status,
                case.by_evaluator,
                case.answer,
                case.har
            ));
        }
    }
    assert!(
        differ.is_empty(),
        "{} differ:\n{}",
        differ.len(),
        differ[..differ.len().min(20)].join("\n")
    );
    assert_eq!(tasks.len(), 812);
    assert!(counts.len() == 3 && counts.values().all(|count| *count > 100), "{counts:?}");
    println!("{counts:?} as WebArena-Verified's package says");
}
