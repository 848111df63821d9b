//! The copy of a request body, taken as it goes upstream.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http_body_util::BodyExt;
use hyper::body::{Body as _, Bytes, Frame, SizeHint};
use parking_lot::{Mutex, MutexGuard};
use snapshots::Spool;

use super::SPOOL_MEMORY;
use crate::{Body, body::BodyError};

/// What has been copied so far. Shared between the body going upstream and the response coming back.
#[derive(Clone)]
pub(crate) struct RequestCopy(Arc<Mutex<State>>);

enum State {
    Copying(Spool),
    Whole(Spool),
    TooLarge,
    Failed(std::io::Error),
    Taken,
}

/// What became of the copy.
pub(crate) enum Copied {
    Whole(snapshots::Body),
    /// The upload had not ended when the answer was complete.
    Partial,
    TooLarge,
    Failed(std::io::Error),
}

impl RequestCopy {
    /// Copies a client's body on its way.
    pub(crate) fn of(body: Body, cap: u64) -> (Body, Self) {
        let spool = Spool::new(SPOOL_MEMORY);
        if body.is_end_stream() {
            return (crate::body::empty(), Self(Arc::new(Mutex::new(State::Whole(spool)))));
        }
        let copy = Self(Arc::new(Mutex::new(State::Copying(spool))));
        (Copying { body, copy: copy.clone(), cap }.boxed_unsync(), copy)
    }

    /// A body that is in memory already.
    pub(crate) fn whole(bytes: &Bytes) -> Self {
        let mut spool = Spool::new(bytes.len());
        let state = match spool.push(bytes.clone()) {
            Ok(()) => State::Whole(spool),
            Err(error) => State::Failed(error),
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Takes the copy out.
    pub(crate) fn take(&self) -> Copied {
        match std::mem::replace(&mut *self.lock(), State::Taken) {
            State::Whole(spool) => spool.finish().map_or_else(Copied::Failed, Copied::Whole),
            State::Copying(_) | State::Taken => Copied::Partial,
            State::TooLarge => Copied::TooLarge,
            State::Failed(error) => Copied::Failed(error),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }

    fn saw(&self, data: &Bytes, cap: u64) {
        let mut state = self.lock();
        if let State::Copying(spool) = &mut *state {
            if spool.len() + data.len() as u64 > cap {
                *state = State::TooLarge;
            } else if let Err(error) = spool.push(data.clone()) {
                *state = State::Failed(error);
            }
        }
    }

    fn ended(&self) {
        let mut state = self.lock();
        *state = match std::mem::replace(&mut *state, State::Taken) {
            State::Copying(spool) => State::Whole(spool),
            other => other,
        };
    }
}

struct Copying {
    body: Body,
    copy: RequestCopy,
    cap: u64,
}

impl hyper::body::Body for Copying {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.copy.saw(data, self.cap);
        }
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.copy.ended();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
