//! What becomes of a command whose output nobody takes: a reader that has gone is no failure, a
//! full disk is one, and neither makes a failure a success or ends what runs in the background.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use camino::Utf8Path;

use crate::harness::{Bench, text};

const BAD: [&str; 3] = ["snapshot", "verify", "Cargo.toml"];
const GOOD: [&str; 3] = ["snapshot", "inspect", "snapshots/demo.wacz"];

/// A disk that is full.
pub(crate) fn full() -> Result<File> {
    Ok(File::options().write(true).open("/dev/full")?)
}

/// A pipe that nobody reads from.
fn shut() -> Result<Stdio> {
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    Ok(writer.into())
}

fn code(command: &mut Command) -> Result<Option<i32>> {
    Ok(command.status()?.code())
}

#[test]
fn a_failure_stays_one_wherever_its_output_goes() -> Result<()> {
    let bench = Bench::new()?;
    ensure!(code(bench.command(&BAD).stdout(Stdio::null()).stderr(full()?))? == Some(2));
    ensure!(code(bench.command(&BAD).stdout(full()?).stderr(Stdio::null()))? == Some(2));
    ensure!(code(bench.command(&BAD).stdout(shut()?).stderr(shut()?))? == Some(2));
    let missing = ["snapshot", "inspect", "nonesuch.wacz"];
    ensure!(code(bench.command(&missing).stdout(full()?).stderr(full()?))? == Some(2));
    let use_of_it = ["snapshot", "nonesuch"];
    ensure!(code(bench.command(&use_of_it).stdout(full()?).stderr(full()?))? == Some(2));
    Ok(())
}

#[test]
fn what_cannot_be_written_for_want_of_room_is_a_failure() -> Result<()> {
    let bench = Bench::new()?;
    for arguments in [&GOOD[..], &["tasks", "list", "tasks/demo"], &["--help"], &["ca"]] {
        let output = bench.command(arguments).stdout(full()?).output()?;
        let said = text(&output.stderr);
        ensure!(output.status.code() == Some(3), "{arguments:?}: {}\n{said}", output.status);
        ensure!(said.contains("write to stdout: No space left on device"), "{arguments:?}: {said}");
        ensure!(!said.contains("panicked"), "{said}");
    }
    // Where only what is said beside it is lost, the result is there.
    let output = bench.command(&GOOD).stderr(full()?).output()?;
    ensure!(output.status.success() && text(&output.stdout).contains("demo"), "{output:?}");
    Ok(())
}

#[test]
fn a_reader_that_has_gone_has_what_it_wanted() -> Result<()> {
    let bench = Bench::new()?;
    for arguments in [
        &GOOD[..],
        &["tasks", "list", "tasks/demo"],
        &["tasks", "show", "tasks/demo", "quiet-coach"],
        &["--help"],
    ] {
        let output = bench.command(arguments).stdout(shut()?).output()?;
        let said = text(&output.stderr);
        ensure!(
            output.status.success() && said.is_empty(),
            "{arguments:?}: {}\n{said}",
            output.status
        );
    }
    Ok(())
}

#[test]
fn a_run_whose_readers_have_gone_ends_well_and_leaves_no_browser() -> Result<()> {
    let bench = Bench::new()?;
    let (temp, out) = (bench.path("temp"), bench.path("out"));
    std::fs::create_dir(&temp)?;
    let mut command =
        bench.command(&["run", "tasks/demo", "--agent=oracle", "--task=quiet-coach", "-v"]);
    command.args(["--json", "--output", out.as_str()]).env("TMPDIR", &temp);
    ensure!(code(command.stdout(shut()?).stderr(shut()?))? == Some(0));
    ensure!(out.join("report.html").is_file(), "it has played to its end");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !started_in(&temp)?.is_empty() {
        ensure!(Instant::now() < deadline, "still there: {:?}", started_in(&temp)?);
    }
    let left = temp.read_dir_utf8()?.count();
    ensure!(left == 0, "{left} left in the folder for temporary files");
    Ok(())
}

/// The processes whose temporary files are in this folder.
fn started_in(temp: &Utf8Path) -> Result<Vec<PathBuf>> {
    let names = |file: PathBuf| {
        let text = std::fs::read(file).unwrap_or_default();
        String::from_utf8_lossy(&text).contains(temp.as_str())
    };
    let all = std::fs::read_dir("/proc")?.flatten().map(|entry| entry.path());
    Ok(all.filter(|path| names(path.join("environ")) || names(path.join("cmdline"))).collect())
}

/// Ends with its test.
struct Serving<'a>(&'a Bench, Child);

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        let _ = self.0.run(&["down"]);
        let _ = self.1.kill();
        let _ = self.1.wait();
    }
}

#[test]
fn sites_stay_up_when_there_is_no_room_for_their_log() -> Result<()> {
    let bench = Bench::new()?;
    let mut command = bench.command(&["serve-sites", "desk", "--reset-listen=127.0.0.1:0", "-v"]);
    let mut serving = Serving(&bench, command.stdout(full()?).stderr(full()?).spawn()?);
    let deadline = Instant::now() + Duration::from_secs(60);
    while !text(&bench.run(&["status", "--json"])?.stdout).contains("\"leased\"") {
        ensure!(serving.1.try_wait()?.is_none(), "it has ended");
        ensure!(Instant::now() < deadline, "the site is not up");
    }
    for _ in 0..3 {
        bench.succeed(&["reset", "desk"])?;
    }
    ensure!(serving.1.try_wait()?.is_none(), "it has ended");
    bench.succeed(&["status"])?;
    Ok(())
}
