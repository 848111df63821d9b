//! Forums, with their moderators and subscribers.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use super::users::User;
use crate::web::{Failure, Visit};

/// A forum.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Forum {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) sidebar: String,
    pub(super) created: i64,
    pub(super) subscribers: i64,
}

/// The text fields of a forum's form.
pub(super) struct Words<'a> {
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    pub(super) description: &'a str,
    pub(super) sidebar: &'a str,
}

const COLUMNS: &str = "id, name, title, description, sidebar, created, subscribers";

fn forum(row: &Row<'_>) -> rusqlite::Result<Forum> {
    Ok(Forum {
        id: row.get(0)?,
        name: row.get(1)?,
        title: row.get(2)?,
        description: row.get(3)?,
        sidebar: row.get(4)?,
        created: row.get(5)?,
        subscribers: row.get(6)?,
    })
}

/// Finds a forum by name, ignoring case.
pub(super) fn named(db: &Connection, name: &str) -> rusqlite::Result<Option<Forum>> {
    let sql = format!("select {COLUMNS} from forums where name_key = lower(?1)");
    db.prepare_cached(&sql)?.query_row([name], forum).optional()
}

/// The forum in the URL.
pub(super) fn addressed(visit: &Visit<'_>) -> Result<Forum, Failure> {
    named(visit.db, visit.path.text("forum"))?.ok_or(Failure::NotFound)
}

/// All forums, ordered by name or by number of subscribers.
pub(super) fn all(db: &Connection, by_subscribers: bool) -> rusqlite::Result<Vec<Forum>> {
    let order = if by_subscribers { "subscribers desc, name_key" } else { "name_key" };
    let sql = format!("select {COLUMNS} from forums order by {order}");
    db.prepare_cached(&sql)?.query_map([], forum)?.collect()
}

/// The names of the forums that `user` subscribes to.
pub(super) fn subscribed(db: &Connection, user: i64) -> rusqlite::Result<Vec<String>> {
    let sql = "select f.name from subscriptions s join forums f on f.id = s.forum where s.user = ?1 order by f.name_key";
    db.prepare_cached(sql)?.query_map([user], |row| row.get(0))?.collect()
}

/// The names of the forums that visitors without subscriptions see.
pub(super) fn featured(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "select name from forums where featured order by name_key";
    db.prepare_cached(sql)?.query_map([], |row| row.get(0))?.collect()
}

pub(super) fn is_subscribed(db: &Connection, user: i64, forum: i64) -> rusqlite::Result<bool> {
    db.prepare_cached("select 1 from subscriptions where user = ?1 and forum = ?2")?
        .exists([user, forum])
}

/// Subscribes or unsubscribes, and updates the count.
pub(super) fn subscribe(db: &Connection, user: i64, forum: i64, yes: bool) -> rusqlite::Result<()> {
    let changed = if yes {
        db.execute(
            "insert into subscriptions (user, forum) values (?1, ?2) on conflict do nothing",
            [user, forum],
        )?
    } else {
        db.execute("delete from subscriptions where user = ?1 and forum = ?2", [user, forum])?
    };
    let step = if yes { changed as i64 } else { -(changed as i64) };
    db.execute("update forums set subscribers = subscribers + ?2 where id = ?1", [forum, step])
        .map(drop)
}

pub(super) fn moderators(db: &Connection, forum: i64) -> rusqlite::Result<Vec<String>> {
    let sql = "select u.name from moderators m join users u on u.id = m.user where m.forum = ?1 order by m.created, m.id";
    db.prepare_cached(sql)?.query_map([forum], |row| row.get(0))?.collect()
}

/// Whether `user` may change the forum and other users' posts in it.
pub(super) fn may_moderate(db: &Connection, user: &User, forum: i64) -> rusqlite::Result<bool> {
    let sql = "select 1 from moderators where forum = ?1 and user = ?2";
    Ok(user.admin || db.prepare_cached(sql)?.exists([forum, user.id])?)
}

/// Three to 25 letters, digits and `_`.
pub(super) fn is_name(name: &str) -> bool {
    (3..=25).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Creates a forum. Its creator moderates and subscribes to it. Returns false if the name is taken.
pub(super) fn create(
    db: &Connection,
    words: &Words<'_>,
    user: i64,
    now: i64,
) -> rusqlite::Result<bool> {
    let sql = "insert into forums (name, name_key, title, description, sidebar, created) \
               values (?1, lower(?1), ?2, ?3, ?4, ?5) on conflict (name_key) do nothing";
    if db.execute(sql, params![words.name, words.title, words.description, words.sidebar, now])?
        == 0
    {
        return Ok(false);
    }
    let forum = db.last_insert_rowid();
    db.execute(
        "insert into moderators (forum, user, created) values (?1, ?2, ?3)",
        [forum, user, now],
    )?;
    subscribe(db, user, forum, true)?;
    Ok(true)
}

/// Changes a forum. Returns false if another forum has the name.
pub(super) fn change(db: &Connection, forum: i64, words: &Words<'_>) -> rusqlite::Result<bool> {
    let taken = "select 1 from forums where name_key = lower(?1) and id <> ?2";
    if db.prepare(taken)?.exists(params![words.name, forum])? {
        return Ok(false);
    }
    let sql = "update forums set name = ?2, name_key = lower(?2), title = ?3, description = ?4, sidebar = ?5 where id = ?1";
    db.execute(sql, params![forum, words.name, words.title, words.description, words.sidebar])?;
    Ok(true)
}
