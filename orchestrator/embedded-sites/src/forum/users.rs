//! The users of the forum.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use super::password;
use crate::web::{Failure, Visit};

/// A user with an account.
#[derive(Debug, Clone, Serialize)]
pub(super) struct User {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) created: i64,
    pub(super) admin: bool,
    pub(super) biography: String,
}

const COLUMNS: &str = "id, name, created, admin, biography";

fn user(row: &Row<'_>) -> rusqlite::Result<User> {
    Ok(User {
        id: row.get(0)?,
        name: row.get(1)?,
        created: row.get(2)?,
        admin: row.get(3)?,
        biography: row.get(4)?,
    })
}

/// Finds a user by name, ignoring case.
pub(super) fn named(db: &Connection, name: &str) -> rusqlite::Result<Option<User>> {
    let sql = format!("select {COLUMNS} from users where name_key = lower(?1)");
    db.prepare_cached(&sql)?.query_row([name], user).optional()
}

/// The user with this name and password.
pub(super) fn matching(
    db: &Connection,
    name: &str,
    password: &str,
) -> rusqlite::Result<Option<User>> {
    let sql = format!("select {COLUMNS} from users where name_key = lower(?1) and password = ?2");
    db.prepare_cached(&sql)?.query_row([name, &password::hash(name, password)], user).optional()
}

/// The visitor, by cookie or by the header that has user and password.
pub(super) fn viewer(visit: &Visit<'_>) -> Result<Option<User>, Failure> {
    if let Some(name) = &visit.session {
        return Ok(named(visit.db, name)?);
    }
    match visit.auto_login.as_deref().and_then(|login| login.split_once(':')) {
        Some((name, password)) => Ok(matching(visit.db, name, password)?),
        None => Ok(None),
    }
}

/// The visitor of a page that requires a log-in.
pub(super) fn required(visit: &Visit<'_>) -> Result<User, Failure> {
    viewer(visit)?.ok_or(Failure::Anonymous)
}

/// The owner of a page, if the visitor is the owner or an administrator.
pub(super) fn owner(visit: &Visit<'_>) -> Result<User, Failure> {
    let viewer = required(visit)?;
    let user = named(visit.db, visit.path.text("name"))?.ok_or(Failure::NotFound)?;
    if user.id == viewer.id || viewer.admin { Ok(user) } else { Err(Failure::Forbidden) }
}

/// Three to 25 letters, digits, `_` and `-`.
pub(super) fn is_name(name: &str) -> bool {
    (3..=25).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Creates an account. Returns false if the name is taken.
pub(super) fn register(
    db: &Connection,
    name: &str,
    password: &str,
    now: i64,
) -> rusqlite::Result<bool> {
    let sql = "insert into users (name, name_key, password, created) values (?1, lower(?1), ?2, ?3) \
               on conflict (name_key) do nothing";
    Ok(db.prepare_cached(sql)?.execute(params![name, password::hash(name, password), now])? == 1)
}

pub(super) fn set_biography(db: &Connection, user: i64, biography: &str) -> rusqlite::Result<()> {
    db.execute("update users set biography = ?2 where id = ?1", params![user, biography]).map(drop)
}

pub(super) fn set_password(db: &Connection, user: &User, password: &str) -> rusqlite::Result<()> {
    let hash = password::hash(&user.name, password);
    db.execute("update users set password = ?2 where id = ?1", params![user.id, hash]).map(drop)
}

/// Anonymizes the user. Their posts stay.
pub(super) fn delete(db: &Connection, user: i64) -> rusqlite::Result<()> {
    let sql = "update users set name = '!deleted' || id, name_key = '!deleted' || id, password = '', biography = '', \
               admin = 0 where id = ?1";
    db.execute(sql, [user])?;
    db.execute("delete from subscriptions where user = ?1", [user])?;
    db.execute("delete from moderators where user = ?1", [user]).map(drop)
}
