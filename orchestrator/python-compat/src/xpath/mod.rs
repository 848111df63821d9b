//! HTML as lxml reads it, and XPath 1.0 as libxml2 evaluates it.
//!
//! `html` makes the tree of a page, by `source` and `tags`; `read` makes `expression`s of
//! paths, by `lexer`, and `evaluate` follows them among `node`s, with `functions` and
//! `value`s.
//!
//! It serves the key nodes of Mind2Web-Live's form with `method: xpath`: those that a suite is
//! written or imported with, and that `sandbox annotate` keeps in a task that it edits. The
//! published files have the method `selector` only, but their scorer knows both, and a quarter of
//! the differential vectors of elements are paths of XPath.

mod evaluate;
mod expression;
mod functions;
mod html;
mod lexer;
mod node;
mod read;
mod source;
mod tags;
mod value;

use node::Part;
pub use node::{Node, Page};
pub use value::Value;

use crate::text;
use crate::tree::{Kind, NodeId, Tree};

/// lxml raises an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LxmlError;

/// Elements that make a `div` and no `span` of a fragment.
const BLOCKS: &str = "address blockquote caption center col colgroup dd del dir div dl dt fieldset form h1 h2 h3 \
    h4 h5 h6 hr ins isindex legend li menu noscript ol optgroup option p pre table tbody td \
    tfoot th thead tr ul";

/// `lxml.html.fromstring(html)`: what has no `<html>` or doctype in front is a fragment, and paths
/// begin in what is written of it.
pub fn parse(html: &str) -> Result<Page, LxmlError> {
    let mut tree = html::parse(html);
    let root = tree.elements(0).next().ok_or(LxmlError)?;
    let context = if is_whole_page(html) { root } else { fragment(&mut tree, root) };
    Ok(Page::new(tree, context))
}

/// `page.xpath(path)`
pub fn evaluate(page: &Page, path: &str) -> Result<Value, LxmlError> {
    let expression = read::parse(path).ok_or(LxmlError)?;
    let value = evaluate::evaluate(page, &expression)?;
    Ok(match value {
        // lxml has no node for the document.
        Value::Nodes(nodes) => Value::Nodes(
            nodes.into_iter().filter(|node| node.id != 0 || node.part != Part::Whole).collect(),
        ),
        other => other,
    })
}

fn is_whole_page(html: &str) -> bool {
    let start = html.trim_start_matches(text::is_space);
    ["<html", "<!doctype"]
        .iter()
        .any(|mark| start.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark)))
}

/// The one element of the body, or the body under another name.
fn fragment(tree: &mut Tree, root: NodeId) -> NodeId {
    let child =
        |tree: &Tree, name: &str| tree.elements(root).find(|&id| tree.name(id) == Some(name));
    let Some(body) = child(tree, "body").filter(|_| child(tree, "head").is_none()) else {
        return root;
    };
    let mut single = None;
    let mut count = 0;
    let mut has_text = false;
    for &id in &tree.node(body).children {
        match &tree.node(id).kind {
            Kind::Text(words) => has_text |= !text::strip(words).is_empty(),
            _ => {
                count += 1;
                single = Some(id);
            }
        }
    }
    if let (Some(single), 1, false) = (single, count, has_text) {
        return single;
    }
    let is_inside =
        |id: NodeId| std::iter::successors(Some(id), |id| tree.parent(*id)).any(|id| id == body);
    let has_blocks = (body..tree.len())
        .filter(|&id| tree.name(id).is_some_and(|name| tags::is_one_of(name, BLOCKS)))
        .any(is_inside);
    tree.rename(body, if has_blocks { "div" } else { "span" });
    body
}

impl Page {
    /// The node that has an identity of its own in lxml: an element or a comment. Texts and
    /// attribute values are made anew whenever they are asked for.
    pub fn identity(&self, node: Node) -> Option<NodeId> {
        let lasting = matches!(self.tree.node(node.id).kind, Kind::Element(_) | Kind::Comment(_));
        (node.part == Part::Whole && lasting).then_some(node.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!doctype html><html><body><ul class=m><li>One<li id=t class='a b'>Two</ul>\
        <p>3<!--c--></p><a name=n href=x>4</a></body></html>";

    fn check(path: &str, expect: &str) {
        let page = parse(PAGE).expect("a page");
        let got = match evaluate(&page, path) {
            Err(LxmlError) => "failed".to_owned(),
            Ok(Value::Nodes(nodes)) => {
                let names = nodes.iter().map(|node| match page.full_name(*node) {
                    Some(name) => name.to_owned(),
                    None => format!("'{}'", page.text(*node)),
                });
                names.collect::<Vec<_>>().join(" ")
            }
            Ok(other) => other.text(&page),
        };
        assert_eq!(got, expect, "{path}");
    }

    #[test]
    fn paths_lead_where_libxml2_goes() {
        for (path, expect) in [
            ("/html/body/ul/li[2]", "li"),
            ("//li[last()]/@class", "class"),
            ("(//li)[2]/preceding-sibling::*", "li"),
            ("//*[contains(concat(' ', @class, ' '), ' b ')]", "li"),
            ("//p | //ul", "ul p"),
            ("id('t n')", "li a"),
            ("//li[. = 'Two'] | //text()[position() = 1]", "'One' li 'Two' '3' '4'"),
            ("//p/node()", "'3' 'c'"),
            ("/", ""),
            ("//li/ancestor::*[1]", "ul"),
            ("count(//li) * 2 + 1", "5"),
            ("number(//p) div 2", "1.5"),
            ("//li[position() mod 2 = 0]", "li"),
            ("normalize-space(' a  b ')", "a b"),
            ("substring('12345', 1.5, 2.6)", "234"),
            ("translate('bar', 'abc', 'AB')", "BAr"),
            ("//li['x' = 'x' and not(@id)]", "li"),
            ("-(-1)", "1"),
            ("following::*", ""),
            ("//xml:a", ""),
            ("//li/a:b", "failed"),
            ("true() or a:b", "true"),
            ("$x", "failed"),
            ("nothing()", "failed"),
            ("//li[", "failed"),
            ("//", "failed"),
            ("", "failed"),
            (".[1]", "failed"),
            ("re:test('a')", "failed"),
        ] {
            check(path, expect);
        }
        check(&"(".repeat(100_000), "failed");
        check(&"//li//..".repeat(1000), "ul li li");
    }
}
