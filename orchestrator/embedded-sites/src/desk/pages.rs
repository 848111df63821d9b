//! The desk's pages.

use minijinja::context;
use minijinja::value::Serde;

use super::{manuals, notes};
use crate::web::{Failure, Reply, Visit};

const LONGEST_TITLE: usize = 200;
const LONGEST_BODY: usize = 20_000;

pub(super) fn home(_: &Visit<'_>) -> Result<Reply, Failure> {
    Reply::page("home.html", context! { manuals => manuals::titles() })
}

pub(super) fn calculator(_: &Visit<'_>) -> Result<Reply, Failure> {
    Reply::page("calculator.html", context! {})
}

pub(super) fn passwords(_: &Visit<'_>) -> Result<Reply, Failure> {
    Reply::page("password.html", context! {})
}

/// The list of notes, with a form for a new one.
pub(super) fn scratchpad(visit: &Visit<'_>) -> Result<Reply, Failure> {
    if visit.sent {
        let Some((title, body)) = written(visit) else {
            let shows = context! { notes => Serde(notes::all(visit.db)?), error => FAULT, body => visit.form.text("body") };
            return Reply::refused("scratchpad.html", shows);
        };
        notes::create(visit.db, &title, &body, visit.now)?;
        return Reply::redirect("/scratchpad.html");
    }
    Reply::page("scratchpad.html", context! { notes => Serde(notes::all(visit.db)?) })
}

/// One note, with a form to change it.
pub(super) fn note(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let note = notes::get(visit.db, visit.id("id")?)?;
    if visit.sent {
        let Some((title, body)) = written(visit) else {
            return Reply::refused("note.html", context! { note => Serde(note), error => FAULT });
        };
        notes::change(visit.db, note.id, &title, &body, visit.now)?;
        return Reply::redirect("/scratchpad.html");
    }
    Reply::page("note.html", context! { note => Serde(note) })
}

pub(super) fn delete_note(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let note = notes::get(visit.db, visit.id("id")?)?;
    notes::delete(visit.db, note.id)?;
    Reply::redirect("/scratchpad.html")
}

const FAULT: &str = "A note needs some text: at most 20,000 characters, and 200 in its title.";

/// Title and text of a form. A note without a title uses its first line.
fn written(visit: &Visit<'_>) -> Option<(String, String)> {
    let body = visit.form.text("body").trim();
    let first_line = body.lines().next().unwrap_or("").chars().take(60).collect::<String>();
    let title = visit.form.given("title").map_or(first_line, str::to_owned);
    let fits = title.chars().count() <= LONGEST_TITLE && body.chars().count() <= LONGEST_BODY;
    (!body.is_empty() && fits).then(|| (title, body.to_owned()))
}

pub(super) fn style(_: &Visit<'_>) -> Result<Reply, Failure> {
    Ok(Reply::File { kind: "text/css; charset=UTF-8", bytes: include_bytes!("desk.css").to_vec() })
}

pub(super) fn script(_: &Visit<'_>) -> Result<Reply, Failure> {
    Ok(Reply::File {
        kind: "text/javascript; charset=UTF-8",
        bytes: include_bytes!("desk.js").to_vec(),
    })
}

pub(super) fn nothing(_: &Visit<'_>) -> Result<Reply, Failure> {
    Err(Failure::NotFound)
}
