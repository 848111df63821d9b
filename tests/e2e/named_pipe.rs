//! Named pipes between a test and a program that it does not start itself. Neither end waits for
//! the other to open its own, and reading has a deadline: the program may have ended, or never
//! begun.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use camino::Utf8PathBuf;

use crate::harness::Bench;

const READ_TIMEOUT: Duration = Duration::from_secs(120);

/// A pipe that the test reads.
pub(crate) struct PipeReader {
    pub(crate) path: Utf8PathBuf,
    lines: Receiver<String>,
    /// While it is open, nobody waits to open the pipe, and reading does not end.
    _both_ends: File,
}

/// A pipe that the test writes to.
pub(crate) struct PipeWriter {
    pub(crate) path: Utf8PathBuf,
    both_ends: File,
}

impl PipeReader {
    pub(crate) fn new(bench: &Bench, name: &str) -> Result<PipeReader> {
        let (path, both_ends) = make(bench, name)?;
        let reader = BufReader::new(File::open(&path)?);
        let (send, lines) = channel();
        std::thread::spawn(move || {
            reader.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        Ok(PipeReader { path, lines, _both_ends: both_ends })
    }

    /// The next line.
    pub(crate) fn read(&self) -> Result<String> {
        self.lines
            .recv_timeout(READ_TIMEOUT)
            .with_context(|| format!("nothing came through {}", self.path))
    }
}

impl PipeWriter {
    pub(crate) fn new(bench: &Bench, name: &str) -> Result<PipeWriter> {
        let (path, both_ends) = make(bench, name)?;
        Ok(PipeWriter { path, both_ends })
    }

    pub(crate) fn write(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.both_ends, "{line}")?)
    }
}

fn make(bench: &Bench, name: &str) -> Result<(Utf8PathBuf, File)> {
    let path = bench.path(name);
    ensure!(Command::new("mkfifo").arg(&path).status()?.success());
    let both_ends = File::options().read(true).write(true).open(&path)?;
    Ok((path, both_ends))
}
