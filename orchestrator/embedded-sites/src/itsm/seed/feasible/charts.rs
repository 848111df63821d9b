//! Questions about charts: the chart is there, and its answer is understood.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use serde::Deserialize;

use super::{Check, ensure, file};
use crate::itsm::seed::{Chart, REPORT_DATE, Series};

impl Check {
    pub(super) fn charts(&mut self) {
        #[derive(Deserialize)]
        struct Question {
            url: String,
            chart_title: String,
            chart_series: String,
            question: String,
        }
        let mut counted = BTreeMap::new();
        for kind in ["dashboard", "report"] {
            for name in ["minmax", "value"] {
                let name = format!("task_configs/{kind}_retrieval_{name}_task.json");
                for task in file::<Question>(&name) {
                    let key = (task.url.clone(), task.chart_title.clone());
                    let chart = counted
                        .entry(key)
                        .or_insert_with(|| self.chart(&task.url, &task.chart_title));
                    let result = chart
                        .as_ref()
                        .map_err(Clone::clone)
                        .and_then(|chart| question(chart, &task.chart_series, &task.question));
                    self.task(&name, result);
                }
            }
        }
    }

    fn chart(&self, url: &str, title: &str) -> Result<Chart, String> {
        let page = percent_decode_str(url).decode_utf8().unwrap();
        let query = page.split_once('?').unwrap().1;
        let pairs: BTreeMap<&str, &str> =
            query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        if let (Some(table), Some(column)) =
            (pairs.get("sysparm_table"), pairs.get("sysparm_field"))
        {
            return self.count(table, column);
        }
        if let Some(id) = pairs.get("jvar_report_id") {
            return self.world.reports.get(*id).cloned().ok_or_else(|| format!("no report {id}"));
        }
        let board = self.world.dashboards.get(pairs["sysparm_dashboard"]).ok_or("no dashboard")?;
        let read = |chart: &&Chart| chart.title.replace('.', "").trim().eq_ignore_ascii_case(title);
        let mut found = board.charts.iter().filter(read);
        let chart = found.next().cloned().ok_or_else(|| format!("no chart {title}"))?;
        ensure(found.next().is_none(), || format!("two charts {title}"))?;
        Ok(chart)
    }

    /// What a report counts: records by what is shown of a column.
    fn count(&self, table: &str, name: &str) -> Result<Chart, String> {
        let schema = &self.world.schema;
        schema.column(table, name).ok_or_else(|| format!("{table} has no {name}"))?;
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for record in &self.world.records {
            if !schema.is_a(&record.table, table)
                || *record.fields["sys_created_on"] >= *REPORT_DATE
            {
                continue;
            }
            let value = record.fields.get(name).map_or("", String::as_str);
            let column = schema.column(&record.table, name).unwrap();
            let shown = if value.is_empty() { "(empty)" } else { column.shown(value) };
            *counts.entry(shown.to_owned()).or_default() += 1;
        }
        let points = counts.into_iter().collect();
        Ok(Chart { series: vec![Series { name: String::new(), points }], ..Chart::default() })
    }
}

/// Whether the right answer is judged right, in whatever order the labels are taken out of it.
fn question(chart: &Chart, series: &str, question: &str) -> Result<(), String> {
    let named = || chart.series.iter().find(|one| one.name == series);
    let series = if chart.series.len() == 1 { chart.series.first() } else { named() };
    let points = &series.ok_or("no such series")?.points;
    ensure(points.len() >= 2, || format!("but one label: {points:?}"))?;
    let labels: BTreeSet<&str> = points.iter().map(|point| point.0.trim()).collect();
    ensure(labels.len() == points.len(), || format!("equal labels: {points:?}"))?;
    let is_number = |label: &&str| label.bytes().all(|byte| byte.is_ascii_digit());
    ensure(!labels.iter().any(is_number), || format!("a number as label: {labels:?}"))?;
    let sum: u64 = points.iter().map(|point| point.1).sum();
    let mut parts = question.split(';').map(str::trim);
    let (answer, expected) = match (parts.next(), parts.next(), parts.next()) {
        (Some("value"), Some(format), Some(label)) => {
            let found = points.iter().find(|point| point.0.trim() == label);
            let count = found.ok_or_else(|| format!("no label {label} in {labels:?}"))?.1 as f64;
            let value = if format == "percent" { 100.0 * count / sum as f64 } else { count };
            (value.to_string(), value)
        }
        (Some(which @ ("max" | "min")), None, None) => {
            let sign = if which == "max" { 1 } else { -1 };
            let (label, count) = points.iter().max_by_key(|one| sign * one.1 as i64).unwrap();
            (format!("{label}, {count}"), *count as f64)
        }
        _ => return Err(format!("unknown question {question}")),
    };
    let mut ordered: Vec<&str> = labels.into_iter().collect();
    for _ in 0..2 {
        let rest = ordered.iter().fold(answer.clone(), |rest, label| rest.replace(label, ""));
        let rest = rest.replace(',', "");
        let numbers = rest.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
        let is_right = matches!(numbers[..], [number] if (number - expected).abs() < 1e-6);
        ensure(is_right, || format!("{answer} is read as {numbers:?}"))?;
        ordered.reverse();
    }
    Ok(())
}
