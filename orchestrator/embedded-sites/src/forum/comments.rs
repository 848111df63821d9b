//! Comments, as a tree below a submission and in lists.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row, named_params, params};
use serde::Serialize;

use super::submissions::{self, PAGE};

/// A comment as pages show it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Comment {
    pub(super) id: i64,
    pub(super) submission: i64,
    pub(super) submission_title: String,
    pub(super) submission_slug: String,
    pub(super) forum: String,
    pub(super) forum_id: i64,
    pub(super) parent: Option<i64>,
    pub(super) user: String,
    pub(super) user_id: i64,
    pub(super) body: String,
    pub(super) created: i64,
    pub(super) edited: Option<i64>,
    pub(super) deleted: bool,
    pub(super) net: i64,
    /// The viewer's vote: 1, -1, or 0 for none.
    pub(super) choice: i64,
    /// The replies, only in a tree.
    pub(super) children: Vec<Comment>,
}

impl Comment {
    pub(super) fn address(&self) -> String {
        format!("/f/{}/{}/-/comment/{}", self.forum, self.submission, self.id)
    }
}

const SELECT: &str = "select c.id, c.submission, s.title, s.slug, f.name, s.forum, c.parent, u.name, c.user, c.body, \
     c.created, c.edited, c.deleted, c.up - c.down, \
     coalesce((select choice from comment_votes v where v.user = :viewer and v.comment = c.id), 0) \
     from comments c cross join submissions s on s.id = c.submission cross join forums f on f.id = s.forum \
     cross join users u on u.id = c.user";

fn comment(row: &Row<'_>) -> rusqlite::Result<Comment> {
    Ok(Comment {
        id: row.get(0)?,
        submission: row.get(1)?,
        submission_title: row.get(2)?,
        submission_slug: row.get(3)?,
        forum: row.get(4)?,
        forum_id: row.get(5)?,
        parent: row.get(6)?,
        user: row.get(7)?,
        user_id: row.get(8)?,
        body: row.get(9)?,
        created: row.get(10)?,
        edited: row.get(11)?,
        deleted: row.get(12)?,
        net: row.get(13)?,
        choice: row.get(14)?,
        children: Vec::new(),
    })
}

pub(super) fn get(db: &Connection, id: i64, viewer: i64) -> rusqlite::Result<Comment> {
    db.prepare_cached(&format!("{SELECT} where c.id = :id"))?
        .query_row(named_params! { ":id": id, ":viewer": viewer }, comment)
}

/// The comments of a submission as a tree, the best first on each level. With `root` the tree
/// begins at that comment.
pub(super) fn tree(
    db: &Connection,
    submission: i64,
    root: Option<i64>,
    viewer: i64,
) -> rusqlite::Result<Vec<Comment>> {
    // The worst and newest first, because the tree takes them from the end.
    let sql = format!("{SELECT} where c.submission = :of order by c.up - c.down, c.id desc");
    let mut statement = db.prepare_cached(&sql)?;
    let mut below: BTreeMap<Option<i64>, Vec<Comment>> = BTreeMap::new();
    let rows =
        statement.query_map(named_params! { ":of": submission, ":viewer": viewer }, comment)?;
    for found in rows {
        let found = found?;
        let place = if Some(found.id) == root { None } else { found.parent.or(root.map(|_| -1)) };
        below.entry(place).or_default().push(found);
    }
    Ok(grow(&mut below, None, 0))
}

/// Deeper replies appear only on the page of their parent comment.
const DEEPEST: usize = 40;

fn grow(
    below: &mut BTreeMap<Option<i64>, Vec<Comment>>,
    parent: Option<i64>,
    depth: usize,
) -> Vec<Comment> {
    let mut level = below.remove(&parent).unwrap_or_default();
    level.reverse();
    if depth < DEEPEST {
        for comment in &mut level {
            comment.children = grow(below, Some(comment.id), depth + 1);
        }
    }
    level
}

/// A page of the newest comments, of all users or of `user`, and whether more follow.
pub(super) fn list(
    db: &Connection,
    user: Option<i64>,
    page: i64,
    viewer: i64,
) -> rusqlite::Result<(Vec<Comment>, bool)> {
    let filter = if user.is_some() { "c.user = :of" } else { "coalesce(:of, 0) = 0" };
    let sql = format!(
        "{SELECT} where {filter} and not c.deleted order by c.created desc, c.id desc limit :limit offset :offset"
    );
    let mut statement = db.prepare_cached(&sql)?;
    // One more than a page shows whether another one follows.
    let page = named_params! { ":of": user, ":viewer": viewer, ":limit": PAGE + 1, ":offset": (page - 1) * PAGE };
    let mut found = statement.query_map(page, comment)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let more = found.len() as i64 > PAGE;
    found.truncate(PAGE as usize);
    Ok((found, more))
}

/// Creates a comment with its author's vote and returns its id.
pub(super) fn create(
    db: &Connection,
    submission: i64,
    parent: Option<i64>,
    user: i64,
    body: &str,
    now: i64,
) -> rusqlite::Result<i64> {
    let sql = "insert into comments (submission, parent, user, body, created, up) values (?1, ?2, ?3, ?4, ?5, 1)";
    db.prepare_cached(sql)?.execute(params![submission, parent, user, body, now])?;
    let id = db.last_insert_rowid();
    db.execute("insert into comment_votes (user, comment, choice) values (?1, ?2, 1)", [user, id])?;
    submissions::recount(db, submission)?;
    Ok(id)
}

pub(super) fn change(db: &Connection, id: i64, body: &str, now: i64) -> rusqlite::Result<()> {
    db.execute("update comments set body = ?2, edited = ?3 where id = ?1", params![id, body, now])
        .map(drop)
}

/// Deletes a comment. A comment with replies keeps its place and loses its text.
pub(super) fn delete(db: &Connection, comment: &Comment) -> rusqlite::Result<()> {
    if db.prepare_cached("select 1 from comments where parent = ?1")?.exists([comment.id])? {
        db.execute("update comments set deleted = 1, body = '' where id = ?1", [comment.id])?;
    } else {
        db.execute("delete from comments where id = ?1", [comment.id])?;
    }
    submissions::recount(db, comment.submission)
}
