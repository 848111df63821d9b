//! The pages that evaluators read once an episode has ended, and what they found there.

use std::future::Future;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The pages of an episode that has ended, and the servers behind them.
pub trait Pages {
    /// Why nothing can be read any more.
    type Error: Send;

    /// Opens an address in the active tab and waits until it has come to rest. One that cannot be
    /// opened leaves the page as the browser leaves it.
    fn open(&mut self, url: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Opens an address in a tab of its own, which becomes the active one; otherwise as
    /// [`open`](Self::open).
    fn open_beside(&mut self, url: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Closes the active tab; the one that was active before is so again.
    fn close_beside(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// The value of an expression that is evaluated among the page's own scripts, or what it threw.
    fn evaluate(
        &mut self,
        expression: &str,
    ) -> impl Future<Output = Result<Result<Value, String>, Self::Error>> + Send;

    /// Requests an address without the browser and its cookies, and follows redirects of a GET.
    /// Returns the response, or why there was none.
    fn fetch(
        &mut self,
        request: &Fetch,
    ) -> impl Future<Output = Result<Result<FetchResponse, String>, Self::Error>> + Send;
}

/// A request of an evaluator's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// Such as `GET`.
    pub method: &'static str,
    /// Absolute.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// Empty for none.
    pub body: String,
}

impl Fetch {
    /// Asks for what is at an address.
    pub fn get(url: &str) -> Fetch {
        Fetch { method: "GET", url: url.to_owned(), headers: Vec::new(), body: String::new() }
    }
}

/// A server's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchResponse {
    /// Such as 200.
    pub status: u16,
    /// Without any coding of the way.
    pub body: Vec<u8>,
}

/// The contents of the pages that were read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PageEvidence {
    /// The address of the page that the episode ended on.
    pub url: String,
    /// The values of the targets' locators, in their order; shorter where the published code looks
    /// no further.
    pub contents: Vec<Value>,
    /// The pictures that were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<PictureEvidence>,
    /// The exception that the published code ends in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised: Option<String>,
}

/// The pictures that one of VisualWebArena's queries found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PictureEvidence {
    /// How many of the page's pictures could be opened. With none the score is 0 and no further
    /// question is asked.
    pub opened: usize,
    /// The best likeness of one of them with one that is wanted, where the task wants one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likeness: Option<f64>,
    /// The pictures as `data:` addresses, where a model is asked about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<String>,
}

/// Why reading ends early.
#[derive(Debug)]
pub(crate) enum Stop<E> {
    /// The published code raises this exception.
    Raised(&'static str),
    /// Nothing can be read any more.
    Broken(E),
}

impl<E> From<E> for Stop<E> {
    fn from(error: E) -> Self {
        Stop::Broken(error)
    }
}

/// The address of the page.
pub(crate) async fn address<P: Pages>(pages: &mut P) -> Result<String, P::Error> {
    Ok(text(pages.evaluate("location.href").await?))
}

/// `page.content()`.
pub(crate) async fn content<P: Pages>(pages: &mut P) -> Result<String, P::Error> {
    const CONTENT: &str = "(document.doctype ? new XMLSerializer().serializeToString(document.doctype) : '') \
                           + document.documentElement.outerHTML";
    Ok(text(pages.evaluate(CONTENT).await?))
}

/// `page.evaluate(f"() => {expression}")`.
pub(crate) fn returned(expression: &str) -> String {
    format!("(() => {expression})()")
}

/// `str(..)` of a value; nothing where there is none because something was thrown.
pub(crate) fn text(value: Result<Value, String>) -> String {
    match value {
        Ok(value) => to_text(value),
        Err(_) => String::new(),
    }
}

/// `str(..)`.
pub(crate) fn to_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        value => python_compat::Value::from(value).to_text(),
    }
}
