//! Formats numbers, outcomes and names for HTML pages.

use gateway::Levels;
use serde::Serialize;

use crate::stored::{EpisodeRecord, Outcome, Phase, Times};

/// Number of requests answered at one level.
#[derive(Serialize)]
pub(crate) struct Level {
    name: &'static str,
    count: u64,
}

/// The levels that occur, from best to worst.
pub(crate) fn levels(counts: &Levels) -> Vec<Level> {
    [
        ("exact", counts.exact),
        ("normalised", counts.normalised),
        ("fuzzy", counts.fuzzy),
        ("synthesised", counts.synthesised),
        ("other state", counts.other_state),
        ("search", counts.search),
        ("live", counts.live),
        ("site", counts.site),
        ("miss", counts.miss),
        ("refused", counts.refused),
        ("failed", counts.failed),
    ]
    .into_iter()
    .filter(|&(_, count)| count > 0)
    .map(|(name, count)| Level { name, count })
    .collect()
}

/// A phase and its share of the time.
#[derive(Serialize)]
pub(crate) struct Share {
    phase: &'static str,
    percent: String,
    weight: f64,
}

pub(crate) fn shares(times: &Times) -> Vec<Share> {
    let share = |(phase, percent): (Phase, f64)| Share {
        phase: phase.word(),
        percent: format!("{percent:.0}"),
        weight: (percent * 10.0).round() / 10.0,
    };
    times.shares().into_iter().map(share).collect()
}

/// A filter for rows. Rows have its name as an attribute, with the matching values on one line
/// each.
#[derive(Serialize)]
pub(crate) struct Choice {
    name: &'static str,
    label: &'static str,
    values: Vec<ChoiceValue>,
}

#[derive(Serialize)]
struct ChoiceValue {
    value: String,
    label: String,
}

impl Choice {
    /// A choice of the values that occur, in their order.
    pub(crate) fn of(
        name: &'static str,
        label: &'static str,
        values: impl Iterator<Item = (String, String)>,
    ) -> Choice {
        let values = values.map(|(value, label)| ChoiceValue { value, label }).collect();
        Choice { name, label, values }
    }

    /// A choice of the verdicts that occur.
    pub(crate) fn verdict(occur: &[&str]) -> Choice {
        let known = ["pass", "part", "fail", "open", "error"]
            .into_iter()
            .filter(|verdict| occur.contains(verdict));
        Choice::of(
            "verdict",
            "any result",
            known.map(|word| (word.to_owned(), verdict_word(word).to_owned())),
        )
    }
}

/// The label of a verdict.
pub(crate) fn verdict_word(verdict: &str) -> &'static str {
    match verdict {
        "pass" => "passed",
        "part" => "in part",
        "fail" => "failed",
        "open" => "unjudged",
        _ => "error",
    }
}

/// The verdict of an episode. An error says nothing about the agent, although it counts as 0.
pub(crate) fn episode_verdict(record: &EpisodeRecord) -> &'static str {
    match record.outcome {
        Outcome::Error { .. } => "error",
        _ => verdict(record.success, record.score),
    }
}

pub(crate) fn verdict(success: bool, score: Option<f64>) -> &'static str {
    match (success, score) {
        (true, _) => "pass",
        (false, None) => "open",
        (false, Some(score)) if score > 0.0 => "part",
        (false, Some(_)) => "fail",
    }
}

/// Returns the reason why an episode has no score, or no judged score.
pub(crate) fn message(record: &EpisodeRecord) -> Option<String> {
    match record.outcome.failure() {
        Some(message) => Some(message.to_owned()),
        _ if record.judge_failed => {
            record.unjudged.as_ref().map(|why| format!("the judge failed: {why}"))
        }
        _ => record.unjudged.as_ref().map(|why| format!("no judge has ruled on the score: {why}")),
    }
}

pub(crate) fn worded(kind: &str) -> &str {
    match kind {
        "max_steps" => "out of steps",
        "stuck" => "got nowhere",
        "timed_out" => "out of time",
        "agent_failed" => "agent failed",
        kind => kind,
    }
}

/// An anchor that is unique for each task and safe in a URL fragment.
pub(crate) fn anchor(task: &str) -> String {
    let plain: String = task
        .bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("_{b:02x}") }
        })
        .collect();
    format!("t-{plain}")
}

/// `1–3, 5` for 1, 2, 3, 5.
pub(crate) fn ranges(numbers: &[u32]) -> String {
    numbers
        .chunk_by(|a, b| b.checked_sub(1) == Some(*a))
        .map(|run| match run {
            [only] => only.to_string(),
            [first, .., last] => format!("{first}–{last}"),
            [] => String::new(),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

/// The beginning of a text that is longer than `most` characters.
pub(crate) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

pub(crate) fn two_digits(value: f64) -> String {
    format!("{value:.2}")
}

pub(crate) fn percent(value: f64) -> f64 {
    (value.clamp(0.0, 1.0) * 1000.0).round() / 10.0
}

pub(crate) fn seconds(millis: u64) -> String {
    match millis / 1000 {
        0..120 => format!("{:.1} s", millis as f64 / 1000.0),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

/// A path below the run's folder as a link. Folder names may contain `%`.
pub fn link(path: &str) -> String {
    path.replace('%', "%25")
}

pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_told_as_ranges() {
        assert_eq!(ranges(&[1]), "1");
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1–3, 5, 7–8");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn a_long_text_is_clipped_between_characters() {
        assert_eq!(clip("née", 3), "née");
        assert_eq!(clip("né e", 3), "né…");
    }

    #[test]
    fn anchors_of_different_tasks_differ() {
        assert_eq!(anchor("rail-01"), "t-rail_2d01");
        assert_ne!(anchor("a.b"), anchor("a_b"));
    }
}
