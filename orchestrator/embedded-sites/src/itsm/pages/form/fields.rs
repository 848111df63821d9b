//! The fields of a form: which there are, and how each is drawn.

use std::collections::BTreeSet;

use ring::digest::{SHA256, digest};
use serde::Serialize;

use super::super::Page;
use crate::itsm::schema::{Choice, Column, Kind, Schema};
use crate::itsm::seed::Record;
use crate::itsm::store::Desk;

/// Fields of a form whose table names none.
const FIELDS: usize = 20;
/// The choice of no value.
const NONE: &str = "-- None --";

/// A group of fields. All but the first are tabs.
#[derive(Serialize)]
pub(super) struct Section {
    /// Hexadecimal digits.
    id: String,
    title: String,
    fields: Vec<Field>,
}

#[derive(Serialize)]
struct Field {
    /// The column, or a path through a reference.
    name: String,
    label: String,
    control: Control,
    /// As the interface names it.
    kind: String,
    /// What is stored.
    value: String,
    /// What people see of it.
    shown: String,
    choices: Vec<Choice>,
    /// The table of a reference.
    reference: Option<String>,
    mandatory: bool,
    read_only: bool,
    max_length: u32,
    /// How a value is written, where it is not plain.
    hint: &'static str,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Control {
    Line,
    Area,
    Choice,
    Boolean,
    Reference,
    Password,
}

/// The fields of a table's form, each section with its title.
pub(super) fn names<'a>(schema: &'a Schema, table: &str) -> Vec<(&'a str, Vec<&'a str>)> {
    let lineage = schema.lineage(table);
    if let Some(named) = lineage.iter().find(|table| !table.form.is_empty()) {
        let of = |fields: &'a [String]| fields.iter().map(String::as_str).collect();
        return named.form.iter().map(|one| (one.title.as_str(), of(&one.fields))).collect();
    }
    let display = schema.display(table);
    let mut all = schema.columns(table);
    all.retain(|column| !column.name.starts_with("sys_"));
    all.sort_by_key(|column| column.name != display);
    vec![("", all.into_iter().take(FIELDS).map(|column| column.name.as_str()).collect())]
}

pub(super) fn sections(page: &Page<'_>, record: &Record) -> rusqlite::Result<Vec<Section>> {
    let desk = page.desk;
    let mut seen = BTreeSet::new();
    let mut sections = Vec::new();
    for (title, names) in names(desk.schema(), &record.table) {
        let mut fields = Vec::new();
        for name in names.into_iter().filter(|name| seen.insert(*name)) {
            fields.extend(field(desk, record, name)?);
        }
        let key = format!("section {} {title}", record.table);
        let id = hex::encode(&digest(&SHA256, key.as_bytes()).as_ref()[..16]);
        sections.push(Section { id, title: title.to_owned(), fields });
    }
    Ok(sections)
}

/// A field; `None` if there is no such column.
fn field(desk: &Desk<'_>, record: &Record, path: &str) -> rusqlite::Result<Option<Field>> {
    let Some(column) = desk.column(&record.table, path) else { return Ok(None) };
    let control = control(column);
    let value = desk.value(record, path)?;
    let shown = match column.kind {
        Kind::List => list(desk, &value)?,
        _ => desk.shown(column, &value)?,
    };
    let is_elsewhere = path.contains('.');
    Ok(Some(Field {
        name: path.to_owned(),
        label: column.label.clone(),
        control,
        kind: column.internal.as_deref().unwrap_or(column.kind.name()).to_owned(),
        choices: if control == Control::Choice { choices(column, &value) } else { Vec::new() },
        reference: column.reference.clone(),
        mandatory: column.mandatory && !is_elsewhere,
        read_only: is_elsewhere || !super::is_open(column),
        max_length: column.max_length,
        hint: hint(column),
        value: match control {
            // Nobody reads a password.
            Control::Password => String::new(),
            Control::Boolean => (value == "true").to_string(),
            Control::Line => shown.clone(),
            _ => value,
        },
        shown,
    }))
}

fn control(column: &Column) -> Control {
    match column.kind {
        Kind::Boolean => Control::Boolean,
        Kind::Choice => Control::Choice,
        Kind::Reference => Control::Reference,
        Kind::Text | Kind::Html => Control::Area,
        _ if column.internal.as_deref() == Some("password") => Control::Password,
        _ => Control::Line,
    }
}

/// The choices of a menu; the value of an old record is one of them.
fn choices(column: &Column, value: &str) -> Vec<Choice> {
    let mut choices = column.choices.clone();
    let has = |choices: &[Choice], value: &str| choices.iter().any(|choice| choice.value == value);
    if !has(&choices, "") && (column.default.is_empty() || value.is_empty()) {
        choices.insert(0, Choice { value: String::new(), label: NONE.to_owned() });
    }
    if !has(&choices, value) {
        let label = column.shown(value).to_owned();
        choices.push(Choice { value: value.to_owned(), label });
    }
    choices
}

/// The names of a list's records; addresses that are no records stand for themselves.
fn list(desk: &Desk<'_>, value: &str) -> rusqlite::Result<String> {
    let one = |id: &str| match desk.by_id(id)? {
        Some(record) => Ok(desk.title(&record)),
        None => Ok(id.to_owned()),
    };
    let ids = value.split(',').filter(|id| !id.is_empty());
    Ok(ids.map(one).collect::<rusqlite::Result<Vec<_>>>()?.join(", "))
}

fn hint(column: &Column) -> &'static str {
    match column.kind {
        Kind::Date => "YYYY-MM-DD",
        Kind::DateTime => "YYYY-MM-DD hh:mm:ss",
        Kind::List => "Names, with commas between them",
        _ => "",
    }
}
