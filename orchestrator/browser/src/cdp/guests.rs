//! Other programs that talk to the browser over our connection, each in sessions of its own.
//!
//! ```text
//! a program -> a session of the browser as a whole -> sessions of pages, frames and workers
//! ```
//!
//! The protocol is made for this: a message carries the id of its session, and what one session
//! has asked for is not told to another. A program's first session is attached by us. What that
//! session attaches to is the program's, too, and so on. All of them end with the first. What they
//! say until then is the program's, or nobody's where the program has gone: never ours.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

/// How many bytes may wait for a program to read them. One that reads nothing is cut off.
const MAX_WAITING: usize = 512 << 20;

/// The programs of a connection.
#[derive(Debug, Default)]
pub(crate) struct Guests(Mutex<Programs>);

#[derive(Debug, Default)]
struct Programs {
    next: u64,
    queues: HashMap<u64, Queue>,
    /// The program that owns each session. A program may have gone before its sessions have.
    owners: HashMap<String, u64>,
    /// The first session of each program, until the browser has ended it.
    first: HashMap<String, u64>,
    /// No program gets anything any more.
    ended: bool,
}

/// The messages that wait for one program.
#[derive(Debug)]
struct Queue {
    messages: mpsc::UnboundedSender<String>,
    waiting: Arc<AtomicUsize>,
}

/// A program with its sessions. Once it is dropped, what they still say is thrown away.
#[derive(Debug)]
pub(crate) struct Guest<'c> {
    guests: &'c Guests,
    number: u64,
    messages: mpsc::UnboundedReceiver<String>,
    waiting: Arc<AtomicUsize>,
}

/// As much of a message as tells whose it is.
#[derive(Deserialize)]
struct Envelope<'m> {
    #[serde(rename = "sessionId", borrow)]
    session: Option<&'m str>,
    #[serde(borrow)]
    method: Option<&'m str>,
}

impl Guests {
    /// A program with this first session.
    pub(crate) fn welcome(&self, session: &str) -> Guest<'_> {
        let (messages, incoming) = mpsc::unbounded_channel();
        let waiting = Arc::default();
        let mut programs = self.0.lock();
        programs.next += 1;
        let number = programs.next;
        programs.owners.insert(session.to_owned(), number);
        programs.first.insert(session.to_owned(), number);
        if !programs.ended {
            programs.queues.insert(number, Queue { messages, waiting: Arc::clone(&waiting) });
        }
        Guest { guests: self, number, messages: incoming, waiting }
    }

    /// Takes a message of the browser if it is for a program. Sessions that it tells of become the
    /// program's.
    pub(crate) fn take(&self, message: &[u8]) -> bool {
        let mut programs = self.0.lock();
        // Messages may be large, and most browsers have no such program.
        if programs.owners.is_empty() {
            return false;
        }
        let Ok(Envelope { session, method }) = serde_json::from_slice(message) else {
            return false;
        };
        let Some(session) = session else {
            programs.note_first(method.unwrap_or_default(), message);
            return false;
        };
        let Some(number) = programs.owners.get(session).copied() else { return false };
        programs.note(number, method.unwrap_or_default(), message);
        programs.queue(number, message);
        true
    }

    /// Ends all of them: the connection is lost.
    pub(crate) fn end(&self) {
        *self.0.lock() = Programs { ended: true, ..Programs::default() };
    }

    /// Lets no program send or get anything any more. Returns the first sessions that are still
    /// there.
    pub(crate) fn dismiss(&self) -> Vec<String> {
        let mut programs = self.0.lock();
        programs.ended = true;
        programs.queues.clear();
        programs.first.keys().cloned().collect()
    }
}

impl Programs {
    /// Notes whether an event of the browser as a whole ends a program's first session. All others
    /// of the program have ended with it.
    fn note_first(&mut self, method: &str, message: &[u8]) {
        if method != "Target.detachedFromTarget" {
            return;
        }
        let Some(session) = session_in(message) else { return };
        if let Some(number) = self.first.remove(&session) {
            self.owners.retain(|_, owner| *owner != number);
        }
    }

    /// Notes which sessions a message adds or ends.
    fn note(&mut self, number: u64, method: &str, message: &[u8]) {
        if !matches!(method, "Target.attachedToTarget" | "Target.detachedFromTarget") {
            return;
        }
        let Some(session) = session_in(message) else { return };
        if method == "Target.attachedToTarget" {
            self.owners.insert(session, number);
        } else {
            self.owners.remove(&session);
        }
    }

    fn queue(&mut self, number: u64, message: &[u8]) {
        let Some(queue) = self.queues.get(&number) else { return };
        if queue.waiting.fetch_add(message.len(), Ordering::Relaxed) > MAX_WAITING {
            tracing::warn!("a DevTools client reads nothing, and is cut off");
            self.queues.remove(&number);
            return;
        }
        // A program that is gone needs no message.
        let _ = queue.messages.send(String::from_utf8_lossy(message).into_owned());
    }
}

/// The session of which an event tells.
fn session_in(event: &[u8]) -> Option<String> {
    let event: Value = serde_json::from_slice(event).ok()?;
    Some(event.pointer("/params/sessionId")?.as_str()?.to_owned())
}

impl Guest<'_> {
    /// The browser's next message for the program; `None` when there will be no more.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let message = self.messages.recv().await?;
        self.waiting.fetch_sub(message.len(), Ordering::Relaxed);
        Some(message)
    }

    /// Sends a message of the program by `send`, unless it was dismissed.
    pub(crate) fn send(&self, send: impl FnOnce()) {
        // Locked, so that nothing is sent once the program is dismissed.
        let programs = self.guests.0.lock();
        if programs.queues.contains_key(&self.number) {
            send();
        }
    }

    /// Whether a session is the program's.
    pub(crate) fn owns(&self, session: &str) -> bool {
        self.guests.0.lock().owners.get(session) == Some(&self.number)
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.guests.0.lock().queues.remove(&self.number);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    impl Guest<'_> {
        fn sends(&self) -> bool {
            let mut sent = false;
            self.send(|| sent = true);
            sent
        }
    }

    #[tokio::test]
    async fn a_program_gets_what_its_sessions_and_their_sessions_say() {
        let guests = Guests::default();
        assert!(!guests.take(br#"{"id":1,"sessionId":"A"}"#));
        let mut one = guests.welcome("A");
        let mut other = guests.welcome("B");
        let attached =
            br#"{"method":"Target.attachedToTarget","params":{"sessionId":"A1"},"sessionId":"A"}"#;
        let event = br#"{"method":"Page.loaded","params":{},"sessionId":"A1"}"#;
        assert!(!guests.take(event), "nobody has attached to it");
        for message in [attached.as_slice(), event, br#"{"id":7,"sessionId":"B"}"#] {
            assert!(guests.take(message));
        }
        assert!(
            !guests.take(br#"{"method":"Target.attachedToTarget","params":{"sessionId":"A"}}"#)
        );
        assert!(one.next().await.unwrap().contains("attached"));
        assert!(one.next().await.unwrap().contains("loaded"));
        assert!(other.next().await.unwrap().contains("7"));
        assert!(one.owns("A1") && !other.owns("A1") && !one.owns("B"));
        assert!(
            guests.take(
                br#"{"method":"Target.detachedFromTarget","params":{"sessionId":"A1"},"sessionId":"A"}"#
            )
        );
        assert!(!one.owns("A1") && !guests.take(event));
        drop(one);
        guests.end();
        assert!(other.next().await.is_none() && guests.welcome("C").next().await.is_none());
    }

    #[test]
    fn what_a_program_that_has_gone_still_gets_is_nobodys() {
        let guests = Guests::default();
        let late =
            br#"{"method":"Target.attachedToTarget","params":{"sessionId":"A1"},"sessionId":"A"}"#;
        let ended = br#"{"method":"Target.detachedFromTarget","params":{"sessionId":"A"}}"#;
        let one = guests.welcome("A");
        drop(one);
        assert!(guests.take(br#"{"id":1,"sessionId":"A"}"#) && guests.take(late));
        assert!(guests.take(br#"{"id":2,"sessionId":"A1"}"#));
        let _other = guests.welcome("B");
        assert!(!guests.take(ended), "the end of a session of ours is told to us");
        assert!(!guests.take(br#"{"id":1,"sessionId":"A"}"#) && !guests.take(late));
        assert_eq!(guests.dismiss(), ["B"]);
        assert!(guests.take(br#"{"id":1,"sessionId":"B"}"#));
        let newcomer = guests.welcome("C");
        assert!(guests.take(br#"{"id":1,"sessionId":"C"}"#) && !newcomer.sends());
    }
}
