//! What a run says of an agent that died.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::harness::{Bench, text};

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
    let run = ["run", "tasks/demo", &agent, "--task=lakeside-commute", "--out", out.as_str()];
    let output = bench.run(&run)?;
    let (table, said) = (text(&output.stdout), text(&output.stderr));
    ensure!(output.status.code() == Some(1), "{table}\n{said}");
    // In one line, with why it died.
    let unwrapped = table.split_whitespace().collect::<Vec<_>>().join(" ");
    ensure!(unwrapped.contains("standard error ends with: … KeyError: 'no such key'"), "{table}");

    let record = fs::read_to_string(out.join("episodes/lakeside-commute-1/episode.json"))?;
    let record: Value = serde_json::from_str(&record)?;
    let message = record["outcome"]["message"].as_str().context("a message")?;
    let (_, traceback) =
        message.split_once("; its standard error ends with:\n").with_context(|| message.to_owned())?;
    ensure!(traceback.starts_with("Traceback (most recent call last):\n  File "), "{message}");
    ensure!(traceback.ends_with("\nKeyError: 'no such key'"), "{message}");
    bench.succeed(&["trace", out.as_str()])?;
    for page in ["report.html", "episodes/lakeside-commute-1/trace.html"] {
        let page = fs::read_to_string(out.join(page))?;
        let letters = [("&quot;", "\""), ("&#x27;", "'"), ("&#x2f;", "/"), ("&lt;", "<"), ("&gt;", ">")];
        let page = letters.iter().fold(page, |page, (escaped, letter)| page.replace(escaped, letter));
        ensure!(page.contains(traceback), "{page}");
    }
    Ok(())
}
