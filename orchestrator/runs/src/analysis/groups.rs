//! A run's score by what its tasks have in common: the sites they are about, and their tags.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::analysis::statistics::{Interval, interval, mean};
use crate::analysis::summary::TaskSummary;
use crate::results::TaskRecord;

/// Tasks with something in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// What it is.
    pub by: By,
    /// The name of the site or the tag.
    pub name: String,
    /// How many tasks were played.
    pub tasks: usize,
    /// Mean over those of them that have a score.
    pub score: Option<f64>,
    /// 95 % interval of that.
    pub interval: Option<Interval>,
    /// Tasks of those done entirely in every repeat.
    pub passed: usize,
}

/// What tasks are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A site that they are about. A task about several is in the group of each.
    Site,
    /// A tag that they have.
    Tag,
}

/// Sites first, then tags, both by name. What all tasks that were played or only one of several
/// have in common says nothing and is left out.
pub fn groups<'a>(
    records: impl IntoIterator<Item = &'a TaskRecord>,
    summaries: &[TaskSummary],
) -> Vec<Group> {
    let mut members: BTreeMap<(By, &str), Vec<&TaskSummary>> = BTreeMap::new();
    let played = summaries.iter().filter(|summary| summary.is_played()).count();
    for (record, summary) in records.into_iter().zip(summaries).filter(|(_, summary)| summary.is_played()) {
        let sites = record.sites.iter().map(|site| (By::Site, site.as_str()));
        for key in sites.chain(record.tags.iter().map(|tag| (By::Tag, tag.as_str()))) {
            members.entry(key).or_default().push(summary);
        }
    }
    members.retain(|_, tasks| tasks.len() > 1 && tasks.len() < played);
    members.into_iter().map(|((by, name), tasks)| group(by, name, &tasks)).collect()
}

fn group(by: By, name: &str, tasks: &[&TaskSummary]) -> Group {
    let scores: Vec<f64> = tasks.iter().filter_map(|task| task.score).collect();
    Group {
        by,
        name: name.to_owned(),
        tasks: tasks.len(),
        score: mean(&scores),
        interval: interval(&scores),
        passed: tasks.iter().filter(|task| task.passed).count(),
    }
}
