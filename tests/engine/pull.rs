//! `sandbox images pull`.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};

use crate::harness::{Bench, docker, interrupt, wait_for};
use crate::registry::{Mishap, Registry, Road};

/// More than what a connection carries besides a layer, less than the large layer.
const ALLOWED: usize = 4 << 20;

/// Builds an image with a small layer and a large one that does not compress, and pushes it.
fn push(bench: &Bench, registry: &Registry, page: &str) -> Result<()> {
    let mut noise = vec![0; 12 << 20];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut noise)?;
    bench.recipe("COPY page /page\nCOPY noise /noise\n")?;
    bench.write("page", page)?;
    std::fs::write(bench.path("images").join(bench.name()).join("noise"), noise)?;
    bench.ends(0, &["images", "build", bench.name()])?;
    let there = image(bench, registry.address());
    docker(&["tag", &bench.tag(), &there])?;
    docker(&["push", &there])?;
    docker(&["image", "rm", &there])?;
    docker(&["image", "rm", &bench.tag()])?;
    docker(&["image", "rm", &format!("{}:base", bench.name())])?;
    Ok(())
}

fn image(bench: &Bench, registry: SocketAddr) -> String {
    format!("{registry}/{}:1", bench.name())
}

#[test]
fn a_pulled_image_is_pinned_and_a_changed_one_refused() -> Result<()> {
    let bench = Bench::new()?;
    let registry = Registry::start(&bench)?;
    push(&bench, &registry, "one")?;
    let image = image(&bench, registry.address());

    let said = bench.ends(0, &["images", "pull", &image])?;
    ensure!(said.starts_with(&format!("{image}: pulled, sha256:")), "{said}");
    let first = docker(&["image", "inspect", "--format", "{{.Id}}", &image])?;
    let lock = std::fs::read_to_string(bench.path("sites/images.lock"))?;
    let digest = said.trim().rsplit(' ').next().context("a digest")?;
    ensure!(lock.contains(&format!("\n{image}: {digest}\n")), "{lock}");
    let said = bench.ends(0, &["images", "pull"])?;
    ensure!(said.contains("up to date"), "{said}");

    docker(&["image", "rm", &image])?;
    push(&bench, &registry, "two")?;
    let said = bench.ends(1, &["images", "pull", &image])?;
    ensure!(said.contains(&format!("pinned is {digest}, the registry has sha256:")), "{said}");
    ensure!(said.contains(&format!("`sandbox images pull --update {image}`")), "{said}");
    ensure!(docker(&["image", "inspect", &image]).is_err(), "a refused image was fetched");
    ensure!(std::fs::read_to_string(bench.path("sites/images.lock"))? == lock);

    bench.ends(0, &["images", "pull", "--update", &image])?;
    ensure!(docker(&["image", "inspect", "--format", "{{.Id}}", &image])? != first);
    ensure!(std::fs::read_to_string(bench.path("sites/images.lock"))? != lock);
    bench.ends(0, &["images", "pull"])?;
    Ok(())
}

#[test]
fn a_connection_that_breaks_is_taken_up_again() -> Result<()> {
    let bench = Bench::new()?;
    let registry = Registry::start(&bench)?;
    push(&bench, &registry, "page")?;
    let road = Road::open(registry.address(), Mishap::Cut, ALLOWED)?;
    let image = image(&bench, road.address());
    bench.ends(0, &["images", "pull", &image])?;
    ensure!(road.mishap_happened(), "the connection was never cut");
    ensure!(
        road.requests().contains("Range: bytes="),
        "nothing was asked for from the middle:\n{}",
        road.requests()
    );
    docker(&["image", "inspect", &image])?;
    Ok(())
}

#[test]
fn an_interrupted_pull_leaves_no_half_image_and_the_same_command_finishes_it() -> Result<()> {
    let bench = Bench::new()?;
    let registry = Registry::start(&bench)?;
    push(&bench, &registry, "page")?;
    let road = Road::open(registry.address(), Mishap::Block, ALLOWED)?;
    let image = image(&bench, road.address());

    let mut pull = bench.command(&["images", "pull", &image]);
    pull.env("SANDBOX_LOG", "sandbox=debug").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = pull.spawn()?;
    let log = BufReader::new(child.stderr.take().context("stderr is piped")?);
    let complete = Arc::new(AtomicUsize::new(0));
    let counter = complete.clone();
    std::thread::spawn(move || {
        let lines = log.lines().map_while(Result::ok).filter(|line| line.contains("Pull complete"));
        lines.for_each(|_| _ = counter.fetch_add(1, Ordering::Relaxed));
    });
    wait_for("the two layers before the large one are whole", || {
        Ok(complete.load(Ordering::Relaxed) == 2)
    })?;
    wait_for("the large layer is stuck", || Ok(road.mishap_happened()))?;
    interrupt(&child)?;
    let status = child.wait()?;
    ensure!(status.code() == Some(4), "{status}");
    ensure!(docker(&["image", "inspect", &image]).is_err(), "half an image has a name");

    road.clear();
    let said = bench.ends(0, &["images", "pull", &image])?;
    ensure!(said.contains(": pulled, sha256:"), "{said}");
    docker(&["image", "inspect", &image])?;
    Ok(())
}
