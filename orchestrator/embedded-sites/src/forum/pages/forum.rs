//! Pages of forums: the list, creating, editing, subscribing.

use minijinja::value::{Serde, merge_maps};
use minijinja::{Value, context};

use super::{LONGEST_BODY, back, too_long, wrong};
use crate::forum::forums::{self, Forum, Words};
use crate::forum::users;
use crate::web::{Failure, Reply, Visit};

/// The context of a forum's sidebar.
pub(super) fn about(visit: &Visit<'_>, forum: &Forum) -> Result<Value, Failure> {
    let viewer = users::viewer(visit)?;
    let (is_subscribed, may_edit) = match &viewer {
        Some(viewer) => (
            forums::is_subscribed(visit.db, viewer.id, forum.id)?,
            forums::may_moderate(visit.db, viewer, forum.id)?,
        ),
        None => (false, false),
    };
    let moderators = forums::moderators(visit.db, forum.id)?;
    Ok(context! { forum => Serde(forum.clone()), is_subscribed, may_edit, moderators })
}

/// `/forums` by subscribers, `/forums/all` by name.
pub(in crate::forum) fn all(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let by_name = visit.path.text("order") == "all" || visit.address.starts_with("/forums/all");
    let forums = forums::all(visit.db, !by_name)?;
    Reply::page("forums.html", context! { forums => Serde(forums), by_name })
}

pub(in crate::forum) fn create(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    if !visit.sent {
        return Reply::page("forum_form.html", context! { making => true });
    }
    let words = words(visit);
    let mut errors = faults(&words);
    if errors.is_empty() {
        if forums::create(visit.db, &words, viewer.id, visit.now)? {
            return Reply::redirect(format!("/f/{}", words.name));
        }
        errors.push("A forum with this name exists already.".to_owned());
    }
    Reply::refused("forum_form.html", context! { making => true, errors, ..filled(&words) })
}

pub(in crate::forum) fn edit(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let forum = forums::addressed(visit)?;
    if !forums::may_moderate(visit.db, &viewer, forum.id)? {
        return Err(Failure::Forbidden);
    }
    let about = about(visit, &forum)?;
    if !visit.sent {
        let words = Words {
            name: &forum.name,
            title: &forum.title,
            description: &forum.description,
            sidebar: &forum.sidebar,
        };
        return Reply::page("forum_form.html", merge_maps([filled(&words), about]));
    }
    let words = words(visit);
    let mut errors = faults(&words);
    if errors.is_empty() {
        if forums::change(visit.db, forum.id, &words)? {
            return Reply::redirect(format!("/f/{}/edit", words.name));
        }
        errors.push("A forum with this name exists already.".to_owned());
    }
    Reply::refused("forum_form.html", context! { errors, ..merge_maps([filled(&words), about]) })
}

fn words<'a>(visit: &'a Visit<'_>) -> Words<'a> {
    let text = |field: &str| visit.form.text(field).trim();
    Words {
        name: text("forum[name]"),
        title: text("forum[title]"),
        description: text("forum[description]"),
        sidebar: text("forum[sidebar]"),
    }
}

fn filled(words: &Words<'_>) -> Value {
    context! {
        name => words.name,
        forum_title => words.title,
        description => words.description,
        sidebar => words.sidebar,
    }
}

fn faults(words: &Words<'_>) -> Vec<String> {
    let name = (!forums::is_name(words.name))
        .then(|| "The name must be 3 to 25 letters, digits or underscores.".to_owned());
    let rest = [
        wrong("The title", words.title, 100),
        wrong("The description", words.description, 300),
        wrong("The sidebar", words.sidebar, 1500),
        too_long("The sidebar", words.sidebar, LONGEST_BODY),
    ];
    name.into_iter().chain(rest.into_iter().flatten()).collect()
}

pub(in crate::forum) fn subscribe(visit: &Visit<'_>) -> Result<Reply, Failure> {
    subscription(visit, true)
}

pub(in crate::forum) fn unsubscribe(visit: &Visit<'_>) -> Result<Reply, Failure> {
    subscription(visit, false)
}

fn subscription(visit: &Visit<'_>, yes: bool) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let forum = forums::addressed(visit)?;
    forums::subscribe(visit.db, viewer.id, forum.id, yes)?;
    if visit.scripted {
        let forum = forums::addressed(visit)?;
        return Ok(Reply::Json(
            serde_json::json!({ "subscribed": yes, "subscribers": forum.subscribers }),
        ));
    }
    Reply::redirect(back(visit, format!("/f/{}", forum.name)))
}
