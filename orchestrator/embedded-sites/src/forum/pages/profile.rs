//! Pages of a user's submissions and comments.

use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::forum::submissions::{Scope, Sort};
use crate::forum::users::{self, User};
use crate::forum::{comments, submissions};
use crate::web::{Failure, Reply, Visit};

fn person(visit: &Visit<'_>) -> Result<(User, i64), Failure> {
    let user = users::named(visit.db, visit.path.text("name"))?.ok_or(Failure::NotFound)?;
    Ok((user, users::viewer(visit)?.map_or(0, |viewer| viewer.id)))
}

/// Submissions and comments together, the newest first. An entry has one of the two.
pub(in crate::forum) fn overview(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let (user, viewer) = person(visit)?;
    let number = visit.page_number();
    let (submissions, more) =
        submissions::list(visit.db, Scope::By(user.id), Sort::New, i64::MIN, number, viewer)?;
    let (comments, more_comments) = comments::list(visit.db, Some(user.id), number, viewer)?;
    let mut entries: Vec<(i64, Value)> = submissions
        .into_iter()
        .map(|one| (one.created, context! { submission => Serde(one) }))
        .collect();
    entries
        .extend(comments.into_iter().map(|one| (one.created, context! { comment => Serde(one) })));
    entries.sort_by_key(|(created, _)| -created);
    let entries: Vec<Value> = entries.into_iter().map(|(_, entry)| entry).collect();
    page(user, "overview", entries, more || more_comments, number)
}

pub(in crate::forum) fn submissions(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let (user, viewer) = person(visit)?;
    let number = visit.page_number();
    let (found, more) =
        submissions::list(visit.db, Scope::By(user.id), Sort::New, i64::MIN, number, viewer)?;
    let entries = found.into_iter().map(|one| context! { submission => Serde(one) }).collect();
    page(user, "submissions", entries, more, number)
}

pub(in crate::forum) fn comments(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let (user, viewer) = person(visit)?;
    let number = visit.page_number();
    let (found, more) = comments::list(visit.db, Some(user.id), number, viewer)?;
    let entries = found.into_iter().map(|one| context! { comment => Serde(one) }).collect();
    page(user, "comments", entries, more, number)
}

fn page(
    user: User,
    tab: &str,
    entries: Vec<Value>,
    more: bool,
    number: i64,
) -> Result<Reply, Failure> {
    Reply::page("user.html", context! { user => Serde(user), tab, entries, more, page => number })
}
