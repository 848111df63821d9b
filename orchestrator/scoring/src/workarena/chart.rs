//! Reading charts: `DashboardRetrievalTask` of `tasks/dashboard.py`.

use python_compat::text::{lower, strip};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Failure, Move, Verdict, answer, page};
use crate::Pages;
use crate::evidence::Visit;
use crate::solution::OracleStep;
use crate::tables::{Lookup, Tables, kept};

/// A chart to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// The path of the page it is on.
    pub url: String,
    /// Its title; empty for the only one of the page.
    pub title: String,
    /// The name of the series; empty for the only one.
    pub series: String,
    pub question: Question,
}

/// A question about a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// The greatest value, and its label.
    Max,
    /// The smallest value, and its label.
    Min,
    /// The value of a label.
    Value {
        /// In which form.
        unit: Unit,
        label: String,
    },
}

/// In which form a value is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// How many.
    Count,
    /// The share, in per cent.
    Percent,
}

/// One point of a series, by the label that the published code gives it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub(super) label: String,
    pub(super) count: Option<f64>,
    pub(super) percent: Option<f64>,
}

#[derive(Deserialize)]
struct RenderedChart {
    title: String,
    types: Vec<String>,
    series: Vec<RenderedSeries>,
}

#[derive(Deserialize)]
struct RenderedSeries {
    name: Option<String>,
    points: Vec<RenderedPoint>,
}

#[derive(Deserialize)]
struct RenderedPoint {
    category: Value,
    name: Value,
    original: Value,
    count: Option<f64>,
    percent: Option<f64>,
}

/// `REPORT_FILTER_PROPERTY` of `config.py`.
const FILTER_PROPERTY: &str = "workarena.report.filter.config";

#[derive(Deserialize)]
struct ReportFilter {
    report_date_filter: String,
    report_time_filter: String,
}

/// Has every part of a dashboard drawn, those out of sight as well. It may be run again.
const DRAW: &str = "(() => {
  const canvas = window.gsft_main && gsft_main.SNC && gsft_main.SNC.canvas;
  if (!canvas || gsft_main.sandboxDrawn) return;
  gsft_main.sandboxDrawn = true;
  for (const pane of canvas.layoutJson.panes)
    canvas.canvasUtils.renderSlowWidget(canvas.canvasUtils.getWidgetContainer(pane.uuid));
})()";
/// The elements that draw a report anew, with other data.
const REMOVED: [&str; 5] = [
    "[ng-click*=\"main.runReport\"]",
    "#sidebar",
    "#nlq-over-cb",
    "#open-tree-navigation-button",
    ".data-filtering-wrap",
];
const KNOWN_TYPES: [&str; 6] = ["area", "bar", "column", "line", "pie", "spline"];

impl Chart {
    pub(super) fn goal(&self) -> String {
        let mut chart = match self.series.as_str() {
            "" => String::new(),
            series => format!("the \"{series}\" series of "),
        };
        chart += &match self.title.as_str() {
            "" => "the chart".to_owned(),
            title => format!("the \"{title}\" chart"),
        };
        let most = match &self.question {
            Question::Value { unit, label } => {
                return format!(
                    "What is the value of \"{label}\" in {chart} (in {})?",
                    unit.word()
                );
            }
            Question::Max => "maximum",
            Question::Min => "minimum",
        };
        format!(
            "What is the {most} value in {chart}? Give me both the label and the count. If there are many, pick one."
        )
    }

    /// The page's path, with the time up to which reports of this instance go.
    pub(super) async fn set_up<T: Tables>(
        &self,
        tables: &mut T,
    ) -> Result<String, Failure<T::Error>> {
        let lookup = Lookup::new("sys_properties", format!("name={FILTER_PROPERTY}"));
        let found = tables.get(&lookup.fields(&["value"])).await?;
        let filter =
            found.first().and_then(|property| serde_json::from_str(kept(property, "value")).ok());
        let Some(ReportFilter { report_date_filter: date, report_time_filter: time }) = filter
        else {
            let what = format!(
                "its property `{FILTER_PROPERTY}` does not say up to which time reports go"
            );
            return Err(Failure::set_up(format!(
                "{what}; run the benchmark's `workarena-install`"
            )));
        };
        Ok(self.url.replace("REPORT_DATE_FILTER", &date).replace("REPORT_TIME_FILTER", &time))
    }

    pub(super) async fn tend<P: Pages>(&self, pages: &mut P) -> Result<(), Failure<P::Error>> {
        page::run(pages, DRAW).await?;
        if self.url.contains("sys_report_template.do") {
            page::run(pages, &page::removal(&REMOVED)).await?;
        }
        Ok(())
    }

    /// Compares the agent's last message with the data that the page draws. Without an answer
    /// nothing is read.
    pub(super) async fn validate<P: Pages>(
        &self,
        visit: &Visit,
        pages: &mut P,
        said: Option<&str>,
    ) -> Result<Verdict, Failure<P::Error>> {
        let here: String = page::read(pages, page::ADDRESS).await?;
        if !page::is_at(&here, &visit.start_url()) {
            return Ok(Verdict::not_yet("the page is not the chart's"));
        }
        let Some(said) = said else { return Ok(Verdict::not_yet("there is no answer")) };
        let points = self.points(pages).await?;
        answer::judge(&self.question, &points, said).map_err(Failure::Raised)
    }

    /// The answer, as the page has it.
    pub(super) async fn cheat<P: Pages>(
        &self,
        pages: &mut P,
    ) -> Result<Vec<Move>, Failure<P::Error>> {
        let points = self.points(pages).await?;
        let answer = answer::of(&self.question, &points).map_err(Failure::Raised)?;
        Ok(vec![Move::Step(OracleStep::Answer(answer))])
    }

    /// The points of the chart's series: `_get_chart_by_title`.
    async fn points<P: Pages>(&self, pages: &mut P) -> Result<Vec<Point>, Failure<P::Error>> {
        let charts: Vec<RenderedChart> = page::read(pages, page::CHARTS).await?;
        let title = |chart: &RenderedChart| {
            let title = chart.title.replace("Highcharts interactive chart.", "").replace('.', "");
            lower(strip(&title)).into_owned()
        };
        let chart = match self.title.as_str() {
            "" => charts.into_iter().next(),
            wanted => charts.into_iter().find(|chart| title(chart) == lower(wanted)),
        };
        let RenderedChart { types, series, .. } = chart.ok_or(Failure::Raised("ValueError"))?;
        let Some(kind) = types.first() else { return Err(Failure::Raised("IndexError")) };
        if types.iter().any(|other| other != kind) || !KNOWN_TYPES.contains(&kind.as_str()) {
            return Err(Failure::Raised("NotImplementedError"));
        }
        let all =
            series.into_iter().map(|series| Ok((series.name, labelled(series.points, kind)?)));
        let mut all = all.collect::<Result<Vec<_>, &'static str>>().map_err(Failure::Raised)?;
        if all.len() == 1 {
            return Ok(all.remove(0).1);
        }
        let named = all.into_iter().find(|(name, _)| name.as_deref() == Some(self.series.as_str()));
        named.map(|(_, points)| points).ok_or(Failure::Raised("IndexError"))
    }
}

impl Unit {
    fn word(self) -> &'static str {
        match self {
            Unit::Count => "count",
            Unit::Percent => "percent",
        }
    }
}

/// Gives each point the label that is most likely the one that is seen; of two with one label there
/// may be none.
fn labelled(points: Vec<RenderedPoint>, kind: &str) -> Result<Vec<Point>, &'static str> {
    let text = |value: Value| match value {
        Value::String(text) => Ok(strip(&text).to_owned()),
        // What is false in Python counts as no label, and anything else has no `strip`.
        Value::Null | Value::Bool(false) => Ok(String::new()),
        _ => Err("AttributeError"),
    };
    let mut labelled: Vec<Point> = Vec::with_capacity(points.len());
    for RenderedPoint { category, name, original, count, percent } in points {
        let (category, name, original) = (text(category)?, text(name)?, text(original)?);
        let likely =
            [&category, &name].into_iter().any(|other| share_three_letters(&original, other));
        let label = match kind {
            _ if likely => original,
            "bar" | "column" | "spline" => category,
            _ => name,
        };
        if labelled.iter().any(|point| point.label == label) {
            return Err("AssertionError");
        }
        labelled.push(Point {
            label,
            count,
            percent: if count == Some(0.0) { Some(0.0) } else { percent },
        });
    }
    Ok(labelled)
}

/// `share_tri_gram` of `tasks/utils/string.py`.
fn share_three_letters(left: &str, right: &str) -> bool {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    left.windows(3).any(|three| right.windows(3).any(|other| other == three))
}
