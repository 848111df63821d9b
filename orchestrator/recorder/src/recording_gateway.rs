//! A recording in progress: the files on disk and the gateway that fills them.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use gateway::{
    CertificateAuthority, Episode, Fill, Gateway, Recorder, RecorderReport, Redact, Replay, Routes,
    Target, Visit,
};
use in_flight::InFlight;
use snapshots::{BrowserState, Load, Page, Recording, RecordingOptions, Timestamp};

use crate::Error;

/// The settings of a [`RecordingGateway`].
pub struct RecordingGatewayOptions {
    /// The metadata of the snapshot.
    pub recording: RecordingOptions,
    /// The gateway's settings. Its routes are replaced: every host is recorded.
    pub gateway: gateway::Config,
    /// The secrets to leave out of the recording.
    pub redact: Redact,
    /// Maximum size of a recorded body in bytes. Larger bodies reach the client but are not
    /// recorded.
    pub body_cap: u64,
    /// Whether an unfinished recording of that name goes on, if there is one.
    pub resume: bool,
    /// Snapshots that answer first. Only requests that they miss are recorded.
    pub behind: Option<Replay>,
}

/// A gateway that records every host into one snapshot, or only what other snapshots miss.
pub struct RecordingGateway {
    gateway: Gateway,
    ca: Arc<CertificateAuthority>,
    recorder: Arc<Recorder>,
    in_flight: InFlight,
    redacts: bool,
    resumed: bool,
}

impl RecordingGateway {
    /// Starts recording into `out`. The gateway accepts requests when this returns.
    pub async fn open(
        out: &Utf8Path,
        options: RecordingGatewayOptions,
    ) -> Result<RecordingGateway, Error> {
        let RecordingGatewayOptions {
            recording,
            gateway: mut config,
            redact,
            body_cap,
            resume,
            behind,
        } = options;
        let resumed = resume && Recording::is_left_over(out);
        let recording = if resumed {
            Recording::recover(out, recording)?.0
        } else {
            Recording::create(out, recording)?
        };
        let redacts = redact != Redact::default();
        let recorder = Arc::new(Recorder::new(recording, redact, body_cap));
        config.routes = Routes::all(match behind {
            Some(replay) => Target::Fill(Arc::new(Fill::new(replay, Arc::clone(&recorder)))),
            None => Target::Record(Arc::clone(&recorder)),
        });
        let ca = Arc::clone(&config.ca);
        let gateway = Gateway::start(config).await?;
        let in_flight = gateway.in_flight();
        Ok(RecordingGateway { gateway, ca, recorder, in_flight, redacts, resumed })
    }

    /// Notes that another browser begins, without cookies. After a write of a site, at most `again`
    /// requests are made again, so that the recording has what it shows before and after.
    pub async fn begin_visit(&self, again: usize) {
        self.gateway.ask_again(&self.recorder).await;
        let episode = Episode::with_ledger(self.gateway.ledger());
        self.gateway.begin(episode.of_visit(Visit::new(again)));
    }

    /// The gateway, with its address and ledger.
    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// The authority that signs the gateway's certificates.
    pub fn ca(&self) -> &CertificateAuthority {
        &self.ca
    }

    /// Requests of the gateway in flight.
    pub fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// Whether something is left out of what is written.
    pub fn is_redacting(&self) -> bool {
        self.redacts
    }

    /// Whether it goes on with an earlier recording.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Returns the extent of the recording so far, and what could not be recorded.
    pub fn report(&self) -> RecorderReport {
        self.recorder.report()
    }

    /// Adds a page to the page list.
    pub(crate) fn append_page(&self, page: &Page) -> Result<(), Error> {
        let recording = self.recorder.recording().ok_or(Error::Closed)?;
        Ok(recording.append_page(&self.recorder.redacted_page(page.clone()))?)
    }

    /// Leaves what was recorded in that period out of the snapshot.
    pub(crate) fn leave_out(&self, period: Load) -> Result<(), Error> {
        let recording = self.recorder.recording().ok_or(Error::Closed)?;
        Ok(recording.leave_out(period)?)
    }

    /// Notes that pages are handed over to a person now. Documents from now on become pages, and
    /// what stands in front of these pages is left out.
    pub fn hand_over(&self, urls: &[String]) -> Result<(), Error> {
        let recording = self.recorder.recording().ok_or(Error::Closed)?;
        Ok(recording.hand_over(Timestamp::now(), urls)?)
    }

    /// The snapshot that it becomes.
    pub(crate) fn path(&self) -> Result<Utf8PathBuf, Error> {
        let recording = self.recorder.recording().ok_or(Error::Closed)?;
        Ok(recording.path().to_owned())
    }

    /// The folder of the recording.
    pub(crate) fn folder(&self) -> Result<Utf8PathBuf, Error> {
        let recording = self.recorder.recording().ok_or(Error::Closed)?;
        Ok(Recording::folder_of(recording.path()))
    }

    /// Stores the browser's cookies and storage.
    pub(crate) fn set_browser_state(&self, state: &BrowserState) -> Result<(), Error> {
        let recording = self.recorder.recording().ok_or(Error::Closed)?;
        Ok(recording.set_browser_state(state)?)
    }

    /// Waits for the requests in flight and closes the gateway. The caller finishes the recording.
    /// The report names what it lacks.
    pub async fn close(self) -> Result<(Recording, RecorderReport), Error> {
        self.gateway.ask_again(&self.recorder).await;
        self.gateway.shutdown().await;
        let report = self.recorder.report();
        Ok((self.recorder.close().ok_or(Error::Closed)?, report))
    }
}
