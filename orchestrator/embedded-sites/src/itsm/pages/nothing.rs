//! Pages that the desk has only the name of: a heading, and one line.

use minijinja::context;

use super::{Page, Result, layout};

/// A page behind a module that has nothing here.
pub(super) fn show(page: &Page<'_>, path: &str) -> Result {
    let name = path.trim_matches('/').trim_start_matches('$');
    let name = name.split(['.', '/']).next().unwrap_or_default().replace('_', " ");
    message(page, &name, "This part of the desk is not set up.")
}

pub(super) fn message(page: &Page<'_>, heading: &str, text: &str) -> Result {
    layout::draw(page, "nothing.html", context! { heading, text })
}
