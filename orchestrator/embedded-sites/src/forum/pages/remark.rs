//! Pages of one comment: writing, showing, voting, editing, deleting.

use minijinja::context;
use minijinja::value::Serde;

use super::forum::about;
use super::thread::{addressed, may_change, voted};
use super::{LONGEST_BODY, wrong};
use crate::forum::comments::{self, Comment};
use crate::forum::votes::On;
use crate::forum::{forums, users};
use crate::web::{Failure, Reply, Visit};

/// The comment in the URL, below the submission in the URL.
fn one(visit: &Visit<'_>, viewer: i64) -> Result<Comment, Failure> {
    let submission = addressed(visit, viewer)?;
    let comment = comments::get(visit.db, visit.id("comment")?, viewer)?;
    if comment.submission == submission.id { Ok(comment) } else { Err(Failure::NotFound) }
}

/// A comment with its replies.
pub(in crate::forum) fn show(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::viewer(visit)?.map_or(0, |viewer| viewer.id);
    let submission = addressed(visit, viewer)?;
    let comment = one(visit, viewer)?;
    let forum = forums::named(visit.db, &submission.forum)?.ok_or(Failure::NotFound)?;
    let comments = comments::tree(visit.db, submission.id, Some(comment.id), viewer)?;
    let about = about(visit, &forum)?;
    let shows = context! { submission => Serde(submission), comments => Serde(comments), single => true, ..about };
    Reply::page("thread.html", shows)
}

/// `/f/<forum>/<id>/-/comment`: a reply to the submission, or to the comment in `parent`.
pub(in crate::forum) fn create(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let submission = addressed(visit, viewer.id)?;
    let parent = match visit.form.number("parent") {
        Some(parent) => Some(comments::get(visit.db, parent, viewer.id)?),
        None => None,
    };
    let elsewhere =
        parent.as_ref().is_some_and(|parent| parent.submission != submission.id || parent.deleted);
    if elsewhere {
        return Err(Failure::NotFound);
    }
    let field = parent.as_ref().map_or_else(
        || format!("reply_to_submission_{}[comment]", submission.id),
        |parent| format!("reply_to_comment_{}[comment]", parent.id),
    );
    let body = visit.form.text(&field).trim();
    if let Some(error) = wrong("The comment", body, LONGEST_BODY) {
        let parent = parent.map(|parent| parent.id);
        let shows =
            context! { submission => Serde(submission), field, parent, body, errors => [error] };
        return Reply::refused("comment_form_page.html", shows);
    }
    let parent = parent.map(|parent| parent.id);
    let id = comments::create(visit.db, submission.id, parent, viewer.id, body, visit.now)?;
    Reply::redirect(comments::get(visit.db, id, viewer.id)?.address())
}

pub(in crate::forum) fn edit(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let comment = one(visit, viewer.id)?;
    if comment.deleted || comment.user_id != viewer.id && !viewer.admin {
        return Err(Failure::Forbidden);
    }
    if !visit.sent {
        let body = comment.body.clone();
        return Reply::page("edit_comment.html", context! { comment => Serde(comment), body });
    }
    let body = visit.form.text("comment[comment]").trim();
    if let Some(error) = wrong("The comment", body, LONGEST_BODY) {
        return Reply::refused(
            "edit_comment.html",
            context! { comment => Serde(comment), body, errors => [error] },
        );
    }
    comments::change(visit.db, comment.id, body, visit.now)?;
    Reply::redirect(comment.address())
}

pub(in crate::forum) fn delete(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let comment = one(visit, viewer.id)?;
    may_change(visit, &viewer, comment.user_id, comment.forum_id)?;
    comments::delete(visit.db, &comment)?;
    Reply::redirect(format!(
        "/f/{}/{}/{}",
        comment.forum, comment.submission, comment.submission_slug
    ))
}

/// `/cv/<id>` with `choice` 1, -1 or 0.
pub(in crate::forum) fn vote(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let comment = comments::get(visit.db, visit.id("id")?, viewer.id)?;
    if comment.deleted {
        return Err(Failure::NotFound);
    }
    voted(visit, viewer.id, On::Comment(comment.id), comment.address())
}
