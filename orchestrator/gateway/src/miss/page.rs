//! The miss page: self-contained and readable without scripts.

use std::sync::OnceLock;

use minijinja::value::Serde;
use minijinja::{Environment, context};

use super::NearCapture;
use crate::RequestHead;

const TEMPLATE: &str = include_str!("page.html");
/// The file extension makes the template engine escape everything for HTML.
const NAME: &str = "page.html";
/// The maximum length of a displayed URL.
const SHOWN: usize = 300;

/// The content of the page.
pub(super) struct Page<'a> {
    kind: &'static str,
    title: &'static str,
    text: String,
    head: &'a RequestHead,
    near: &'a [NearCapture],
    /// Whether it is known to the client that nothing is near.
    is_alone: bool,
}

impl<'a> Page<'a> {
    /// `lists` says whether the nearest captures are told. If not, the page must not tell either
    /// whether there are any.
    pub(super) fn missed(head: &'a RequestHead, near: &'a [NearCapture], lists: bool) -> Self {
        let text = "The snapshot has no answer to this request, and none is made up.".to_owned();
        let is_alone = lists && near.is_empty();
        let near = if lists { near } else { &[] };
        Page { kind: "miss", title: "Not in this recording", text, head, near, is_alone }
    }

    pub(super) fn refused(head: &'a RequestHead) -> Self {
        let text = format!("{} is not in this world; nothing was sent to it.", head.host);
        Page { kind: "refused", title: "Not in this world", text, head, near: &[], is_alone: false }
    }

    pub(super) fn guarded(head: &'a RequestHead) -> Self {
        let text = format!(
            "{} to {} may change something at a third party, and was not sent. `--allow-writes {}` lets it pass.",
            head.method, head.host, head.host
        );
        Page { kind: "refused", title: "Not sent", text, head, near: &[], is_alone: false }
    }

    pub(super) fn failed(head: &'a RequestHead, error: &str) -> Self {
        let text = format!(
            "The recorded answer could not be given: {error}. Look into the file with `sandbox snapshot verify`."
        );
        Page {
            kind: "failed",
            title: "The recording cannot be read",
            text,
            head,
            near: &[],
            is_alone: false,
        }
    }

    /// The same content as lines of text.
    pub(super) fn plain(&self) -> String {
        let mut text = format!(
            "{}: {} {}\n{}\n",
            self.kind,
            self.head.method,
            shorten(&self.head.url),
            self.text
        );
        for near in self.near {
            let near = near.summary();
            text.push_str(&format!(
                "near: {} {} ({})\n",
                near.method,
                shorten(&near.url),
                near.differs
            ));
        }
        text
    }

    pub(super) fn render(&self) -> String {
        let rendered = environment().get_template(NAME).and_then(|template| {
            template.render(context! {
                kind => self.kind,
                title => self.title,
                text => &self.text,
                method => self.head.method.as_str(),
                url => shorten(&self.head.url),
                is_alone => self.is_alone,
                near => Serde(self.near.iter().map(Shown::of).collect::<Vec<_>>()),
            })
        });
        rendered.unwrap_or_else(|error| {
            tracing::error!(%error, "failed to render the page of a miss");
            format!("<!doctype html><title>{0}</title><h1>{0}</h1>", self.title)
        })
    }
}

#[derive(serde::Serialize)]
struct Shown<'a> {
    method: &'a str,
    url: String,
    /// The link target. Only a URL that was recorded by GET can be followed.
    link: Option<&'a str>,
    differences: &'a [snapshots::matching::Difference],
    note: Option<&'a str>,
}

impl<'a> Shown<'a> {
    fn of(near: &'a NearCapture) -> Self {
        let web = near.url.starts_with("http://") || near.url.starts_with("https://");
        Shown {
            method: &near.method,
            url: shorten(&near.url),
            link: (web && near.method == "GET").then_some(near.url.as_str()),
            differences: &near.differences,
            note: near.note.as_deref(),
        }
    }
}

fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::new();
        environment
            .add_template(NAME, TEMPLATE)
            .expect("the page's template is part of the program and compiles");
        environment
    })
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
