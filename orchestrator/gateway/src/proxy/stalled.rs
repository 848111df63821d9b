//! Ends HTTP/2 streams whose client stops reading.
//!
//! An HTTP/1.1 connection whose client does not read fills up, and `ClientIo` notices. An HTTP/2
//! connection continues while a single stream stalls for lack of window. The memory of that stream
//! would be held for ever.
//!
//! The response body reports whose turn it is. The stream's task polls that body, and checks after
//! each poll.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// The progress of a stream, and which side must act next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    /// Pieces given to the client.
    pieces: u64,
    /// Whether the client has yet to take the last one.
    clients: bool,
}

tokio::task_local! {
    static TURN: Cell<Turn>;
}

/// Whether the current task is a stream's task.
pub(super) fn is_watched() -> bool {
    TURN.try_with(|_| ()).is_ok()
}

/// Records, in a stream's task, that the client was given a piece. Does nothing elsewhere.
pub(super) fn clients_turn() {
    let _ = TURN.try_with(|turn| turn.set(Turn { pieces: turn.get().pieces + 1, clients: true }));
}

/// Records, in a stream's task, that the client has taken everything. Does nothing elsewhere.
pub(super) fn our_turn() {
    let _ = TURN.try_with(|turn| turn.set(Turn { clients: false, ..turn.get() }));
}

/// A stream's task that ends when its client has taken nothing for `stall`.
pub(super) fn unless_stalled<F>(stream: F, stall: Duration) -> impl Future<Output = ()> + use<F>
where
    F: Future<Output = ()>,
{
    let none = Cell::new(Turn { pieces: 0, clients: false });
    TURN.scope(none, Stalling { stream: Box::pin(stream), stall, waiting: None })
}

struct Stalling<F> {
    stream: Pin<Box<F>>,
    stall: Duration,
    /// The pending piece and its deadline. Created only for a stream that has to wait.
    waiting: Option<(u64, Pin<Box<Sleep>>)>,
}

impl<F: Future<Output = ()>> Future for Stalling<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let turn = TURN.with(Cell::get);
        this.waiting.take_if(|(piece, _)| !turn.clients || *piece != turn.pieces);
        if !turn.clients {
            return Poll::Pending;
        }
        let (_, deadline) = this.waiting.get_or_insert_with(|| {
            (turn.pieces, Box::pin(tokio::time::sleep_until(Instant::now() + this.stall)))
        });
        // Dropping the stream's future resets the stream.
        deadline.as_mut().poll(cx)
    }
}
