//! What the keeper and the first process in the namespaces tell each other, over a socket that no
//! other process has.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::RecvFlags;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Plan;
use crate::descriptors;

/// The largest message. A plan names folders, and not all that is in them.
const LARGEST: usize = 64 << 20;

/// What is to be started. Its standard streams come with it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) plan: Plan,
    pub(super) words: Vec<OsString>,
    pub(super) folder: PathBuf,
}

/// The room is made and the program has started. Listeners of its network come with it, in the
/// order of the plan.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ready {
    /// Why it has not.
    pub(super) failed: Option<String>,
}

/// How the program has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Ended {
    /// With this exit code.
    Exited(u8),
    /// By this signal.
    Killed(i32),
}

/// Sends a message, with descriptors.
pub(super) fn send(
    socket: &UnixStream,
    message: &impl Serialize,
    with: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::InvalidInput)?.to_ne_bytes();
    descriptors::send(socket, &length, with)?;
    (&mut &*socket).write_all(&text)
}

/// Receives a message and its descriptors.
pub(super) fn receive<T: DeserializeOwned>(socket: &UnixStream) -> io::Result<(T, Vec<OwnedFd>)> {
    let mut length = [0; 4];
    let (got, descriptors) = descriptors::receive(socket, &mut length, RecvFlags::WAITALL)?;
    if got != length.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let length = u32::from_ne_bytes(length) as usize;
    if length > LARGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0; length];
    (&mut &*socket).read_exact(&mut text)?;
    Ok((serde_json::from_slice(&text)?, descriptors))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn descriptors_arrive_with_their_message() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut said, heard) = io::pipe().map(|(reader, writer)| (writer, reader)).unwrap();
        send(&here, &Ended::Killed(9), &[heard.as_fd()]).unwrap();
        send(&here, &Ended::Exited(3), &[]).unwrap();
        let (ended, descriptors) = receive::<Ended>(&there).unwrap();
        assert_eq!((ended, descriptors.len()), (Ended::Killed(9), 1));
        assert_eq!(receive::<Ended>(&there).unwrap().0, Ended::Exited(3));
        said.write_all(b"x").unwrap();
        drop((said, heard));
        let mut text = String::new();
        std::fs::File::from(descriptors.into_iter().next().unwrap())
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "x");
        drop(here);
        assert!(receive::<Ended>(&there).is_err());
    }
}
