//! `sandbox score`: our scorers beside the published ones.

use camino::Utf8PathBuf;
use tasks::vectors::{self, MetricReport};

use crate::failure::{Failure, OrFail, Outcome};

/// Score recorded inputs of the published scorers and compare with their results
#[derive(clap::Args)]
pub(crate) struct Score {
    /// A file with one JSON object a line: metric, inputs, and the expected score or error
    #[arg(long, value_name = "FILE", required = true)]
    vectors: Vec<Utf8PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Score {
    /// Exit code 1 when a score differs by more than 1e-6, or there is no scorer for it.
    pub(crate) fn run(self) -> Outcome {
        let reports = self.vectors.iter().map(|file| vectors::score_vectors(file).or_input("score"));
        let reports = reports.collect::<Result<Vec<_>, Failure>>()?;
        let metrics: Vec<&MetricReport> = reports.iter().flat_map(|report| &report.metrics).collect();
        if self.json {
            println!("{}", serde_json::to_string_pretty(&metrics).expect("a report is plain data"));
        } else {
            metrics.iter().for_each(|metric| print(metric));
        }
        match metrics.iter().map(|metric| metric.disagreed + metric.unsupported).sum::<usize>() {
            0 => Ok(()),
            n => Err(Failure::No(format!("{n} vectors do not agree with the published scores"))),
        }
    }
}

fn print(metric: &MetricReport) {
    let MetricReport { metric, agreed, disagreed, unsupported, disagreements } = metric;
    println!("{metric}: {agreed} agree, {disagreed} differ, {unsupported} have no scorer here yet");
    for one in disagreements {
        println!("  {}: published {}, here {}", one.id, one.expected, one.got);
    }
}
