//! Where a recording is made: the recording on disk and the gateway that fills it.

use std::sync::Arc;

use camino::Utf8Path;
use gateway::{
    InFlight, CertificateAuthority, Fill, Gateway, Recorder, RecorderReport, Redact, Replay, Routes, Target,
};
use snapshots::{BrowserState, Page, Recording, RecordingOptions};

use crate::Error;

/// What a studio is opened with.
pub struct StudioOptions {
    /// What the snapshot says about itself.
    pub recording: RecordingOptions,
    /// The gateway, but for its routes: every host is recorded.
    pub gateway: gateway::Config,
    /// What is kept out of the recording.
    pub redact: Redact,
    /// Bodies larger than this many bytes pass but are not recorded.
    pub body_cap: u64,
    /// Snapshots that answer first; only what they do not hold is recorded.
    pub behind: Option<Replay>,
}

/// A gateway that records every host into one snapshot, or what other snapshots lack of it.
pub struct Studio {
    gateway: Gateway,
    ca: Arc<CertificateAuthority>,
    recorder: Arc<Recorder>,
    in_flight: InFlight,
}

impl Studio {
    /// Starts recording into `out`. The gateway answers when this returns.
    pub async fn open(out: &Utf8Path, options: StudioOptions) -> Result<Studio, Error> {
        let StudioOptions { recording, gateway: mut config, redact, body_cap, behind } = options;
        let recording = Recording::create(out, recording)?;
        let recorder = Arc::new(Recorder::new(recording, redact, body_cap));
        config.routes = Routes::all(match behind {
            Some(replay) => Target::Fill(Arc::new(Fill::new(replay, Arc::clone(&recorder)))),
            None => Target::Record(Arc::clone(&recorder)),
        });
        let ca = Arc::clone(&config.ca);
        let gateway = Gateway::start(config).await?;
        let in_flight = gateway.in_flight();
        Ok(Studio { gateway, ca, recorder, in_flight })
    }

    /// The gateway: its address, its ledger.
    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// Who signs the gateway's certificates.
    pub fn ca(&self) -> &CertificateAuthority {
        &self.ca
    }

    /// What the gateway is doing now.
    pub fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// What has been recorded so far, and what could not be.
    pub fn report(&self) -> RecorderReport {
        self.recorder.report()
    }

    /// Adds a page to the page list.
    pub(crate) fn append_page(&self, page: &Page) -> Result<(), Error> {
        let recording = self.recorder.recording().ok_or(Error::Closed)?;
        let url = self.recorder.redacted_url(&page.url);
        Ok(recording.append_page(&Page { url, ..page.clone() })?)
    }

    /// Says what pages have kept in the browser.
    pub(crate) fn set_browser_state(&self, state: &BrowserState) -> Result<(), Error> {
        let recording = self.recorder.recording().ok_or(Error::Closed)?;
        Ok(recording.set_browser_state(state)?)
    }

    /// Lets what is under way end; the recording is then to be finished, and the report says what is not in it.
    pub async fn close(self) -> Result<(Recording, RecorderReport), Error> {
        self.gateway.shutdown().await;
        let report = self.recorder.report();
        Ok((self.recorder.close().ok_or(Error::Closed)?, report))
    }
}
