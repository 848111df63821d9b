//! Lists: `/TABLE_list.do?sysparm_query=&sysparm_first_row=`.
//!
//! A list has no order and no filter of its own. The query in the address is all there is: the
//! builder above the list, headers and the search box each lead to another address.

use encoded_query::{EncodedQuery, Order};
use minijinja::{Value, context};
use serde::Serialize;

use super::{Page, Result, layout};
use crate::itsm::schema::{Choice, Column, Kind};
use crate::itsm::seed::Record;
use crate::itsm::select;

/// Rows of a page.
const ROWS: usize = 20;
/// Columns of a list whose table names none.
const COLUMNS: usize = 7;

/// What the page's script works with.
#[derive(Serialize)]
struct Model<'a> {
    id: String,
    table: &'a str,
    title: &'a str,
    /// The conditions alone.
    query: String,
    orders: Vec<Key>,
    /// The columns that are shown, with commas between them.
    fields: String,
    total: usize,
    columns: Vec<Field<'a>>,
    rows: Vec<Row>,
}

/// A key of the order.
#[derive(Serialize)]
struct Key {
    column: String,
    descending: bool,
}

/// A column as the builder's script reads it.
#[derive(Serialize)]
struct Field<'a> {
    name: &'a str,
    label: &'a str,
    kind: &'static str,
    choices: &'a [Choice],
    reference: Option<&'a str>,
}

/// A condition as the builder shows it.
#[derive(Serialize)]
struct Row {
    column: String,
    operator: &'static str,
    value: String,
    /// What people see of the value.
    shown: String,
    /// Whether it is an alternative to the row before it.
    or: bool,
}

pub(super) fn show(page: &Page<'_>, table: &str) -> Result {
    let (desk, asked) = (page.desk, page.asked);
    let visitor = &page.visitor.acting.sys_id;
    let raw = asked.query.text("sysparm_query");
    let query = typed(page, table, raw);
    let found = select::select(desk, table, raw, visitor)?;
    let total = found.len();
    let first = asked.query.number("sysparm_first_row").unwrap_or(1).max(1);
    let skipped = usize::try_from(first - 1).unwrap_or(0).min(total.saturating_sub(1));
    let columns = columns(page, table);
    let rows = found.iter().skip(skipped).take(ROWS).map(|record| row(page, record, &columns));
    let rows = rows.collect::<Result<Vec<_>>>()?;
    let plural = desk.schema().table(table).map_or(table, |table| &table.plural);
    let heads: Vec<Value> = columns
        .iter()
        .map(|column| {
            let order = query.order.iter().find(|order| order.column == column.name);
            context! {
                name => column.name.clone(),
                label => column.label.clone(),
                sorted => order.map(|order| if order.descending { "descending" } else { "ascending" }),
            }
        })
        .collect();
    let model = model(page, table, &query, &columns, plural, total)?;
    let last = (skipped + ROWS).min(total);
    layout::draw(
        page,
        "list.html",
        context! {
            table, plural, heads, rows, total, model,
            list_id => list_id(table),
            first => if total == 0 { 0 } else { skipped + 1 },
            last,
            rows_a_page => ROWS,
            is_first => skipped == 0,
            is_last => last >= total,
            crumbs => crumbs(page, table, &query)?,
        },
    )
}

fn list_id(table: &str) -> String {
    format!("{table}_list")
}

/// The query as it was typed, with the scripts in its values.
fn typed(page: &Page<'_>, table: &str, raw: &str) -> EncodedQuery {
    let is_column = |path: &str| path == "sys_id" || page.desk.column(table, path).is_some();
    EncodedQuery::parse_known(raw, is_column)
}

/// The columns that a list shows.
fn columns<'a>(page: &Page<'a>, table: &str) -> Vec<&'a Column> {
    let schema = page.desk.schema();
    let lineage = schema.lineage(table);
    let named = lineage.iter().find(|table| !table.list.is_empty());
    if let Some(named) = named {
        return named.list.iter().filter_map(|name| schema.column(table, name)).collect();
    }
    let display = schema.display(table);
    let mut all = schema.columns(table);
    all.retain(|column| !column.name.starts_with("sys_"));
    all.sort_by_key(|column| column.name != display);
    all.truncate(COLUMNS);
    all
}

fn row(page: &Page<'_>, record: &Record, columns: &[&Column]) -> Result<Value> {
    let cells = columns.iter().map(|column| page.desk.shown_of(record, &column.name));
    let cells = cells.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(context! {
        id => record.sys_id.clone(),
        table => record.table.clone(),
        title => page.desk.title(record),
        cells,
    })
}

fn model(
    page: &Page<'_>,
    table: &str,
    query: &EncodedQuery,
    columns: &[&Column],
    plural: &str,
    total: usize,
) -> Result<Value> {
    let mut fields: Vec<Field<'_>> =
        page.desk.schema().columns(table).into_iter().map(field).collect();
    fields.sort_by_key(|field| (field.label.to_lowercase(), field.name));
    let conditions = EncodedQuery { queries: query.queries.clone(), order: Vec::new() };
    let key = |order: &Order| Key { column: order.column.clone(), descending: order.descending };
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    layout::data(&Model {
        id: list_id(table),
        table,
        title: plural,
        query: conditions.to_string(),
        orders: query.order.iter().map(key).collect(),
        fields: names.join(","),
        total,
        columns: fields,
        rows: rows(page, table, query)?,
    })
}

fn field(column: &Column) -> Field<'_> {
    let kind = match column.kind {
        Kind::Boolean => "boolean",
        Kind::Reference => "reference",
        _ if !column.choices.is_empty() => "choice",
        Kind::Choice => "choice",
        _ => "string",
    };
    Field {
        name: &column.name,
        label: &column.label,
        kind,
        choices: &column.choices,
        reference: column.reference.as_deref(),
    }
}

fn rows(page: &Page<'_>, table: &str, query: &EncodedQuery) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for all in &query.queries {
        for alternatives in all {
            for (number, condition) in alternatives.iter().enumerate() {
                let shown = match page.desk.column(table, &condition.column) {
                    Some(column) => page.desk.shown(column, &condition.value)?,
                    None => condition.value.clone(),
                };
                rows.push(Row {
                    column: condition.column.clone(),
                    operator: condition.operator.text(),
                    value: condition.value.clone(),
                    shown,
                    or: number > 0,
                });
            }
        }
    }
    Ok(rows)
}

/// The conditions in words, as links to the list with all up to each.
fn crumbs(page: &Page<'_>, table: &str, query: &EncodedQuery) -> Result<Vec<String>> {
    let mut crumbs = Vec::new();
    for row in rows(page, table, query)? {
        let label = page.desk.column(table, &row.column).map_or("", |column| &column.label);
        let joint = if row.or { "or " } else { "" };
        let words = match row.operator {
            "=" => "=",
            "!=" => "is not",
            "LIKE" => "contains",
            "NOT LIKE" => "does not contain",
            "STARTSWITH" => "starts with",
            "ENDSWITH" => "ends with",
            "ISEMPTY" | "EMPTYSTRING" => "is empty",
            "ISNOTEMPTY" => "is not empty",
            other => other,
        };
        crumbs.push(format!("{joint}{label} {words} {}", row.shown).trim_end().to_owned());
    }
    Ok(crumbs)
}
