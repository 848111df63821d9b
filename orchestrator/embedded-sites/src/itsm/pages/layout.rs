//! The templates, and what all pages have.

use std::sync::OnceLock;

use minijinja::value::merge_maps;
use minijinja::{Environment, Value, context};
use serde::Serialize;

use super::{Page, Result};
use crate::itsm::golden;
use crate::itsm::http::Reply;
use crate::web::environment;

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../templates/", $name)))),*]
    };
}

const TEMPLATES: &[(&str, &str)] = &templates![
    "cart.html",
    "catalogue.html",
    "category.html",
    "change_landing.html",
    "checkout.html",
    "dashboard.html",
    "dashboards.html",
    "form.html",
    "form_section.html",
    "frame.html",
    "inner.html",
    "item.html",
    "knowledge.html",
    "knowledge_article.html",
    "knowledge_hits.html",
    "list.html",
    "log_in.html",
    "nothing.html",
    "report.html",
];

/// A page from a template.
pub(super) fn draw(page: &Page<'_>, template: &str, shows: Value) -> Result {
    let user = &page.visitor.acting;
    let base = context! {
        user_name => user.text("name").to_owned(),
        is_impersonating => page.visitor.is_impersonating(),
    };
    render(template, merge_maps([base, shows])).map(Reply::html)
}

/// A template with all that it shows.
pub(super) fn render(template: &str, shows: Value) -> Result<String> {
    Ok(engine()?.get_template(template)?.render(shows)?)
}

/// Data for a script of the page, in an element `script` of its own.
pub(super) fn data(value: &impl Serialize) -> Result<Value> {
    let json = golden::json(value)?;
    // Nothing in it may end the element.
    Ok(Value::from_safe_string(json.replace('<', "\\u003c")))
}

/// All instances share the templates, which are parsed once.
fn engine() -> std::result::Result<&'static Environment<'static>, minijinja::Error> {
    static READ: OnceLock<Environment<'static>> = OnceLock::new();
    if let Some(read) = READ.get() {
        return Ok(read);
    }
    let read = environment(TEMPLATES).map_err(|error| {
        minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, error.to_string())
    })?;
    Ok(READ.get_or_init(|| read))
}
