//! The notes of the scratchpad.

use rusqlite::{Connection, Row, params};
use serde::Serialize;

pub(super) const SCHEMA: &str = "create table notes (
  id integer primary key autoincrement,
  title text not null,
  body text not null,
  created integer not null,
  changed integer not null
)";

/// A note.
#[derive(Debug, Serialize)]
pub(super) struct Note {
    pub(super) id: i64,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) created: i64,
    pub(super) changed: i64,
}

fn note(row: &Row<'_>) -> rusqlite::Result<Note> {
    Ok(Note {
        id: row.get(0)?,
        title: row.get(1)?,
        body: row.get(2)?,
        created: row.get(3)?,
        changed: row.get(4)?,
    })
}

/// All notes, the latest change first.
pub(super) fn all(db: &Connection) -> rusqlite::Result<Vec<Note>> {
    let sql = "select id, title, body, created, changed from notes order by changed desc, id desc limit 500";
    db.prepare_cached(sql)?.query_map([], note)?.collect()
}

pub(super) fn get(db: &Connection, id: i64) -> rusqlite::Result<Note> {
    db.prepare_cached("select id, title, body, created, changed from notes where id = ?1")?
        .query_row([id], note)
}

pub(super) fn create(db: &Connection, title: &str, body: &str, now: i64) -> rusqlite::Result<()> {
    let sql = "insert into notes (title, body, created, changed) values (?1, ?2, ?3, ?3)";
    db.execute(sql, params![title, body, now]).map(drop)
}

pub(super) fn change(
    db: &Connection,
    id: i64,
    title: &str,
    body: &str,
    now: i64,
) -> rusqlite::Result<()> {
    let sql = "update notes set title = ?2, body = ?3, changed = ?4 where id = ?1";
    db.execute(sql, params![id, title, body, now]).map(drop)
}

pub(super) fn delete(db: &Connection, id: i64) -> rusqlite::Result<()> {
    db.execute("delete from notes where id = ?1", [id]).map(drop)
}
