//! The interface for programs: `/api/now/table/TABLE[/ID]` and `/api/now/ui/meta/TABLE`.
//!
//! Every call is made by a known user; there are no further rights. The bodies of `GET` are left
//! alone. A table that is not known is an empty list.

use std::collections::BTreeMap;

use axum::http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::http::{Asked, Reply};
use super::schema::{Column, Kind};
use super::seed::Record;
use super::select::select;
use super::store::Desk;
use super::visitor::{self, Visitor};

/// The records of an answer without `sysparm_limit`.
const LIMIT: usize = 10_000;

/// Answers below `/api/now/`; `path` is what follows it.
pub(super) fn answer(desk: &Desk<'_>, asked: &Asked<'_>, path: &str) -> rusqlite::Result<Reply> {
    let Some(visitor) = visitor::of_interface(desk, asked)? else {
        return Ok(failure(StatusCode::UNAUTHORIZED, "User Not Authenticated"));
    };
    let mut parts = path.trim_end_matches('/').split('/');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("table"), Some(table), None, None) => match asked.method {
            Method::GET => list(desk, asked, &visitor, table),
            Method::POST => create(desk, asked, &visitor, table),
            _ => Ok(failure(StatusCode::METHOD_NOT_ALLOWED, "Method not supported")),
        },
        (Some("table"), Some(table), Some(id), None) => {
            let Some(record) = desk.get(table, id)? else {
                return Ok(failure(StatusCode::NOT_FOUND, "No Record found"));
            };
            one(desk, asked, &visitor, record)
        }
        (Some("ui"), Some("meta"), Some(table), None) => Ok(meta(desk, table)),
        _ => Ok(failure(StatusCode::NOT_FOUND, "Requested URI does not represent any resource")),
    }
}

fn failure(status: StatusCode, message: &str) -> Reply {
    let error = json!({"message": message, "detail": null});
    Reply::json(status, &json!({"error": error, "status": "failure"}))
}

fn list(
    desk: &Desk<'_>,
    asked: &Asked<'_>,
    visitor: &Visitor,
    table: &str,
) -> rusqlite::Result<Reply> {
    let number = |name: &str| asked.query.text(name).parse::<usize>().ok();
    let query = asked.query.text("sysparm_query");
    let found = select(desk, table, &with_columns(asked, query), &visitor.acting.sys_id)?;
    let limit = number("sysparm_limit").unwrap_or(LIMIT);
    let wanted = found.into_iter().skip(number("sysparm_offset").unwrap_or(0)).take(limit);
    let rows = wanted.map(|record| row(desk, asked, &record)).collect::<rusqlite::Result<Vec<_>>>();
    Ok(Reply::json(StatusCode::OK, &json!({"result": rows?})))
}

/// Parameters that are no option of the interface are conditions, too: `?number=INC0000001`.
fn with_columns(asked: &Asked<'_>, query: &str) -> String {
    let mut all = query.to_owned();
    for (name, value) in asked.query.iter().filter(|(name, _)| !name.starts_with("sysparm_")) {
        all.push_str(&format!("^{name}={}", value.replace('^', "^^")));
    }
    all
}

fn create(
    desk: &Desk<'_>,
    asked: &Asked<'_>,
    visitor: &Visitor,
    table: &str,
) -> rusqlite::Result<Reply> {
    if desk.schema().table(table).is_none() {
        return Ok(failure(StatusCode::BAD_REQUEST, &format!("Invalid table {table}")));
    }
    let Some(given) = given(desk, table, asked)? else {
        return Ok(failure(StatusCode::BAD_REQUEST, "The body is no JSON object"));
    };
    let record = desk.insert(table, given, None, visitor.user_name())?;
    Ok(Reply::json(StatusCode::CREATED, &json!({"result": row(desk, asked, &record)?})))
}

fn one(
    desk: &Desk<'_>,
    asked: &Asked<'_>,
    visitor: &Visitor,
    record: Record,
) -> rusqlite::Result<Reply> {
    let record = match asked.method {
        Method::GET => record,
        Method::PUT | Method::PATCH => {
            let Some(given) = given(desk, &record.table, asked)? else {
                return Ok(failure(StatusCode::BAD_REQUEST, "The body is no JSON object"));
            };
            desk.update(record, given, visitor.user_name())?
        }
        Method::DELETE => {
            desk.delete(&record)?;
            return Ok(Reply::new(StatusCode::NO_CONTENT, "", ""));
        }
        _ => return Ok(failure(StatusCode::METHOD_NOT_ALLOWED, "Method not supported")),
    };
    Ok(Reply::json(StatusCode::OK, &json!({"result": row(desk, asked, &record)?})))
}

/// What a body gives to columns that are there; `None` if it is no object.
fn given(
    desk: &Desk<'_>,
    table: &str,
    asked: &Asked<'_>,
) -> rusqlite::Result<Option<BTreeMap<String, String>>> {
    let Ok(Value::Object(body)) = serde_json::from_slice(&asked.body) else { return Ok(None) };
    let by_display = asked.query.text("sysparm_input_display_value").eq_ignore_ascii_case("true");
    let mut given = BTreeMap::new();
    for (name, value) in body {
        let Some(column) = desk.schema().column(table, &name) else { continue };
        let mut value = text(&value);
        if by_display && let Some(stored) = stored(desk, column, &value)? {
            value = stored;
        }
        given.insert(name, value);
    }
    Ok(Some(given))
}

/// A value of a body as text. An object stands for its `value`.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(object) => object.get("value").map(text).unwrap_or_default(),
        other => other.to_string(),
    }
}

/// The stored value of what people see.
pub(super) fn stored(
    desk: &Desk<'_>,
    column: &Column,
    shown: &str,
) -> rusqlite::Result<Option<String>> {
    if let Some(choice) = column.choices.iter().find(|choice| choice.label == shown) {
        return Ok(Some(choice.value.clone()));
    }
    let Some(table) = column.reference.as_deref().filter(|_| !shown.is_empty()) else {
        return Ok(None);
    };
    if desk.get(table, shown)?.is_some() {
        return Ok(None);
    }
    let records = desk.records(table)?;
    Ok(records.into_iter().find(|one| desk.title(one) == shown).map(|one| one.sys_id))
}

/// A record with the columns and values that are asked for.
fn row(desk: &Desk<'_>, asked: &Asked<'_>, record: &Record) -> rusqlite::Result<Value> {
    let fields = asked.query.text("sysparm_fields");
    let mut names: Vec<&str> =
        fields.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        names = desk.schema().columns(&record.table).iter().map(|one| one.name.as_str()).collect();
        for always in ["sys_id", "sys_class_name"] {
            if !names.contains(&always) {
                names.push(always);
            }
        }
    }
    let mut row = Map::new();
    for name in names {
        let Some(value) = cell(desk, asked, record, name)? else { continue };
        row.insert(name.to_owned(), value);
    }
    Ok(Value::Object(row))
}

/// A value as `sysparm_display_value` wants it; `None` for a column that is not there.
fn cell(
    desk: &Desk<'_>,
    asked: &Asked<'_>,
    record: &Record,
    path: &str,
) -> rusqlite::Result<Option<Value>> {
    let display = asked.query.text("sysparm_display_value").to_ascii_lowercase();
    let column = desk.column(&record.table, path);
    let last = path.rsplit('.').next();
    if column.is_none() && !matches!(last, Some("sys_id" | "sys_class_name")) {
        return Ok(None);
    }
    let value = desk.value(record, path)?;
    let shown = match column {
        Some(column) => desk.shown(column, &value)?,
        None => value.clone(),
    };
    let reference = column.filter(|column| column.kind == Kind::Reference && !value.is_empty());
    let link = reference.and_then(|column| column.reference.as_deref()).map(|table| {
        format!("http://{}/api/now/table/{table}/{value}", asked.header(axum::http::header::HOST))
    });
    Ok(Some(match (display.as_str(), link) {
        ("true", Some(link)) => json!({"display_value": shown, "link": link}),
        ("true", None) => Value::String(shown),
        ("all", Some(link)) => json!({"display_value": shown, "value": value, "link": link}),
        ("all", None) => json!({"display_value": shown, "value": value}),
        (_, Some(link)) => json!({"link": link, "value": value}),
        (_, None) => Value::String(value),
    }))
}

/// The columns of a table.
fn meta(desk: &Desk<'_>, table: &str) -> Reply {
    let mut columns = Map::new();
    for column in desk.schema().columns(table) {
        columns.insert(column.name.clone(), described(desk, column));
    }
    Reply::json(StatusCode::OK, &json!({"result": {"columns": columns}}))
}

fn described(desk: &Desk<'_>, column: &Column) -> Value {
    let kind = column.internal.as_deref().unwrap_or(column.kind.name());
    let mut described = json!({
        "name": column.name,
        "label": column.label,
        "type": column.kind.name(),
        "internal_type": kind,
        "max_length": column.max_length,
        "mandatory": column.mandatory,
        "read_only": column.read_only,
        "cangroup": true,
        "cansort": true,
        "filterable": true,
        "dependent_on_field": column.dependent_on,
    });
    if !column.choices.is_empty() {
        described["choices"] = json!(column.choices);
    }
    if let Some(table) = &column.reference {
        let display = desk.schema().display(table);
        described["reference"] = json!(table);
        described["reference_display_field"] = json!(display);
        described["reference_attributes"] = json!({"display_field": display});
    }
    described
}
