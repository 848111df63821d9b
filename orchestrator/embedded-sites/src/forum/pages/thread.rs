//! Pages of one submission with its comments: showing, voting, editing, deleting.

use minijinja::context;
use minijinja::value::Serde;

use super::forum::about;
use super::{LONGEST_BODY, LONGEST_TITLE, back, too_long, wrong};
use crate::forum::submissions::{self, Submission};
use crate::forum::users::{self, User};
use crate::forum::votes::{self, On};
use crate::forum::{comments, forums};
use crate::web::{Failure, Reply, Visit};

/// The submission in the URL, which must be in the forum in the URL.
pub(super) fn addressed(visit: &Visit<'_>, viewer: i64) -> Result<Submission, Failure> {
    let id = visit.id(if visit.path.text("id").is_empty() { "sort" } else { "id" })?;
    let submission = submissions::get(visit.db, id, viewer)?;
    let same = submission.forum.eq_ignore_ascii_case(visit.path.text("forum"));
    if same { Ok(submission) } else { Err(Failure::NotFound) }
}

pub(in crate::forum) fn show(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::viewer(visit)?;
    let number = viewer.as_ref().map_or(0, |viewer| viewer.id);
    let submission = addressed(visit, number)?;
    let forum = forums::named(visit.db, &submission.forum)?.ok_or(Failure::NotFound)?;
    let comments = comments::tree(visit.db, submission.id, None, number)?;
    let about = about(visit, &forum)?;
    let shows = context! { submission => Serde(submission), comments => Serde(comments), ..about };
    Reply::page("thread.html", shows)
}

/// Whether `user` may change a post of `author` in a forum.
pub(super) fn may_change(
    visit: &Visit<'_>,
    user: &User,
    author: i64,
    forum: i64,
) -> Result<(), Failure> {
    if user.id == author || forums::may_moderate(visit.db, user, forum)? {
        Ok(())
    } else {
        Err(Failure::Forbidden)
    }
}

pub(in crate::forum) fn edit(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let submission = addressed(visit, viewer.id)?;
    if submission.user_id != viewer.id && !viewer.admin {
        return Err(Failure::Forbidden);
    }
    if !visit.sent {
        let (title, url, body) =
            (submission.title.clone(), submission.url.clone(), submission.body.clone());
        return Reply::page(
            "edit_submission.html",
            context! { submission => Serde(submission), title, url, body },
        );
    }
    let field = |name: &str| visit.form.text(name).trim();
    let (title, body) = (field("submission[title]"), field("submission[body]"));
    let url = submission.url.as_ref().and_then(|_| visit.form.given("submission[url]"));
    let mut errors: Vec<String> =
        [wrong("The title", title, LONGEST_TITLE), too_long("The body", body, LONGEST_BODY)]
            .into_iter()
            .flatten()
            .collect();
    errors.extend(url.and_then(super::submit::wrong_address));
    if !errors.is_empty() {
        return Reply::refused(
            "edit_submission.html",
            context! { submission => Serde(submission), errors, title, url, body },
        );
    }
    submissions::change(visit.db, submission.id, title, url, body, visit.now)?;
    Reply::redirect(submission.address())
}

pub(in crate::forum) fn delete(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let submission = addressed(visit, viewer.id)?;
    may_change(visit, &viewer, submission.user_id, submission.forum_id)?;
    submissions::delete(visit.db, submission.id)?;
    Reply::redirect(format!("/f/{}", submission.forum))
}

/// `/sv/<id>` with `choice` 1, -1 or 0.
pub(in crate::forum) fn vote(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let submission = submissions::get(visit.db, visit.id("id")?, viewer.id)?;
    voted(visit, viewer.id, On::Submission(submission.id), submission.address())
}

pub(super) fn voted(
    visit: &Visit<'_>,
    viewer: i64,
    on: On,
    address: String,
) -> Result<Reply, Failure> {
    let choice = visit
        .form
        .number("choice")
        .filter(|choice| (-1..=1).contains(choice))
        .ok_or(Failure::NotFound)?;
    let net = votes::cast(visit.db, viewer, on, choice)?;
    if visit.scripted {
        return Ok(Reply::Json(serde_json::json!({ "choice": choice, "netScore": net })));
    }
    Reply::redirect(back(visit, address))
}
