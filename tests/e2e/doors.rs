//! No door without a secret: whatever commands listen on, another user of the machine is refused.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::door_walk::{Door, are_shut, doors_of};
use crate::harness::{Bench, interrupt};

/// Which doors of a command are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// Every one of its process and of those below.
    All,
    /// The server that it prints, and all Unix sockets.
    Printed,
}

/// A command that serves.
struct Serving {
    arguments: &'static [&'static str],
    /// The key of its line of JSON that has the address.
    address: &'static str,
    asked: Asked,
}

const SERVING: &[Serving] = &[
    Serving { arguments: &["gym", "tasks/demo", "--output", "OUT"], address: "url", asked: Asked::Printed },
    Serving { arguments: &["front"], address: "url", asked: Asked::All },
    Serving { arguments: &["models", "proxy", "--offline"], address: "base_url", asked: Asked::All },
];

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
    ensure!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{url} has no key");
    Ok(address.parse()?)
}

/// Asks the doors of a process, of which one is at the address.
fn walk(name: &str, root: u32, printed: SocketAddr, asked: Asked) -> Result<()> {
    let doors = doors_of(root)?;
    ensure!(doors.contains(&Door::Tcp(printed)), "{name}: {printed} is not among {doors:?}");
    let chosen = doors.iter().filter(|door| match door {
        Door::Unix(_) => true,
        Door::Tcp(at) => asked == Asked::All || *at == printed,
        Door::Udp(_) => asked == Asked::All,
    });
    are_shut(chosen).with_context(|| name.to_owned())
}

#[test]
fn servers_for_programs_refuse_another_user() -> Result<()> {
    for Serving { arguments, address: key, asked } in SERVING {
        let bench = Bench::new()?;
        let out = bench.path("out");
        let words: Vec<&str> =
            arguments.iter().map(|word| if *word == "OUT" { out.as_str() } else { *word }).collect();
        let mut child = Started(bench.command(&words).stdout(Stdio::piped()).spawn()?);
        let mut line = String::new();
        BufReader::new(child.0.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
        let facts: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
        let printed = address(facts[*key].as_str().context("an address")?)?;
        walk(arguments[0], child.0.id(), printed, *asked)?;
        interrupt(&child.0)?;
        child.0.wait()?;
    }
    Ok(())
}

#[test]
fn a_shown_run_is_refused_to_another_user() -> Result<()> {
    let bench = Bench::new()?;
    let out = bench.path("run");
    let run = ["run", "tasks/demo", "--agent=oracle", "--task=clock-time-zone", "--output", out.as_str()];
    bench.succeed(&run)?;
    let mut child = Started(bench.command(&["show", out.as_str()]).stdout(Stdio::piped()).spawn()?);
    let mut line = String::new();
    BufReader::new(child.0.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
    walk("show", child.0.id(), address(line.trim())?, Asked::All)?;
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
    let pid = status["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).context("a process")?;
    let walked = address(&format!("{}/", status["reset"].as_str().context("an address")?))
        .and_then(|printed| walk("up", pid, printed, Asked::Printed));
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
        let run = ["run", "tasks/demo", "--agent=oracle", "--task=clock-time-zone", "--output", out.as_str()];
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
                public_files += usize::from(entry.path().starts_with(&out) && mode & 0o044 == 0o044);
            }
        }
        ensure!(public.is_empty() == (public_files == 0), "{public_files} files can be read by others");
    }
    Ok(())
}
