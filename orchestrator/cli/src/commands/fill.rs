//! `sandbox replay --fill`: what snapshots lack is fetched from the live web and becomes a snapshot
//! too.

use camino::{Utf8Path, Utf8PathBuf};
use gateway::{Config, Replay};
use recorder::{RecordingGateway, RecordingGatewayOptions};
use snapshots::RecordingOptions;

use crate::failure::{Failure, Outcome};
use crate::finish;
use crate::options::gateway_options::{LiveWeb, MAX_BODY, RedactOptions};
use crate::options::units;

/// Where misses go, and how the live web is reached for them.
#[derive(clap::Args, Default)]
pub(crate) struct Fill {
    /// Fetch misses from the live web, once each, and record them into this new snapshot
    #[arg(long = "fill", id = "fill", value_name = "NEW.wacz", help_heading = "Filling gaps")]
    pub(crate) output: Option<Utf8PathBuf>,
    #[command(flatten, next_help_heading = "Filling gaps")]
    live: LiveWeb,
    #[command(flatten, next_help_heading = "Filling gaps")]
    redact: RedactOptions,
}

impl Fill {
    /// Fails for options that cannot go together.
    pub(crate) fn check(&self) -> Outcome {
        match &self.output {
            Some(output) => finish::check_name(output),
            None if self.live == LiveWeb::default() && self.redact == RedactOptions::default() => Ok(()),
            None => Err(Failure::Input(
                "failed to use the options for the live web: nothing is fetched; add --fill NEW.wacz"
                    .to_owned(),
            )),
        }
    }

    /// Starts answering from `snapshots`, and recording into `output` what is missing.
    pub(crate) async fn open(
        self,
        output: &Utf8Path,
        snapshots: Replay,
        mut config: Config,
    ) -> Result<RecordingGateway, Failure> {
        self.live.apply(&mut config);
        let options = RecordingGatewayOptions {
            recording: RecordingOptions::default(),
            gateway: config,
            redact: self.redact.into_redact(),
            body_cap: units::bytes(MAX_BODY).expect("the default is a number of bytes"),
            resume: false,
            behind: Some(snapshots),
        };
        Ok(RecordingGateway::open(output, options).await?)
    }
}
