//! The forum's pages: each function takes a visit and says what is shown or what happens.

pub(super) mod account;
pub(super) mod files;
pub(super) mod forum;
pub(super) mod inbox;
pub(super) mod lists;
pub(super) mod profile;
pub(super) mod remark;
pub(super) mod submit;
pub(super) mod thread;

use minijinja::{Value, context, value::Serde};

use super::{forums, users};
use crate::web::{Failure, Visit};

/// What every page shows: who visits, what they are subscribed to.
pub(super) fn frame(visit: &Visit<'_>) -> Result<Value, Failure> {
    let viewer = users::viewer(visit)?;
    let subscribed = match &viewer {
        Some(viewer) => forums::subscribed(visit.db, viewer.id)?,
        None => Vec::new(),
    };
    let featured = forums::featured(visit.db)?;
    Ok(context! { viewer => Serde(viewer), subscribed, featured })
}

/// Where a small form goes back to: the page that it was on.
fn back(visit: &Visit<'_>, otherwise: String) -> String {
    visit.form.given("back").map_or(otherwise, str::to_owned)
}

/// At most so many letters of each kind of text.
const LONGEST_TITLE: usize = 300;
const LONGEST_BODY: usize = 25_000;

/// What is wrong with a text that must be there and must not be too long.
fn wrong(what: &str, text: &str, longest: usize) -> Option<String> {
    if text.trim().is_empty() {
        Some(format!("{what} must not be empty."))
    } else {
        too_long(what, text, longest)
    }
}

fn too_long(what: &str, text: &str, longest: usize) -> Option<String> {
    (text.chars().count() > longest).then(|| format!("{what} must not be longer than {longest} characters."))
}
