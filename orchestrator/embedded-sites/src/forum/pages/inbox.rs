//! Pages of private messages.

use minijinja::context;
use minijinja::value::Serde;

use super::{LONGEST_BODY, wrong};
use crate::forum::{messages, users};
use crate::web::{Failure, Reply, Visit};

/// `/messages`: the list of threads.
pub(in crate::forum) fn threads(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let threads = messages::threads(visit.db, viewer.id)?;
    Reply::page("messages.html", context! { threads => Serde(threads) })
}

/// `/messages/thread/<id>`: a thread, with a form to reply.
pub(in crate::forum) fn thread(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let id = visit.id("id")?;
    let thread = messages::thread(visit.db, id, viewer.id)?;
    let first = thread.first().ok_or(Failure::NotFound)?;
    let other = if first.sender_id == viewer.id { first.receiver_id } else { first.sender_id };
    if !visit.sent {
        return Reply::page("message.html", context! { id, thread => Serde(thread) });
    }
    let body = visit.form.text("message[body]").trim();
    if let Some(error) = wrong("The message", body, LONGEST_BODY) {
        return Reply::refused(
            "message.html",
            context! { id, thread => Serde(thread), body, errors => [error] },
        );
    }
    messages::send(visit.db, Some(id), viewer.id, other, body, visit.now)?;
    Reply::redirect(format!("/messages/thread/{id}"))
}

/// `/user/<name>/compose_message`
pub(in crate::forum) fn compose(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let to = users::named(visit.db, visit.path.text("name"))?.ok_or(Failure::NotFound)?;
    if to.id == viewer.id {
        return Err(Failure::Forbidden);
    }
    if !visit.sent {
        return Reply::page("compose.html", context! { to => to.name });
    }
    let body = visit.form.text("message[body]").trim();
    if let Some(error) = wrong("The message", body, LONGEST_BODY) {
        return Reply::refused("compose.html", context! { to => to.name, body, errors => [error] });
    }
    let id = messages::send(visit.db, None, viewer.id, to.id, body, visit.now)?;
    Reply::redirect(format!("/messages/thread/{id}"))
}
