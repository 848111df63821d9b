//! The table of sent forms.

use rusqlite::{Connection, OptionalExtension as _, params};

pub(super) const SCHEMA: &str = "create table sent (
  id integer primary key autoincrement,
  task text not null,
  instance integer not null,
  fields text not null,
  at integer not null
)";

/// Stores the fields of a form as pairs of name and value, in order.
pub(super) fn keep(
    db: &Connection,
    task: &str,
    instance: u32,
    fields: &[(String, String)],
    now: i64,
) -> rusqlite::Result<()> {
    let fields = serde_json::json!(fields).to_string();
    let sql = "insert into sent (task, instance, fields, at) values (?1, ?2, ?3, ?4)";
    db.execute(sql, params![task, instance, fields, now]).map(drop)
}

/// The fields that were sent last, as JSON.
pub(super) fn last(db: &Connection, task: &str, instance: u32) -> rusqlite::Result<Option<String>> {
    let sql = "select fields from sent where task = ?1 and instance = ?2 order by id desc limit 1";
    db.prepare_cached(sql)?.query_row(params![task, instance], |row| row.get(0)).optional()
}
