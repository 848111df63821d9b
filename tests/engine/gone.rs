//! A container engine that does not answer any more: every command says so within seconds, and
//! sites come up again once it does.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::daemon::{Apart, Daemon, host, inside};
use crate::harness::{Bench, said, wait_for};

/// A few seconds, on a machine that is busy.
const SECONDS: Duration = Duration::from_secs(40);

/// A town on an engine of its own, that ends with its test.
struct Town {
    daemon: Option<Daemon>,
    apart: Apart,
    /// Removed last, with what the engine had in it.
    bench: Bench,
}

impl Town {
    fn new(what: &str) -> Result<Town> {
        let bench = Bench::new()?;
        let apart = Apart::new(what);
        let daemon = Some(Daemon::start(bench.path("engine"), &apart.0));
        bench.recipe("")?;
        let tar = bench.path("base.tar");
        let image = format!("{}:1", bench.name());
        let town = Town { daemon, apart, bench };
        town.docker(&["import", tar.as_str(), &image])?;
        let folder = town.bench.path("sites/calm");
        std::fs::create_dir_all(&folder)?;
        let manifest = format!(
            "title: Calm\nabout: Does nothing.\ndriver: docker\nport: 8000\nhosts: [calm.test]\nimage: {image}\n\
             command: [/bin/sleep, '1000']\nready: {{any: {{exec: [/bin/sh, -c, 'exit 0']}}}}\nreset: spare\n"
        );
        std::fs::write(folder.join("site.yaml"), manifest)?;
        Ok(town)
    }

    fn docker(&self, arguments: &[&str]) -> Result<String> {
        let host = host(&self.bench.path("engine"));
        crate::harness::docker(&[&["--host", &host], arguments].concat())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(inside(&self.apart.0)).arg(env!("CARGO_BIN_EXE_sandbox")).args(arguments);
        command
            .env("SANDBOX_TRUST", "1")
            .env("DOCKER_HOST", host(&self.bench.path("engine")))
            .env("SANDBOX_DATA", self.bench.path("data"));
        command.current_dir(self.bench.path("")).stdin(Stdio::null()).env_remove("SANDBOX_LOG");
        command
    }

    /// Runs the binary, which must end soon.
    fn soon(&self, arguments: &[&str]) -> Result<Output> {
        let began = Instant::now();
        let output = self.command(arguments).output()?;
        ensure!(began.elapsed() < SECONDS, "sandbox {arguments:?} took {:?}", began.elapsed());
        Ok(output)
    }

    fn up(&self) -> Result<Output> {
        self.soon(&["up", "--reset-listen=127.0.0.1:0", "--json"])
    }

    fn status(&self) -> Result<Value> {
        let output = self.soon(&["status", "--json"])?;
        serde_json::from_slice(&output.stdout).with_context(|| said(&output))
    }

    /// Waits until the town says of its engine that it does not answer, or says nothing of it.
    fn says(&self, gone: bool) -> Result<Duration> {
        let began = Instant::now();
        wait_for("the engine is told of", || Ok(self.status()?["engine"].is_string() == gone))?;
        Ok(began.elapsed())
    }

    /// Waits until a copy is in use and one is ready.
    fn is_whole(&self) -> Result<()> {
        wait_for("the site is up", || {
            let status = self.status()?;
            let phases: Vec<&str> = status["sites"][0]["copies"]
                .as_array()
                .context("copies")?
                .iter()
                .filter_map(|copy| copy["phase"].as_str())
                .collect();
            Ok(phases.contains(&"leased") && phases.contains(&"ready"))
        })
    }

    /// Stops the engine where it stands, or lets it go on: it takes connections and answers none.
    fn freeze(&self, frozen: bool) {
        let signal = if frozen { "-STOP" } else { "-CONT" };
        let pid = self.daemon.iter().map(|daemon| daemon.child.id().to_string());
        let _ = Command::new("kill").arg(signal).args(pid).output();
    }

    fn begin_again(&mut self) {
        self.daemon = None;
        self.daemon = Some(Daemon::start(self.bench.path("engine"), &self.apart.0));
    }
}

impl Drop for Town {
    fn drop(&mut self) {
        self.freeze(false);
        let ended =
            self.daemon.as_mut().is_some_and(|daemon| !matches!(daemon.child.try_wait(), Ok(None)));
        if ended && !std::thread::panicking() {
            // What an engine that was killed has left only an engine removes.
            self.begin_again();
        }
        let _ = self.command(&["down"]).output();
    }
}

fn tells(output: &Output, code: i32) -> Result<()> {
    let said = said(output);
    ensure!(output.status.code() == Some(code), "{}: {said}", output.status);
    ensure!(
        said.contains("engine") && said.contains("does not answer")
            || said.contains("reach a container"),
        "{said}"
    );
    Ok(())
}

/// Takes a town down, of which nothing is left then.
fn ends(town: &Town) -> Result<()> {
    let output = town.soon(&["down"])?;
    ensure!(output.status.success(), "{}", said(&output));
    ensure!(town.docker(&["ps", "--all", "--quiet"])?.is_empty());
    ensure!(
        town.docker(&["network", "ls", "--quiet", "--filter", "label=sandbox.instance"])?
            .is_empty()
    );
    Ok(())
}

#[test]
fn an_engine_that_was_killed_is_told_and_sites_come_back_with_it() -> Result<()> {
    let mut town = Town::new("gone")?;
    let output = town.up()?;
    ensure!(output.status.success(), "{}", said(&output));
    town.is_whole()?;
    town.daemon.as_mut().context("an engine")?.kill();
    ensure!(town.says(true)? < Duration::from_secs(10));
    tells(&town.soon(&["status"])?, 0)?;
    // The copy that is ready can be had without it; after that there is none.
    town.soon(&["reset", "calm"])?;
    tells(&town.soon(&["reset", "calm"])?, 3)?;

    // The same town, once there is an engine again.
    town.begin_again();
    town.says(false)?;
    town.is_whole()?;
    ensure!(town.soon(&["reset", "calm"])?.status.success());
    ends(&town)
}

#[test]
fn an_engine_that_hangs_is_told_and_what_is_left_on_it_too() -> Result<()> {
    let town = Town::new("hangs")?;
    let output = town.up()?;
    ensure!(output.status.success(), "{}", said(&output));
    town.is_whole()?;
    town.freeze(true);
    town.says(true)?;
    // The copy that is ready can be had without it; after that there is none.
    town.soon(&["reset", "calm"])?;
    tells(&town.soon(&["reset", "calm"])?, 3)?;
    let output = town.soon(&["down"])?;
    tells(&output, 3)?;
    ensure!(said(&output).contains("remove them with `sandbox down`"), "{}", said(&output));
    town.freeze(false);
    ensure!(!town.docker(&["ps", "--quiet"])?.is_empty(), "they are still there");
    ends(&town)
}

#[test]
fn up_ends_when_the_engine_does_while_it_waits() -> Result<()> {
    let mut town = Town::new("ends")?;
    let manifest = town.bench.path("sites/calm/site.yaml");
    let text =
        std::fs::read_to_string(&manifest)?.replace("exit 0", "exit 1") + "ready_within: 300s\n";
    std::fs::write(&manifest, text)?;
    let mut command = town.command(&["up", "--reset-listen=127.0.0.1:0"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    wait_for("a copy runs", || Ok(!town.docker(&["ps", "--quiet"])?.is_empty()))?;
    town.daemon.as_mut().context("an engine")?.kill();
    let began = Instant::now();
    let output = child.wait_with_output()?;
    ensure!(began.elapsed() < SECONDS, "{:?}: {}", began.elapsed(), said(&output));
    tells(&output, 3)
}
