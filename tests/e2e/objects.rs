//! Snapshots and runs in an object store: a real S3 server over a folder, and a web server.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use object_server::ObjectServer;
use serde_json::Value;

use crate::harness::{Bench, repository, text};

/// The demo's shortest tasks, twice.
const SMALL: [&str; 4] =
    ["--agent=oracle", "--task=clock-time-zone", "--task=guest-booking", "--repeat=2"];

/// A bench with an object store that has one bucket.
struct World {
    bench: Bench,
    store: Utf8PathBuf,
    server: Option<ObjectServer>,
}

impl World {
    fn new() -> Result<World> {
        let bench = Bench::new()?;
        let store = bench.path("store");
        fs::create_dir_all(store.join("bucket"))?;
        let server = Some(ObjectServer::start(&store, [0, 0])?);
        Ok(World { bench, store, server })
    }

    fn server(&self) -> &ObjectServer {
        self.server.as_ref().expect("it is started")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(arguments);
        command.envs(self.server().environment()).env("SANDBOX_CACHE", self.bench.path("cache"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<Output> {
        Ok(self.command(arguments).output()?)
    }

    fn succeed(&self, arguments: &[&str]) -> Result<String> {
        let output = self.run(arguments)?;
        let said = text(&output.stdout);
        ensure!(
            output.status.success(),
            "{arguments:?}: {}\n{said}{}",
            output.status,
            text(&output.stderr)
        );
        Ok(said)
    }

    /// What a command says that ends with this exit code.
    fn ends_with(&self, code: i32, arguments: &[&str]) -> Result<String> {
        let output = self.run(arguments)?;
        let said = text(&output.stdout) + &text(&output.stderr);
        ensure!(output.status.code() == Some(code), "{arguments:?}: {}\n{said}", output.status);
        Ok(said)
    }

    /// Plays the small tasks of a suite; the summary.
    fn play(&self, suite: &str, output: &str, more: &[&str]) -> Result<Value> {
        let arguments =
            [&["run", suite], &SMALL[..], &["--json", "--output", output], more].concat();
        Ok(serde_json::from_str(&self.succeed(&arguments)?)?)
    }

    /// The demo suite with its snapshot at an address.
    fn suite_at(&self, name: &str, address: &str) -> Result<Utf8PathBuf> {
        let folder = self.bench.path(name);
        fs::create_dir_all(&folder)?;
        for entry in repository().join("tasks/demo").read_dir_utf8()? {
            let entry = entry?;
            let text = fs::read_to_string(entry.path())?;
            let text = text.replace("../../snapshots/demo.wacz", address);
            fs::write(folder.join(entry.file_name()), text)?;
        }
        ensure!(fs::read_to_string(folder.join("suite.yaml"))?.contains(address), "{name}");
        Ok(folder)
    }
}

/// All files below a folder but those that begin with a dot, with their contents.
fn contents(folder: &Utf8Path) -> Result<Vec<(String, Vec<u8>)>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in next.read_dir_utf8()? {
            let path = entry?.into_path();
            if path.file_name().is_some_and(|name| name.starts_with('.')) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.strip_prefix(folder)?.to_string(), fs::read(&path)?));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[test]
fn a_snapshot_at_an_address_is_the_same_world_and_little_of_it_is_fetched() -> Result<()> {
    let world = World::new()?;
    let alone = world.play("tasks/demo", world.bench.path("alone").as_str(), &[])?;
    let pushed =
        world.succeed(&["snapshot", "push", "snapshots/demo.wacz", "s3://bucket/x/demo.wacz"])?;
    ensure!(pushed.contains("address: s3://bucket/x/demo.wacz"), "{pushed}");
    let said = world
        .ends_with(2, &["snapshot", "push", "snapshots/demo.wacz", "s3://bucket/x/demo.wacz"])?;
    ensure!(said.contains("--force replaces it"), "{said}");
    let web = format!("{}/bucket/x/demo.wacz", world.server().web());
    for (name, address) in [("of-s3", "s3://bucket/x/demo.wacz"), ("of-web", &web)] {
        let suite = world.suite_at(name, address)?;
        let summary =
            world.play(suite.as_str(), world.bench.path(&format!("{name}-run")).as_str(), &[])?;
        ensure!(summary["fingerprints"] == alone["fingerprints"], "{name}: {summary}");
        ensure!(
            summary["successes"] == alone["successes"] && summary["errors"] == 0,
            "{name}: {summary}"
        );
    }
    // Again, and by other commands: what was fetched is there.
    let before = world.server().sent().1;
    world.play(world.bench.path("of-s3").as_str(), world.bench.path("again").as_str(), &[])?;
    let fetched = world.server().sent().1 - before;
    // The first block shows that the object is the same.
    ensure!(fetched <= 64 << 10, "{fetched} bytes");
    let report = world.succeed(&["snapshot", "verify", "s3://bucket/x/demo.wacz"])?;
    ensure!(report.contains("valid: true"), "{report}");
    let inspected = |path: &str| world.succeed(&["snapshot", "inspect", path]);
    let (there, here) = (inspected("s3://bucket/x/demo.wacz")?, inspected("snapshots/demo.wacz")?);
    ensure!(there.replace("s3://bucket/x/", "snapshots/") == here, "{there}");
    // A collection with its members beside it.
    let parts = world.bench.path("parts");
    world.succeed(&["snapshot", "split", "snapshots/demo.wacz", "--output", parts.as_str()])?;
    let list = parts.join("datapackage.json");
    world.succeed(&["snapshot", "push", list.as_str(), "s3://bucket/parts/demo.json"])?;
    let suite = world.suite_at("of-parts", "s3://bucket/parts/demo.json")?;
    let summary = world.play(suite.as_str(), world.bench.path("parts-run").as_str(), &[])?;
    ensure!(summary["fingerprints"] == alone["fingerprints"], "{summary}");
    Ok(())
}

#[test]
fn a_run_at_an_address_is_the_run_that_it_is_in_a_folder() -> Result<()> {
    let world = World::new()?;
    let alone = world.bench.path("alone");
    let summary = world.play("tasks/demo", alone.as_str(), &[])?;
    let there = world.play("tasks/demo", "s3://bucket/runs/small", &[])?;
    ensure!(there["folder"] == "s3://bucket/runs/small", "{there}");
    ensure!(there["fingerprints"] == summary["fingerprints"], "{there}");
    let names = |folder: &Utf8Path| -> Result<Vec<String>> {
        Ok(contents(folder)?.into_iter().map(|(name, _)| name).collect())
    };
    ensure!(names(&world.store.join("bucket/runs/small"))? == names(&alone)?);
    let small =
        [&["run", "tasks/demo"], &SMALL[..], &["--output", "s3://bucket/runs/small"]].concat();
    let said = world.ends_with(2, &small)?;
    ensure!(said.contains("--resume"), "{said}");
    world.succeed(&[&small[..], &["--resume"]].concat())?;
    world.succeed(&["compare", alone.as_str(), "s3://bucket/runs/small"])?;
    let said = world.ends_with(2, &["compare", alone.as_str(), "s3://bucket/runs/other"])?;
    ensure!(said.contains("s3://bucket/runs/other"), "{said}");
    // What goes at the address goes from the copy of who reads it, and is uploaded again by who
    // played it.
    let stored = world.store.join("bucket/runs/small");
    let report = ["report", "s3://bucket/runs/small", "--json"];
    let episodes = |world: &World| -> Result<Value> {
        let summary: Value = serde_json::from_str(&world.succeed(&report)?)?;
        Ok(summary["episodes"].clone())
    };
    ensure!(episodes(&world)? == 4);
    fs::remove_dir_all(stored.join("episodes/guest-booking-2"))?;
    ensure!(episodes(&world)? == 3);
    world.succeed(&[&small[..], &["--resume"]].concat())?;
    ensure!(episodes(&world)? == 4);
    fs::remove_dir_all(&stored)?;
    world.succeed(&[&small[..], &["--resume"]].concat())?;
    ensure!(names(&stored)? == names(&alone)?);
    // Parts of other machines, made one.
    for part in ["1/2", "2/2"] {
        let output = format!("s3://bucket/runs/shards/{}", &part[..1]);
        world.play("tasks/demo", &output, &["--shard", part])?;
    }
    let merged = world.bench.path("merged");
    world.succeed(&["merge", "s3://bucket/runs/shards", "--output", merged.as_str()])?;
    world.succeed(&["compare", alone.as_str(), merged.as_str()])?;
    Ok(())
}

#[test]
fn a_store_that_dies_in_the_middle_costs_no_result() -> Result<()> {
    let mut world = World::new()?;
    let alone = world.play("tasks/demo", world.bench.path("alone").as_str(), &[])?;
    let output = "s3://bucket/runs/broken";
    let arguments = [&["run", "tasks/demo"], &SMALL[..], &["--output", output]].concat();
    let mut command = world.command(&arguments);
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let episodes = world.store.join("bucket/runs/broken/episodes");
    let until = Instant::now() + Duration::from_secs(120);
    loop {
        let whole = episodes.read_dir_utf8().into_iter().flatten().flatten();
        if whole.into_iter().any(|episode| episode.path().join("episode.json").is_file()) {
            break;
        }
        ensure!(Instant::now() < until, "no episode was uploaded");
        ensure!(run.try_wait()?.is_none(), "the run has ended");
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let (ports, environment) = (world.server().ports(), world.server().environment());
    world.server = None;
    let ended = run.wait_with_output()?;
    let said = text(&ended.stdout) + &text(&ended.stderr);
    ensure!(ended.status.code() == Some(3), "{}\n{said}", ended.status);
    ensure!(said.contains(output) && said.contains("--resume"), "{said}");
    ensure!(!said.contains(environment[2].1.as_str()), "{said}");
    world.server = Some(ObjectServer::start(&world.store, ports)?);
    let resumed = world.play("tasks/demo", output, &["--resume"])?;
    ensure!(
        resumed["fingerprints"] == alone["fingerprints"] && resumed["errors"] == 0,
        "{resumed}"
    );
    let there = contents(&world.store.join("bucket/runs/broken"))?;
    let here =
        fs::read_dir(world.bench.path("data").join("runs"))?.next().context("its folder")??;
    let here = Utf8PathBuf::from_path_buf(here.path()).ok().context("its folder")?;
    ensure!(contents(&here)? == there, "the two differ");
    Ok(())
}

#[test]
fn a_world_whose_store_dies_is_an_error_and_no_result() -> Result<()> {
    let mut world = World::new()?;
    world.succeed(&["snapshot", "push", "snapshots/demo.wacz", "s3://bucket/demo.wacz"])?;
    let suite = world.suite_at("suite", "s3://bucket/demo.wacz")?;
    let output = world.bench.path("run");
    let arguments = [&["run", suite.as_str()], &SMALL[..], &["--output", output.as_str()]].concat();
    let mut command = world.command(&arguments);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let until = Instant::now() + Duration::from_secs(120);
    // The world is open, and nothing was played: what it reads from now on is not in the cache.
    while !output.join("run.json").is_file() {
        ensure!(Instant::now() < until, "the run has not begun");
        std::thread::park_timeout(Duration::from_millis(5));
    }
    let ports = world.server().ports();
    world.server = None;
    let ended = run.wait_with_output()?;
    let said = text(&ended.stdout) + &text(&ended.stderr);
    world.server = Some(ObjectServer::start(&world.store, ports)?);
    ensure!(ended.status.code() == Some(1), "{}\n{said}", ended.status);
    ensure!(said.contains("Connection refused"), "{said}");
    // What had not been read before is no result.
    ensure!(said.contains("guest-booking-1 error") && !said.contains(" failed, score"), "{said}");
    let more = ["--resume", "--retry-errors", "--json"];
    let summary: Value = serde_json::from_str(&world.succeed(&[&arguments[..], &more].concat())?)?;
    ensure!(summary["errors"] == 0 && summary["episodes"] == 4, "{summary}");
    Ok(())
}
