//! Votes on submissions and comments.

use rusqlite::{Connection, OptionalExtension, params};

/// The target of a vote.
#[derive(Debug, Clone, Copy)]
pub(super) enum On {
    Submission(i64),
    Comment(i64),
}

/// Casts, changes or (with 0) withdraws a vote, and updates the counts. Returns the net score.
pub(super) fn cast(db: &Connection, user: i64, on: On, choice: i64) -> rusqlite::Result<i64> {
    let (things, votes, column, id) = match on {
        On::Submission(id) => ("submissions", "submission_votes", "submission", id),
        On::Comment(id) => ("comments", "comment_votes", "comment", id),
    };
    let before: i64 = db
        .prepare_cached(&format!("select choice from {votes} where user = ?1 and {column} = ?2"))?
        .query_row([user, id], |row| row.get(0))
        .optional()?
        .unwrap_or(0);
    if choice == 0 {
        db.execute(&format!("delete from {votes} where user = ?1 and {column} = ?2"), [user, id])?;
    } else {
        let sql = format!(
            "insert into {votes} (user, {column}, choice) values (?1, ?2, ?3) \
             on conflict (user, {column}) do update set choice = excluded.choice"
        );
        db.prepare_cached(&sql)?.execute([user, id, choice])?;
    }
    let step = |side: i64| i64::from(choice == side) - i64::from(before == side);
    let sql = format!(
        "update {things} set up = up + ?2, down = down + ?3 where id = ?1 returning up - down"
    );
    db.prepare_cached(&sql)?.query_row(params![id, step(1), step(-1)], |row| row.get(0))
}
