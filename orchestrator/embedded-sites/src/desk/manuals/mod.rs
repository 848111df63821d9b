//! The desk's manuals of the sites, one Markdown file each.

use minijinja::{Value, context};

use crate::web::{Failure, Reply, Visit};

macro_rules! manuals {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!($name, ".md")))),*] };
}

/// The manuals in display order, grouped by site.
const MANUALS: [(&str, &str); 23] = manuals![
    "getting-started",
    "calculator",
    "scratchpad",
    "passwords",
    "forum-log-in",
    "forum-finding-posts",
    "forum-posting",
    "forum-comments",
    "forum-voting",
    "forum-subscribing",
    "forum-own-forum",
    "forum-profile",
    "forum-messages",
    "shop-search",
    "shop-orders",
    "shop-account",
    "shop-back-office",
    "forge-issues",
    "forge-code",
    "wiki",
    "map",
    "mail",
    "service-desk",
];

fn title(text: &str) -> &str {
    text.lines().next().unwrap_or("").trim_start_matches("# ")
}

/// The name and title of each manual.
pub(super) fn titles() -> Vec<Value> {
    MANUALS.iter().map(|(name, text)| context! { name => *name, title => title(text) }).collect()
}

pub(super) fn list(_: &Visit<'_>) -> Result<Reply, Failure> {
    Reply::page("manuals.html", context! { manuals => titles() })
}

/// `/manuals/forum-voting`, with or without `.html`.
pub(super) fn show(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let wanted = visit.path.text("name");
    let wanted = wanted.strip_suffix(".html").unwrap_or(wanted);
    let at = MANUALS.iter().position(|(name, _)| *name == wanted).ok_or(Failure::NotFound)?;
    let (_, text) = MANUALS[at];
    let neighbour = |at: usize| {
        MANUALS.get(at).map(|(name, text)| context! { name => *name, title => title(text) })
    };
    let (before, after) = (at.checked_sub(1).and_then(neighbour), neighbour(at + 1));
    Reply::page("manual.html", context! { title => title(text), text, before, after })
}
