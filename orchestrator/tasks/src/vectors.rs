//! Comparing our scorers with results of the published ones.
//!
//! A vector file holds one JSON object a line: an `id`, a `metric`, the inputs of one scoring call, and either
//! `expected` (a number) or the `error` that the published code ends in.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::scoring::assistantbench::question_scorer;
use crate::scoring::mind2web_live::PublishedNode;
use crate::{ScoreError, Step};

/// Scores that differ by less are equal: expected ones are rounded to six decimals.
const TOLERANCE: f64 = 1e-6;
/// How many disagreements of a metric are kept in full.
const DISAGREEMENTS_KEPT: usize = 10;
/// No vector is longer than this.
const LINE_LIMIT: usize = 8 << 20;

/// Why a vector file could not be read to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VectorsError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: Utf8PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A line is not a vector.
    #[error("{path}:{line}: {message}")]
    Line {
        /// The file.
        path: Utf8PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

/// What a vector file says about our scorers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct VectorReport {
    /// One entry a metric, in the order of their first vectors.
    pub metrics: Vec<MetricReport>,
}

/// How one metric fared.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MetricReport {
    /// Its name, as in the vectors.
    pub metric: String,
    /// Vectors on which we give what the published scorer gives, errors included.
    pub agreed: usize,
    /// Vectors on which we do not.
    pub disagreed: usize,
    /// Vectors that we have no scorer for.
    pub unsupported: usize,
    /// The first of those on which we differ.
    pub disagreements: Vec<Disagreement>,
}

/// One difference between the published scorer and ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disagreement {
    /// The vector.
    pub id: String,
    /// The published result: a number or an exception.
    pub expected: String,
    /// Ours.
    pub got: String,
}

impl VectorReport {
    /// Every vector that we can score agrees.
    pub fn agrees(&self) -> bool {
        self.metrics.iter().all(|metric| metric.disagreed == 0)
    }

    /// What was found for a metric.
    pub fn metric(&self, name: &str) -> Option<&MetricReport> {
        self.metrics.iter().find(|metric| metric.metric == name)
    }
}

/// Scores every vector of a file and compares.
///
/// # Errors
/// When the file cannot be read or a line is not a vector.
pub fn score_vectors(path: &Utf8Path) -> Result<VectorReport, VectorsError> {
    let unreadable = |source| VectorsError::Read { path: path.to_owned(), source };
    let mut input = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut report = VectorReport::default();
    let mut bytes = Vec::new();
    for line in 1.. {
        let bad_line = |message: String| VectorsError::Line { path: path.to_owned(), line, message };
        bytes.clear();
        let mut limited = io::Read::take(&mut input, LINE_LIMIT as u64 + 1);
        if limited.read_until(b'\n', &mut bytes).map_err(unreadable)? == 0 {
            break;
        }
        if bytes.len() > LINE_LIMIT {
            return Err(bad_line(format!("longer than {LINE_LIMIT} bytes")));
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let vector: Vector = serde_json::from_slice(&bytes).map_err(|error| bad_line(error.to_string()))?;
        let outcome = score(&vector.metric, &bytes).map_err(|error| bad_line(error.to_string()))?;
        report.add(&vector, outcome);
    }
    Ok(report)
}

#[derive(Deserialize)]
struct Vector {
    id: String,
    metric: String,
    expected: Option<f64>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct AnswerInputs {
    gold: String,
    prediction: String,
}

#[derive(Deserialize)]
struct KeyNodeInputs {
    url: String,
    value: Option<String>,
}

/// Our result for a vector; nothing when no scorer of ours takes it.
type Outcome = Option<Result<f64, ScoreError>>;

fn score(metric: &str, line: &[u8]) -> Result<Outcome, serde_json::Error> {
    match metric {
        "assistantbench.answer" => {
            let AnswerInputs { gold, prediction } = serde_json::from_slice(line)?;
            Ok(Some(question_scorer(&prediction, &gold).map(|answered| answered.accuracy)))
        }
        "mind2web_live.url" | "mind2web_live.element_value" => {
            // The node and what it is asked about stand in one object.
            Ok(score_key_node(serde_json::from_slice(line)?, &serde_json::from_slice(line)?))
        }
        _ => Ok(None),
    }
}

fn score_key_node(node: PublishedNode, inputs: &KeyNodeInputs) -> Outcome {
    let node = node.key_node().ok()?;
    // Without a path in the node, which element was acted on makes no difference.
    let step =
        Step { url: &inputs.url, selector: Some("*"), value: inputs.value.as_deref(), ..Step::default() };
    Some(node.score(&step))
}

impl VectorReport {
    fn add(&mut self, vector: &Vector, outcome: Outcome) {
        let metric = self.metric_mut(&vector.metric);
        let Some(got) = outcome else {
            metric.unsupported += 1;
            return;
        };
        if agrees(vector, &got) {
            metric.agreed += 1;
            return;
        }
        metric.disagreed += 1;
        if metric.disagreements.len() < DISAGREEMENTS_KEPT {
            let expected = match (vector.expected, &vector.error) {
                (Some(number), _) => number.to_string(),
                (None, error) => error.clone().unwrap_or_else(|| "an error".to_owned()),
            };
            let got = got.map_or_else(|error| error.to_string(), |number| number.to_string());
            metric.disagreements.push(Disagreement { id: vector.id.clone(), expected, got });
        }
    }

    fn metric_mut(&mut self, name: &str) -> &mut MetricReport {
        let place = self.metrics.iter().position(|metric| metric.metric == name).unwrap_or_else(|| {
            self.metrics.push(MetricReport { metric: name.to_owned(), ..MetricReport::default() });
            self.metrics.len() - 1
        });
        &mut self.metrics[place]
    }
}

fn agrees(vector: &Vector, got: &Result<f64, ScoreError>) -> bool {
    match (vector.expected, got) {
        (Some(expected), Ok(got)) => (expected - got).abs() < TOLERANCE,
        (None, Err(ScoreError::Raised(class))) => vector.error.as_deref() == Some(class),
        (None, Err(ScoreError::NotFinite)) => vector.error.as_deref() == Some("NaN"),
        (Some(_), Err(_)) | (None, Ok(_)) => false,
    }
}
