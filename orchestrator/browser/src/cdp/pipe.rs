//! The two pipes of a browser's DevTools: messages in JSON, each of which ends with a zero byte.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;

/// The largest message that is accepted, in bytes. Screenshots and accessibility trees of very
/// large pages are long.
const MAX_MESSAGE_SIZE: usize = 512 << 20;
/// The number of bytes that are read at once.
const CHUNK: usize = 256 << 10;
/// How much memory is kept for the next message.
const KEPT: usize = 4 << 20;

/// Our ends.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) commands: Commands,
    pub(crate) replies: Replies,
}

/// The end of the pipe for commands.
#[derive(Debug)]
pub(crate) struct Commands(pipe::Sender);

/// The end of the pipe with replies and events.
#[derive(Debug)]
pub(crate) struct Replies {
    from: pipe::Receiver,
    /// The bytes that were read.
    buffer: Vec<u8>,
    /// How much of it has been handed out.
    taken: usize,
    /// How much of it has no zero byte.
    searched: usize,
}

impl Pipe {
    pub(crate) fn new(commands: OwnedFd, replies: OwnedFd) -> io::Result<Pipe> {
        let commands = Commands(pipe::Sender::from_owned_fd(commands)?);
        let from = pipe::Receiver::from_owned_fd(replies)?;
        Ok(Pipe { commands, replies: Replies { from, buffer: Vec::new(), taken: 0, searched: 0 } })
    }
}

impl Commands {
    pub(crate) async fn send(&mut self, message: &str) -> io::Result<()> {
        self.0.write_all(message.as_bytes()).await?;
        self.0.write_all(&[0]).await
    }
}

impl Replies {
    /// The next message; `None` at the end.
    pub(crate) async fn next(&mut self) -> io::Result<Option<&[u8]>> {
        loop {
            if let Some(length) = self.buffer[self.searched..].iter().position(|&byte| byte == 0) {
                let (start, end) = (self.taken, self.searched + length);
                (self.taken, self.searched) = (end + 1, end + 1);
                return Ok(Some(&self.buffer[start..end]));
            }
            self.buffer.drain(..self.taken);
            self.taken = 0;
            self.searched = self.buffer.len();
            // The memory of a large message is given back.
            if self.buffer.is_empty() {
                self.buffer.shrink_to(KEPT);
            }
            if self.buffer.len() > MAX_MESSAGE_SIZE {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            self.buffer.reserve(CHUNK);
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_end_at_zero_bytes_wherever_they_are_cut() -> io::Result<()> {
        let (their_commands, commands) = io::pipe()?;
        let (replies, their_replies) = io::pipe()?;
        let Pipe { mut commands, mut replies } = Pipe::new(commands.into(), replies.into())?;
        let mut to_us = pipe::Sender::from_owned_fd(their_replies.into())?;
        let mut from_us = pipe::Receiver::from_owned_fd(their_commands.into())?;
        let long = "x".repeat(3 * CHUNK);
        let said = long.clone();
        let saying = tokio::spawn(async move {
            for part in [b"a".as_slice(), b"b\0", b"\0c\0d", b"\0", said.as_bytes(), b"\0rest"] {
                to_us.write_all(part).await?;
            }
            Ok::<_, io::Error>(())
        });
        for expected in ["ab", "", "c", "d", &long] {
            assert_eq!(replies.next().await?, Some(expected.as_bytes()));
        }
        assert_eq!(replies.next().await?, None);
        saying.await??;
        commands.send("{}").await?;
        let mut sent = [0; 3];
        from_us.read_exact(&mut sent).await?;
        assert_eq!(&sent, b"{}\0");
        Ok(())
    }
}
