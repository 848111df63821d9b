//! Formats a run's summary as text for a terminal.

use std::fmt::{self, Write as _};

use error_text::in_one_line;

use crate::analysis::groups::{By, Group};
use crate::analysis::statistics::Method;
use crate::analysis::summary::TaskSummary;
use crate::stored::ModelUsage;
use crate::{RepeatFingerprint, Summary, counted};

/// Maximum width of a URL in a table.
const URL: usize = 120;
/// Number of misses listed; others are counted.
const MISSES: usize = 5;
/// Number of errors listed; others are counted.
const CAUSES: usize = 3;
/// Number of groups listed; others are counted.
const GROUPS: usize = 12;
/// Minimum width of the column of task names.
const TASK_WIDTH: usize = 12;

/// A column of figures: heading, width and cell content.
struct Column {
    heading: &'static str,
    width: usize,
    cell: fn(&TaskSummary) -> String,
}

/// The most important column is first. Columns that do not fit are dropped from the end.
const COLUMNS: [Column; 6] = [
    Column {
        heading: "score",
        width: 7,
        cell: |task| task.score.map_or("-".to_owned(), |score| format!("{score:.2}")),
    },
    Column { heading: "outcome", width: 12, cell: outcome },
    Column { heading: "misses", width: 8, cell: |task| task.requests.miss.to_string() },
    Column { heading: "steps", width: 7, cell: |task| trim(task.steps) },
    Column { heading: "time", width: 8, cell: |task| seconds(task.wall_ms) },
    Column { heading: "refused", width: 9, cell: |task| task.requests.refused.to_string() },
];

/// Writes a line with a label and a value.
type Line<'a> = dyn FnMut(&str, String) -> fmt::Result + 'a;
/// Writes a block of related lines.
type Part = fn(&Summary, &mut Line<'_>) -> fmt::Result;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.table(80))
    }
}

impl Summary {
    /// The table for a terminal of this width, at least 24 columns. It has no line feed at the end.
    pub fn table(&self, width: usize) -> String {
        self.written(
            width,
            &COLUMNS,
            &[Summary::write_scores, Summary::write_groups, Summary::write_play],
        )
    }

    /// The table with scores only, for attempts that were not played here.
    pub fn score_table(&self, width: usize) -> String {
        self.written(width, &COLUMNS[..2], &[Summary::write_scores, Summary::write_groups])
    }

    fn written(&self, width: usize, columns: &[Column], parts: &[Part]) -> String {
        let width = width.max(24);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_table(&mut text, width, columns);
        for part in parts {
            let _ = part(self, &mut |label, value| wrapped(&mut text, label, &value, width));
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn write_table(&self, text: &mut String, width: usize, columns: &[Column]) -> fmt::Result {
        let played = || self.tasks.iter().filter(|task| task.is_played());
        let longest =
            played().map(|task| task.task.chars().count()).max().unwrap_or(0).max("task".len());
        let mut room = width - longest.clamp(4, TASK_WIDTH).min(width);
        let columns: Vec<&Column> = columns
            .iter()
            .map_while(|column| {
                room = room.checked_sub(column.width)?;
                Some(column)
            })
            .collect();
        let name_width =
            longest.min(width - columns.iter().map(|column| column.width).sum::<usize>());
        let mut row = |name: &str, cells: &mut dyn Iterator<Item = (String, usize)>| {
            write!(text, "{:name_width$}", cut(name, name_width))?;
            for (cell, width) in cells {
                write!(text, "{cell:>width$}")?;
            }
            writeln!(text)
        };
        row("task", &mut columns.iter().map(|column| (column.heading.to_owned(), column.width)))?;
        for task in played() {
            row(&task.task, &mut columns.iter().map(|column| ((column.cell)(task), column.width)))?;
        }
        writeln!(text)
    }

    fn write_scores(&self, line: &mut Line<'_>) -> fmt::Result {
        let score = match self.score {
            Some(score) => {
                let left = match self.tasks.len() - self.played {
                    0 => String::new(),
                    left => format!(", {left} not played"),
                };
                format!("{score:.2}, {}/{} tasks passed{left}", self.passed, self.played)
            }
            // No score is not a score of 0.
            None if self.judge_failures > 0 => "none: the judge failed".to_owned(),
            None if self.unjudged > 0 => "none yet: every episode waits for a judge".to_owned(),
            None => "nothing was played".to_owned(),
        };
        line("score", score)?;
        if let Some(interval) = self.interval {
            let method = match interval.method {
                Method::Wilson => "Wilson",
                Method::Bootstrap => "bootstrap",
            };
            line(
                "95 % interval",
                format!("{:.2} to {:.2} over tasks ({method})", interval.low, interval.high),
            )?;
        }
        for (label, fact) in self.facts() {
            line(label, fact)?;
        }
        let broken = match self.requests.failed {
            0 => String::new(),
            count => format!(", {} failed in the gateway", counted(count, "request")),
        };
        let unjudged = match self.judge_failures {
            0 => String::new(),
            count => format!(", the judge failed in {}", counted(count, "episode")),
        };
        let errors = counted(self.errors, "error");
        let agent = match self.agent_failures {
            0 => String::new(),
            count => format!(", {count} lost because the agent failed"),
        };
        line(
            "failures",
            format!("{errors}{agent}, {} timed out{broken}{unjudged}", self.timeouts),
        )?;
        for cause in self.causes.iter().take(CAUSES) {
            let judge = if cause.of_judge { "the judge " } else { "" };
            line("", format!("{}x {judge}{}", cause.count, in_one_line(&cause.message)))?;
        }
        match self.causes.len().saturating_sub(CAUSES) {
            0 => Ok(()),
            more => line("", format!("and {more} other reasons")),
        }
    }

    /// Writes what happened in the episodes.
    fn write_play(&self, line: &mut Line<'_>) -> fmt::Result {
        let repeats =
            if self.repeat > 1 { format!(" in {} repeats", self.repeat) } else { String::new() };
        let missing =
            if self.is_complete() { String::new() } else { format!(" of {}", self.planned) };
        line(
            "episodes",
            format!(
                "{}{missing}{repeats}, {}, {}",
                self.episodes,
                counted(self.steps, "step"),
                seconds(self.wall_ms)
            ),
        )?;
        let shares = self.times.shares();
        if !shares.is_empty() {
            let shares =
                shares.iter().map(|(phase, share)| format!("{} {share:.0} %", phase.word()));
            line("time", shares.collect::<Vec<_>>().join(", "))?;
        }
        for (label, spent) in [("models", &self.models), ("judge", &self.judging)] {
            if let Some(spent) = spent {
                line(label, models(spent))?;
            }
        }
        let refused = match self.refused_hosts.len() {
            0 => "0".to_owned(),
            count => format!(
                "{count}: {}",
                self.refused_hosts.iter().cloned().collect::<Vec<_>>().join(" ")
            ),
        };
        line("refused hosts", refused)?;
        if self.requests.search > 0 {
            line("searches", format!("{} answered from the recorded pages", self.requests.search))?;
        }
        if self.requests.other_state > 0 {
            line(
                "other states",
                format!("{} answered from another state of a site", self.requests.other_state),
            )?;
        }
        if self.requests.guessed > 0 {
            line(
                "guesses",
                format!("{} answered by guessing what a value is", self.requests.guessed),
            )?;
        }
        line("misses", format!("{} of {} requests", self.requests.miss, self.requests.total()))?;
        for miss in self.misses.iter().take(MISSES) {
            line("", format!("{}x {} {}", miss.count, miss.method, short_url(&miss.url)))?;
        }
        if self.misses.len() > MISSES {
            line("", format!("and {} other URLs", self.misses.len() - MISSES))?;
        }
        self.write_fingerprints(line)
    }

    /// Writes the score by site, and by tags whose score differs from the total.
    fn write_groups(&self, line: &mut Line<'_>) -> fmt::Result {
        let mut by = None;
        // A tag with the score of the whole run says nothing.
        let tells = |group: &&Group| group.by == By::Site || group.score != self.score;
        let groups: Vec<&Group> = self.groups.iter().filter(tells).collect();
        for group in groups.iter().take(GROUPS) {
            let label = match group.by {
                _ if by == Some(group.by) => "",
                By::Site => "by site",
                By::Tag => "by tag",
            };
            by = Some(group.by);
            let score = group.score.map_or("-".to_owned(), |score| format!("{score:.2}"));
            line(
                label,
                format!("{score} {}, {}/{} passed", group.name, group.passed, group.tasks),
            )?;
        }
        match groups.len().saturating_sub(GROUPS) {
            0 => Ok(()),
            more => line("", format!("and {more} more in the report")),
        }
    }

    fn write_fingerprints(&self, line: &mut Line<'_>) -> fmt::Result {
        let Some(first) = self.fingerprints.first() else {
            return line("fingerprint", "none: no repeat is complete".to_owned());
        };
        let count = self.fingerprints.len();
        match self.deterministic {
            None => line("fingerprint", first.fingerprint.clone()),
            Some(true) => {
                line("fingerprint", format!("{} equal in {count} repeats", first.fingerprint))
            }
            Some(false) => {
                line("fingerprint", self.differing(count))?;
                let start =
                    |one: &RepeatFingerprint| one.fingerprint.chars().take(16).collect::<String>();
                self.fingerprints.iter().try_for_each(|one| {
                    line("", format!("{} in repeat {}", start(one), one.repeat))
                })
            }
        }
    }
}

impl Summary {
    /// Says that repeats differ, in capitals only if they must be equal.
    fn differing(&self, count: usize) -> String {
        match self.nondeterminism {
            Some(why) => format!("different in {count} repeats, as expected: {}", why.reason()),
            None => format!("DIFFERENT in {count} repeats"),
        }
    }
}

/// The models and their usage.
pub(crate) fn models(spent: &ModelUsage) -> String {
    let named = spent.named().map_or_else(String::new, |names| format!("{names}: "));
    let from = match spent.recorded {
        0 => String::new(),
        all if all == spent.calls => ", all from the cassette".to_owned(),
        some => format!(", {some} from the cassette"),
    };
    let cost = spent.cost.map_or_else(String::new, |cost| format!(", ${cost:.4}"));
    let ModelUsage { calls, prompt_tokens, completion_tokens, .. } = spent;
    let some = |count: u64, word: &str| match count {
        0 => String::new(),
        count => format!(" ({count} {word})"),
    };
    let (cached, thoughts) =
        (some(spent.cached_tokens, "cached"), some(spent.reasoning_tokens, "of thoughts"));
    let faults = [
        (spent.cut, "cut at the most tokens that a reply may have (max_tokens)"),
        (spent.refused, "refused"),
        (spent.empty, "empty"),
        (spent.failed, "without a reply"),
    ];
    let faults = faults
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"));
    let faults: Vec<String> = faults.collect();
    let faults = if faults.is_empty() { String::new() } else { format!("; {}", faults.join(", ")) };
    format!(
        "{named}{}{from}, {prompt_tokens} tokens asked{cached} and {completion_tokens} replied{thoughts}{cost}{faults}",
        counted(*calls, "call")
    )
}

fn outcome(task: &TaskSummary) -> String {
    let mut kinds = task.outcomes.keys();
    match (kinds.next(), kinds.next()) {
        (None, _) => "-".to_owned(),
        _ if task.unjudged > 0 => "unjudged".to_owned(),
        (Some(kind), None) => (*kind).to_owned(),
        (Some(_), Some(_)) => "mixed".to_owned(),
    }
}

/// A mean without unnecessary digits.
fn trim(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

/// A URL for tables. The middle of a long URL is left out. Machine-readable reports have the whole
/// URL.
pub fn short_url(url: &str) -> String {
    cut(url, URL)
}

/// The beginning and end of a name. The middle is cut because names of one site begin alike.
fn cut(name: &str, width: usize) -> String {
    let letters = name.chars().count();
    if letters <= width {
        return name.to_owned();
    }
    let end = width.saturating_sub(1) / 2;
    let beginning = width.saturating_sub(1 + end);
    name.chars().take(beginning).chain(['…']).chain(name.chars().skip(letters - end)).collect()
}

/// Writes a label and beside it a text, wrapped between words to the width. A word longer than a
/// line is split.
fn wrapped(text: &mut String, label: &str, value: &str, width: usize) -> fmt::Result {
    const INDENT: usize = 15;
    let (label, indent) = (format!("{label:INDENT$}"), " ".repeat(INDENT));
    let options = textwrap::Options::new(width).initial_indent(&label).subsequent_indent(&indent);
    writeln!(text, "{}", textwrap::fill(value, options))
}
