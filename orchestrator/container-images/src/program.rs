//! Runs external programs. Their output lines become events, and their last lines appear in errors.
//! The programs end when this process ends.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Command;

use crate::{Event, OnEvent};

/// Number of last lines that an error shows, of standard output and of standard error each.
pub(crate) const TAIL: usize = 20;

/// The exit status of a program and its last lines. Standard output comes before standard error,
/// because two pipes do not show their order, and much output must not hide an error.
#[derive(Debug)]
pub(crate) struct ProgramExit {
    pub(crate) status: ExitStatus,
    pub(crate) tail: Vec<String>,
}

/// Runs a program to its end. Dropping the future ends the program and its children.
pub(crate) async fn run(command: &mut Command, on: &OnEvent) -> std::io::Result<ProgramExit> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let mut group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
    let (mut output, mut errors) = (VecDeque::new(), VecDeque::new());
    let (mut out, mut err) = (lines(child.stdout.take()), lines(child.stderr.take()));
    loop {
        let (line, tail) = tokio::select! {
            Some(line) = next(&mut out) => (line?, &mut output),
            Some(line) = next(&mut err) => (line?, &mut errors),
            else => break,
        };
        on(Event::Output(&line));
        keep(tail, line);
    }
    let status = child.wait().await?;
    // It has ended by itself. Another process may have its number by the time this is dropped.
    group.0 = None;
    output.append(&mut errors);
    Ok(ProgramExit { status, tail: output.into() })
}

/// Appends a line to the tail and drops the oldest if it is full.
pub(crate) fn keep(tail: &mut VecDeque<String>, line: String) {
    if tail.len() == TAIL {
        tail.pop_front();
    }
    tail.push_back(line);
}

type Lines<R> = Option<tokio::io::Lines<BufReader<R>>>;

fn lines<R: AsyncRead>(pipe: Option<R>) -> Lines<R> {
    pipe.map(|pipe| BufReader::new(pipe).lines())
}

/// The next line. `None` forever after the pipe has ended.
async fn next<R: AsyncRead + Unpin>(lines: &mut Lines<R>) -> Option<std::io::Result<String>> {
    let line = lines.as_mut()?.next_line().await.transpose();
    if line.is_none() {
        *lines = None;
    }
    line
}

/// A process group that gets SIGTERM if it is dropped before its leader has ended.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // The leader may just have ended.
            let _ = kill_process_group(leader, Signal::TERM);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    #[tokio::test]
    async fn every_line_is_told_and_the_last_are_kept() {
        let received = Arc::new(Mutex::new(0));
        let count = received.clone();
        let on: OnEvent = Arc::new(move |_| *count.lock() += 1);
        let ended =
            run(Command::new("sh").args(["-c", "seq 30; echo no >&2; exit 3"]), &on).await.unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!(*received.lock(), 31);
        let last: Vec<String> = (11..=30).map(|n| n.to_string()).chain(["no".to_owned()]).collect();
        assert_eq!(ended.tail, last);
    }

    #[tokio::test]
    async fn dropping_ends_the_program_and_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("alive");
        // The child keeps the pipe's writing end open while it lives.
        let script =
            format!("mkfifo {0}; sh -c 'echo up; exec sleep 600' >{0} & wait", fifo.display());
        let on: OnEvent = Arc::new(|_| ());
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        let mut running = Box::pin(run(&mut command, &on));
        let reader = tokio::task::spawn_blocking({
            let fifo = fifo.clone();
            move || {
                let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
                while !fifo.exists() && std::time::Instant::now() < deadline {
                    std::thread::park_timeout(std::time::Duration::from_millis(10));
                }
                std::io::BufReader::new(std::fs::File::open(fifo).unwrap())
            }
        });
        let mut reader = tokio::select! {
            reader = reader => reader.unwrap(),
            ended = &mut running => panic!("{ended:?}"),
        };
        let mut output = String::new();
        std::io::BufRead::read_line(&mut reader, &mut output).unwrap();
        assert_eq!(output, "up\n");
        drop(running);
        // End of file: no process can write any more.
        assert_eq!(std::io::Read::read(&mut reader, &mut [0; 8]).unwrap(), 0);
    }
}
