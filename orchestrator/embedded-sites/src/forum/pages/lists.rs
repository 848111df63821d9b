//! Lists of submissions and comments: the front pages, a forum, and the search.

use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::forum::submissions::{SPANS, Scope, Sort};
use crate::forum::{comments, forums, submissions, users};
use crate::web::{Failure, Reply, Visit};

/// `/`, `/hot` and so on: the visitor's subscriptions, or else the featured forums.
pub(in crate::forum) fn front(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::viewer(visit)?.map_or(0, |viewer| viewer.id);
    let subscribed = viewer != 0 && !forums::subscribed(visit.db, viewer)?.is_empty();
    let (scope, listing) = if subscribed {
        (Scope::Subscribed(viewer), "subscribed")
    } else {
        (Scope::Featured, "featured")
    };
    let sort = last_part(&visit.address);
    page(visit, sort, scope, context! { title => "Front page", base => "", listing })
}

pub(in crate::forum) fn all(visit: &Visit<'_>) -> Result<Reply, Failure> {
    by_path(visit, Scope::All, context! { title => "All forums", base => "/all", listing => "all" })
}

pub(in crate::forum) fn featured(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let shows = context! { title => "Featured forums", base => "/featured", listing => "featured" };
    by_path(visit, Scope::Featured, shows)
}

pub(in crate::forum) fn subscribed(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let scope = Scope::Subscribed(users::required(visit)?.id);
    by_path(
        visit,
        scope,
        context! { title => "Subscribed forums", base => "/subscribed", listing => "subscribed" },
    )
}

pub(in crate::forum) fn moderated(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let scope = Scope::Moderated(users::required(visit)?.id);
    by_path(
        visit,
        scope,
        context! { title => "Moderated forums", base => "/moderated", listing => "moderated" },
    )
}

/// `/f/books`, `/f/books/new` and so on.
pub(in crate::forum) fn forum(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let forum = forums::addressed(visit)?;
    let scope = Scope::Forum(forum.id);
    let base = format!("/f/{}", forum.name);
    let title = forum.title.clone();
    let about = super::forum::about(visit, &forum)?;
    let shows = context! { title, base, listing => "forum", ..about };
    by_path(visit, scope, shows)
}

/// Takes the order from the last part of the path, if it has one.
fn by_path(visit: &Visit<'_>, scope: Scope, shows: Value) -> Result<Reply, Failure> {
    page(visit, visit.path.text("sort"), scope, shows)
}

fn page(visit: &Visit<'_>, sort: &str, scope: Scope, shows: Value) -> Result<Reply, Failure> {
    let sort = Sort::named(sort).unwrap_or(Sort::Hot);
    let span = visit.query.given("t").unwrap_or(if sort.is_timed() { "day" } else { "all" });
    let (span, span_label, length) =
        *SPANS.iter().find(|(name, ..)| *name == span).ok_or(Failure::NotFound)?;
    let since = if length == i64::MAX { i64::MIN } else { visit.now - length };
    let viewer = users::viewer(visit)?.map_or(0, |viewer| viewer.id);
    let number = visit.page_number();
    let (submissions, more) = submissions::list(visit.db, scope, sort, since, number, viewer)?;
    let (_, sort_name, sort_label) = Sort::ALL[sort as usize];
    Reply::page(
        "list.html",
        context! {
            submissions => Serde(submissions),
            more,
            page => number,
            sort => sort_name,
            sort_label,
            sorts => Sort::ALL.map(|(_, name, label)| context! { name, label }).to_vec(),
            timed => sort.is_timed(),
            span,
            span_label,
            spans => SPANS.map(|(name, label, _)| context! { name, label }).to_vec(),
            ..shows
        },
    )
}

fn last_part(address: &str) -> &str {
    address.split('?').next().and_then(|path| path.rsplit('/').next()).unwrap_or("")
}

/// `/f/books/top` is a sorted list; `/f/books/17` is a submission without its slug.
pub(in crate::forum) fn forum_or_thread(visit: &Visit<'_>) -> Result<Reply, Failure> {
    if Sort::named(visit.path.text("sort")).is_some() {
        return forum(visit);
    }
    super::thread::show(visit)
}

pub(in crate::forum) fn comments(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::viewer(visit)?.map_or(0, |viewer| viewer.id);
    let number = visit.page_number();
    let (comments, more) = comments::list(visit.db, None, number, viewer)?;
    Reply::page("comments.html", context! { comments => Serde(comments), more, page => number })
}

/// `/search?q=`: submissions with every word of the query in title or body.
pub(in crate::forum) fn search(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let question = visit.query.text("q").trim();
    let viewer = users::viewer(visit)?.map_or(0, |viewer| viewer.id);
    let number = visit.page_number();
    let words: Vec<String> = question
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(20)
        // In quotes, or the full-text search would take some words for operators.
        .map(|word| format!("\"{word}\""))
        .collect();
    let (submissions, more) = match words.as_slice() {
        [] => (Vec::new(), false),
        words => submissions::search(visit.db, &words.join(" "), number, viewer)?,
    };
    let shows = context! { question, submissions => Serde(submissions), more, page => number };
    Reply::page("search.html", shows)
}
