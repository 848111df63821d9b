//! Records the traffic that passes through the gateway.
//!
//! ```text
//! upstream body -> tee -> client          the exchange is written when its last byte arrives, before that byte is forwarded:
//!                   |                     every response that a client has received whole is on disk, also after kill -9
//!                   `-> Spool -> Recording
//! ```
//!
//! Only whole exchanges are kept. An exchange that breaks off on either side, or exceeds the limit,
//! is counted and reported. An event stream has no end, so it is whole at each event. A disk error
//! does not stop the browsing: it is counted, and the first error is kept for the report.

mod draft;
mod redact;
mod request;
mod socket;
mod tee;
mod tokens;
mod visit;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use draft::{Draft, as_listed, http_url, request_headers};
use parking_lot::{Mutex, RwLock};
use rand::Rng;
pub use redact::Redact;
use redact::Redactor;
pub(crate) use request::{CopyOutcome, RequestCopy};
use serde::Serialize;
use snapshots::{Exchange, OpenSocket, Recording};
pub(crate) use socket::SocketLog;
pub(crate) use tee::record;
pub use visit::Visit;
pub(crate) use visit::{AskedIn, Asker};

use crate::socket::Payload;
use crate::upstream::UpstreamError;

/// How much of a body is held in memory before it goes to a temporary file.
pub(crate) const SPOOL_MEMORY: usize = 1 << 20;

/// How many URLs of lost exchanges a report lists; all are counted.
const NAMED: usize = 100;

/// Writes exchanges into a recording. Shared by all routes that record into it.
pub struct Recorder {
    recording: RwLock<Option<Arc<Recording>>>,
    redactor: Redactor,
    body_cap: u64,
    counts: Counts,
    lost: Mutex<LostExchanges>,
}

#[derive(Debug, Default)]
struct Counts {
    open: AtomicU64,
    recorded: AtomicU64,
    unanswered: AtomicU64,
    partial: AtomicU64,
    too_large: AtomicU64,
    failed: AtomicU64,
}

#[derive(Debug, Default)]
struct LostExchanges {
    urls: Vec<(String, String)>,
    first_error: Option<String>,
}

/// What a recorder has done so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecorderReport {
    /// Exchanges in progress.
    pub open: u64,
    /// Exchanges and WebSockets on disk.
    pub recorded: u64,
    /// Requests without a response.
    pub unanswered: u64,
    /// Exchanges that broke off on either side and were not kept.
    pub partial: u64,
    /// Exchanges not kept because a body exceeded the limit.
    pub too_large: u64,
    /// Exchanges that could not be written.
    pub failed: u64,
    /// URLs that were not kept, with the reason; the first hundred.
    pub lost: Vec<(String, String)>,
    /// The first write error.
    pub first_error: Option<String>,
}

impl Recorder {
    /// Records into `recording`. Applies `redact` before anything is written. Bodies larger than
    /// `body_cap` bytes are not kept.
    pub fn new(recording: Recording, redact: Redact, body_cap: u64) -> Self {
        let mut salt = [0; 16];
        rand::rng().fill_bytes(&mut salt);
        Self {
            recording: RwLock::new(Some(Arc::new(recording))),
            redactor: Redactor::new(redact, salt),
            body_cap,
            counts: Counts::default(),
            lost: Mutex::default(),
        }
    }

    /// The recording, for pages and other records of the caller; `None` after [`Self::close`].
    pub fn recording(&self) -> Option<Arc<Recording>> {
        self.recording.read().clone()
    }

    /// Takes the recording out, to be finished. Later traffic is not kept. Returns `None`, and
    /// changes nothing, while another handle on the recording exists.
    pub fn close(&self) -> Option<Recording> {
        let mut slot = self.recording.write();
        match slot.take().map(Arc::try_unwrap)? {
            Ok(recording) => Some(recording),
            Err(shared) => {
                *slot = Some(shared);
                None
            }
        }
    }

    /// The counts so far.
    pub fn report(&self) -> RecorderReport {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let lost = self.lost();
        RecorderReport {
            open: get(&self.counts.open),
            recorded: get(&self.counts.recorded),
            unanswered: get(&self.counts.unanswered),
            partial: get(&self.counts.partial),
            too_large: get(&self.counts.too_large),
            failed: get(&self.counts.failed),
            lost: lost.urls.clone(),
            first_error: lost.first_error.clone(),
        }
    }

    pub(crate) fn body_cap(&self) -> u64 {
        self.body_cap
    }

    pub(crate) fn redact(&self, exchange: &mut Exchange) -> Result<(), snapshots::Error> {
        self.redactor.exchange(exchange)
    }

    /// A page in its redacted form.
    pub fn redacted_page(&self, page: snapshots::Page) -> snapshots::Page {
        self.redactor.page(page)
    }

    /// A URL in its redacted form.
    pub fn redacted_url(&self, url: &str) -> String {
        self.redactor.url(url).unwrap_or_else(|| url.to_owned())
    }

    /// A WebSocket message in its redacted form.
    pub(crate) fn redacted(&self, payload: Payload) -> Payload {
        let clean = |bytes: &[u8]| self.redactor.socket_message(bytes);
        match &payload {
            Payload::Text(text) => clean(text.as_bytes())
                .map_or(payload, |text| Payload::Text(String::from_utf8_lossy(&text).into_owned())),
            Payload::Binary(bytes) => {
                clean(bytes).map_or(payload, |bytes| Payload::Binary(bytes.into()))
            }
            Payload::Close { .. } => payload,
        }
    }

    /// Writes one exchange. Blocking.
    pub(crate) fn append(&self, exchange: &Exchange) {
        self.write(&exchange.url, |recording| recording.append(exchange).map(drop));
    }

    /// Writes a WebSocket's handshake; its frames follow.
    pub(crate) fn open_socket(&self, opening: &Exchange) -> Option<OpenSocket> {
        self.write(&opening.url, |recording| recording.open_websocket(opening))
    }

    /// Converts the frames of a closed WebSocket into a record.
    pub(crate) fn close_socket(&self, url: &str, socket: OpenSocket) {
        // If the recording is closed, the frames stay in their journal, and finishing the recording
        // finds them there.
        if let Some(recording) = self.recording()
            && let Err(error) = recording.close_websocket(socket)
        {
            self.failed(url, &error);
        }
    }

    fn write<T>(
        &self,
        url: &str,
        append: impl FnOnce(&Recording) -> Result<T, snapshots::Error>,
    ) -> Option<T> {
        let Some(recording) = self.recording() else {
            self.lose(&self.counts.partial, url, "the recording was closed");
            return None;
        };
        match append(&recording) {
            Ok(written) => {
                self.counts.recorded.fetch_add(1, Ordering::Relaxed);
                Some(written)
            }
            Err(error) => {
                self.failed(url, &error);
                None
            }
        }
    }

    pub(crate) fn failed(&self, url: &str, error: &dyn std::error::Error) {
        let error = format!("failed to {}", error_text::with_causes(error));
        tracing::error!(%url, %error, "an exchange was not recorded");
        self.lost().first_error.get_or_insert(error);
        self.lose(&self.counts.failed, url, "it could not be written");
    }

    pub(crate) fn unanswered(&self, url: &str, error: &UpstreamError) {
        let (error, advice) = (error_text::with_causes(error), error.advice());
        tracing::info!(%url, %error, "a request got no answer");
        self.lose(&self.counts.unanswered, url, &format!("failed to {error}; {advice}"));
    }

    pub(crate) fn partial(&self, url: &str, why: &str) {
        self.lose(&self.counts.partial, url, why);
    }

    pub(crate) fn too_large(&self, url: &str) {
        tracing::warn!(%url, limit = self.body_cap, "a body beyond the limit was not recorded");
        self.lose(&self.counts.too_large, url, "a body is beyond the limit");
    }

    pub(crate) fn opened(&self) {
        self.counts.open.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self) {
        self.counts.open.fetch_sub(1, Ordering::Relaxed);
    }

    fn lose(&self, counter: &AtomicU64, url: &str, why: &str) {
        counter.fetch_add(1, Ordering::Relaxed);
        let mut lost = self.lost();
        if lost.urls.len() < NAMED {
            lost.urls.push((url.to_owned(), why.to_owned()));
        }
    }

    fn lost(&self) -> parking_lot::MutexGuard<'_, LostExchanges> {
        self.lost.lock()
    }
}
