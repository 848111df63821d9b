//! `sandbox score --vectors`: our scorers beside the published ones.

use camino::Utf8PathBuf;
use scoring::vectors::{self, MetricReport, ScoredVector};

use crate::failure::{Failure, OrFail, Outcome};
use crate::terminal::out;

/// Recorded inputs of the published scorers.
#[derive(clap::Args)]
pub(super) struct Vectors {
    /// File with one JSON object a line: metric, inputs, and optionally the expected score or error
    #[arg(long, value_name = "FILE", required = true)]
    vectors: Vec<Utf8PathBuf>,
    /// Print the summary of all metrics as one JSON document instead of the lines
    #[arg(long)]
    json: bool,
}

impl Vectors {
    /// Exit code 1 when a score is not the expected one within 1e-6, or there is no scorer for it.
    pub(super) fn run(self) -> Outcome {
        let print_line = |scored: &ScoredVector| {
            if !self.json {
                out::json_line(scored);
            }
        };
        let reports = self
            .vectors
            .iter()
            .map(|file| vectors::score_vectors(file, print_line).or_input("score the vectors"));
        let reports = reports.collect::<Result<Vec<_>, Failure>>()?;
        let metrics: Vec<&MetricReport> =
            reports.iter().flat_map(|report| &report.metrics).collect();
        if self.json {
            out::json(&metrics);
        } else {
            metrics.iter().for_each(|metric| print(metric));
        }
        match metrics.iter().map(|metric| metric.disagreed + metric.unsupported).sum::<usize>() {
            0 => Ok(()),
            n => Err(Failure::Negative(format!(
                "the scores of {n} vectors differ from the published ones"
            ))),
        }
    }
}

fn print(metric: &MetricReport) {
    let MetricReport { metric, agreed, disagreed, unsupported, unchecked, disagreements } = metric;
    let counts = [
        (agreed, "agree"),
        (disagreed, "differ"),
        (unsupported, "have no scorer here yet"),
        (unchecked, "expect nothing"),
    ];
    let counts = counts
        .iter()
        .filter(|(count, _)| **count > 0)
        .map(|(count, what)| format!("{count} {what}"));
    eprintln!("{metric}: {}", counts.collect::<Vec<_>>().join(", "));
    for one in disagreements {
        eprintln!("  {}: published {}, here {}", one.id, one.expected, one.got);
    }
}
