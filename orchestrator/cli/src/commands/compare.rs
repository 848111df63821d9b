//! `sandbox compare`: which of two runs did better, and whether they did the same.

use camino::Utf8PathBuf;
use results::counted;
use serde::Serialize;

use crate::failure::{Failure, OrFail, Outcome};
use crate::packed_run::OpenRun;
use crate::terminal::out;

/// Compare two runs: scores task by task, actions and requests episode by episode
///
/// The first difference of each episode is printed. The exit code is 1 if any episode differs. Runs
/// that were played in different snapshots are refused: a difference could be the web's.
#[derive(clap::Args)]
pub(crate) struct Compare {
    /// Folder of the first run, or file of `sandbox pack`
    left: Utf8PathBuf,
    /// Folder of the second run, or file of `sandbox pack`
    right: Utf8PathBuf,
    /// Compare the scores only
    #[arg(long)]
    scores: bool,
    /// Compare runs that were played in different snapshots
    #[arg(long)]
    across_snapshots: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ComparisonReport {
    scores: results::Pairing,
    #[serde(flatten)]
    compared: Option<results::Comparison>,
}

impl Compare {
    /// Exit code 1 when they differ.
    pub(crate) async fn run(self) -> Outcome {
        let (left, right) = (OpenRun::open(&self.left).await?, OpenRun::open(&self.right).await?);
        let (left, right) = (left.path(), right.path());
        let scores = results::pair(left, right)
            .map_err(|error| self.named(error))
            .or_input("compare the runs")?;
        if !self.across_snapshots {
            results::check_snapshots(left, right).map_err(|error| match error {
                error @ results::Error::DifferentSnapshots { .. } => Failure::Input(format!(
                    "failed to compare the runs: {error}; a difference could be the web's, so --across-snapshots must \
                     ask for it"
                )),
                other => other.into(),
            })?;
        }
        let compared = match self.scores {
            true => None,
            false => Some(results::compare(left, right).or_input("compare the runs")?),
        };
        let mut report = ComparisonReport { scores, compared };
        // Where a packed run was unpacked helps nobody.
        report.scores.left.folder.clone_from(&self.left);
        report.scores.right.folder.clone_from(&self.right);
        if self.json {
            out::json(&report);
        } else {
            print!("{}", report.scores);
            report.compared.iter().for_each(|compared| self.print(compared));
        }
        match report.compared {
            Some(compared) if !compared.is_same() => {
                Err(Failure::Negative(match compared.differences.len() {
                    0 => "the runs differ: some episodes are only in one of them".to_owned(),
                    differ => format!(
                        "the runs differ in {differ} of {}",
                        counted(compared.compared, "episode")
                    ),
                }))
            }
            _ => Ok(()),
        }
    }

    /// The error with the runs as they were given.
    fn named(&self, error: results::Error) -> results::Error {
        match error {
            results::Error::NothingInCommon { left_suite, right_suite, .. } => {
                results::Error::NothingInCommon {
                    left: self.left.clone(),
                    right: self.right.clone(),
                    left_suite,
                    right_suite,
                }
            }
            other => other,
        }
    }

    fn print(&self, compared: &results::Comparison) {
        for difference in &compared.differences {
            println!("{difference}");
        }
        for (side, only) in [(&self.left, &compared.only_left), (&self.right, &compared.only_right)]
        {
            only.iter().for_each(|episode| println!("only in {side}: {episode}"));
        }
        if compared.is_same() {
            println!("same: {}", counted(compared.compared, "episode"));
        }
    }
}
