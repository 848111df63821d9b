//! Comparing our scorers with results of the published ones.
//!
//! A vector file holds one JSON object a line: perhaps an `id`, a `metric`, the inputs of one
//! scoring call, and perhaps what is `expected`: a number, or null and the `error` that the
//! published code ends in.

mod webarena;

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::assistantbench::question_scorer;
use crate::mind2web_live::PublishedNode;
use crate::{ScoreError, Step, turkingbench};

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
        /// The error in it.
        message: String,
    },
}

/// The results of our scorers on a vector file.
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
    /// Vectors that expect nothing and were only scored.
    pub unchecked: usize,
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

    /// Returns the results of a metric.
    pub fn metric(&self, name: &str) -> Option<&MetricReport> {
        self.metrics.iter().find(|metric| metric.metric == name)
    }
}

/// A vector with our result: its own keys, then `score`, and beside a score of null our `error`. An
/// `error` that it came with is told as `expected_error`.
pub type ScoredVector = Map<String, Value>;

/// Scores every vector of a file and compares. Each is handed on as soon as it is scored.
///
/// # Errors
/// When the file cannot be read or a line is not a vector.
pub fn score_vectors(
    path: &Utf8Path,
    mut scored: impl FnMut(&ScoredVector),
) -> Result<VectorReport, VectorsError> {
    let unreadable = |source| VectorsError::Read { path: path.to_owned(), source };
    let mut input = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut report = VectorReport::default();
    let mut bytes = Vec::new();
    for line in 1.. {
        let bad_line =
            |message: String| VectorsError::Line { path: path.to_owned(), line, message };
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
        let read = || -> Result<_, serde_json::Error> {
            let vector: Vector = serde_json::from_slice(&bytes)?;
            let outcome = score(&vector.metric, &bytes)?;
            Ok((vector, outcome, serde_json::from_slice(&bytes)?))
        };
        let (vector, outcome, keys) = read().map_err(|error| bad_line(error.to_string()))?;
        scored(&with_score(keys, outcome.as_ref()));
        report.add(&vector, line, outcome);
    }
    Ok(report)
}

#[derive(Deserialize)]
struct Vector {
    id: Option<String>,
    metric: String,
    /// Absent, null or a number.
    #[serde(default, deserialize_with = "read_expected")]
    expected: Option<Option<f64>>,
    error: Option<String>,
}

fn read_expected<'de, D: serde::Deserializer<'de>>(
    input: D,
) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(input).map(Some)
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
    html: Option<String>,
    selector: Option<String>,
}

#[derive(Deserialize)]
struct FieldInputs {
    #[serde(rename = "type")]
    kind: String,
    golds: Vec<turkingbench::Cell>,
    prediction: String,
}

/// Our result for a vector; nothing when no scorer of ours takes it.
pub type Outcome = Option<Result<f64, ScoreError>>;

fn score(metric: &str, line: &[u8]) -> Result<Outcome, serde_json::Error> {
    match metric {
        "assistantbench.answer" => {
            let AnswerInputs { gold, prediction } = serde_json::from_slice(line)?;
            Ok(Some(question_scorer(&prediction, &gold).map(|answered| answered.accuracy)))
        }
        "turkingbench.field" => {
            let FieldInputs { kind, golds, prediction } = serde_json::from_slice(line)?;
            Ok(Some(turkingbench::field(&kind, &golds, &prediction)))
        }
        "mind2web_live.url" | "mind2web_live.element_value" | "mind2web_live.element_path" => {
            // The node and what it is asked about stand in one object.
            let mut node: Map<String, Value> = serde_json::from_slice(line)?;
            node.retain(|key, _| {
                ["match_function_name", "method", "content"].contains(&key.as_str())
            });
            Ok(score_key_node(serde_json::from_value(node.into())?, &serde_json::from_slice(line)?))
        }
        "webarena.string_match" => {
            Ok(Some(serde_json::from_slice::<webarena::AnswerInputs>(line)?.webarena()))
        }
        "webarena.url_match" => {
            Ok(Some(serde_json::from_slice::<webarena::UrlInputs>(line)?.webarena()))
        }
        "webarena.required_contents" => {
            Ok(Some(serde_json::from_slice::<webarena::ContentInputs>(line)?.webarena()))
        }
        "visualwebarena.string_match" => {
            Ok(Some(serde_json::from_slice::<webarena::AnswerInputs>(line)?.visualwebarena()))
        }
        "visualwebarena.image_ssim" => {
            Ok(Some(serde_json::from_slice::<webarena::PictureInputs>(line)?.visualwebarena()))
        }
        "visualwebarena.url_match" => {
            Ok(Some(serde_json::from_slice::<webarena::UrlInputs>(line)?.visualwebarena()))
        }
        _ => Ok(None),
    }
}

fn score_key_node(node: PublishedNode, inputs: &KeyNodeInputs) -> Outcome {
    if node.matches_nothing() {
        return Some(Ok(0.0));
    }
    let node = node.key_node().ok()?;
    // Without a page, which element was acted on makes no difference.
    let selector = if inputs.html.is_some() { inputs.selector.as_deref() } else { Some("*") };
    let (value, html) = (inputs.value.as_deref(), inputs.html.as_deref());
    Some(node.score(&Step { url: &inputs.url, selector, value, html, ..Step::default() }))
}

fn with_score(keys: Map<String, Value>, outcome: Option<&Result<f64, ScoreError>>) -> ScoredVector {
    let rename = |key: String| if key == "error" { "expected_error".to_owned() } else { key };
    let mut scored: ScoredVector =
        keys.into_iter().map(|(key, value)| (rename(key), value)).collect();
    let (score, error) = match outcome {
        Some(Ok(score)) => (Value::from(*score), None),
        Some(Err(error)) => (Value::Null, Some(class(error))),
        None => (Value::Null, Some("Unsupported")),
    };
    scored.insert("score".to_owned(), score);
    scored.extend(error.map(|error| ("error".to_owned(), Value::from(error))));
    scored
}

impl VectorReport {
    fn add(&mut self, vector: &Vector, line: usize, outcome: Outcome) {
        let metric = self.metric_mut(&vector.metric);
        let Some(got) = outcome else {
            metric.unsupported += 1;
            return;
        };
        let Some(expected) = vector.expected else {
            metric.unchecked += 1;
            return;
        };
        let error = vector.error.as_deref();
        if agrees(expected, error, &got) {
            metric.agreed += 1;
            return;
        }
        metric.disagreed += 1;
        if metric.disagreements.len() < DISAGREEMENTS_KEPT {
            let id = vector.id.clone().unwrap_or_else(|| format!("line {line}"));
            let expected =
                expected.map_or_else(|| error.unwrap_or("an error").to_owned(), |n| n.to_string());
            let got = got.map_or_else(|error| error.to_string(), |number| number.to_string());
            metric.disagreements.push(Disagreement { id, expected, got });
        }
    }

    fn metric_mut(&mut self, name: &str) -> &mut MetricReport {
        let place =
            self.metrics.iter().position(|metric| metric.metric == name).unwrap_or_else(|| {
                self.metrics
                    .push(MetricReport { metric: name.to_owned(), ..MetricReport::default() });
                self.metrics.len() - 1
            });
        &mut self.metrics[place]
    }
}

/// The published exception's class, or what the vectors say where there is none.
fn class(error: &ScoreError) -> &'static str {
    match error {
        ScoreError::Raised(class) => class,
        ScoreError::NotFinite => "NaN",
        ScoreError::NeedsJudge => "NeedsJudge",
        ScoreError::Skipped => "Skipped",
        ScoreError::NotLooked => "NotLooked",
        ScoreError::Program(_) | ScoreError::ProgramBrokeDown(_) => "Program",
        ScoreError::FromTheStart => "FromTheStart",
    }
}

/// A vector that expects no score, and does not say why there is none, agrees with every reason.
fn agrees(
    expected: Option<f64>,
    expected_error: Option<&str>,
    got: &Result<f64, ScoreError>,
) -> bool {
    match (expected, got) {
        (Some(expected), Ok(got)) => (expected - got).abs() < TOLERANCE,
        (None, Err(error)) => expected_error.is_none_or(|expected| expected == class(error)),
        (Some(_), Err(_)) | (None, Ok(_)) => false,
    }
}
