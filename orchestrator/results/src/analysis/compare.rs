//! Compares two runs and finds the first difference of each episode, by step and field.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use camino::Utf8Path;
use observation::Dialog;
use serde::Serialize;

use crate::Error;
use crate::analysis::order::OrderDifference;
use crate::stored::fingerprint::{CanonicalEnd, CanonicalStep, canonical_end, canonical_steps};
use crate::stored::{EpisodeId, EpisodeRecord, RunFolder, SavedFile};

/// Maximum number of characters quoted from a value.
const QUOTE: usize = 300;

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Number of pairs of episodes compared.
    pub compared: usize,
    /// The first difference of each pair that differs, in the order of the tasks.
    pub differences: Vec<Difference>,
    /// Episodes that only the first run has.
    pub only_left: Vec<String>,
    /// Episodes that only the second run has.
    pub only_right: Vec<String>,
}

/// The first difference between two episodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The left episode, as `<task>-<n>`.
    pub left_episode: String,
    /// The right episode.
    pub right_episode: String,
    /// The step, 0 for opening the start page. `None` if only the ends differ.
    pub step: Option<u32>,
    /// The field: `url`, `action`, `observation line 12`, `requests`, `score`, ...
    pub field: String,
    /// The left value, if there is one.
    pub left: Option<String>,
    /// The right value, if there is one.
    pub right: Option<String>,
    /// The first difference in the orders of events, if both episodes have kept them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderDifference>,
}

impl Comparison {
    /// Whether both runs have the same episodes with the same content.
    pub fn is_same(&self) -> bool {
        self.differences.is_empty() && self.only_left.is_empty() && self.only_right.is_empty()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.left_episode)?;
        if self.left_episode != self.right_episode {
            write!(f, " and {}", self.right_episode)?;
        }
        match self.step {
            Some(step) => write!(f, ", step {step}, {}:", self.field)?,
            None => write!(f, ", {}:", self.field)?,
        }
        for (sign, value) in [('-', &self.left), ('+', &self.right)] {
            match value {
                Some(value) => write!(f, "\n  {sign} {value}")?,
                None => write!(f, "\n  {sign} (none)")?,
            }
        }
        match &self.order {
            Some(order) => write!(f, "\n{order}"),
            None => Ok(()),
        }
    }
}

/// Compares two runs. Pairs episodes of the same task and repeat.
pub fn compare(left: &Utf8Path, right: &Utf8Path) -> Result<Comparison, Error> {
    let (left, right) = (RunFolder::open(left)?, RunFolder::open(right)?);
    let (ours, theirs) = (left.episodes()?, right.episodes()?);
    let mut found = Comparison {
        compared: 0,
        differences: Vec::new(),
        only_left: Vec::new(),
        only_right: Vec::new(),
    };
    for episode in &ours {
        match theirs.iter().find(|other| other.id() == episode.id()) {
            Some(other) => found.add((&left, episode), (&right, other))?,
            None => found.only_left.push(episode.id().to_string()),
        }
    }
    let missing = theirs
        .iter()
        .map(EpisodeRecord::id)
        .filter(|id| ours.iter().all(|episode| episode.id() != *id));
    found.only_right = missing.map(|id| id.to_string()).collect();
    Ok(found)
}

/// Fails if the runs were played in different snapshots: what they show of an agent is then mixed
/// with what has changed in the web. Files count by content. A run that names no snapshots passes.
///
/// # Errors
/// [`Error::DifferentSnapshots`], or when a run cannot be read.
pub fn check_snapshots(left: &Utf8Path, right: &Utf8Path) -> Result<(), Error> {
    let snapshots = |run| -> Result<_, Error> { Ok(RunFolder::open(run)?.run()?.world.snapshots) };
    let (ours, theirs) = (snapshots(left)?, snapshots(right)?);
    let digests = |of: &BTreeMap<String, String>| of.values().cloned().collect::<BTreeSet<_>>();
    if ours.is_empty() || theirs.is_empty() || digests(&ours) == digests(&theirs) {
        return Ok(());
    }
    let named = |of: &BTreeMap<String, String>| {
        let each = of
            .iter()
            .map(|(name, digest)| format!("{name} ({})", digest.get(..8).unwrap_or(digest)));
        each.collect::<Vec<_>>().join(", ")
    };
    Err(Error::DifferentSnapshots { left: named(&ours), right: named(&theirs) })
}

/// Compares the repeats of a run with its first repeat, task by task.
pub fn compare_repeats(run: &Utf8Path) -> Result<Comparison, Error> {
    let folder = RunFolder::open(run)?;
    let episodes = folder.episodes()?;
    let mut found = Comparison {
        compared: 0,
        differences: Vec::new(),
        only_left: Vec::new(),
        only_right: Vec::new(),
    };
    for of_task in episodes.chunk_by(|a, b| a.task == b.task) {
        let Some((first, others)) = of_task.split_first() else { continue };
        for other in others {
            found.add((&folder, first), (&folder, other))?;
        }
    }
    Ok(found)
}

/// The first `most` differences between repeats of these episodes, and the number of others.
pub(crate) fn first_differences(
    folder: &RunFolder,
    episodes: &[EpisodeRecord],
    most: usize,
) -> (Vec<Difference>, usize) {
    let mut found = Comparison {
        compared: 0,
        differences: Vec::new(),
        only_left: Vec::new(),
        only_right: Vec::new(),
    };
    let mut left_out = 0;
    for of_task in episodes.chunk_by(|a, b| a.task == b.task) {
        let Some((first, others)) = of_task.split_first() else { continue };
        for other in others.iter().filter(|other| other.fingerprint != first.fingerprint) {
            if found.differences.len() < most {
                // What cannot be read costs the others nothing.
                if let Err(error) = found.add((folder, first), (folder, other)) {
                    found.differences.push(unreadable(&error).between(&first.id(), &other.id()));
                }
            } else {
                left_out += 1;
            }
        }
    }
    (found.differences, left_out)
}

impl Comparison {
    fn add(
        &mut self,
        (left, ours): (&RunFolder, &EpisodeRecord),
        (right, theirs): (&RunFolder, &EpisodeRecord),
    ) -> Result<(), Error> {
        self.compared += 1;
        if ours.fingerprint == theirs.fingerprint {
            return Ok(());
        }
        let (left_id, right_id) = (ours.id(), theirs.id());
        let (a, b) = (left.episode(&left_id), right.episode(&right_id));
        let (a_steps, b_steps) = (a.steps()?, b.steps()?);
        let parted = first_difference(
            (&canonical_steps(&a_steps, &a.requests()?), canonical_end(ours)),
            (&canonical_steps(&b_steps, &b.requests()?), canonical_end(theirs)),
        );
        // The fingerprint is a digest over what was compared. So the files were changed after the
        // run.
        let parted = parted.unwrap_or(FirstDifference {
            step: None,
            field: "fingerprint".to_owned(),
            left: Some(ours.fingerprint.clone()),
            right: Some(theirs.fingerprint.clone()),
        });
        let order = OrderDifference::between(&a.order()?, &b.order()?);
        self.differences.push(Difference { order, ..parted.between(&left_id, &right_id) });
        Ok(())
    }
}

struct FirstDifference {
    step: Option<u32>,
    field: String,
    left: Option<String>,
    right: Option<String>,
}

impl FirstDifference {
    fn between(self, left: &EpisodeId, right: &EpisodeId) -> Difference {
        Difference {
            left_episode: left.to_string(),
            right_episode: right.to_string(),
            step: self.step,
            field: self.field,
            left: self.left.as_deref().map(shorten),
            right: self.right.as_deref().map(shorten),
            order: None,
        }
    }
}

fn unreadable(error: &Error) -> FirstDifference {
    let why = Some(format!("failed to {}", error_text::with_causes(error)));
    FirstDifference { step: None, field: "files".to_owned(), left: why, right: None }
}

type Canonical<'a> = (&'a [CanonicalStep<'a>], CanonicalEnd<'a>);

fn first_difference(
    (a, a_end): Canonical<'_>,
    (b, b_end): Canonical<'_>,
) -> Option<FirstDifference> {
    let steps = a.iter().zip(b).find_map(|(a, b)| in_step(a, b));
    // Where one run is the beginning of the other, the first surplus step is the difference.
    let extra = || {
        let (left, right) = (a.get(b.len()), b.get(a.len()));
        let step = left.or(right)?.step;
        let seen = |step: Option<&CanonicalStep<'_>>| {
            step.map(|step| step.url.unwrap_or_default().to_owned())
        };
        Some(FirstDifference {
            step: Some(step),
            field: "step".to_owned(),
            left: seen(left),
            right: seen(right),
        })
    };
    let ends = || {
        let of = |field: &str, left: Option<String>, right: Option<String>| {
            (left != right).then(|| FirstDifference {
                step: None,
                field: field.to_owned(),
                left,
                right,
            })
        };
        of("goal", a_end.goal.map(str::to_owned), b_end.goal.map(str::to_owned))
            .or_else(|| {
                of("outcome", Some(a_end.outcome.to_owned()), Some(b_end.outcome.to_owned()))
            })
            .or_else(|| {
                of("answer", a_end.answer.map(str::to_owned), b_end.answer.map(str::to_owned))
            })
            .or_else(|| {
                of(
                    "score",
                    a_end.score.map(|score| score.to_string()),
                    b_end.score.map(|score| score.to_string()),
                )
            })
    };
    steps.or_else(extra).or_else(ends)
}

/// Compares in the order of events: what was seen, then the action, then its effects.
fn in_step(a: &CanonicalStep<'_>, b: &CanonicalStep<'_>) -> Option<FirstDifference> {
    let parted = |field: String, left: Option<String>, right: Option<String>| FirstDifference {
        step: Some(a.step),
        field,
        left,
        right,
    };
    let text = |field: &str, left: Option<&str>, right: Option<&str>| {
        (left != right)
            .then(|| parted(field.to_owned(), left.map(str::to_owned), right.map(str::to_owned)))
    };
    text("url", a.url, b.url)
        .or_else(|| text("title", a.title, b.title))
        .or_else(|| {
            let (line, left, right) = first_line(a.observation?, b.observation?)?;
            Some(parted(format!("observation, line {line}"), left, right))
        })
        .or_else(|| {
            let text_of = |dialogs: &[Dialog]| {
                dialogs.iter().map(Dialog::to_string).collect::<Vec<_>>().join(", ")
            };
            (a.dialogs != b.dialogs).then(|| {
                parted("dialogs".to_owned(), Some(text_of(a.dialogs)), Some(text_of(b.dialogs)))
            })
        })
        .or_else(|| {
            let joined = |notices: &[String]| notices.join(", ");
            (a.notices != b.notices).then(|| {
                parted("notices".to_owned(), Some(joined(a.notices)), Some(joined(b.notices)))
            })
        })
        .or_else(|| {
            let named = |files: &[SavedFile]| {
                files.iter().map(|file| &*file.name).collect::<Vec<_>>().join(", ")
            };
            (a.downloads != b.downloads).then(|| {
                parted("downloads".to_owned(), Some(named(a.downloads)), Some(named(b.downloads)))
            })
        })
        .or_else(|| text("action", a.action, b.action))
        .or_else(|| text("error", a.error, b.error))
        .or_else(|| {
            let (left, right) =
                (surplus(&a.requests, &b.requests), surplus(&b.requests, &a.requests));
            (left.is_some() || right.is_some()).then(|| parted("requests".to_owned(), left, right))
        })
}

fn first_line(a: &str, b: &str) -> Option<(usize, Option<String>, Option<String>)> {
    let (mut ours, mut theirs) = (a.lines(), b.lines());
    for number in 1.. {
        let (left, right) = (ours.next(), theirs.next());
        if left != right {
            return Some((number, left.map(str::to_owned), right.map(str::to_owned)));
        }
        if left.is_none() {
            break;
        }
    }
    None
}

/// The first item of `a` that `b` lacks or has less often. Both are sorted.
fn surplus(a: &[String], b: &[String]) -> Option<String> {
    let mut theirs = b.iter().peekable();
    for ours in a {
        while theirs.next_if(|other| *other < ours).is_some() {}
        if theirs.next_if_eq(&ours).is_none() {
            return Some(ours.clone());
        }
    }
    None
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(QUOTE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(items: &[&str]) -> Vec<String> {
        items.iter().map(|&item| item.to_owned()).collect()
    }

    #[test]
    fn a_surplus_counts_how_often() {
        let check = |a: &[&str], b: &[&str], expected: Option<&str>| {
            assert_eq!(surplus(&strings(a), &strings(b)).as_deref(), expected, "{a:?} {b:?}");
        };
        check(&[], &["x"], None);
        check(&["a", "b"], &["a", "b", "c"], None);
        check(&["a", "a", "b"], &["a", "b"], Some("a"));
        check(&["a", "c"], &["a", "b"], Some("c"));
        check(&["a"], &[], Some("a"));
    }

    #[test]
    fn steps_part_at_the_first_field_in_the_order_of_events() {
        let base = CanonicalStep {
            step: 2,
            url: Some("https://rail.test/"),
            title: Some("Rail"),
            observation: Some("one\ntwo"),
            dialogs: &[],
            notices: &[],
            downloads: &[],
            action: Some("click('1')"),
            error: None,
            requests: strings(&["GET 200 exact https://rail.test/a"]),
        };
        let check = |changed: CanonicalStep<'_>, expected: Option<&str>| {
            assert_eq!(in_step(&base, &changed).map(|parted| parted.field).as_deref(), expected);
        };
        check(base.clone(), None);
        check(CanonicalStep { url: Some("x"), action: None, ..base.clone() }, Some("url"));
        check(
            CanonicalStep { observation: Some("one"), ..base.clone() },
            Some("observation, line 2"),
        );
        let dialog = [Dialog {
            kind: "alert".to_owned(),
            message: "x".to_owned(),
            accepted: true,
            entered: None,
        }];
        check(CanonicalStep { dialogs: &dialog, action: None, ..base.clone() }, Some("dialogs"));
        check(CanonicalStep { action: None, ..base.clone() }, Some("action"));
        check(CanonicalStep { error: Some("e"), ..base.clone() }, Some("error"));
        check(CanonicalStep { requests: Vec::new(), ..base.clone() }, Some("requests"));
    }
}
