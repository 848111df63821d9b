//! The scripts that read an instance's pages, and that change them.
//!
//! The classic pages are in the frame `gsft_main`. What they say of themselves is asked of their
//! own scripts, as the published code does: `GlideList2` of lists, `g_form` of forms, `Highcharts`
//! of charts.

use python_compat::url::{Url, unquote};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Failure;
use crate::Pages;

/// The address of the page.
pub(super) const ADDRESS: &str = "location.href";

/// The user who is logged in, and whether it impersonates another one.
pub(super) const USER: &str = "window.NOW && NOW.user ? {id: NOW.user.userID, impersonating: !!NOW.user.isImpersonating} : null";

/// The list that is shown: `_extract_list_info` and `getOrderBy` of `tasks/list.py`.
pub(super) const LIST: &str = "(() => {
  const table = gsft_main.document.querySelector('table.data_list_table');
  const list = gsft_main.GlideList2.get(table.getAttribute('data-list_id'));
  return {query: list.getQuery() || '', order: list.getOrderBy() || '', direction: list.sortDir || ''};
})()";

/// The charts that are shown: `_get_charts` and `_read_chart` of `tasks/dashboard.py`.
pub(super) const CHARTS: &str = "gsft_main.Highcharts.charts
  .filter(chart => chart && chart.renderTo.ariaLabel && chart.renderTo.isConnected)
  .map(chart => ({
    title: chart.renderTo.ariaLabel,
    types: chart.types,
    series: chart.series.map(series => ({
      name: series.name,
      points: series.data.map(point => ({
        category: point.category || '', name: point.name || '', original: point.origXValue || '',
        count: point.y, percent: point.percent === undefined ? null : point.percent,
      })),
    })),
  }))";

/// Reads what a script gives.
pub(super) async fn read<P: Pages, R: DeserializeOwned>(
    pages: &mut P,
    script: &str,
) -> Result<R, Failure<P::Error>> {
    let value = run(pages, script).await?;
    serde_json::from_value(value).map_err(|error| Failure::Page(error.to_string()))
}

/// Runs a script.
pub(super) async fn run<P: Pages>(pages: &mut P, script: &str) -> Result<Value, Failure<P::Error>> {
    pages.evaluate(script).await?.map_err(Failure::Page)
}

/// Whether the page is at a path: `check_url_suffix_match` of `tasks/utils/utils.py`, which is
/// content with the path as a part of the page's.
pub(super) fn is_at(address: &str, expected: &str) -> bool {
    let path = |url: &str| Url::parse(&unquote(url)).map(|url| url.path.into_owned());
    match (path(address), path(expected)) {
        (Some(path), Some(expected)) => path.contains(&expected),
        _ => false,
    }
}

/// A text as an expression of JavaScript.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A script that takes elements out of the frame's page, those that come later as well. It may be
/// run again.
pub(super) fn removal(selectors: &[&str]) -> String {
    format!(
        "(() => {{
  const page = window.gsft_main && gsft_main.document;
  if (!page || !page.body) return;
  const remove = () => page.querySelectorAll({}).forEach(element => element.remove());
  remove();
  if (gsft_main.sandboxRemoves) return;
  gsft_main.sandboxRemoves = new gsft_main.MutationObserver(remove);
  gsft_main.sandboxRemoves.observe(page.body, {{childList: true, subtree: true}});
}})()",
        quoted(&selectors.join(", "))
    )
}
