//! The processes below another one, and a way to meet with them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use camino::Utf8PathBuf;

use crate::harness::{Bench, text};

const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Process {
    pub(crate) id: u32,
    /// Its arguments, a space between them. Empty for one that is ending, or has none.
    pub(crate) line: String,
}

/// Those that are there now; any of them may be gone when the list is read.
pub(crate) fn descendants(ancestor: u32) -> Result<Vec<Process>> {
    let mut processes = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Ok(id) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else { continue };
        // The name of a program stands in brackets, and may have any characters.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        processes.push((id, parent.unwrap_or(0u32)));
    }
    let (mut family, mut next) = (vec![ancestor], 0);
    while let Some(&parent) = family.get(next) {
        next += 1;
        family.extend(processes.iter().filter(|process| process.1 == parent).map(|process| process.0));
    }
    let described = family.into_iter().skip(1).map(|id| {
        let arguments = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        Process { id, line: text(&arguments).replace('\0', " ").trim().to_owned() }
    });
    Ok(described.collect())
}

/// Whether a process is there and has not ended: whoever is to reap it may take a while.
pub(crate) fn is_alive(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// A named pipe, for lines in one direction. Opening and writing never wait for the other end, and
/// reading has a deadline: whoever was to be there may have ended.
pub(crate) struct Pipe {
    pub(crate) path: Utf8PathBuf,
    file: fs::File,
    lines: Receiver<String>,
}

impl Pipe {
    /// One that the test writes to.
    pub(crate) fn to_program(bench: &Bench, name: &str) -> Result<Pipe> {
        Pipe::new(bench, name, false)
    }

    /// One that the test reads.
    pub(crate) fn from_program(bench: &Bench, name: &str) -> Result<Pipe> {
        Pipe::new(bench, name, true)
    }

    fn new(bench: &Bench, name: &str, read: bool) -> Result<Pipe> {
        let path = bench.path(name);
        ensure!(Command::new("mkfifo").arg(&path).status()?.success());
        // Both ends, so that it can be opened without anybody there, and nothing is lost.
        let file = fs::File::options().read(true).write(true).open(&path)?;
        let (send, lines) = channel();
        if read {
            let reader = BufReader::new(file.try_clone()?);
            std::thread::spawn(move || {
                reader.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
            });
        }
        Ok(Pipe { path, file, lines })
    }

    pub(crate) fn write(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.file, "{line}")?)
    }

    pub(crate) fn read(&self) -> Result<String> {
        self.lines.recv_timeout(PATIENCE).with_context(|| format!("nothing came through {}", self.path))
    }
}
