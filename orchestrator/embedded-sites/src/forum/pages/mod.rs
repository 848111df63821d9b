//! The forum's pages. Each function handles one kind of request.

pub(super) mod account;
pub(super) mod files;
pub(super) mod forum;
pub(super) mod inbox;
pub(super) mod lists;
pub(super) mod profile;
pub(super) mod remark;
pub(super) mod submit;
pub(super) mod thread;

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::{forums, users};
use crate::web::{Failure, Visit};

/// The context of every page: the visitor and their subscriptions.
pub(super) fn frame(visit: &Visit<'_>) -> Result<Value, Failure> {
    let viewer = users::viewer(visit)?;
    let subscribed = match &viewer {
        Some(viewer) => forums::subscribed(visit.db, viewer.id)?,
        None => Vec::new(),
    };
    let featured = forums::featured(visit.db)?;
    Ok(context! { viewer => Serde(viewer), subscribed, featured })
}

/// Where a small form returns: the page that contained it.
fn back(visit: &Visit<'_>, otherwise: String) -> String {
    visit.form.given("back").map_or(otherwise, str::to_owned)
}

/// Maximum length of each kind of text, in characters.
const LONGEST_TITLE: usize = 300;
const LONGEST_BODY: usize = 25_000;

/// The error for a text that is missing or too long.
fn wrong(what: &str, text: &str, longest: usize) -> Option<String> {
    if text.trim().is_empty() {
        Some(format!("{what} must not be empty."))
    } else {
        too_long(what, text, longest)
    }
}

fn too_long(what: &str, text: &str, longest: usize) -> Option<String> {
    (text.chars().count() > longest)
        .then(|| format!("{what} must not be longer than {longest} characters."))
}
