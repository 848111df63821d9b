//! The process of an external agent: pipes, time limits and cleanup.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use processes::Variable;
use processes::confine::{Confined, Tree};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::lines::{self, Line};
use super::protocol::Message;
use super::{LEAVE_WITHIN, LINE_LIMIT};
use crate::Error;

/// Maximum size of the kept standard error. The rest is read and dropped, so that the program never
/// blocks on it.
const STDERR_LIMIT: usize = 1 << 20;
/// How much of the end of standard error an error shows, in bytes.
const STDERR_TAIL: u64 = 16 << 10;

/// The program's name in errors.
const WHO: &str = "the agent program";

/// A running program. Dropping it kills it and its children.
#[derive(Debug)]
pub(super) struct Process {
    command: String,
    /// Ended before its leader is reaped.
    tree: Tree,
    child: Child,
    /// `None` after it is closed.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: PathBuf,
    drain: tokio::task::JoinHandle<()>,
}

impl Process {
    /// Starts the program with [`processes::minimal`] environment variables and `variables`.
    pub(super) fn start(
        command: &str,
        stderr: &Path,
        variables: &[Variable],
        confined: Option<&Confined>,
    ) -> Result<Process, Error> {
        let file = File::create(stderr)
            .map_err(|source| Error::Stderr { path: stderr.display().to_string(), source })?;
        let failed = |source| Error::Start { command: command.to_owned(), source };
        let confined = confined.cloned().unwrap_or_default();
        let mut words = confined.command("sh");
        words
            .arg("-c")
            .arg(command)
            .env_clear()
            .envs(processes::minimal())
            // An agent may stand in the folder of its suite, whose files were agreed to.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .envs(variables.iter().map(|variable| (&variable.name, &variable.value)));
        confined.add_plan(&mut words);
        let mut child = Command::from(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let tree = confined.tree(&child);
        let (Some(stdin), Some(stdout), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed(std::io::Error::other("a pipe is missing")));
        };
        Ok(Process {
            command: command.to_owned(),
            tree,
            child,
            stdin: Some(stdin),
            stdout: BufReader::new(stdout),
            stderr: stderr.to_owned(),
            drain: tokio::spawn(drain(errors, file)),
        })
    }

    /// Its name in errors.
    pub(super) fn who(&self) -> String {
        WHO.to_owned()
    }

    /// Sends a message that needs no answer.
    pub(super) async fn tell(
        &mut self,
        message: &Message<'_>,
        within: Duration,
    ) -> Result<(), Error> {
        let message_type = message.name();
        let mut line = serde_json::to_vec(message)
            .map_err(|why| Error::Pipe { message_type, source: why.into() })?;
        line.push(b'\n');
        let sent = timeout(within, async {
            match &mut self.stdin {
                Some(stdin) => stdin.write_all(&line).await,
                None => Err(std::io::ErrorKind::BrokenPipe.into()),
            }
        })
        .await
        .map_err(|_| Error::Timeout {
            message_type,
            who: WHO.to_owned(),
            after: within,
        })?;
        match sent {
            Ok(()) => Ok(()),
            // The exit code and the last output of the program say more than a broken pipe.
            Err(source) if source.kind() == std::io::ErrorKind::BrokenPipe => {
                Err(self.left(message_type).await)
            }
            Err(source) => Err(Error::Pipe { message_type, source }),
        }
    }

    /// Sends a message and reads the line that answers it.
    pub(super) async fn ask(
        &mut self,
        message: &Message<'_>,
        within: Duration,
    ) -> Result<Vec<u8>, Error> {
        let message_type = message.name();
        self.tell(message, within).await?;
        let line = timeout(within, lines::read(&mut self.stdout, LINE_LIMIT))
            .await
            .map_err(|_| Error::Timeout { message_type, who: WHO.to_owned(), after: within })?
            .map_err(|source| Error::Pipe { message_type, source })?;
        match line {
            Line::Text(line) => Ok(line),
            Line::Oversized => Err(Error::Oversized {
                message_type,
                who: WHO.to_owned(),
                what: "line",
                limit: LINE_LIMIT,
            }),
            Line::End(_) => Err(self.left(message_type).await),
        }
    }

    /// Sends the end message and waits briefly. If the process is still there, the drop kills it.
    pub(super) async fn leave(mut self, outcome: &str) {
        if self.tell(&Message::End { outcome }, LEAVE_WITHIN).await.is_err() {
            return;
        }
        self.stdin = None;
        if timeout(LEAVE_WITHIN, self.child.wait()).await.is_err() {
            tracing::debug!("the agent program did not leave by itself");
        }
        self.tree.end(&mut self.child).await;
        let _ = timeout(LEAVE_WITHIN, &mut self.drain).await;
    }

    /// The error for output that ended before an answer.
    async fn left(&mut self, message_type: &'static str) -> Error {
        let status = timeout(LEAVE_WITHIN, self.child.wait()).await.ok().and_then(Result::ok);
        let how = match status {
            Some(status) => format!("left ({status})"),
            None => "closed its standard output".to_owned(),
        };
        self.tree.end(&mut self.child).await;
        let _ = timeout(LEAVE_WITHIN, &mut self.drain).await;
        if message_type == Message::HELLO
            && status.and_then(|status| status.code()).is_some_and(is_no_program)
        {
            let stderr = tail(&self.stderr).unwrap_or_default();
            let source = std::io::Error::other(stderr.trim().to_owned());
            return Error::Start { command: self.command.clone(), source };
        }
        Error::Left { message_type, how, stderr: tail(&self.stderr).unwrap_or_default() }
    }
}

/// Exit codes of a shell that found no program, or none that it may execute.
fn is_no_program(code: i32) -> bool {
    matches!(code, 126 | 127)
}

/// Copies the beginning of the program's standard error to a file and drops the rest.
async fn drain(mut errors: ChildStderr, mut file: File) {
    let mut room = STDERR_LIMIT;
    let mut chunk = vec![0; 8192];
    while let Ok(count @ 1..) = errors.read(&mut chunk).await {
        let kept = count.min(room);
        room -= kept;
        if file.write_all(&chunk[..kept]).is_err() {
            room = 0;
        }
    }
}

fn tail(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(STDERR_TAIL);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(STDERR_TAIL).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // Start at the beginning of a line.
    Ok(match text.split_once('\n') {
        Some((_, whole)) if start > 0 => whole.to_owned(),
        _ => text,
    })
}
