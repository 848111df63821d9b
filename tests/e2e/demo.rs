//! The main job: the demo suite from its committed snapshot.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::harness::{Bench, text};

/// The demo is in the program: it needs no file of this repository. The command that it prints
/// plays the same again.
#[test]
fn the_oracle_solves_every_task_twice_in_the_same_way() -> Result<()> {
    let bench = Bench::new()?;
    let empty = bench.path("empty");
    std::fs::create_dir(&empty)?;
    let output = bench.command(&["demo"]).current_dir(&empty).output()?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    ensure!(printed.contains("16/16 tasks passed"), "{printed}");
    ensure!(printed.contains("equal in 2 repeats"), "{printed}");
    let page = |name: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(name));
        line.map(|line| empty.join(line.trim())).context("no line")
    };
    let (report, trace) = (page("report")?, page("trace")?);
    ensure!(report.is_file() && trace.is_file(), "{printed}");
    let out = report.parent().context("a file")?;
    let command = text(&output.stderr).lines().next().context("no command")?.to_owned();
    let suite = command.split(' ').nth(2).context("no suite")?;

    let summary = bench.succeed(&["report", out.as_str(), "--json"])?;
    let summary: Value = serde_json::from_str(&summary)?;
    let tasks = summary["tasks"].as_array().map_or(0, Vec::len);
    ensure!(tasks >= 12, "{tasks} tasks");
    ensure!(summary["passed"] == tasks, "{summary:#}");
    ensure!(summary["score"] == 1.0, "{summary:#}");
    ensure!(summary["deterministic"] == true, "{summary:#}");
    ensure!(summary["requests"]["miss"] == 0, "{summary:#}");
    ensure!(summary["refused_hosts"] == serde_json::json!([]), "{summary:#}");
    ensure!(summary["errors"] == 0 && summary["timeouts"] == 0, "{summary:#}");
    let report = std::fs::read_to_string(&report)?;
    ensure!(
        !report.contains("http-equiv=\"refresh") && !report.contains("src=\"http"),
        "the report stands alone"
    );

    // A run over the same tasks elsewhere is the same run.
    let again = bench.path("again");
    bench.succeed(&[
        "run",
        suite,
        "--agent=oracle",
        "--repeat=2",
        "--task=quiet-coach",
        "--output",
        again.as_str(),
    ])?;
    let compared = bench.run(&["compare", out.as_str(), again.as_str(), "--json"])?;
    let compared: Value = serde_json::from_slice(&compared.stdout)?;
    ensure!(
        compared["compared"] == 2 && compared["differences"] == serde_json::json!([]),
        "{compared:#}"
    );
    Ok(())
}

/// Runs take the headless shell, which is faster; machines without one take Chromium itself, and
/// see the same.
#[test]
fn the_fingerprint_is_the_same_in_chromium_and_its_headless_shell() -> Result<()> {
    let bench = Bench::new()?;
    let fingerprint = |name: &str, chromium: Option<&str>, more: &[&str]| -> Result<String> {
        let out = bench.path(name);
        let mut command = bench.command(&[
            "run",
            "tasks/demo",
            "--agent=oracle",
            "--json",
            "--output",
            out.as_str(),
        ]);
        command.args(more).args([
            "--task=clock-time-zone",
            "--task=guest-booking",
            "--task=lakeside-commute",
        ]);
        if let Some(chromium) = chromium {
            command.env("SANDBOX_CHROMIUM", chromium);
        }
        let summary: Value = serde_json::from_slice(&command.output()?.stdout)?;
        ensure!(summary["passed"] == 3, "{summary:#}");
        Ok(summary["fingerprints"][0]["fingerprint"].to_string())
    };
    let programs = browser::Programs::find()?;
    ensure!(programs.headless_shell.is_some(), "`make setup` installs the headless shell");
    let chromium = programs
        .chromium
        .as_deref()
        .and_then(std::path::Path::to_str)
        .context("its path is UTF-8")?;
    let shell = fingerprint("shell", None, &[])?;
    ensure!(shell == fingerprint("chromium", Some(chromium), &[])?);
    ensure!(shell == fingerprint("unseen", Some(chromium), &["--no-screenshots"])?);
    Ok(())
}

/// Pages and their time go on as if there were pictures.
#[test]
fn without_screenshots_a_run_is_the_same_and_has_no_pictures() -> Result<()> {
    let bench = Bench::new()?;
    let run = |name: &str, more: &[&str]| -> Result<(String, Vec<String>)> {
        let out = bench.path(name);
        let words = [
            "run",
            "tasks/demo",
            "--agent=oracle",
            "--limit=6",
            "--json",
            "--output",
            out.as_str(),
        ];
        let summary: Value = serde_json::from_str(&bench.succeed(&[&words[..], more].concat())?)?;
        ensure!(summary["score"] == 1.0 && summary["errors"] == 0, "{summary:#}");
        let mut pictures = Vec::new();
        for episode in out.join("episodes").read_dir_utf8()? {
            for file in episode?.path().read_dir_utf8()? {
                let name = file?.file_name().to_owned();
                pictures.extend(name.ends_with(".png").then_some(name));
            }
        }
        Ok((summary["fingerprints"][0]["fingerprint"].to_string(), pictures))
    };
    let (seen, pictures) = run("seen", &[])?;
    ensure!(pictures.len() > 6, "{pictures:?}");
    let (unseen, pictures) = run("unseen", &["--no-screenshots"])?;
    ensure!(pictures.is_empty(), "{pictures:?}");
    ensure!(seen == unseen, "{seen} with pictures, {unseen} without");
    bench.succeed(&["trace", bench.path("unseen").as_str()])?;

    let looks = ["run", "tasks/demo", "--agent=generic-vision", "--no-screenshots", "--model=m"];
    let refused = bench.run(&looks)?;
    let said = text(&refused.stderr);
    ensure!(refused.status.code() == Some(2) && said.contains("generic-vision"), "{said}");
    Ok(())
}

#[test]
fn doing_nothing_earns_nothing() -> Result<()> {
    let bench = Bench::new()?;
    let out = bench.path("noop");
    let summary = bench.succeed(&[
        "run",
        "tasks/demo",
        "--agent=noop",
        "--json",
        "--output",
        out.as_str(),
    ])?;
    let summary: Value = serde_json::from_str(&summary)?;
    ensure!(summary["passed"] == 0, "{summary:#}");
    Ok(())
}

/// What happens in the pages is told in its order, the same in each repeat, and two runs are
/// compared by it.
#[test]
fn the_first_event_in_another_order_is_named() -> Result<()> {
    let bench = Bench::new()?;
    let play = |agent: &str| {
        let out = bench.path(agent);
        let task = "--task=quiet-coach";
        let all = [
            "run",
            "tasks/demo",
            "--repeat=2",
            "--trace-time",
            "--agent",
            agent,
            task,
            "-o",
            out.as_str(),
        ];
        // Who does nothing fails.
        bench.run(&all).map(|_| out)
    };
    let (solved, idle) = (play("oracle")?, play("noop")?);
    let order = |repeat: u32| -> Result<Vec<String>> {
        let path = solved.join(format!("episodes/quiet-coach-{repeat}/order.txt"));
        // The second word is the page's time.
        let event = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            [&words[..1], &words[2..]].concat().join(" ")
        };
        Ok(std::fs::read_to_string(path)?.lines().map(event).collect())
    };
    let first = order(1)?;
    for word in ["document", "request", "response 200", "script", "event click", "comes into"] {
        ensure!(first.iter().any(|line| line.contains(word)), "no {word} in\n{}", first.join("\n"));
    }
    ensure!(first == order(2)?, "the order of a repeat is the same");
    let compared = text(&bench.run(&["compare", solved.as_str(), idle.as_str()])?.stdout);
    ensure!(compared.contains("the order of events parts in line "), "{compared}");
    Ok(())
}
