//! No door without a secret: whatever commands listen on, another user of the machine is refused.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::annotator::{Annotator, DEMO};
use crate::door_walk::{Door, are_shut, doors_of};
use crate::harness::{Bench, interrupt, live_web, origin, text};

/// A command that serves until it is interrupted, and prints a line of JSON.
struct Serving {
    arguments: &'static [&'static str],
    /// The keys of its line that have addresses.
    addresses: &'static [&'static str],
}

const SERVING: &[Serving] = &[
    Serving { arguments: &["gym", "tasks/demo", "--output", "OUT"], addresses: &["url"] },
    Serving { arguments: &["gym", "balance"], addresses: &["url"] },
    Serving { arguments: &["models", "proxy", "--offline"], addresses: &["base_url"] },
    Serving {
        arguments: &["attach", "tasks/demo", "clock-time-zone", "--output", "OUT"],
        addresses: &["cdp"],
    },
    Serving {
        arguments: &["attach", "tasks/demo", "clock-time-zone", "--webdriver", "--output", "OUT"],
        addresses: &["cdp", "webdriver"],
    },
];

/// Commands that end by themselves. `OUT` is a new path, `LIVE` the demo web on loopback.
const WORKING: &[&[&str]] = &[
    &[
        "run",
        "tasks/demo",
        "--agent=oracle",
        "--task=clock-time-zone",
        "--check",
        "--output",
        "OUT",
    ],
    &["run", "tasks/demo", "--agent=program:sleep 2", "--task=clock-time-zone", "--output", "OUT"],
    &["record", "https://www.aldria-rail.test/", "--depth=1", "LIVE", "--output", "OUT.wacz"],
    &["attach", "tasks/demo", "clock-time-zone", "--output", "OUT", "--", "sleep", "2"],
];

/// How often a working command is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Where a machine has no networks of its own for browsers: a namespace in which none can be made.
const WITHOUT_NETWORKS: &str = "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$0\" \"$@\"";

/// The command, on a machine with or without networks of browsers.
fn command(bench: &Bench, words: &[&str], has_networks: bool) -> Command {
    if has_networks {
        return bench.command(words);
    }
    let words = [
        &["--user", "--map-root-user", "sh", "-c", WITHOUT_NETWORKS, env!("CARGO_BIN_EXE_sandbox")],
        words,
    ]
    .concat();
    bench.command_of("unshare", &words)
}

struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // It has ended already where the test went well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The address in a URL of plain HTTP, which must have a key.
fn address(url: &str) -> Result<SocketAddr> {
    let (address, path) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).context("a path")?;
    let key = path.split('/').next().unwrap_or_default();
    ensure!(
        key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{url} has no key"
    );
    Ok(address.parse()?)
}

/// Asks the doors of a process, of which one is at the address.
fn walk(name: &str, root: u32, printed: SocketAddr) -> Result<()> {
    let doors = doors_of(root)?;
    ensure!(doors.contains(&Door::Tcp(printed)), "{name}: {printed} is not among {doors:?}");
    are_shut(&doors).with_context(|| name.to_owned())
}

fn servers_refuse_another_user(has_networks: bool) -> Result<()> {
    for Serving { arguments, addresses } in SERVING {
        let bench = Bench::new()?;
        let out = bench.path("out");
        let words: Vec<&str> = arguments
            .iter()
            .map(|word| if *word == "OUT" { out.as_str() } else { *word })
            .collect();
        if !has_networks && arguments.contains(&"--webdriver") {
            // Its driver listens for everybody, so there is none.
            let refused = command(&bench, &words, has_networks).output()?;
            let said = text(&refused.stderr);
            ensure!(
                !refused.status.success() && said.contains("network namespace of its own"),
                "{said}"
            );
            continue;
        }
        let mut child = Started(
            command(&bench, &words, has_networks)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?,
        );
        let mut stdout = BufReader::new(child.0.stdout.take().context("stdout is piped")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let facts: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
        for key in *addresses {
            let url = facts[*key].as_str().with_context(|| format!("{key} in {line}"))?;
            walk(&words.join(" "), child.0.id(), address(url)?)?;
        }
        interrupt(&child.0)?;
        // It may say how its episode ended.
        std::io::copy(&mut stdout, &mut std::io::sink())?;
        child.0.wait()?;
    }
    Ok(())
}

#[test]
fn servers_for_programs_refuse_another_user() -> Result<()> {
    servers_refuse_another_user(true)
}

#[test]
fn they_do_where_browsers_have_no_networks_of_their_own() -> Result<()> {
    servers_refuse_another_user(false)
}

/// Asks every door that a command opens until it ends. Returns how many those were.
fn walk_until_it_ends(name: &str, mut child: Started) -> Result<usize> {
    let mut asked = BTreeSet::new();
    let (id, ended) = (child.0.id(), mpsc::channel());
    let waiting = std::thread::spawn(move || {
        let status = child.0.wait();
        let _ = ended.0.send(());
        status
    });
    while ended.1.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        let new: BTreeSet<Door> = doors_of(id)?.difference(&asked).cloned().collect();
        are_shut(&new).with_context(|| name.to_owned())?;
        asked.extend(new);
    }
    let status = waiting.join().ok().context("the command is waited for")??;
    ensure!(status.code().is_some_and(|code| code < 2), "{name}: {status}");
    Ok(asked.len())
}

async fn work_refuses_another_user(has_networks: bool) -> Result<()> {
    let web = origin().await?;
    let live = live_web(&web);
    let mut asked = 0;
    for arguments in WORKING {
        let bench = Bench::new()?;
        let out = bench.path("out");
        let mut words = Vec::new();
        for word in *arguments {
            match *word {
                "LIVE" => words.extend(live.clone()),
                word => words.push(word.replace("OUT", out.as_str())),
            }
        }
        let plain: Vec<&str> = words.iter().map(String::as_str).collect();
        let child = Started(command(&bench, &plain, has_networks).stdout(Stdio::null()).spawn()?);
        asked += tokio::task::spawn_blocking(move || walk_until_it_ends(&words.join(" "), child))
            .await??;
    }
    // Those of `attach` at least.
    ensure!(asked > 0, "no door was found");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_works_refuses_another_user() -> Result<()> {
    work_refuses_another_user(true).await
}

#[tokio::test(flavor = "multi_thread")]
async fn it_does_where_browsers_have_no_networks_of_their_own() -> Result<()> {
    work_refuses_another_user(false).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_annotation_refuses_another_user() -> Result<()> {
    let bench = Bench::new()?;
    let (suite, start) = (bench.path("suite"), "https://www.aldria-rail.test/");
    let words = [DEMO, "--url", start, "--id", "one", "-o", suite.as_str()];
    let annotator = Annotator::start(&bench, &words, start).await?;
    let (id, panel) = (annotator.child.id(), address(&annotator.panel_url)?);
    tokio::task::spawn_blocking(move || walk("annotate", id, panel)).await??;
    Ok(())
}

#[test]
fn a_shown_run_is_refused_to_another_user() -> Result<()> {
    let bench = Bench::new()?;
    let out = bench.path("run");
    let run =
        ["run", "tasks/demo", "--agent=oracle", "--task=clock-time-zone", "--output", out.as_str()];
    bench.succeed(&run)?;
    let mut child = Started(bench.command(&["show", out.as_str()]).stdout(Stdio::piped()).spawn()?);
    let mut line = String::new();
    BufReader::new(child.0.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
    walk("show", child.0.id(), address(line.trim())?)?;
    interrupt(&child.0)?;
    child.0.wait()?;
    Ok(())
}

/// Embedded sites and commands are part of it.
#[test]
fn what_sandbox_up_leaves_running_refuses_another_user() -> Result<()> {
    let bench = Bench::new()?;
    let said = bench.succeed(&["up", "desk", "forum", "--json", "--reset-listen=127.0.0.1:0"])?;
    let status: Value = serde_json::from_str(&said)?;
    let pid =
        status["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).context("a process")?;
    let walked = address(&format!("{}/", status["reset"].as_str().context("an address")?))
        .and_then(|printed| walk("up", pid, printed));
    bench.succeed(&["down"])?;
    walked
}

/// Runs, keys and state are for their owner alone.
#[test]
fn what_a_run_leaves_behind_is_for_its_owner_alone() -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    for (public, least) in [(&[][..], 0o077), (&["--public"], 0o022)] {
        let bench = Bench::new()?;
        let out = bench.path("run");
        let run = [
            "run",
            "tasks/demo",
            "--agent=oracle",
            "--task=clock-time-zone",
            "--output",
            out.as_str(),
        ];
        let words = [&run[..], public].concat();
        // The loosest that a user may have, and the usual one.
        let mask = if public.is_empty() { "000" } else { "022" };
        let script = format!("umask {mask}; exec \"$0\" \"$@\"");
        let words = [&["-c", &script, env!("CARGO_BIN_EXE_sandbox")][..], &words].concat();
        let output = bench.command_of("sh", &words).output()?;
        ensure!(output.status.success(), "{output:?}");
        let mut folders = vec![out.clone(), bench.path("data")];
        let mut public_files = 0;
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir_utf8()? {
                let entry = entry?;
                let mode = entry.metadata()?.mode();
                if entry.file_type()?.is_symlink() {
                    continue;
                }
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path().to_owned());
                }
                // The certificate is public, in a folder that is not.
                let is_certificate = entry.file_name() == "ca.crt";
                ensure!(is_certificate || mode & least == 0, "{}: {mode:o}", entry.path());
                public_files +=
                    usize::from(entry.path().starts_with(&out) && mode & 0o044 == 0o044);
            }
        }
        ensure!(
            public.is_empty() == (public_files == 0),
            "{public_files} files can be read by others"
        );
    }
    Ok(())
}
