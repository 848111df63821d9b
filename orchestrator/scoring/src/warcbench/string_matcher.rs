//! `StringEvaluator`: equal texts but for white space around them.

use python::text::strip;

use super::super::ScoreError;
use super::super::rules::Rules;
use super::answer::readings;

/// What is wrong with an answer; nothing if it is right.
pub(super) fn wrong(wanted: &str, answer: &str, rules: Rules) -> Result<Option<String>, ScoreError> {
    let readings = readings(answer, rules)?;
    let right = readings.iter().any(|reading| strip(reading) == strip(wanted));
    Ok((!right).then(|| format!("the answer reads `{}`", readings[0])))
}
