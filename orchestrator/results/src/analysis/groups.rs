//! The score of a run by groups of tasks: by site and by tag.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::analysis::statistics::{Interval, interval, mean};
use crate::analysis::summary::TaskSummary;
use crate::stored::TaskRecord;

/// A group of tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The kind of the group.
    pub by: By,
    /// The name of the site or the tag.
    pub name: String,
    /// Number of tasks played.
    pub tasks: usize,
    /// Mean over the tasks with a score.
    pub score: Option<f64>,
    /// 95 % interval of the score.
    pub interval: Option<Interval>,
    /// Number of tasks that passed in every repeat.
    pub passed: usize,
}

/// The kind of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Tasks about a site. A task about several sites is in the group of each.
    Site,
    /// Tasks with a tag.
    Tag,
}

/// The groups, sites first, then tags, both by name. Groups of one task or of all played tasks are
/// left out, because they tell nothing new.
pub fn groups<'a>(
    records: impl IntoIterator<Item = &'a TaskRecord>,
    summaries: &[TaskSummary],
) -> Vec<Group> {
    let mut members: BTreeMap<(By, &str), Vec<&TaskSummary>> = BTreeMap::new();
    let played = summaries.iter().filter(|summary| summary.is_played()).count();
    for (record, summary) in
        records.into_iter().zip(summaries).filter(|(_, summary)| summary.is_played())
    {
        let sites = record.sites.iter().map(|site| (By::Site, site.as_str()));
        for key in sites.chain(record.tags.iter().map(|tag| (By::Tag, tag.as_str()))) {
            members.entry(key).or_default().push(summary);
        }
    }
    // A group of one task or of all tasks says nothing that the table does not.
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
