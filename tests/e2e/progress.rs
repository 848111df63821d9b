//! What a run tells while it goes on, where stderr is no terminal, and what it says when it was
//! stopped or its agent died.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::harness::{Bench, interrupt, text};

/// Acts once, and then takes leave.
const AGENT: &str = r#"program:read -r hello; echo '{"protocol":1}'; read -r task
    read -r seen; echo '{"action":"noop()"}'; read -r seen; echo '{"stop":true}'; read -r end"#;

/// Plays the first task and then waits in the second for ever.
const WAITS: &str = r#"program:read -r hello; echo '{"protocol":1}'; read -r task
    read -r seen; if mkdir "$MARK"; then echo '{"stop":true}'; read -r end; else sleep 1000; fi"#;

/// A run of one task without a terminal, with these options besides.
fn run(bench: &Bench, options: &[&str]) -> Result<Command> {
    let agent = format!("--agent={AGENT}");
    let out = bench.path("out");
    let run = ["run", "tasks/demo", &agent, "--task=lakeside-commute", "--output", out.as_str()];
    Ok(bench.command(&[&run[..], options].concat()))
}

/// What a run that went well has said on stderr.
fn said(bench: &Bench, options: &[&str]) -> Result<String> {
    let output = run(bench, options)?.output()?;
    let said = text(&output.stderr);
    ensure!(output.status.success(), "{said}");
    Ok(said)
}

#[test]
fn an_episode_is_a_line_without_a_terminal() -> Result<()> {
    let bench = Bench::new()?;
    let said = said(&bench, &["--json", "--repeat=2"])?;
    let lines: Vec<&str> = said.lines().collect();
    ensure!(lines.len() == 2, "{said}");
    for (line, start) in
        lines.iter().zip(["[1/2] lakeside-commute-1 ", "[2/2] lakeside-commute-2 "])
    {
        ensure!(
            line.starts_with(start) && line.contains("failed, score 0.00 (1 action, "),
            "{said}"
        );
    }
    Ok(())
}

#[test]
fn more_is_said_with_v_and_every_request_with_vv() -> Result<()> {
    let bench = Bench::new()?;
    let log = said(&bench, &["-v"])?;
    for expected in [
        "an episode begins episode=lakeside-commute-1 goal=",
        "acted episode=lakeside-commute-1 step=1 ",
        r#"action="noop()""#,
        r#"step=2 url=https://"#,
        r#"action="stop""#,
        "an episode has ended episode=lakeside-commute-1 outcome=\"stopped\" score=0.0",
    ] {
        ensure!(log.contains(expected), "{expected} is not in\n{log}");
    }
    ensure!(!log.contains("[1/1]") && !log.contains("a request"), "{log}");

    let bench = Bench::new()?;
    let log = said(&bench, &["-vv"])?;
    ensure!(log.contains("acted episode=lakeside-commute-1 step=1 "), "{log}");
    let requests = fs::read_to_string(bench.path("out/episodes/lakeside-commute-1/ledger.jsonl"))?;
    ensure!(requests.lines().count() > 2, "{requests}");
    for line in requests.lines() {
        let request: Value = serde_json::from_str(line)?;
        let (method, url) = (request["method"].as_str(), request["url"].as_str());
        let (method, url) = method.zip(url).context("a request has both")?;
        let level = request["answer"]["level"].as_str().context("a level")?;
        let logged = log.lines().any(|line| {
            line.contains(&format!(
                "a request method={method} url={url} status={}",
                request["status"]
            )) && line.contains(&format!("answer=\"{level}\""))
        });
        ensure!(logged, "{line} is not told");
    }
    Ok(())
}

#[test]
fn a_log_for_programs_is_json_and_nothing_else() -> Result<()> {
    let messages = |options: &[&str]| -> Result<Vec<Value>> {
        let log = said(&Bench::new()?, options)?;
        let read = |line: &str| serde_json::from_str(line).with_context(|| line.to_owned());
        log.lines().map(read).collect()
    };
    let ended = messages(&["--log-json"])?;
    ensure!(ended.len() == 1, "{ended:#?}");
    let fields = &ended[0]["fields"];
    ensure!(
        fields["message"] == "an episode has ended" && fields["outcome"] == "stopped",
        "{ended:#?}"
    );
    ensure!(fields["episode"] == "lakeside-commute-1" && fields["score"] == 0.0, "{ended:#?}");

    let all = messages(&["--log-json", "-vv"])?;
    let count =
        |message: &str| all.iter().filter(|line| line["fields"]["message"] == message).count();
    ensure!(count("an episode begins") == 1 && count("acted") == 2, "{all:#?}");
    ensure!(count("an episode has ended") == 1 && count("a request") > 2, "{all:#?}");

    // So is why it failed.
    let failed = Bench::new()?.run(&["run", "tasks/nonesuch", "--agent=noop", "--log-json"])?;
    let said: Value =
        serde_json::from_slice(&failed.stderr).with_context(|| text(&failed.stderr))?;
    let why = said["fields"]["message"].as_str().unwrap_or_default();
    ensure!(failed.status.code() == Some(2) && said["level"] == "ERROR", "{said}");
    ensure!(why.contains("tasks/nonesuch"), "{said}");
    Ok(())
}

/// The agent of the only episode waits until such a line was read.
#[test]
fn there_is_a_line_for_all_episodes_every_half_minute() -> Result<()> {
    let bench = Bench::new()?;
    let agent = format!("--agent={WAITS}");
    let out = bench.path("out");
    let mut command = bench.command(&[
        "run",
        "tasks/demo",
        &agent,
        "--agent-env=MARK",
        "--limit=2",
        "--output",
        out.as_str(),
    ]);
    let mark = bench.path("mark");
    let mut child =
        command.env("MARK", &mark).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stderr.take().context("stderr is piped")?).lines();
    let summary = lines
        .find(|line| line.as_ref().is_ok_and(|line| line.contains(" after ")))
        .context("one")??;
    ensure!(
        summary.starts_with("[1/2] after ") && summary.contains("score 0.00 · 0 passed; now: "),
        "{summary}"
    );
    ensure!(summary.contains(", action 1 of "), "{summary}");
    interrupt(&child)?;
    let said: Vec<String> = lines.collect::<std::io::Result<_>>()?;
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(4), "{said:?}");
    Ok(())
}

#[test]
fn an_interrupted_run_speaks_of_what_was_played() -> Result<()> {
    let bench = Bench::new()?;
    let (agent, mark) = (format!("--agent={WAITS}"), bench.path("mark"));
    let out = bench.path("out");
    let run = ["run", "tasks/demo", &agent, "--agent-env=MARK", "--output", out.as_str()];
    let mut child = bench
        .command(&run)
        .env("MARK", &mark)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(child.stderr.take().context("stderr is piped")?).lines();
    let first = lines.next().context("a line for the first episode")??;
    ensure!(first.starts_with("[1/"), "{first}");
    interrupt(&child)?;
    let said: Vec<String> = lines.collect::<std::io::Result<_>>()?;
    let output = child.wait_with_output()?;
    let table = text(&output.stdout);
    ensure!(output.status.code() == Some(4), "{said:?}");
    let planned: usize = first
        .split(['/', ']'])
        .nth(1)
        .context("how many there are")?
        .parse()
        .with_context(|| first.clone())?;
    let expected = format!("0.00, 0/1 tasks passed, {} not played", planned - 1);
    ensure!(table.contains(&expected), "{expected} is not in\n{table}");
    // The heading, the task that was played, and an empty line.
    ensure!(table.lines().position(str::is_empty) == Some(2), "{table}");
    let report = fs::read_to_string(out.join("report.html"))?;
    let expected = format!("0/1 tasks passed, {} not played", planned - 1);
    ensure!(report.contains(&expected), "{expected} is not in the report");
    Ok(())
}

const DIES: &str = r#"
import json, sys
sys.stdin.readline()
print(json.dumps({"protocol": 1}), flush=True)
print("loading the weights", file=sys.stderr)
def choose(observation):
    return observation["no such key"]
for line in sys.stdin:
    message = json.loads(line)
    if "observation" in line and message.get("type") != "task":
        choose(message)
"#;

#[test]
fn a_traceback_of_an_agent_is_shown_as_it_was_printed() -> Result<()> {
    let bench = Bench::new()?;
    let (agent, out) = (bench.path("agent.py"), bench.path("out"));
    fs::write(&agent, DIES)?;
    let agent = format!("--agent=program:python3 {agent}");
    let run = ["run", "tasks/demo", &agent, "--task=lakeside-commute", "--output", out.as_str()];
    let output = bench.run(&run)?;
    let (table, said) = (text(&output.stdout), text(&output.stderr));
    ensure!(output.status.code() == Some(1), "{table}\n{said}");
    // Each in one line, with why it died.
    ensure!(said.contains("standard error ends with: … KeyError: 'no such key' ("), "{said}");
    let unwrapped = table.split_whitespace().collect::<Vec<_>>().join(" ");
    ensure!(unwrapped.contains("standard error ends with: … KeyError: 'no such key'"), "{table}");

    let record = fs::read_to_string(out.join("episodes/lakeside-commute-1/episode.json"))?;
    let record: Value = serde_json::from_str(&record)?;
    let message = record["outcome"]["message"].as_str().context("a message")?;
    let (_, traceback) = message
        .split_once("; its standard error ends with:\n")
        .with_context(|| message.to_owned())?;
    ensure!(traceback.starts_with("Traceback (most recent call last):\n  File "), "{message}");
    ensure!(traceback.ends_with("\nKeyError: 'no such key'"), "{message}");
    bench.succeed(&["trace", out.as_str()])?;
    for page in ["report.html", "episodes/lakeside-commute-1/trace.html"] {
        let page = fs::read_to_string(out.join(page))?;
        let letters =
            [("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&lt;", "<"), ("&gt;", ">")];
        let page =
            letters.iter().fold(page, |page, (escaped, letter)| page.replace(escaped, letter));
        ensure!(page.contains(traceback), "{page}");
    }
    Ok(())
}
