//! A snapshot of many files is the same snapshot.

use anyhow::{Context, Result, ensure};
use camino::Utf8PathBuf;
use serde_json::Value;

use crate::harness::{Bench, repository, text};

/// Tasks on several hosts.
const TASKS: [&str; 3] =
    ["--task=clock-time-zone", "--task=guest-booking", "--task=lakeside-commute"];

/// A copy of the demo suite whose world has another snapshot.
fn suite(bench: &Bench, name: &str, snapshot: &str) -> Result<Utf8PathBuf> {
    let folder = bench.path(name);
    std::fs::create_dir(&folder)?;
    for entry in repository().join("tasks/demo").read_dir_utf8()? {
        let entry = entry?;
        let content = std::fs::read_to_string(entry.path())?;
        let content = content.replace("../../snapshots/demo.wacz", snapshot);
        std::fs::write(folder.join(entry.file_name()), content)?;
    }
    Ok(folder)
}

fn fingerprints(bench: &Bench, suite: &str, name: &str) -> Result<(Value, Value)> {
    let out = bench.path(name);
    let run = ["run", suite, "--agent=oracle", "--json", "--output", out.as_str()];
    let summary: Value = serde_json::from_str(&bench.succeed(&[&run[..], &TASKS].concat())?)?;
    ensure!(summary["passed"] == TASKS.len() && summary["requests"]["miss"] == 0, "{summary:#}");
    let record: Value = serde_json::from_str(&std::fs::read_to_string(out.join("run.json"))?)?;
    Ok((summary["fingerprints"].clone(), record["suite_digest"].clone()))
}

#[test]
fn a_split_snapshot_gives_the_same_fingerprint() -> Result<()> {
    let bench = Bench::new()?;
    let demo = repository().join("snapshots/demo.wacz");
    let hosts = bench.path("hosts");
    bench.succeed(&["snapshot", "split", demo.as_str(), "-o", hosts.as_str()])?;
    let collection = hosts.join("datapackage.json");
    bench.succeed(&["snapshot", "verify", collection.as_str()])?;
    let report: Value = serde_json::from_str(&bench.succeed(&[
        "snapshot",
        "inspect",
        collection.as_str(),
        "--json",
    ])?)?;
    ensure!(report["files"].as_u64().is_some_and(|files| files >= 3), "{report:#}");

    let (whole, _) = fingerprints(&bench, "tasks/demo", "whole")?;
    let split = suite(&bench, "split", collection.as_str())?;
    let (of_split, digest) = fingerprints(&bench, split.as_str(), "of-split")?;
    ensure!(whole == of_split, "{whole:#}\n{of_split:#}");

    // Named one by one, the files are the same suite.
    let files = report["members"].as_array().context("members")?;
    let paths: Vec<String> = files
        .iter()
        .map(|file| hosts.join(file["path"].as_str().unwrap_or_default()).to_string())
        .collect();
    let listed = suite(&bench, "listed", &paths.join(", "))?;
    let (of_listed, same_digest) = fingerprints(&bench, listed.as_str(), "of-listed")?;
    ensure!(whole == of_listed && digest == same_digest, "{digest} {same_digest}");

    // A packed run has the collection with its files, and plays elsewhere.
    let packed = bench.path("split.run.tar.zst");
    bench.succeed(&["pack", bench.path("of-split").as_str(), "--output", packed.as_str()])?;
    std::fs::remove_dir_all(&hosts)?;
    bench.succeed(&["verify", packed.as_str()])?;
    Ok(())
}

#[test]
fn a_collection_is_written_used_and_merged() -> Result<()> {
    let bench = Bench::new()?;
    let demo = repository().join("snapshots/demo.wacz");
    let days = bench.path("days");
    bench.succeed(&["snapshot", "split", demo.as_str(), "-o", days.as_str(), "--by", "date"])?;
    let file = days.join("datapackage.json");
    let split: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    let first = days.join(split["resources"][0]["path"].as_str().context("a member")?);

    let again = days.join("again.json");
    let list = ["snapshot", "collection", first.as_str(), "-o", again.as_str()];
    bench.succeed(&list)?;
    let refused = bench.run(&list)?;
    ensure!(refused.status.code() == Some(2), "{}", text(&refused.stderr));
    bench.succeed(&[&list[..], &["--force"]].concat())?;
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&again)?)?;
    ensure!(written["resources"][0] == split["resources"][0], "{written:#}");
    ensure!(written["profile"] == "multi-wacz-package", "{written:#}");

    let merged = bench.path("merged.wacz");
    bench.succeed(&["snapshot", "merge", file.as_str(), "-o", merged.as_str()])?;
    bench.succeed(&["snapshot", "diff", demo.as_str(), merged.as_str()])?;
    let one =
        bench.run(&["snapshot", "merge", demo.as_str(), "-o", bench.path("x.wacz").as_str()])?;
    ensure!(one.status.code() == Some(2) && text(&one.stderr).contains("one snapshot"));

    for command in [
        &["snapshot", "search", "timetable", file.as_str()][..],
        &["snapshot", "coverage", "tasks/demo", "--snapshot", file.as_str()],
    ] {
        bench.succeed(command)?;
    }
    let refused = bench.run(&["snapshot", "redact", file.as_str(), "--scan"])?;
    ensure!(text(&refused.stderr).contains("sandbox snapshot merge"), "{}", text(&refused.stderr));
    std::fs::remove_file(&first)?;
    let missing = bench.run(&["snapshot", "verify", file.as_str()])?;
    ensure!(missing.status.code() == Some(1), "{}", text(&missing.stdout));
    Ok(())
}
