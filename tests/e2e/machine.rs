//! What else the machine does changes how long an episode takes, and nothing else.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::harness::Bench;
use crate::named_pipe::{PipeReader, PipeWriter};
use crate::process_tree::{Process, descendants, is_alive};

/// The browser is held for most of the time, and longer than any wait inside a settling would be on
/// a machine with time for it.
const HELD: Duration = Duration::from_millis(1100);
const LET_GO: Duration = Duration::from_millis(30);

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "nothing is waited for: these are the times in which the browser is held and let go"
)]
fn a_starved_browser_gives_the_same_fingerprint() -> Result<()> {
    let bench = Bench::new()?;
    let run = |name: &str| bench.command(&lakeside(bench.path(name).as_str()));
    let free = run("free").output()?;
    let mut child = run("starved").stdout(Stdio::piped()).spawn()?;
    let mut held = 0;
    while child.try_wait()?.is_none() {
        let browser = named(child.id(), "chromium")?;
        if browser.is_empty() {
            // Not there yet: the time that it is held for would be enough for all of the run.
            std::thread::sleep(LET_GO);
            continue;
        }
        held += usize::from(signal("STOP", &browser));
        std::thread::sleep(HELD);
        signal("CONT", &browser);
        std::thread::sleep(LET_GO);
    }
    let starved = child.wait_with_output()?;
    ensure!(held > 10, "the browser was held only {held} times");
    ensure!(fingerprint(&free.stdout)? == fingerprint(&starved.stdout)?);
    Ok(())
}

/// As containers do that start and stop. The run has a network of its own, in which there is
/// nothing else.
#[test]
fn interfaces_may_come_and_go() -> Result<()> {
    const SCRIPT: &str = r#"
        ip link set lo up
        "$@" & run=$!
        while kill -0 $run 2> /dev/null; do
            ip link add flap0 type veth peer name flap1
            ip link set flap0 up; ip link set flap1 up
            ip address add 192.0.2.1/24 dev flap0
            ip link delete flap0
            echo x >> "$FLAPS"
        done
        wait $run"#;
    let bench = Bench::new()?;
    let out = bench.path("out");
    let program = bench.command(&[]).get_program().to_owned();
    let flaps = bench.path("flaps");
    let output = bench
        .command_of("unshare", &["--map-root-user", "--net", "sh", "-c", SCRIPT, "sh"])
        .arg(program)
        .args(lakeside(out.as_str()))
        .env("FLAPS", &flaps)
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fingerprint(&output.stdout)?;
    let flaps = std::fs::read_to_string(flaps)?.lines().count();
    ensure!(flaps > 20, "an interface came and went only {flaps} times");
    Ok(())
}

/// The run has a network of its own with a way out, on which every packet is counted: names that
/// are looked up, connections that are tried.
#[test]
fn not_a_packet_leaves_the_machine() -> Result<()> {
    const SCRIPT: &str = r#"
        ip link set lo up
        ip link add way0 type veth peer name nowhere
        echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
        ip address add 192.0.2.2/24 dev way0
        ip link set way0 up; ip link set nowhere up
        ip route add default via 192.0.2.1
        "$@" || exit
        sent() { ip -s -json link show way0; }
        sent > "$COUNTS/during"
        curl --silent --max-time 1 http://192.0.2.99/
        sent > "$COUNTS/control""#;
    let bench = Bench::new()?;
    let out = bench.path("out");
    let counts = bench.path("counts");
    std::fs::create_dir(&counts)?;
    let program = bench.command(&[]).get_program().to_owned();
    let output = bench
        .command_of("unshare", &["--map-root-user", "--net", "sh", "-c", SCRIPT, "sh"])
        .arg(program)
        .args(lakeside(out.as_str()))
        .env("COUNTS", &counts)
        .output()?;
    let sent = |name: &str| -> Result<u64> {
        let counted: Value = serde_json::from_slice(&std::fs::read(counts.join(name))?)?;
        counted[0]["stats64"]["tx"]["packets"].as_u64().context("a count of packets")
    };
    fingerprint(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    ensure!(sent("control")? > 0, "what leaves is counted");
    ensure!(sent("during")? == 0, "{} packets left", sent("during")?);
    Ok(())
}

/// A tab, the browser and its driver are killed in the middle of an episode each. The agent says
/// when, and waits. The driver is needed only between episodes, so that one ends well, and the next
/// has another browser.
#[test]
fn what_dies_costs_its_own_episode_and_leaves_nothing() -> Result<()> {
    const AGENT: &str = r#"read -r hello; echo '{"protocol":1}'; read -r task; read -r observation
        echo ready > "$READY"; read -r go < "$GO"
        echo '{"action":"noop()"}'; read -r observation; echo '{"stop":true}'; read -r end"#;
    let bench = Bench::new()?;
    let (ready, mut go) = (PipeReader::new(&bench, "ready")?, PipeWriter::new(&bench, "go")?);
    let out = bench.path("out");
    let tasks = ["after-the-film", "cancelled-train", "lakeside-commute", "roof-terraces"];
    let agent = format!("--agent=program:{AGENT}");
    let mut arguments = vec!["run", "tasks/demo", &agent, "--json", "--output", out.as_str()];
    arguments.extend(["--agent-env=READY", "--agent-env=GO"]);
    tasks.iter().for_each(|task| arguments.extend(["--task", task]));
    let mut command = bench.command(&arguments);
    let child = command
        .env("READY", &ready.path)
        .env("GO", &go.path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut family = Vec::new();
    for word in ["--type=renderer", "--remote-debugging-pipe", "network.mojom.NetworkService", ""] {
        ensure!(ready.read()? == "ready");
        if !word.is_empty() {
            family.extend(named(child.id(), "chrom")?);
            ensure!(signal("KILL", &named(child.id(), word)?), "nothing to kill for {word}");
        }
        go.write("go")?;
    }
    let summary: Value = serde_json::from_slice(&child.wait_with_output()?.stdout)?;
    let outcomes: Vec<&Value> = summary["tasks"].as_array().context("tasks")?.iter().collect();
    // A broken browser is the loss of whoever acts in it; a crashed page is replaced.
    ensure!(summary["errors"] == 0 && outcomes.len() == 4, "{summary:#}");
    let left: Vec<&u32> = family.iter().filter(|id| is_alive(**id)).collect();
    ensure!(left.is_empty(), "{left:?} are left of {family:?}");
    Ok(())
}

fn lakeside(out: &str) -> [&str; 7] {
    ["run", "tasks/demo", "--agent=oracle", "--task=lakeside-commute", "--json", "--output", out]
}

/// Of a run that went well.
fn fingerprint(summary: &[u8]) -> Result<String> {
    let summary: Value = serde_json::from_slice(summary)?;
    ensure!(summary["score"] == 1.0 && summary["errors"] == 0, "{summary:#}");
    Ok(summary["fingerprints"][0]["fingerprint"].as_str().context("a fingerprint")?.to_owned())
}

/// The processes below another one whose command lines hold a word.
fn named(ancestor: u32, word: &str) -> Result<Vec<u32>> {
    let named = |process: Process| process.line.contains(word).then_some(process.id);
    Ok(descendants(ancestor)?.into_iter().filter_map(named).collect())
}

/// Whether there was anybody to get it. Some may be gone already.
fn signal(name: &str, processes: &[u32]) -> bool {
    let ids = processes.iter().map(u32::to_string);
    let sent =
        Command::new("kill").arg(format!("-{name}")).args(ids).stderr(Stdio::null()).status();
    !processes.is_empty() && sent.is_ok()
}
