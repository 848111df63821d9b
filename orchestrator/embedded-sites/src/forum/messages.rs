//! Private messages. The first message opens a thread.

use rusqlite::{Connection, Row, params};
use serde::Serialize;

/// A message as pages show it.
#[derive(Debug, Serialize)]
pub(super) struct Message {
    pub(super) id: i64,
    pub(super) sender: String,
    pub(super) sender_id: i64,
    pub(super) receiver: String,
    pub(super) receiver_id: i64,
    pub(super) body: String,
    pub(super) created: i64,
}

const SELECT: &str = "select m.id, s.name, m.sender, r.name, m.receiver, m.body, m.created from messages m \
     join users s on s.id = m.sender join users r on r.id = m.receiver";

fn message(row: &Row<'_>) -> rusqlite::Result<Message> {
    Ok(Message {
        id: row.get(0)?,
        sender: row.get(1)?,
        sender_id: row.get(2)?,
        receiver: row.get(3)?,
        receiver_id: row.get(4)?,
        body: row.get(5)?,
        created: row.get(6)?,
    })
}

/// The first message of each of `user`'s threads, the newest thread first.
pub(super) fn threads(db: &Connection, user: i64) -> rusqlite::Result<Vec<Message>> {
    let sql = format!(
        "{SELECT} where m.thread is null and (m.sender = ?1 or m.receiver = ?1) order by m.id desc limit 100"
    );
    db.prepare_cached(&sql)?.query_map([user], message)?.collect()
}

/// The messages of a thread, oldest first. Empty if it does not exist or `user` is not in it.
pub(super) fn thread(db: &Connection, id: i64, user: i64) -> rusqlite::Result<Vec<Message>> {
    let sql = format!(
        "{SELECT} where (m.id = ?1 and m.thread is null or m.thread = ?1) and (m.sender = ?2 or m.receiver = ?2) order by m.id"
    );
    db.prepare_cached(&sql)?.query_map([id, user], message)?.collect()
}

/// Sends a message, in a thread or as the first of a new one. Returns the id of its thread.
pub(super) fn send(
    db: &Connection,
    thread: Option<i64>,
    sender: i64,
    receiver: i64,
    body: &str,
    now: i64,
) -> rusqlite::Result<i64> {
    let sql = "insert into messages (thread, sender, receiver, body, created) values (?1, ?2, ?3, ?4, ?5)";
    db.prepare_cached(sql)?.execute(params![thread, sender, receiver, body, now])?;
    Ok(thread.unwrap_or_else(|| db.last_insert_rowid()))
}
