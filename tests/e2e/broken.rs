//! What is killed within an episode costs that episode and no other, and never passes for a page.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::harness::{Bench, text};

/// An agent that kills, before its first action, a process below the runner whose command line has
/// a given sign; it does so in one task alone. It goes to another page afterwards, which works as
/// well as it can, and answers.
const KILLER: &str = r#"
parent() { sed 's/.*) . //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f1; }
# Its own parent is its keeper.
runner=$(parent "$PPID")
below() { at=$1; while [ "${at:-0}" -gt 1 ]; do at=$(parent "$at"); [ "$at" = "$runner" ] && return 0; done; return 1; }
read -r hello; echo '{"protocol":1}'
read -r task
read -r observation
case "$task" in *quiet-coach*)
  for folder in /proc/[0-9]*; do
    id=${folder#/proc/}
    tr '\0' ' ' < "$folder/cmdline" 2>/dev/null | grep -q -- "$SIGN" && below "$id" && kill -9 "$id"
  done;;
esac
echo '{"action":"goto('"'https://www.aldria-rail.test/about'"')"}'
read -r observation
echo '{"action":"send_msg_to_user('"'11'"')"}'
read -r end
"#;

/// What comes of the task in which the agent kills: the kind of its outcome, and words in its
/// record.
fn plays_on_without(sign: &str, kind: &str, message: &str) -> Result<()> {
    let bench = Bench::new()?;
    let out = bench.path("out");
    let script = bench.path("killer.sh");
    fs::write(&script, KILLER)?;
    let agent = format!("program:exec sh {script}");
    let arguments = [
        "run",
        "tasks/demo",
        "--agent",
        &agent,
        "--agent-env=SIGN",
        // Else it sees no process of ours.
        "--confine=off",
        "--task=quiet-coach",
        "--task=audience-score",
        "--repeat=2",
        "--json",
        "--output",
        out.as_str(),
    ];
    let output = bench.command(&arguments).env("SIGN", sign).output()?;
    let summary: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(
        summary["errors"] == 0 && summary["episodes"] == 4,
        "{summary:#}\n{}",
        text(&output.stderr)
    );
    for repeat in 1..=2 {
        let record = |task: &str| {
            fs::read_to_string(out.join(format!("episodes/{task}-{repeat}/episode.json")))
        };
        let (broken, whole) = (record("quiet-coach")?, record("audience-score")?);
        ensure!(broken.contains(&format!("\"{kind}\"")) && broken.contains(message), "{broken}");
        ensure!(whole.contains("\"answered\""), "{whole}");
    }
    Ok(())
}

#[test]
fn without_its_network_process_the_browser_is_not_trusted() -> Result<()> {
    plays_on_without(
        "network.mojom.NetworkService",
        "agent_failed",
        "its network process has ended",
    )
}

#[test]
fn a_page_whose_renderer_is_killed_can_be_left() -> Result<()> {
    plays_on_without("--type=renderer", "answered", "quiet-coach")
}

#[test]
fn a_browser_that_is_killed_is_replaced() -> Result<()> {
    plays_on_without("--user-data-dir", "agent_failed", "failed to")
}
