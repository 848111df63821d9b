//! What a form sends: a record to be inserted, updated or removed.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use jiff::civil::{Date, DateTime};
use serde::Deserialize;
use serde_json::json;

use super::super::{Page, Result};
use super::{fields, is_open};
use crate::itsm::http::Reply;
use crate::itsm::schema::{Column, Kind};
use crate::itsm::store::Desk;

/// A form. Of an old record it has the values that were changed, of a new one all.
#[derive(Deserialize)]
struct Sent {
    table: String,
    sys_id: String,
    #[serde(default)]
    is_new: bool,
    #[serde(default)]
    values: BTreeMap<String, String>,
}

/// `POST /desk/save`
pub(in crate::itsm::pages) fn save(page: &Page<'_>) -> Result {
    let desk = page.desk;
    let Some(sent) = sent(page) else { return unreadable() };
    let taken = match taken(desk, &sent)? {
        Ok(taken) => taken,
        Err(why) => return refused(StatusCode::UNPROCESSABLE_ENTITY, &why),
    };
    let by = page.visitor.user_name();
    let record = if sent.is_new {
        if !is_id(&sent.sys_id) {
            return refused(StatusCode::BAD_REQUEST, "The id of the record is no id.");
        }
        if desk.by_id(&sent.sys_id)?.is_some() {
            return refused(StatusCode::CONFLICT, "This record is stored already.");
        }
        let mut taken = taken;
        if desk.schema().is_a(&sent.table, "task") {
            let visitor = page.visitor.acting.sys_id.clone();
            taken.entry("opened_by".to_owned()).or_insert(visitor);
        }
        desk.insert(&sent.table, taken, Some(sent.sys_id), by)?
    } else {
        let Some(record) = desk.get(&sent.table, &sent.sys_id)? else { return gone() };
        // What nobody changed is not stamped as changed.
        if taken.is_empty() { record } else { desk.update(record, taken, by)? }
    };
    Ok(Reply::json(StatusCode::OK, &json!({"sys_id": record.sys_id, "title": desk.title(&record)})))
}

/// `POST /desk/remove`
pub(in crate::itsm::pages) fn remove(page: &Page<'_>) -> Result {
    let Some(sent) = sent(page) else { return unreadable() };
    let Some(record) = page.desk.get(&sent.table, &sent.sys_id)? else { return gone() };
    page.desk.delete(&record)?;
    Ok(Reply::json(StatusCode::OK, &json!({"sys_id": record.sys_id})))
}

/// A form of a table that is there.
fn sent(page: &Page<'_>) -> Option<Sent> {
    let sent: Sent = serde_json::from_slice(&page.asked.body).ok()?;
    page.desk.schema().table(&sent.table).is_some().then_some(sent)
}

fn refused(status: StatusCode, error: &str) -> Result {
    Ok(Reply::json(status, &json!({"error": error})))
}

fn unreadable() -> Result {
    refused(StatusCode::BAD_REQUEST, "This is not what a form of the desk sends.")
}

fn gone() -> Result {
    refused(StatusCode::NOT_FOUND, "The record is not there any more.")
}

fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The values that are stored, or why they are not. They are as they were typed: blanks at the end
/// belong to them. What forms do not take is left out.
fn taken(
    desk: &Desk<'_>,
    sent: &Sent,
) -> rusqlite::Result<std::result::Result<BTreeMap<String, String>, String>> {
    let schema = desk.schema();
    let mut taken = BTreeMap::new();
    for (name, value) in &sent.values {
        let Some(column) = schema.column(&sent.table, name).filter(|one| is_open(one)) else {
            continue;
        };
        let value = match column.kind {
            Kind::List => ids(desk, column, value)?,
            _ => value.clone(),
        };
        if let Some(why) = wrong(desk, column, &value)? {
            return Ok(Err(why));
        }
        taken.insert(name.clone(), value);
    }
    let defaults = schema.defaults(&sent.table);
    let is_missing = |column: &&Column| match taken.get(&column.name) {
        Some(value) => value.trim().is_empty(),
        None => sent.is_new && !defaults.contains_key(&column.name),
    };
    let names = fields::names(schema, &sent.table).into_iter().flat_map(|(_, names)| names);
    let columns = names.filter_map(|name| schema.column(&sent.table, name));
    let missing: Vec<&str> = columns
        .filter(|column| column.mandatory && is_open(column))
        .filter(is_missing)
        .map(|column| column.label.as_str())
        .collect();
    Ok(match missing.is_empty() {
        true => Ok(taken),
        false => Err(format!("These fields are mandatory and empty: {}.", missing.join(", "))),
    })
}

/// Why a column cannot hold a value.
fn wrong(desk: &Desk<'_>, column: &Column, value: &str) -> rusqlite::Result<Option<String>> {
    if value.is_empty() {
        return Ok(None);
    }
    let expected = match (column.kind, column.reference.as_deref()) {
        (Kind::Date, _) if Date::strptime("%Y-%m-%d", value).is_err() => "a day such as 2025-01-31",
        (Kind::DateTime, _) if DateTime::strptime("%Y-%m-%d %H:%M:%S", value).is_err() => {
            "a moment such as 2025-01-31 09:30:00"
        }
        (Kind::Integer, _) if value.trim().parse::<i64>().is_err() => "a whole number",
        (Kind::Boolean, _) if !matches!(value, "true" | "false") => "true or false",
        (Kind::Reference, Some(table)) if desk.get(table, value)?.is_none() => {
            "a record that is there"
        }
        _ => return Ok(None),
    };
    Ok(Some(format!("“{value}” in the field {} is not {expected}.", column.label)))
}

/// The ids of the names of a list. What is no name, such as an address, stands for itself.
fn ids(desk: &Desk<'_>, column: &Column, typed: &str) -> rusqlite::Result<String> {
    let records = match &column.reference {
        Some(table) => desk.records(table)?,
        None => Vec::new(),
    };
    let id = |name: &str| {
        let found = records.iter().find(|one| desk.title(one).eq_ignore_ascii_case(name));
        found.map_or_else(|| name.to_owned(), |record| record.sys_id.clone())
    };
    let names = typed.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(names.map(id).collect::<Vec<_>>().join(","))
}
