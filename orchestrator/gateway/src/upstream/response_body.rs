//! A response body from the live web.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Bytes, Frame, Incoming};
use tokio::time::{Instant, Sleep};

use super::dial::Server;
use super::pool::{Connections, Http1};
use crate::body::{BodyError, BodyObserver, ObservedBody};

/// A response body that fails when the server is silent for too long, and returns its connection to
/// the pool when it has been read.
pub(crate) type UpstreamBody = ObservedBody<Incoming, ConnectionUse>;

/// The use of a connection by one response body.
pub(crate) struct ConnectionUse {
    back: Option<(Connections, Server, Http1)>,
    stall: Option<Duration>,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl ConnectionUse {
    pub(super) fn new(back: Option<(Connections, Server, Http1)>, stall: Duration) -> Self {
        Self { back, stall: Some(stall), deadline: None }
    }

    /// Disables the silence timeout.
    pub(crate) fn allow_silence(&mut self) {
        self.stall = None;
    }
}

impl BodyObserver for ConnectionUse {
    fn on_frame(&mut self, _: &Frame<Bytes>) {
        self.deadline = None;
    }

    fn poll_stalled(&mut self, cx: &mut Context<'_>) -> Poll<BodyError> {
        let Some(stall) = self.stall else { return Poll::Pending };
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + stall)));
        deadline.as_mut().poll(cx).map(|()| {
            format!("the server sent nothing for {stall:?} in the middle of a body").into()
        })
    }

    /// Returns the connection to the pool.
    fn on_end(&mut self) {
        let Some((pool, server, mut connection)) = self.back.take() else { return };
        if connection.sender.is_ready() {
            pool.give_back(server, connection);
            return;
        }
        // hyper's connection task must still notice that the response is over.
        tokio::spawn(async move {
            if connection.sender.ready().await.is_ok() {
                pool.give_back(server, connection);
            }
        });
    }

    fn on_error(&mut self, _: &BodyError) {
        self.back = None;
    }
}
