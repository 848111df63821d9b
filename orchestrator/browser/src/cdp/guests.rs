//! Other programs that talk to the browser over our connection, each in sessions of its own.
//!
//! ```text
//! a program -> a session of the browser as a whole -> sessions of pages, frames and workers
//! ```
//!
//! The protocol is made for this: a message carries the id of its session, and what one session
//! has asked for is not told to another. A program's first session is attached by us. What that
//! session attaches to is the program's, too, and so on. All of them end with the first.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

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
    /// Whose each session is.
    owners: HashMap<String, u64>,
    /// The connection is lost.
    ended: bool,
}

/// What waits for one program.
#[derive(Debug)]
struct Queue {
    /// The program's first session.
    first: String,
    messages: mpsc::UnboundedSender<String>,
    waiting: Arc<AtomicUsize>,
}

/// A program with its sessions. Dropping it forgets them; what they still say is thrown away.
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
        if !programs.ended {
            programs
                .queues
                .insert(number, Queue { first: session.to_owned(), messages, waiting: Arc::clone(&waiting) });
            programs.owners.insert(session.to_owned(), number);
        }
        Guest { guests: self, number, messages: incoming, waiting }
    }

    /// Takes a message of the browser if it is for a program. Sessions that it tells of become the
    /// program's.
    pub(crate) fn take(&self, message: &[u8]) -> bool {
        let mut programs = self.0.lock();
        if programs.owners.is_empty() {
            return false;
        }
        let Ok(Envelope { session: Some(session), method }) = serde_json::from_slice(message) else {
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

    /// Lets no program send anything any more. Returns their first sessions, which are still there.
    pub(crate) fn dismiss(&self) -> Vec<String> {
        let mut programs = self.0.lock();
        let dismissed = std::mem::replace(&mut *programs, Programs { ended: true, ..Programs::default() });
        dismissed.queues.into_values().map(|queue| queue.first).collect()
    }
}

impl Programs {
    /// Notes which sessions a message adds or ends.
    fn note(&mut self, number: u64, method: &str, message: &[u8]) {
        if !matches!(method, "Target.attachedToTarget" | "Target.detachedFromTarget") {
            return;
        }
        let Ok(event) = serde_json::from_slice::<Value>(message) else { return };
        let Some(session) = event.pointer("/params/sessionId").and_then(Value::as_str) else { return };
        if method == "Target.attachedToTarget" {
            self.owners.insert(session.to_owned(), number);
        } else {
            self.owners.remove(session);
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
        let mut programs = self.guests.0.lock();
        programs.queues.remove(&self.number);
        let number = self.number;
        programs.owners.retain(|_, owner| *owner != number);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_gets_what_its_sessions_and_their_sessions_say() {
        let guests = Guests::default();
        assert!(!guests.take(br#"{"id":1,"sessionId":"A"}"#));
        let mut one = guests.welcome("A");
        let mut other = guests.welcome("B");
        let attached = br#"{"method":"Target.attachedToTarget","params":{"sessionId":"A1"},"sessionId":"A"}"#;
        let event = br#"{"method":"Page.loaded","params":{},"sessionId":"A1"}"#;
        assert!(!guests.take(event), "nobody has attached to it");
        for message in [attached.as_slice(), event, br#"{"id":7,"sessionId":"B"}"#] {
            assert!(guests.take(message));
        }
        assert!(!guests.take(br#"{"method":"Target.attachedToTarget","params":{"sessionId":"A"}}"#));
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
        assert!(!guests.take(br#"{"id":1,"sessionId":"A"}"#), "it is gone");
        guests.end();
        assert!(other.next().await.is_none() && guests.welcome("C").next().await.is_none());
    }
}
