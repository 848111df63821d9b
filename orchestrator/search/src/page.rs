//! The page of results. It has plain links, because agents read it more often than people.

use std::sync::OnceLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;

use crate::engines::SearchQuery;
use crate::index::MARKS;
use crate::{PER_PAGE, Results, SearchHit};

/// The extension makes the template engine escape HTML.
const NAME: &str = "results.html";

/// Renders the page with results, or without if there was no query.
pub(crate) fn render(query: &SearchQuery<'_>, results: Option<&Results>) -> String {
    let total = results.map_or(0, |results| results.total);
    let shown = results.map_or(0, |results| results.found.len() as u64);
    let next = query.first.saturating_add(PER_PAGE);
    let rendered = environment().get_template(NAME).and_then(|template| {
        template.render(context! {
            host => query.host,
            action => query.action,
            field => query.field,
            own_site => query.own_site,
            query => &query.query,
            total => total,
            at_least => results.is_some_and(|results| results.at_least),
            first => query.first.saturating_add(1),
            last => query.first.saturating_add(shown),
            results => Serde(results.map_or(&[][..], |results| &results.found).iter().map(ResultView::of).collect::<Vec<_>>()),
            before => (query.first > 0).then(|| query.at(query.first.saturating_sub(PER_PAGE).min(total.saturating_sub(1)))),
            next => (next < total).then(|| query.at(next)),
        })
    });
    rendered.unwrap_or_else(|error| {
        tracing::error!(%error, "failed to render a page of results");
        String::new()
    })
}

#[derive(Serialize)]
struct ResultView<'a> {
    url: &'a str,
    title: &'a str,
    snippet: Vec<Piece<'a>>,
}

#[derive(Serialize)]
struct Piece<'a> {
    text: &'a str,
    found: bool,
}

impl<'a> ResultView<'a> {
    fn of(found: &'a SearchHit) -> ResultView<'a> {
        let pieces = found.snippet.split(MARKS.0).enumerate().flat_map(|(place, part)| {
            let (inside, outside) = part.split_once(MARKS.1).unwrap_or(if place == 0 {
                ("", part)
            } else {
                (part, "")
            });
            [Piece { text: inside, found: true }, Piece { text: outside, found: false }]
        });
        let title = if found.title.is_empty() { &found.url } else { &found.title };
        ResultView {
            url: &found.url,
            title,
            snippet: pieces.filter(|piece| !piece.text.is_empty()).collect(),
        }
    }
}

fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::new();
        let syntax =
            SyntaxConfig::builder().trim_blocks(true).build().expect("the usual delimiters");
        environment.set_syntax(syntax);
        environment
            .add_template(NAME, include_str!("results.html"))
            .expect("the page's template is part of the program and compiles");
        environment
    })
}
