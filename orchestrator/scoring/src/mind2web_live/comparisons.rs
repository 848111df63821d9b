//! The comparisons that key nodes are made of.

use python_compat::url::{Url, unquote};

use super::super::judge::Question;
use super::super::{ScoreError, Step};
use super::{Method, PathNode, TextNode, UrlNode, ValueNode, element};

/// `url_exact_match`. The page's side is decoded once, a parameter twice; the reference never.
pub(super) fn url_exact(url: &str, node: &UrlNode) -> bool {
    let seen = if node.key.is_empty() { Some(url.to_owned()) } else { parameter(url, &node.key) };
    seen.is_some_and(|seen| unquote(&seen) == node.reference)
}

/// `url_include_match`: looks in host, path and fragment; an address that cannot be parsed is taken
/// as it stands.
pub(super) fn url_included(url: &str, node: &UrlNode) -> bool {
    let seen = if node.key.is_empty() { Some(place(url)) } else { parameter(url, &node.key) };
    seen.is_some_and(|seen| unquote(&seen).contains(&node.reference))
}

/// `url_semantic_match`: what a judge is asked; nothing where there is no such parameter.
pub(super) fn url_means(url: &str, node: &UrlNode) -> Option<Question> {
    let seen = if node.key.is_empty() { Some(url.to_owned()) } else { parameter(url, &node.key) };
    seen.map(|seen| Question::Meets { criterion: node.reference.clone(), text: unquote(&seen) })
}

/// `element_value_semantic_match`: what a judge is asked; nothing where there is no such value, or
/// an empty one.
pub(super) fn value_means(
    step: &Step<'_>,
    node: &ValueNode,
) -> Result<Option<Question>, ScoreError> {
    let is_there = value(step, node, |value, _| !value.is_empty())?;
    let text = step.value.filter(|_| is_there);
    Ok(text
        .map(|text| Question::Meets { criterion: node.reference.clone(), text: text.to_owned() }))
}

fn parameter(url: &str, key: &str) -> Option<String> {
    Url::parse(url)?.first_parameter(key)
}

fn place(url: &str) -> String {
    match Url::parse(url) {
        None => url.to_owned(),
        Some(Url { netloc, path, fragment, .. }) if fragment.is_empty() => {
            format!("{netloc}{path}")
        }
        Some(Url { netloc, path, fragment, .. }) => format!("{netloc}{path}#{fragment}"),
    }
}

/// `element_value_*_match`: an element must have been acted on, on a page of the right host.
pub(super) fn value(
    step: &Step<'_>,
    node: &ValueNode,
    matches: impl Fn(&str, &str) -> bool,
) -> Result<bool, ScoreError> {
    let (Some(_), Some(value)) = (step.selector, step.value) else { return Ok(false) };
    if !is_on_host(step.url, &node.netloc)? {
        return Ok(false);
    }
    let is_there = match &node.path {
        Some(path) => {
            element::is_same(step.html.unwrap_or_default(), step.selector, path, Method::Selector)?
        }
        None => true,
    };
    Ok(is_there && matches(value, &node.reference))
}

/// `path_exact_match`: the element acted on is that of the reference, on a page of the right host.
pub(super) fn path(step: &Step<'_>, node: &PathNode) -> Result<bool, ScoreError> {
    Ok(is_on_host(step.url, &node.netloc)?
        && element::is_same(
            step.html.unwrap_or_default(),
            step.selector,
            &node.reference,
            node.method,
        )?)
}

fn is_on_host(url: &str, netloc: &str) -> Result<bool, ScoreError> {
    let url = Url::parse(url).ok_or(ScoreError::Raised("ValueError"))?;
    Ok(host_word(&url.netloc) == netloc)
}

/// `get_netloc`: the part between the first two dots when the host starts with `www`, else the part
/// before the first dot; empty when the dots are not there.
pub(super) fn host_word(netloc: &str) -> &str {
    let before_dot = |text: &'_ str| text.find('.');
    let start =
        if netloc.starts_with("www") { before_dot(netloc).map(|dot| dot + 1) } else { Some(0) };
    let rest = start.map_or("", |start| &netloc[start..]);
    before_dot(rest).map_or("", |dot| &rest[..dot])
}

/// `text_*_match` on the answer, which counts only when it is not empty.
pub(super) fn text(step: &Step<'_>, node: &TextNode, matches: impl Fn(&str, &str) -> bool) -> bool {
    let answer = step.answer.unwrap_or_default();
    !answer.is_empty() && matches(&answer.to_lowercase(), &node.reference.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_reduce_to_a_word() {
        for (host, word) in [
            ("www.shop.test", "shop"),
            ("www2.shop.test", "shop"),
            ("www.shop", ""),
            ("shop.test:80", "shop"),
            ("Shop.test", "Shop"),
            ("me@shop.test", "me@shop"),
            ("localhost", ""),
            ("", ""),
        ] {
            assert_eq!(host_word(host), word, "{host}");
        }
    }
}
