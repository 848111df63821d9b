//! The comparison of an answer about a chart with the chart's data:
//! `DashboardRetrievalTask.validate`.

use python_compat::float;
use python_compat::pattern::{Flags, Pattern};
use python_compat::text::lower;

use super::Verdict;
use super::chart::{Point, Question, Unit};

type PythonException = &'static str;

/// Whether the one number that was said is the one that was asked for, and for extremes whether its
/// label was said, too. A wrong one ends the episode.
pub(super) fn judge(
    question: &Question,
    points: &[Point],
    said: &str,
) -> Result<Verdict, PythonException> {
    // Labels may have numbers in them. The published code takes them out in no order of its own,
    // here it is the chart's.
    let mut rest = said.to_owned();
    for point in points.iter().filter(|point| !point.label.is_empty()) {
        rest = rest.replace(&point.label, "");
    }
    let mut numbers = numbers(&rest.replace(',', ""));
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let number = match numbers.as_slice() {
        [] => return Ok(Verdict::not_yet("there is no number in the answer")),
        [one] => *one,
        _ => return Ok(Verdict::wrong("there is more than one number in the answer")),
    };
    let right = match question {
        Question::Value { unit, label } => is_close(value(points, *unit, label)?, number),
        Question::Max | Question::Min => {
            let (_, extreme) = extreme(question, points)?;
            let said = lower(said);
            let mut named = points.iter().filter(|point| point.count == Some(extreme));
            is_close(extreme, number) && named.any(|point| said.contains(&*lower(&point.label)))
        }
    };
    Ok(if right { Verdict::right() } else { Verdict::wrong("the answer is another one") })
}

/// The right answer.
pub(super) fn of(question: &Question, points: &[Point]) -> Result<String, PythonException> {
    Ok(match question {
        Question::Value { unit, label } => value(points, *unit, label)?.to_string(),
        Question::Max | Question::Min => {
            let (label, count) = extreme(question, points)?;
            format!("{label}, {count}")
        }
    })
}

fn value(points: &[Point], unit: Unit, label: &str) -> Result<f64, PythonException> {
    let point = points.iter().find(|point| point.label == label).ok_or("IndexError")?;
    match unit {
        Unit::Count => point.count,
        Unit::Percent => point.percent,
    }
    .ok_or("TypeError")
}

/// Label and count of the first point with the greatest or the smallest count.
fn extreme<'a>(
    question: &Question,
    points: &'a [Point],
) -> Result<(&'a str, f64), PythonException> {
    let mut best: Option<(&str, f64)> = None;
    for point in points {
        let count = point.count.ok_or("TypeError")?;
        let further =
            |than: f64| if *question == Question::Min { count < than } else { count > than };
        if best.is_none_or(|(_, than)| further(than)) {
            best = Some((&point.label, count));
        }
    }
    best.ok_or("ValueError")
}

/// All numbers of a text, without signs.
fn numbers(text: &str) -> Vec<f64> {
    let pattern = Pattern::ours(r"(\d+(?:[.,]\d+)?)", Flags::default());
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(found) =
        pattern.captures(rest).and_then(|groups| groups.first().copied().flatten())
    {
        numbers.extend(float::parse(found));
        // It is a part of the rest.
        let end = found.as_ptr() as usize - rest.as_ptr() as usize + found.len();
        rest = &rest[end..];
    }
    numbers
}

/// `numpy.isclose(expected, given)`.
fn is_close(expected: f64, given: f64) -> bool {
    (expected - given).abs() <= 1e-8 + 1e-5 * given.abs()
}
