//! Copies a request body while it is sent upstream.

use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::body::{Body as _, Bytes, Frame};
use parking_lot::{Mutex, MutexGuard};
use snapshots::Spool;

use super::SPOOL_MEMORY;
use crate::Body;
use crate::body::{BodyObserver, ObservedBody};

/// The copy so far, at most `cap` bytes. The upstream body and the response share it.
#[derive(Clone)]
pub(crate) struct RequestCopy {
    state: Arc<Mutex<State>>,
    cap: u64,
}

enum State {
    Copying(Spool),
    Whole(Spool),
    TooLarge,
    Failed(std::io::Error),
    Taken,
}

/// The state of the copy.
pub(crate) enum CopyOutcome {
    Whole(snapshots::Body),
    /// The upload had not ended when the response was complete.
    Partial,
    TooLarge,
    Failed(std::io::Error),
}

impl RequestCopy {
    fn new(state: State, cap: u64) -> Self {
        Self { state: Arc::new(Mutex::new(state)), cap }
    }

    /// Copies a client's body in transit.
    pub(crate) fn of(body: Body, cap: u64) -> (Body, Self) {
        let spool = Spool::new(SPOOL_MEMORY);
        if body.is_end_stream() {
            return (crate::body::empty(), Self::new(State::Whole(spool), cap));
        }
        let copy = Self::new(State::Copying(spool), cap);
        (ObservedBody::new(body, copy.clone()).boxed_unsync(), copy)
    }

    /// A body that is already in memory.
    pub(crate) fn whole(bytes: &Bytes) -> Self {
        let mut spool = Spool::new(bytes.len());
        let state = match spool.push(bytes.clone()) {
            Ok(()) => State::Whole(spool),
            Err(error) => State::Failed(error),
        };
        Self::new(state, bytes.len() as u64)
    }

    /// Takes the copy out.
    pub(crate) fn take(&self) -> CopyOutcome {
        match std::mem::replace(&mut *self.lock(), State::Taken) {
            State::Whole(spool) => {
                spool.finish().map_or_else(CopyOutcome::Failed, CopyOutcome::Whole)
            }
            State::Copying(_) | State::Taken => CopyOutcome::Partial,
            State::TooLarge => CopyOutcome::TooLarge,
            State::Failed(error) => CopyOutcome::Failed(error),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl BodyObserver for RequestCopy {
    fn on_frame(&mut self, frame: &Frame<Bytes>) {
        let Some(data) = frame.data_ref() else { return };
        let mut state = self.lock();
        if let State::Copying(spool) = &mut *state {
            if spool.len() + data.len() as u64 > self.cap {
                *state = State::TooLarge;
            } else if let Err(error) = spool.push(data.clone()) {
                *state = State::Failed(error);
            }
        }
    }

    fn on_end(&mut self) {
        let mut state = self.lock();
        *state = match std::mem::replace(&mut *state, State::Taken) {
            State::Copying(spool) => State::Whole(spool),
            other => other,
        };
    }
}
