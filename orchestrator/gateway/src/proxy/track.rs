//! Tracks one request in the ledger and in the in-flight counts until its response is delivered or
//! given up.

use std::sync::Arc;
use std::time::Instant;

use http_body_util::BodyExt;
use hyper::body::{Bytes, Frame};
use in_flight::InFlightGuard;

use super::clients::Busy;
use super::stalled;
use crate::body::{BodyError, BodyObserver, ObservedBody};
use crate::complaints::Complaints;
use crate::gateway::Shared;
use crate::{Answer, Body, Entry, Episode, Ledger};

/// The maximum number of body bytes that an HTTP/2 connection gets before its client has taken the
/// previous ones.
const PIECE: usize = 64 * 1024;

/// A request in progress. However it ends, it is entered in the ledger exactly once. Only then does
/// it leave the in-flight counts.
pub(super) struct Pending {
    ledger: Arc<Ledger>,
    entry: Option<Entry>,
    began: Instant,
    in_flight: Option<InFlightGuard>,
    complaints: Arc<Complaints>,
    _busy: Busy,
}

impl Pending {
    pub(super) fn begin(shared: &Shared, episode: &Episode, busy: Busy) -> Self {
        let ledger = episode.ledger().clone();
        let entry = Entry {
            seq: ledger.next_seq(),
            method: String::new(),
            url: String::new(),
            status: 0,
            // The ledger keeps this unless an answer is noted later.
            answer: Answer::Failed {
                error: "the client went away before there was an answer".to_owned(),
            },
            capture: None,
            bytes: 0,
            destination: None,
            took_ms: None,
        };
        Self {
            ledger,
            entry: Some(entry),
            began: Instant::now(),
            in_flight: Some(shared.in_flight.request()),
            complaints: shared.complaints.clone(),
            _busy: busy,
        }
    }

    /// Changes the pending ledger entry.
    pub(super) fn note(&mut self, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = &mut self.entry {
            change(entry);
        }
    }

    /// Its position in the order of arrival.
    pub(super) fn seq(&self) -> u64 {
        self.entry.as_ref().map_or(0, |entry| entry.seq)
    }

    /// Enters it in the ledger now, in its current state.
    pub(super) fn enter(&mut self) {
        if let Some(mut entry) = self.entry.take() {
            entry.took_ms = u64::try_from(self.began.elapsed().as_millis()).ok();
            self.ledger.push(entry);
        }
    }

    /// Moves it from the count of requests to the count of streams.
    pub(super) fn into_stream(mut self) -> Self {
        self.in_flight = self.in_flight.take().map(InFlightGuard::into_stream);
        self
    }

    /// Keeps it until the body has been delivered.
    pub(super) fn until_delivered(self, body: Body) -> Body {
        ObservedBody::new(body, self).boxed_unsync()
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.enter();
        drop(self.in_flight.take());
    }
}

impl BodyObserver for Pending {
    fn on_poll(&mut self) {
        stalled::our_turn();
    }

    /// Without this, an HTTP/2 client with a window of one byte would get a whole frame, which is
    /// no longer tracked.
    fn max_frame(&self) -> usize {
        if stalled::is_watched() { PIECE } else { usize::MAX }
    }

    fn on_frame(&mut self, frame: &Frame<Bytes>) {
        let bytes = frame.data_ref().map_or(0, Bytes::len) as u64;
        self.note(|entry| entry.bytes += bytes);
        stalled::clients_turn();
    }

    fn on_error(&mut self, error: &BodyError) {
        let Some(entry) = &mut self.entry else { return };
        let text = error_text::with_causes(error.as_ref());
        if self.complaints.first("body-ended-early", host_of(&entry.url)) {
            tracing::warn!(url = entry.url, error = text, "a body ended early");
        }
        entry.answer = Answer::Failed { error: text };
    }
}

/// The host and port of an absolute URL.
fn host_of(url: &str) -> &str {
    let behind = url.split_once("://").map_or(url, |(_, behind)| behind);
    behind.split(['/', '?']).next().unwrap_or(behind)
}
