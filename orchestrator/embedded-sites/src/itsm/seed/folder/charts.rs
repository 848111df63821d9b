//! Dashboards and reports. The package has questions about them, and so their labels; the numbers
//! are ours.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use serde::Deserialize;

use super::super::builder::{Builder, id};
use super::super::{Chart, Dashboard, Series, Shape};
use super::Folder;
use super::menu::TARGET;
use crate::Error;

pub(super) const FILES: [&str; 4] = [
    "task_configs/dashboard_retrieval_minmax_task.json",
    "task_configs/dashboard_retrieval_value_task.json",
    "task_configs/report_retrieval_minmax_task.json",
    "task_configs/report_retrieval_value_task.json",
];

/// Labels for charts of which no label is known, and of which but one is.
const INVENTED: [&str; 3] = ["First", "Second", "Third"];
const REST: &str = "Other";

/// A question about a chart.
#[derive(Deserialize)]
struct Question {
    url: String,
    chart_title: String,
    chart_series: String,
    /// `max`, `min`, or `value; count; LABEL`.
    question: String,
}

/// The labels of each series. The name is empty if there is but one.
type Labels = BTreeMap<String, BTreeSet<String>>;

/// What is asked about charts.
#[derive(Default)]
pub(super) struct Charts {
    /// By the dashboard's id and the chart's title.
    dashboards: BTreeMap<String, BTreeMap<String, Labels>>,
    /// By the id of a stored report.
    reports: BTreeMap<String, Labels>,
    /// By the table and the column whose values are counted.
    counted: BTreeMap<(String, String), BTreeSet<String>>,
}

pub(super) fn read(folder: &Folder) -> Result<Charts, Error> {
    let mut charts = Charts::default();
    for file in FILES {
        let questions: Vec<Question> = folder.json(file)?;
        for question in questions {
            let reason = || format!("a question has the address {}", question.url);
            charts.add(&question).ok_or_else(|| folder.error(file, &reason()))?;
        }
    }
    Ok(charts)
}

impl Question {
    fn label(&self) -> Option<String> {
        self.question.split(';').nth(2).map(|label| label.trim().to_owned())
    }

    /// The parameters of the page.
    fn parameters(&self) -> Option<BTreeMap<String, String>> {
        let page = percent_decode_str(self.url.strip_prefix(TARGET)?).decode_utf8().ok()?;
        let (_, query) = page.split_once('?')?;
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        Some(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}

impl Charts {
    fn add(&mut self, question: &Question) -> Option<()> {
        let mut parameters = question.parameters()?;
        let label = question.label();
        if let (Some(table), Some(column)) =
            (parameters.remove("sysparm_table"), parameters.remove("sysparm_field"))
        {
            self.counted.entry((table, column)).or_default().extend(label);
            return Some(());
        }
        let labels = if let Some(id) = parameters.remove("sysparm_dashboard") {
            let titles = self.dashboards.entry(id).or_default();
            titles.entry(question.chart_title.clone()).or_default()
        } else {
            self.reports.entry(parameters.remove("jvar_report_id")?).or_default()
        };
        labels.entry(question.chart_series.clone()).or_default().extend(label);
        Some(())
    }

    /// The columns that reports count, and the labels that must occur.
    pub(super) fn counted(&self) -> &BTreeMap<(String, String), BTreeSet<String>> {
        &self.counted
    }

    /// A record for each stored report.
    pub(super) fn reports_as_records(&self, world: &mut Builder) {
        for (id, title) in self.titles() {
            let fields = BTreeMap::from([
                ("title".to_owned(), title),
                ("type".to_owned(), "stored".to_owned()),
                ("active".to_owned(), "true".to_owned()),
            ]);
            world.insert("sys_report", Some(id.clone()), fields);
        }
    }

    /// Stored reports have no titles in the package.
    fn titles(&self) -> impl Iterator<Item = (&String, String)> {
        self.reports.keys().zip(1..).map(|(id, number)| (id, format!("Stored report {number}")))
    }

    /// The dashboards and the stored reports.
    pub(super) fn drawn(&self) -> (BTreeMap<String, Dashboard>, BTreeMap<String, Chart>) {
        let board = |(number, (id, titles)): (usize, (&String, &BTreeMap<String, Labels>))| {
            let charts = titles.iter().map(|(title, labels)| draw(id, title, labels)).collect();
            (id.clone(), Dashboard { title: format!("Dashboard {}", number + 1), charts })
        };
        let report =
            |(id, title): (&String, String)| (id.clone(), draw(id, &title, &self.reports[id]));
        let dashboards = self.dashboards.iter().enumerate().map(board).collect();
        (dashboards, self.titles().map(report).collect())
    }
}

/// A chart with two or more labels in each series, the same in all.
fn draw(of: &str, title: &str, series: &Labels) -> Chart {
    let mut labels: BTreeSet<&str> = series.values().flatten().map(String::as_str).collect();
    match labels.len() {
        0 => labels.extend(INVENTED),
        1 => _ = labels.insert(REST),
        _ => {}
    }
    let mut labels: Vec<&str> = labels.into_iter().collect();
    labels.sort_by_key(|label| month(label));
    let points = |name: &str| Series {
        name: name.to_owned(),
        points: counts(&format!("{of}/{title}/{name}"), &labels),
    };
    let is_time = labels.iter().filter(|label| month(label).is_some()).count() > 2;
    Chart {
        title: title.to_owned(),
        shape: match (series.len(), labels.len(), of.as_bytes().last().map_or(0, |last| last % 2)) {
            (2.., ..) => Shape::Column,
            _ if is_time => Shape::Line,
            (_, 9.., _) => Shape::Bar,
            (_, _, 0) => Shape::Pie,
            _ => Shape::Column,
        },
        series: series.keys().map(|name| points(name)).collect(),
    }
}

/// Numbers that follow from the labels, and no two of which are equal.
fn counts(of: &str, labels: &[&str]) -> Vec<(String, u64)> {
    let digest = |label: &str| id(of, label);
    let mut ranked: Vec<&str> = labels.to_vec();
    ranked.sort_by_cached_key(|label| digest(label));
    let count = |label: &str| {
        let rank = ranked.iter().position(|one| *one == label).unwrap_or_default();
        let more = digest(label).bytes().next().map_or(0, |byte| u64::from(byte % 3));
        3 + 4 * rank as u64 + more
    };
    labels.iter().map(|label| ((*label).to_owned(), count(label))).collect()
}

/// The month of a label such as `July/2015`, counted from year 0.
fn month(label: &str) -> Option<usize> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (month, year) = label.split_once('/')?;
    let month = MONTHS.iter().position(|known| month.starts_with(known))?;
    Some(year.parse::<usize>().ok()? * 12 + month)
}
