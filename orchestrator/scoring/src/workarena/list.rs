//! Lists of records, as an instance's pages show them: `ServiceNowListTask` of `tasks/list.py`.

use python_compat::url::quote;
use serde::Deserialize;

use super::TARGET;

/// The state that a list reports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// The encoded query that it shows the records of.
    pub(super) query: String,
    /// The column that it is sorted by.
    pub(super) order: String,
    /// `asc` or `desc`, in whatever case.
    pub(super) direction: String,
}

/// The elements that are taken out of lists: they would change which columns a list has.
pub(super) const REMOVED: [&str; 2] = ["i[data-type=\"list_mechanic2_open\"]", ".context_menu"];

/// The path of a table's list.
pub(super) fn path(table: &str) -> String {
    format!("{TARGET}{table}_list.do")
}

/// The address of a table's list with a query.
pub(super) fn url(address: &str, table: &str, query: &str) -> String {
    let query = quote(&format!("sysparm_query={}", quote(query, "")), "");
    format!("{address}{}%3F{query}", path(table))
}
