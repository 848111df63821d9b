//! Dashboards and reports. The numbers of dashboards and of some reports stand in the golden state;
//! those of all other reports are counted when the page is asked for.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use minijinja::{Value, context};

use super::{Page, Result, layout};
use crate::itsm::seed::{Chart, Record, Series, Shape};
use crate::itsm::select;

/// The label of records without a value.
const EMPTY: &str = "(empty)";

/// A dashboard, or all of them if the address names none.
pub(super) fn dashboard(page: &Page<'_>) -> Result {
    let dashboards = &page.desk.fixed.dashboards;
    let id = page.asked.query.text("sysparm_dashboard");
    if id.is_empty() {
        return list(page);
    }
    let Some(dashboard) = dashboards.get(id) else {
        return page.refused(StatusCode::NOT_FOUND, "The dashboard was not found.");
    };
    let panes: Vec<Value> = dashboard
        .charts
        .iter()
        .enumerate()
        .map(|(index, chart)| context! { id => format!("chart-{index}"), title => &chart.title })
        .collect();
    layout::draw(
        page,
        "dashboard.html",
        context! { title => &dashboard.title, panes, charts => layout::data(&dashboard.charts)? },
    )
}

/// The dashboards by title.
pub(super) fn list(page: &Page<'_>) -> Result {
    let dashboards = &page.desk.fixed.dashboards;
    let mut titles: Vec<(&str, &str, usize)> = dashboards
        .iter()
        .map(|(id, dashboard)| (dashboard.title.as_str(), id.as_str(), dashboard.charts.len()))
        .collect();
    titles.sort_unstable();
    let dashboards: Vec<Value> =
        titles.into_iter().map(|(title, id, charts)| context! { title, id, charts }).collect();
    layout::draw(page, "dashboards.html", context! { dashboards })
}

/// A report: a stored one, or one of the table and the column in the address.
pub(super) fn report(page: &Page<'_>) -> Result {
    let Some(chart) = chart(page)? else {
        return page.refused(StatusCode::NOT_FOUND, "The report was not found.");
    };
    layout::draw(
        page,
        "report.html",
        context! { title => &chart.title, charts => layout::data(&[&chart])? },
    )
}

fn chart(page: &Page<'_>) -> Result<Option<Chart>> {
    let query = &page.asked.query;
    let id = query.text("jvar_report_id");
    if id.is_empty() {
        let (table, field) = (query.text("sysparm_table"), query.text("sysparm_field"));
        let shape = shape(query.text("sysparm_type"));
        return counted(page, table, field, query.text("sysparm_query"), shape);
    }
    if let Some(chart) = page.desk.fixed.reports.get(id) {
        return Ok(Some(chart.clone()));
    }
    match page.desk.get("sys_report", id)? {
        Some(report) => stored(page, &report),
        None => Ok(None),
    }
}

/// The chart of a record of `sys_report`.
fn stored(page: &Page<'_>, report: &Record) -> Result<Option<Chart>> {
    let text = |name| report.text(name);
    let shape = shape(text("type"));
    let chart = counted(page, text("table"), text("field"), text("filter"), shape)?;
    Ok(chart.map(|chart| Chart { title: text("title").to_owned(), ..chart }))
}

/// How many records of a table have each value of a column, the most first.
fn counted(
    page: &Page<'_>,
    table: &str,
    field: &str,
    query: &str,
    shape: Shape,
) -> Result<Option<Chart>> {
    let desk = page.desk;
    let Some((known, column)) = desk.schema().table(table).zip(desk.column(table, field)) else {
        return Ok(None);
    };
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for record in select::select(desk, table, query, &page.visitor.acting.sys_id)? {
        let shown = desk.shown_of(&record, field)?;
        let label = Some(shown.trim()).filter(|label| !label.is_empty()).unwrap_or(EMPTY);
        *counts.entry(label.to_owned()).or_default() += 1;
    }
    let mut points: Vec<(String, u64)> = counts.into_iter().collect();
    points.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(Some(Chart {
        title: format!("{} by {}", known.plural, column.label),
        shape,
        series: vec![Series { name: String::new(), points }],
    }))
}

/// The shape that a report's type means.
fn shape(kind: &str) -> Shape {
    match kind {
        "area" => Shape::Area,
        "bar" | "horizontal_bar" => Shape::Bar,
        "line" | "trend" => Shape::Line,
        "pie" | "donut" | "semi_donut" => Shape::Pie,
        "spline" => Shape::Spline,
        _ => Shape::Column,
    }
}
