//! Forms: `/TABLE.do?sys_id=`.
//!
//! ```text
//! opened without an id, or with -1 -> takes the id and the number of its record -> sent: inserted
//! opened with an id                -> sent: updated, or removed
//! ```
//!
//! Afterwards the visitor is back in the list from which the form was opened, with its filter.

mod fields;
mod save;

use axum::http::StatusCode;
use axum::http::header::REFERER;
use encoded_query::Operator;
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;
use url::Url;

pub(super) use save::{remove, save};

use self::fields::Section;
use super::{Page, Result, layout};
use crate::itsm::http::Asked;
use crate::itsm::schema::Column;
use crate::itsm::seed::Record;
use crate::itsm::{rules, select, store};

/// What the page's script works with.
#[derive(Serialize)]
struct Model<'a> {
    table: &'a str,
    sys_id: &'a str,
    is_new: bool,
    /// Where the visitor is afterwards.
    back: &'a str,
    /// Whether the priority follows from impact and urgency.
    is_judged: bool,
    sections: &'a [Section],
}

pub(super) fn show(page: &Page<'_>, table: &str) -> Result {
    let sys_id = page.asked.query.text("sys_id");
    if sys_id.is_empty() || sys_id == "-1" {
        return draw(page, &blank(page, table)?, true);
    }
    let Some(record) = page.desk.get(table, sys_id)? else {
        return page.refused(StatusCode::NOT_FOUND, "There is no such record.");
    };
    if record.table != table {
        let place = format!("/{}.do?sys_id={}", record.table, record.sys_id);
        return Ok(super::Reply::redirect(place));
    }
    draw(page, &record, false)
}

/// A record that is not stored yet: with defaults, the next number, and what the address gives.
fn blank(page: &Page<'_>, table: &str) -> rusqlite::Result<Record> {
    let (desk, schema) = (page.desk, page.desk.schema());
    let visitor = &page.visitor.acting.sys_id;
    let mut record = Record {
        table: table.to_owned(),
        sys_id: desk.new_id(table)?,
        fields: schema.defaults(table),
    };
    if let Some(prefix) = schema.prefix(table) {
        let number = rules::next_number(desk, table, prefix)?;
        record.fields.insert("number".to_owned(), number);
    }
    if schema.is_a(table, "task") {
        record.fields.insert("opened_at".to_owned(), store::stamp(desk.now));
        record.fields.insert("opened_by".to_owned(), visitor.clone());
    }
    let query = select::read(desk, table, page.asked.query.text("sysparm_query"), visitor);
    for condition in query.queries.into_iter().flatten().flatten() {
        let column = schema.column(table, &condition.column);
        if condition.operator == Operator::Equal && column.is_some_and(is_open) {
            record.fields.insert(condition.column, condition.value);
        }
    }
    rules::before_update(desk, &mut record);
    Ok(record)
}

/// Whether forms take a value for a column.
fn is_open(column: &Column) -> bool {
    !column.read_only && !column.name.starts_with("sys_")
}

fn draw(page: &Page<'_>, record: &Record, is_new: bool) -> Result {
    let schema = page.desk.schema();
    let table = &record.table;
    let label = schema.table(table).map_or(table, |table| &table.label);
    let sections = fields::sections(page, record)?;
    let back = list_before(page.asked).unwrap_or_else(|| format!("/{table}_list.do"));
    let model = layout::data(&Model {
        table,
        sys_id: &record.sys_id,
        is_new,
        back: &back,
        is_judged: rules::is_judged(table),
        sections: &sections,
    })?;
    let sections = Value::from(Serde(&sections));
    let title = if is_new { String::new() } else { page.desk.title(record) };
    let id = &record.sys_id;
    layout::draw(
        page,
        "form.html",
        context! { table, id, label, title, is_new, back, sections, model },
    )
}

/// The list from which a form was opened, with its filter: `sysparm_list`, else the page before.
pub(super) fn list_before(asked: &Asked<'_>) -> Option<String> {
    let is_list = |place: &str| {
        let path = place.split('?').next().unwrap_or_default();
        let name = path.strip_prefix('/').and_then(|path| path.strip_suffix("_list.do"));
        name.is_some_and(|name| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let before = Url::parse(asked.header(REFERER)).ok().map(|url| match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    });
    let given = Some(asked.query.text("sysparm_list").to_owned());
    given.into_iter().chain(before).find(|place| is_list(place))
}
