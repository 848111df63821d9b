//! Streams of HTTP/2 whose client takes nothing: given up after a while.
//!
//! A connection of HTTP/1.1 whose client does not read fills up, and `ClientIo` notices. One of
//! HTTP/2 flows on while a single stream stands still, because its client gives it no window; what
//! the stream holds would be held for ever.
//!
//! The response's body says whose turn it is, and the stream's task, which polls that body, looks
//! after each poll.

use std::{
    cell::Cell,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep};

/// How far a stream is, and who has to do something for it to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    /// Pieces that the client was given.
    pieces: u64,
    /// Whether the client has the last one still to take.
    clients: bool,
}

tokio::task_local! {
    static TURN: Cell<Turn>;
}

/// Whether this is a stream's task.
pub(super) fn is_watched() -> bool {
    TURN.try_with(|_| ()).is_ok()
}

/// PlaybackContext, in a stream's task, that the client was given a piece. Does nothing elsewhere.
pub(super) fn clients_turn() {
    let _ = TURN.try_with(|turn| turn.set(Turn { pieces: turn.get().pieces + 1, clients: true }));
}

/// PlaybackContext, in a stream's task, that the client has taken all that it was given.
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
    /// The piece that is waited for, and until when. Made only for a stream that has to wait.
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
