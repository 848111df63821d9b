//! WARC-Bench's form: tasks that have each a recording, a clock and a zone of its own, imported and
//! played.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::harness::{Bench, repository};

const RAIL: &str = "https://www.aldria-rail.test/";

/// A page of an address that another recording has, too, as a WARC.
fn other_recording() -> String {
    let page = "<!doctype html><title>Other</title><a href='/tickets#list'>Tickets</a>";
    let http = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}",
        page.len()
    );
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:8f6c2f5e-0d0c-4a57-9d7f-0a8a35b1f4e1>\r\n\
         WARC-Date: 2024-02-03T04:05:06Z\r\nWARC-Target-URI: {RAIL}\r\nContent-Type: application/http; msgtype=response\r\n\
         Content-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    )
}

fn task(id: &str, archive: &str, kind: &str, script: &str) -> Value {
    json!({
        "task_id": id,
        "goal": "Do it",
        "env": { "data_path": format!("environments/web_archives/{archive}"), "start_url": RAIL },
        "eval": { "eval_type": kind, "evaluate_scripts": [{ "script": script }] },
    })
}

/// The benchmark's folders in small.
pub(crate) fn benchmark(bench: &Bench) -> Result<()> {
    fs::create_dir_all(bench.path("web_archives/rail"))?;
    fs::create_dir_all(bench.path("web_archives/other"))?;
    fs::copy(repository().join("snapshots/demo.wacz"), bench.path("web_archives/rail/rail.wacz"))?;
    fs::write(bench.path("web_archives/other/other.wacz"), other_recording())?;
    let mut at_a_time = task(
        "online.1",
        "rail/rail.wacz",
        "js_matcher",
        "document.title !== 'Other' && /^Mon Mar 10 2025 16:08:[45]. GMT-0700 .Pacific/.test(new Date()) && new Date().toString();",
    );
    at_a_time["env"]["timestamp"] = json!({ "seconds": 1_741_648_127, "nanos": 0 });
    let dev = json!([
        at_a_time,
        task(
            "online.2",
            "other/other.wacz",
            "js_matcher",
            "document.title === 'Other' && new Date().getHours() === 20"
        ),
        task("online.3", "other/other.wacz", "url_matcher", &format!("{RAIL}tickets#list")),
        task("online.4", "other/other.wacz", "js_matcher", "(document.querySelector(#absent).x)"),
        task("online.5", "sea/sea.wacz", "js_matcher", "true"),
        task("static.0", "crm", "js_matcher", "true"),
    ]);
    let test = json!([
        task(
            "online.2",
            "other/other.wacz",
            "js_matcher",
            "new Date().toString().includes('GMT+0000')"
        ),
        task("online.206", "other/other.wacz", "string_matcher", "St. Barthélemy"),
        task("online.206", "other/other.wacz", "json_matcher", "{\"a\": [1]}"),
    ]);
    fs::write(bench.path("benchmark_dev.json"), dev.to_string())?;
    fs::write(bench.path("benchmark_test.json"), test.to_string())?;
    let kinds = "task id,website,task types,goal\n1,rail,\"menu navigation, datepicker\",Do it\n";
    Ok(fs::write(bench.path("tasks_dev_1.csv"), kinds)?)
}

/// Writes down a solution.
fn solve(suite: &camino::Utf8Path, id: &str, steps: &str) -> Result<()> {
    let file = suite.join(format!("{id}.yaml"));
    Ok(fs::write(&file, fs::read_to_string(&file)? + "oracle:\n" + steps)?)
}

#[test]
fn tasks_with_recordings_and_clocks_of_their_own_are_imported_and_played() -> Result<()> {
    let bench = Bench::new()?;
    benchmark(&bench)?;
    let (suite, out) = (bench.path("suite"), bench.path("out"));
    let said = bench.succeed(&[
        "tasks",
        "import",
        "warcbench",
        bench.path("benchmark_dev.json").as_str(),
        bench.path("benchmark_test.json").as_str(),
        "--kinds",
        bench.path("tasks_dev_1.csv").as_str(),
        "--archives",
        bench.path("").as_str(),
        "--output",
        suite.as_str(),
    ])?;
    ensure!(said.contains(": 7 tasks, in 2 recordings"), "{said}");
    for missing in ["left out dev.online.5", "left out dev.static.0"] {
        ensure!(said.contains(missing), "{said}");
    }
    let first = fs::read_to_string(suite.join("dev.online.1.yaml"))?;
    ensure!(
        first.contains("- datepicker\n- dev\n- js_matcher\n- menu-navigation\n- rail\n"),
        "{first}"
    );

    for id in ["dev.online.1", "dev.online.2", "dev.online.4", "test.online.2"] {
        solve(&suite, id, "- noop\n")?;
    }
    solve(&suite, "dev.online.3", "- click: {role: link, name: Tickets}\n")?;
    solve(&suite, "test.online.206", "- answer: 'St. Barth\\u00e9lemy'\n")?;
    solve(&suite, "test.online.206.2", "- answer: '{\"a\": [1]}'\n")?;
    let play = |out: &camino::Utf8Path, more: &[&str]| -> Result<Value> {
        let mut run =
            vec!["run", suite.as_str(), "--agent=oracle", "--json", "--output", out.as_str()];
        run.extend(more);
        Ok(serde_json::from_str(&bench.succeed(&run)?)?)
    };
    let scores = |summary: &Value| -> Vec<(String, Option<f64>)> {
        let tasks = summary["tasks"].as_array().into_iter().flatten();
        tasks
            .map(|task| {
                (task["task"].as_str().unwrap_or_default().to_owned(), task["score"].as_f64())
            })
            .collect()
    };
    let expected = |at_start: Option<f64>| {
        [
            ("dev.online.1", at_start),
            ("dev.online.2", at_start),
            ("dev.online.3", Some(1.0)),
            ("dev.online.4", Some(0.0)),
            ("test.online.2", at_start),
            ("test.online.206.2", Some(1.0)),
            ("test.online.206", Some(1.0)),
        ]
        .map(|(id, score)| (id.to_owned(), score))
        .to_vec()
    };
    let summary = play(&out, &["--repeat=2", "--check"])?;
    ensure!(summary["deterministic"] == true && summary["errors"] == 0, "{summary:#}");
    ensure!(scores(&summary) == expected(Some(1.0)), "{summary:#}");
    let fixed = play(&bench.path("fixed"), &["--scoring-mode=fixed"])?;
    ensure!(scores(&fixed) == expected(None), "{fixed:#}");
    Ok(())
}
