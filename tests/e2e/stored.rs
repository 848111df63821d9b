//! Runs that earlier versions have written: they open, and their scores are equal to the bit.

use std::fs;

use anyhow::{Context, Result, ensure};
use camino::Utf8Path;
use serde_json::Value;

use crate::harness::{Bench, repository};

/// Runs by their format, below `tests/stored-runs`. Screenshots and pages are not kept there.
const RUNS: [(&str, &str); 4] =
    [("2.1", "demo"), ("2.1", "town"), ("2.1", "arena"), ("2.2", "demo")];

fn copy(from: &Utf8Path, to: &Utf8Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in from.read_dir_utf8()? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// The record of each episode, by its name.
fn records(run: &Utf8Path) -> Result<Vec<(String, Value)>> {
    let mut records = Vec::new();
    for entry in run.join("episodes").read_dir_utf8()? {
        let entry = entry?;
        let text = fs::read_to_string(entry.path().join("episode.json"))?;
        records.push((entry.file_name().to_owned(), serde_json::from_str(&text)?));
    }
    records.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(records)
}

#[test]
fn runs_of_earlier_versions_open_and_score_the_same() -> Result<()> {
    let bench = Bench::new()?;
    for (format, suite) in RUNS {
        let stored = repository().join("tests/stored-runs").join(format).join(suite);
        let run = bench.path(suite);
        copy(&stored, &run)?;
        let before = records(&run)?;
        ensure!(!before.is_empty(), "{stored} has no episodes");

        bench.succeed(&["report", run.as_str()])?;
        let tasks = repository().join("tasks").join(suite);
        bench.succeed(&["score", "run", run.as_str(), "--suite", tasks.as_str()])?;
        for ((name, old), (_, new)) in before.iter().zip(records(&run)?) {
            for field in ["score", "success", "fingerprint", "outcome", "answer", "wrong"] {
                ensure!(
                    old.get(field) == new.get(field),
                    "{suite}, {name}: {field} was {old:#} and is {new:#}"
                );
            }
            bench.succeed(&["trace", run.as_str(), name.as_str()])?;
        }
        let same = bench.succeed(&["compare", run.as_str(), stored.as_str(), "--json"])?;
        let same: Value = serde_json::from_str(&same).context("the comparison as JSON")?;
        ensure!(same["differences"].as_array().is_some_and(Vec::is_empty), "{same:#}");
    }
    Ok(())
}

/// The digest of the suite has not changed, so the run can be resumed. Nothing is left to play.
#[test]
fn a_run_of_an_earlier_version_is_resumed() -> Result<()> {
    let bench = Bench::new()?;
    let run = bench.path("arena");
    copy(&repository().join("tests/stored-runs/2.1/arena"), &run)?;
    let tasks =
        ["--task=desk-moderator", "--task=forum-biography", "--resume", "--output", run.as_str()];
    bench.succeed(&[["run", "tasks/arena", "--agent", "oracle"].as_slice(), &tasks].concat())?;
    ensure!(records(&run)?.len() == 2, "episodes were played or lost");
    Ok(())
}
