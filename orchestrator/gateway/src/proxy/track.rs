//! One request's place in the ledger and in the activity, kept until its answer has been delivered or given up.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http_body_util::BodyExt;
use hyper::body::{Bytes, Frame, SizeHint};

use crate::{Activity, Answer, Body, Entry, Ledger, activity::InFlight, body::BodyError, error_text};

/// A request under way. However it ends, it is entered in the ledger once, and only then leaves the activity.
pub(super) struct Pending {
    ledger: Arc<Ledger>,
    entry: Option<Entry>,
    in_flight: Option<InFlight>,
}

impl Pending {
    pub(super) fn begin(activity: &Activity, ledger: Arc<Ledger>) -> Self {
        let entry = Entry {
            seq: ledger.next_seq(),
            method: String::new(),
            url: String::new(),
            status: 0,
            answer: Answer::Failed { error: "the client went away before there was an answer".to_owned() },
            bytes: 0,
            destination: None,
        };
        Self { ledger, entry: Some(entry), in_flight: Some(activity.request()) }
    }

    /// Changes the entry to be.
    pub(super) fn note(&mut self, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = &mut self.entry {
            change(entry);
        }
    }

    /// Its position in the order of arrival.
    pub(super) fn seq(&self) -> u64 {
        self.entry.as_ref().map_or(0, |entry| entry.seq)
    }

    /// Enters it in the ledger now, as it stands.
    pub(super) fn enter(&mut self) {
        if let Some(entry) = self.entry.take() {
            self.ledger.push(entry);
        }
    }

    /// Takes it out of the count of requests into that of streams.
    pub(super) fn into_stream(mut self) -> Self {
        self.in_flight = self.in_flight.take().map(InFlight::into_stream);
        self
    }

    /// Keeps it until the body has been delivered.
    pub(super) fn until_delivered(self, body: Body) -> Body {
        Tracked { body, pending: self }.boxed_unsync()
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.enter();
        drop(self.in_flight.take());
    }
}

struct Tracked {
    body: Body,
    pending: Pending,
}

impl hyper::body::Body for Tracked {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len) as u64;
                self.pending.note(|entry| entry.bytes += bytes);
            }
            Poll::Ready(Some(Err(error))) => {
                let error = error_text::chain(error.as_ref());
                self.pending.note(|entry| {
                    tracing::warn!(url = entry.url, %error, "a body ended early");
                    entry.answer = Answer::Failed { error };
                });
            }
            Poll::Ready(None) | Poll::Pending => {}
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
