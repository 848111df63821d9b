//! TurkingBench's score of one form field, as in `src/evaluation_class.py` and
//! `src/utils/cleaning.py`.
//!
//! A field's gold answers are the cells that workers left in the benchmark's table. Texts are
//! compared by ROUGE-L, choices exactly (one with the majority, several with any worker) and
//! sliders by their distance.

mod form;
mod porter;
mod rouge;
mod rule;

pub use ::turkingbench::Cell;
pub use form::{Field, FieldValue, Form, FormValues, Mark, by_kind, mean};
use python_compat::{float, text};
pub use rule::State;

use super::ScoreError;

/// Scores what a field holds against its gold answers. `kind` is the field's type; a checkbox group
/// holds the values that are checked, joined by `|`. Usually 0 to 1; a slider on the wrong side of
/// zero has less than 0.
///
/// # Errors
/// Where the published code raises an exception, gives no finite number, or leaves the field out of
/// the mean.
pub fn field(kind: &str, golds: &[Cell], held: &str) -> Result<f64, ScoreError> {
    match kind {
        "text" | "textarea" | "hidden" => words(golds, held),
        "radio" | "select" => choice(kind, golds, &try_numeric(held)),
        "checkbox" => choices(golds, held),
        "range" => distance(golds, &try_numeric(held)),
        // `score_outputs` passes over a button that sends the form.
        "submit" => Err(ScoreError::Skipped),
        _ => Err(ScoreError::Raised("Exception")),
    }
}

/// The best ROUGE-L of all golds that say something; equal texts need no words.
fn words(golds: &[Cell], held: &str) -> Result<f64, ScoreError> {
    let once_decoded = |text: &str| text.replace("&amp;", "&");
    let held = once_decoded(&try_numeric(held));
    let says_nothing = |gold: &&Cell| match gold {
        Cell::Empty => true,
        Cell::Text(text) => matches!(text.as_str(), "" | "nan" | "{}" | "'{}'"),
        Cell::Bool(_) | Cell::Number(_) => false,
    };
    let scores = golds.iter().filter(|gold| !says_nothing(gold)).map(|gold| {
        let gold = match gold {
            Cell::Bool(truth) => u8::from(*truth).to_string(),
            other => try_numeric(&to_text(other, "")),
        };
        let gold = once_decoded(&gold);
        if gold == held { 1.0 } else { rouge::f_measure(&gold, &held) }
    });
    scores.reduce(f64::max).ok_or(ScoreError::Skipped)
}

/// The answer that most workers gave, the first of several; 1 and `TRUE` are one answer.
fn choice(kind: &str, golds: &[Cell], held: &str) -> Result<f64, ScoreError> {
    let empty = if kind == "radio" { "" } else { "nan" };
    let is_same = |a: &Cell, b: &Cell| match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => to_text(a, empty) == to_text(b, empty),
        _ => false,
    };
    let mut votes: Vec<(&Cell, usize)> = Vec::new();
    for gold in golds {
        match votes.iter_mut().find(|(answer, _)| is_same(answer, gold)) {
            Some((_, count)) => *count += 1,
            None => votes.push((gold, 1)),
        }
    }
    let most = votes.iter().map(|(_, count)| *count).max();
    let majority = votes
        .iter()
        .find(|(_, count)| Some(*count) == most)
        .map(|(answer, _)| to_text(answer, empty));
    Ok(match majority {
        Some(majority) => exact(&majority, held),
        None => without_golds(held),
    })
}

/// Any worker's set of values.
fn choices(golds: &[Cell], held: &str) -> Result<f64, ScoreError> {
    let mut values: Vec<String> =
        if held.is_empty() { Vec::new() } else { held.split('|').map(try_numeric).collect() };
    values.sort();
    let held = try_numeric(&values.join("|"));
    let scores = golds.iter().map(|gold| {
        let mut parts: Vec<String> = to_text(gold, "").split('|').map(str::to_owned).collect();
        parts.sort();
        exact(&parts.join("|"), &held)
    });
    Ok(scores.reduce(f64::max).unwrap_or_else(|| without_golds(&held)))
}

/// One less the mean distance, as a share of the largest number around; or the share of exact
/// matches when not everything is a number.
fn distance(golds: &[Cell], held: &str) -> Result<f64, ScoreError> {
    if golds.is_empty() {
        return Ok(without_golds(held));
    }
    let numbers: Option<Vec<f64>> = golds
        .iter()
        .map(|gold| match gold {
            Cell::Text(text) => float::parse(text),
            Cell::Empty => Some(f64::NAN),
            other => number(other),
        })
        .collect();
    let score = match (numbers, float::parse(held)) {
        (Some(numbers), Some(held)) => {
            let distance =
                numbers.iter().map(|gold| (gold - held).abs()).sum::<f64>() / numbers.len() as f64;
            let largest = numbers.iter().fold(held.abs(), |largest, gold| largest.max(gold.abs()));
            1.0 - if largest > 0.0 { distance / largest } else { distance }
        }
        _ => {
            golds.iter().map(|gold| exact(&to_text(gold, "nan"), held)).sum::<f64>()
                / golds.len() as f64
        }
    };
    if score.is_finite() { Ok(score) } else { Err(ScoreError::NotFinite) }
}

/// Nobody was asked: then nothing is right.
fn without_golds(held: &str) -> f64 {
    f64::from(u8::from(matches!(held, "" | "[]" | "['']")))
}

/// `exact_match` of a gold with what is held, numbers in one spelling.
fn exact(gold: &str, held: &str) -> f64 {
    f64::from(u8::from(normal(&try_numeric(gold)) == normal(held)))
}

/// `normalize_answer`: lower case, without ASCII punctuation and needless spaces.
fn normal(answer: &str) -> String {
    let kept: String = text::lower(answer).chars().filter(|c| !c.is_ascii_punctuation()).collect();
    text::split(&kept).collect::<Vec<_>>().join(" ")
}

/// `try_numeric`: what Python reads as a finite number, in its shortest spelling; any other text as
/// it is.
fn try_numeric(text: &str) -> String {
    match float::parse(text) {
        Some(number) if number.is_finite() => spelt(number),
        _ => text.to_owned(),
    }
}

fn spelt(number: f64) -> String {
    if number == 0.0 {
        "0".to_owned()
    } else if number.fract() == 0.0 {
        format!("{number:.0}")
    } else {
        float::repr(number)
    }
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Cell::Number(number) => Some(*number),
        Cell::Text(_) | Cell::Empty => None,
    }
}

/// `str(cell)`, where numbers are spelt as they will be in the end.
fn to_text(cell: &Cell, empty: &str) -> String {
    match cell {
        Cell::Bool(true) => "True".to_owned(),
        Cell::Bool(false) => "False".to_owned(),
        Cell::Number(number) => spelt(*number),
        Cell::Text(text) => text.clone(),
        Cell::Empty => empty.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: &str, golds: &str, held: &str, expect: Result<f64, ScoreError>) {
        let cells: Vec<Cell> = serde_json::from_str(golds).expect("cells");
        let got = field(kind, &cells, held);
        let close = matches!((&got, &expect), (Ok(got), Ok(expect)) if (got - expect).abs() < 1e-9);
        assert!(close || got == expect, "{kind} {golds} {held:?}: {got:?}");
    }

    #[test]
    fn texts() {
        check("text", r#"["blue boats", ""]"#, "a boat", Ok(0.5));
        check("text", r#"["07", null]"#, "7.0", Ok(1.0));
        check("textarea", r#"["salt &amp; pepper"]"#, "salt & pepper", Ok(1.0));
        check("hidden", "[true]", "1", Ok(1.0));
        check("text", r#"["{}", "nan"]"#, "", Err(ScoreError::Skipped));
        check("submit", "[37]", "Send", Err(ScoreError::Skipped));
        check("email", r#"["x"]"#, "x", Err(ScoreError::Raised("Exception")));
    }

    #[test]
    fn one_of_several() {
        check("radio", r#"["left", "right", "right"]"#, "Right!", Ok(1.0));
        check("radio", r#"["left", "right"]"#, "right", Ok(0.0));
        check("radio", "[1, true, 0]", "1.0", Ok(1.0));
        check("radio", "[true]", "true", Ok(1.0));
        check("radio", "[null]", "", Ok(1.0));
        check("select", "[null]", "", Ok(0.0));
        check("radio", "[]", "x", Ok(0.0));
    }

    #[test]
    fn any_of_several() {
        check("checkbox", r#"["up", "left|down"]"#, "down|left", Ok(1.0));
        check("checkbox", r#"["left|down"]"#, "down", Ok(0.0));
        check("checkbox", "[null]", "", Ok(1.0));
        check("checkbox", "[true]", "1", Ok(0.0));
    }

    #[test]
    fn sliders() {
        check("range", "[20, 40]", "30", Ok(0.75));
        check("range", "[0]", "0", Ok(1.0));
        check("range", r#"["20", "low"]"#, "20.0", Ok(0.5));
        check("range", "[4]", "-4", Ok(-1.0));
        check("range", "[null, 4]", "4", Err(ScoreError::NotFinite));
    }
}
