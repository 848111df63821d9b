//! A random agent with every action of BrowserGym's set: no episode ends in an error, and two of
//! the same seed are the same.

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::harness::Bench;

/// Ten tasks, twice: a minute at most.
const TASKS: &[&str] = &[
    "after-the-film",
    "book-viewing",
    "cancelled-train",
    "cheapest-in-eastholm",
    "first-class-fare",
    "guest-booking",
    "lakeside-commute",
    "quiet-coach",
    "salt-road-saturday",
    "two-cheapest-homes",
];

#[test]
fn a_monkey_breaks_nothing_and_does_the_same_twice() -> Result<()> {
    let bench = Bench::new()?;
    let (out, agent) = (bench.path("out"), "program:python3 -B tests/monkey/monkey.py 11");
    let mut command = bench.command(&[
        "run",
        "tasks/demo",
        "--agent",
        agent,
        "--repeat=2",
        "--workers=2",
        "--json",
    ]);
    command
        .args(["--output", out.as_str()])
        .args(TASKS.iter().map(|task| format!("--task={task}")));
    let summary: Value = serde_json::from_slice(&command.output()?.stdout)?;
    ensure!(summary["episodes"] == 2 * TASKS.len(), "{summary:#}");
    ensure!(summary["errors"] == 0 && summary["timeouts"] == 0, "{:#}", summary["causes"]);
    ensure!(summary["deterministic"] == true, "{:#}", summary["tasks"]);
    ensure!(summary["steps"].as_u64() > Some(200), "it does something: {}", summary["steps"]);
    Ok(())
}
