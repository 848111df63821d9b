//! `sandbox score run`: the scores of a run, made again.

use camino::Utf8PathBuf;

use crate::failure::{OrFail as _, Outcome};
use crate::options::DataFolder;
use crate::options::scoring::Scoring;

/// Score the episodes of a run again, with another judge or by other rules
///
/// Replaces scores, fingerprints and the report in the folder of the run. Episodes that ended in an
/// error keep it.
#[derive(clap::Args)]
pub(super) struct Run {
    /// Folder of the run
    folder: Utf8PathBuf,
    /// Suite of the run
    #[arg(long, value_name = "SUITE")]
    suite: Utf8PathBuf,
    #[command(flatten)]
    scoring: Scoring,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataFolder,
}

impl Run {
    /// Exit code 0 when everything was scored, whatever its score.
    pub(super) async fn run(self) -> Outcome {
        let suite = play::suites::load(&self.suite)?;
        let judge = self.scoring.judge(&self.data)?;
        let summary = play::score_again(&self.folder, &suite, self.scoring.mode, &judge).await?;
        results::report::write(&self.folder).or_environment("write the report")?;
        super::saved::print(&summary, self.json);
        Scoring::verdict(&summary)
    }
}
