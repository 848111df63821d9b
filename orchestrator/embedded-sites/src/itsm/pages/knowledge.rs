//! Knowledge: the bases, a search over the articles, and an article.
//!
//! ```text
//! /kb?id=kb_home                       the search and the bases
//! /kb?id=kb_search&query=              articles, the best first; without words all of a base
//! /kb?id=kb_article_view&sysparm_article=NUMBER
//! ```
//!
//! The text of an article is HTML, which is shown as it is stored. A policy keeps the scripts in it
//! from running.

use axum::http::StatusCode;
use minijinja::{Value, context};

use super::{Page, Result, layout};
use crate::itsm::knowledge_search::{Library, Text, plain};
use crate::itsm::seed::Record;

/// Hits on a page.
const HITS: usize = 20;
/// Characters of the text that a hit shows.
const SNIPPET: usize = 220;
/// Scripts of this site alone. Programs that test pages evaluate texts within them.
const POLICY: &str = "script-src 'self' 'unsafe-eval'; object-src 'none'; base-uri 'none'";

pub(super) fn show(page: &Page<'_>) -> Result {
    match page.asked.query.text("id") {
        "kb_search" => search(page),
        "kb_article_view" | "kb_article" => article(page),
        _ => home(page),
    }
}

pub(super) fn home(page: &Page<'_>) -> Result {
    let articles = articles(page)?;
    let mut bases = Vec::new();
    for base in page.desk.records("kb_knowledge_base")? {
        let of = |article: &&Record| article.text("kb_knowledge_base") == base.sys_id;
        let count = articles.iter().filter(of).count();
        if base.text("active") != "false" {
            bases.push(context! {
                id => base.sys_id.clone(),
                title => base.text("title"),
                description => base.text("description"),
                count,
            });
        }
    }
    layout::draw(page, "knowledge.html", context! { bases })
}

fn search(page: &Page<'_>) -> Result {
    let query = &page.asked.query;
    let (words, base) = (query.text("query"), query.text("kb_knowledge_base"));
    let mut articles = articles(page)?;
    articles.retain(|article| base.is_empty() || article.text("kb_knowledge_base") == base);
    let texts = articles.iter().map(|article| Text {
        title: article.text("short_description").to_owned(),
        text: plain(article.text("text")),
    });
    let library = Library::new(texts.collect());
    let found = library.search(words);
    let total = found.len();
    let first = usize::try_from(query.number("start").unwrap_or(0)).unwrap_or(0);
    let mut hits = Vec::new();
    for index in found.into_iter().skip(first).take(HITS) {
        let snippet = library.snippet(index, words, SNIPPET);
        hits.push(hit(page, &articles[index], snippet)?);
    }
    layout::draw(
        page,
        "knowledge_hits.html",
        context! {
            query => words,
            base,
            base_title => page.desk.get("kb_knowledge_base", base)?.map(|it| page.desk.title(&it)),
            total,
            first => first + 1,
            last => first + hits.len(),
            earlier => (first > 0).then(|| first.saturating_sub(HITS)),
            later => (first + HITS < total).then_some(first + HITS),
            hits,
        },
    )
}

fn hit(page: &Page<'_>, article: &Record, snippet: String) -> Result<Value> {
    Ok(context! {
        number => article.text("number"),
        title => article.text("short_description"),
        base => page.desk.shown_of(article, "kb_knowledge_base")?,
        snippet,
    })
}

/// An article, by its number or its `sys_id`.
pub(super) fn article(page: &Page<'_>) -> Result {
    let query = &page.asked.query;
    let (number, id) = (query.text("sysparm_article"), query.text("sys_kb_id"));
    let articles = articles(page)?;
    let wanted =
        |one: &&Record| one.sys_id == id || (!number.is_empty() && one.text("number") == number);
    let Some(article) = articles.iter().find(wanted) else {
        return page.refused(StatusCode::NOT_FOUND, "There is no such article.");
    };
    let mut reply = layout::draw(
        page,
        "knowledge_article.html",
        context! {
            number => article.text("number"),
            title => article.text("short_description"),
            base => page.desk.shown_of(article, "kb_knowledge_base")?,
            base_id => article.text("kb_knowledge_base"),
            author => page.desk.shown_of(article, "author")?,
            updated => article.text("sys_updated_on").split(' ').next(),
            text => Value::from_safe_string(article.text("text").to_owned()),
        },
    )?;
    reply.policy = Some(POLICY);
    Ok(reply)
}

/// The articles that can be read.
fn articles(page: &Page<'_>) -> Result<Vec<Record>> {
    let mut articles = page.desk.records("kb_knowledge")?;
    articles.retain(|article| {
        matches!(article.text("workflow_state"), "" | "published")
            && article.text("active") != "false"
    });
    Ok(articles)
}
