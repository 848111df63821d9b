//! `StringEvaluator`: equal texts but for white space around them.

use python_compat::text::strip;

use super::super::ScoreError;
use super::super::mode::ScoringMode;
use super::answer::readings;

/// Describes what is wrong with an answer; none if it is right.
pub(super) fn wrong(
    wanted: &str,
    answer: &str,
    mode: ScoringMode,
) -> Result<Option<String>, ScoreError> {
    let readings = readings(answer, mode)?;
    let right = readings.iter().any(|reading| strip(reading) == strip(wanted));
    Ok((!right).then(|| format!("the answer reads `{}`", readings[0])))
}
