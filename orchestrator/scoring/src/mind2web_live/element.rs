//! `ElementEvaluator.path_exact_match`: whether two selectors mean one element of a page.

use python_compat::{soup, xpath};

use super::super::ScoreError;
use super::Method;

/// Elements around which another may be acted on in their place, up to three levels: what people
/// point at is often the text in a link or a button.
const INSIDE: [&str; 11] = ["span", "h1", "h2", "h3", "h4", "h5", "h6", "div", "li", "ul", "p"];
const LEVELS: usize = 3;

/// Whether `selector` finds the element that `reference` finds in a page, or in some cases one
/// around it. A selector that finds nothing is no match in CSS and an exception in XPath.
///
/// # Errors
/// Where the published code raises an exception.
pub(super) fn is_same(
    html: &str,
    selector: Option<&str>,
    reference: &str,
    method: Method,
) -> Result<bool, ScoreError> {
    match method {
        Method::Selector => {
            Ok(selector.is_some_and(|selector| is_same_by_css(html, selector, reference)))
        }
        Method::Xpath => is_same_by_xpath(html, selector.unwrap_or_default(), reference),
    }
}

fn is_same_by_css(html: &str, selector: &str, reference: &str) -> bool {
    let Ok(tree) = soup::parse(html) else { return false };
    let (Some(found), Some(reference)) =
        (soup::select_one(&tree, selector), soup::select_one(&tree, reference))
    else {
        return false;
    };
    is_or_is_around(found, reference, |id| tree.name(id), |id| tree.parent(id))
}

/// The first thing that a path gives, as far as Python's `is` can tell it from others.
enum First {
    Node(usize),
    /// Single characters are one object each as long as they are few.
    Letter(char),
    Passing,
}

fn is_same_by_xpath(html: &str, path: &str, reference: &str) -> Result<bool, ScoreError> {
    let unread = |_| ScoreError::Raised("UnboundLocalError");
    let page = xpath::parse(html).map_err(unread)?;
    let found = xpath::evaluate(&page, path).map_err(unread)?;
    let reference = xpath::evaluate(&page, reference).map_err(unread)?;
    Ok(match (first(&page, &found)?, first(&page, &reference)?) {
        (First::Node(found), First::Node(reference)) => {
            is_or_is_around(found, reference, |id| page.name(id), |id| page.parent(id))
        }
        (First::Letter(found), First::Letter(reference)) => found == reference && found <= '\u{ff}',
        _ => false,
    })
}

/// `result[0]`
fn first(page: &xpath::Page, result: &xpath::Value) -> Result<First, ScoreError> {
    let first = match result {
        xpath::Value::Nodes(nodes) => {
            nodes.first().map(|node| page.identity(*node).map_or(First::Passing, First::Node))
        }
        xpath::Value::Text(text) => text.chars().next().map(First::Letter),
        xpath::Value::Number(_) | xpath::Value::Truth(_) => {
            return Err(ScoreError::Raised("TypeError"));
        }
    };
    first.ok_or(ScoreError::Raised("IndexError"))
}

fn is_or_is_around<'t>(
    found: usize,
    reference: usize,
    name: impl Fn(usize) -> Option<&'t str>,
    parent: impl Fn(usize) -> Option<usize>,
) -> bool {
    let levels =
        if name(reference).is_some_and(|name| INSIDE.contains(&name)) { LEVELS } else { 0 };
    let line = std::iter::successors(Some(reference), |id| parent(*id));
    line.take(levels + 1).any(|id| id == found)
}
