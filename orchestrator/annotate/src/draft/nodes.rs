//! Key nodes: how they are made of a step, and whether the steps so far reach them.

use scoring::mind2web_live::netloc_of;
use scoring::solution::OracleStep;
use scoring::{KeyNode, Method, PathNode, TextNode, UrlNode, ValueNode};
use serde::{Deserialize, Serialize};

use super::{Draft, Node, Step};

/// How a node is matched, by the benchmark's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "they are the benchmark's names")]
pub(crate) enum Rule {
    UrlExactlyMatch,
    UrlIncludedMatch,
    UrlSemanticMatch,
    ElementPathExactlyMatch,
    ElementValueExactlyMatch,
    ElementValueIncludedMatch,
    ElementValueSemanticMatch,
    FinalAnswerExactMatch,
    FinalAnswerIncludedMatch,
}

/// The texts of a node, as the panel edits them. Which of them count depends on the rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeFields {
    pub(crate) rule: Rule,
    pub(crate) reference: String,
    /// A parameter of the query.
    #[serde(default)]
    pub(crate) key: String,
    #[serde(default)]
    pub(crate) netloc: String,
    /// A selector of the element whose value counts; empty where every element's does.
    #[serde(default)]
    pub(crate) path: String,
    /// Whether the selector is one of XPath. The panel keeps what a file has.
    #[serde(default)]
    pub(crate) xpath: bool,
}

/// Whether the steps so far reach a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NodeStatus {
    Yes,
    No,
    /// A judge decides that when the task is played.
    Judge,
    /// The steps of an existing task have not been seen.
    Unknown,
}

impl NodeFields {
    /// Returns the first proposal for a rule's reference at this step.
    pub(crate) fn of_step(rule: Rule, step: &Step, answer: &str) -> NodeFields {
        let url = [&step.url_after, &step.url].into_iter().find(|url| !url.is_empty());
        let url = url.map(String::as_str).unwrap_or_default();
        let seen = step.seen.as_ref();
        let netloc = if step.url.is_empty() { netloc_of(url) } else { netloc_of(&step.url) };
        let empty = NodeFields {
            rule,
            reference: String::new(),
            key: String::new(),
            netloc: String::new(),
            path: String::new(),
            xpath: false,
        };
        match rule {
            Rule::UrlExactlyMatch | Rule::UrlSemanticMatch => {
                NodeFields { reference: decoded(url), ..empty }
            }
            Rule::UrlIncludedMatch => NodeFields { reference: decoded(&place(url)), ..empty },
            Rule::ElementPathExactlyMatch => {
                let reference = seen.map(|seen| seen.css.clone()).unwrap_or_default();
                NodeFields { reference, netloc, ..empty }
            }
            Rule::ElementValueExactlyMatch
            | Rule::ElementValueIncludedMatch
            | Rule::ElementValueSemanticMatch => {
                // No selector finds what the page's HTML does not show.
                let path = seen
                    .filter(|seen| !seen.shadow)
                    .map(|seen| seen.css.clone())
                    .unwrap_or_default();
                let reference = if step.secret { String::new() } else { value(step) };
                NodeFields { reference, netloc, path, ..empty }
            }
            Rule::FinalAnswerExactMatch | Rule::FinalAnswerIncludedMatch => {
                NodeFields { reference: answer.to_owned(), ..empty }
            }
        }
    }

    pub(crate) fn of(node: &KeyNode) -> NodeFields {
        let with = |rule, reference: &str| NodeFields {
            rule,
            reference: reference.to_owned(),
            key: String::new(),
            netloc: String::new(),
            path: String::new(),
            xpath: false,
        };
        let url = |rule, node: &UrlNode| NodeFields {
            key: node.key.clone(),
            ..with(rule, &node.reference)
        };
        let value = |rule, node: &ValueNode| NodeFields {
            netloc: node.netloc.clone(),
            path: node.path.clone().unwrap_or_default(),
            ..with(rule, &node.reference)
        };
        match node {
            KeyNode::UrlExactlyMatch(node) => url(Rule::UrlExactlyMatch, node),
            KeyNode::UrlIncludedMatch(node) => url(Rule::UrlIncludedMatch, node),
            KeyNode::UrlSemanticMatch(node) => url(Rule::UrlSemanticMatch, node),
            KeyNode::ElementValueExactlyMatch(node) => value(Rule::ElementValueExactlyMatch, node),
            KeyNode::ElementValueIncludedMatch(node) => {
                value(Rule::ElementValueIncludedMatch, node)
            }
            KeyNode::ElementValueSemanticMatch(node) => {
                value(Rule::ElementValueSemanticMatch, node)
            }
            KeyNode::FinalAnswerExactMatch(node) => {
                with(Rule::FinalAnswerExactMatch, &node.reference)
            }
            KeyNode::FinalAnswerIncludedMatch(node) => {
                with(Rule::FinalAnswerIncludedMatch, &node.reference)
            }
            KeyNode::ElementPathExactlyMatch(node) => NodeFields {
                netloc: node.netloc.clone(),
                xpath: node.method == Method::Xpath,
                ..with(Rule::ElementPathExactlyMatch, &node.reference)
            },
        }
    }

    /// Whether it looks at addresses.
    pub(crate) fn is_of_url(&self) -> bool {
        matches!(self.rule, Rule::UrlExactlyMatch | Rule::UrlIncludedMatch | Rule::UrlSemanticMatch)
    }

    pub(crate) fn node(self) -> KeyNode {
        let NodeFields { rule, reference, key, netloc, path, xpath } = self;
        let path = Some(path.trim().to_owned()).filter(|path| !path.is_empty());
        let method = if xpath { Method::Xpath } else { Method::Selector };
        match rule {
            Rule::UrlExactlyMatch => KeyNode::UrlExactlyMatch(UrlNode { reference, key }),
            Rule::UrlIncludedMatch => KeyNode::UrlIncludedMatch(UrlNode { reference, key }),
            Rule::UrlSemanticMatch => KeyNode::UrlSemanticMatch(UrlNode { reference, key }),
            Rule::ElementPathExactlyMatch => {
                KeyNode::ElementPathExactlyMatch(PathNode { reference, netloc, method })
            }
            Rule::ElementValueExactlyMatch => {
                KeyNode::ElementValueExactlyMatch(ValueNode { reference, netloc, path })
            }
            Rule::ElementValueIncludedMatch => {
                KeyNode::ElementValueIncludedMatch(ValueNode { reference, netloc, path })
            }
            Rule::ElementValueSemanticMatch => {
                KeyNode::ElementValueSemanticMatch(ValueNode { reference, netloc, path })
            }
            Rule::FinalAnswerExactMatch => KeyNode::FinalAnswerExactMatch(TextNode { reference }),
            Rule::FinalAnswerIncludedMatch => {
                KeyNode::FinalAnswerIncludedMatch(TextNode { reference })
            }
        }
    }
}

/// A URL without its scheme and query, which the rule "included" looks in.
fn place(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(url) => {
            let host = url.host_str().unwrap_or_default();
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("{host}{port}{}", url.path())
        }
        Err(_) => url.to_owned(),
    }
}

/// As the rules see a URL: they decode the page's side.
fn decoded(url: &str) -> String {
    scoring::mind2web_live::decoded(url)
}

/// Returns the content of a step's element after it, as scorers see it.
pub(crate) fn value(step: &Step) -> String {
    match (&step.action, &step.seen) {
        (OracleStep::Fill(fill), _) => fill.value.clone(),
        (OracleStep::Select(select), _) => select.options.join(", "),
        (_, Some(seen)) => seen.value.clone(),
        (_, None) => String::new(),
    }
}

/// Whether the steps so far reach a node, by the benchmark's own rule: each page is seen before
/// something is done about it, and after.
pub(crate) fn reached(draft: &Draft, node: &Node, page: &dyn Fn(&Step) -> String) -> NodeStatus {
    let fields = NodeFields::of(&node.node);
    let looks_into_pages = fields.rule == Rule::ElementPathExactlyMatch || !fields.path.is_empty();
    let mut judge = matches!(node.node, KeyNode::UrlSemanticMatch(_));
    let reaches = |step: &scoring::Step<'_>| node.node.score(step).is_ok_and(|score| score >= 1.0);
    if reaches(&scoring::Step { url: &draft.start_url, ..scoring::Step::default() }) {
        return NodeStatus::Yes;
    }
    for step in &draft.steps {
        let value = value(step);
        let seen = step.seen.as_ref();
        // Pages are long, and few rules look into them.
        let html = if seen.is_some() && looks_into_pages { page(step) } else { String::new() };
        let of_page = |url| scoring::Step { url, ..scoring::Step::default() };
        let acted = scoring::Step {
            selector: seen.map(|seen| seen.path.as_str()),
            value: seen.map(|_| value.as_str()),
            html: Some(&html),
            ..of_page(&step.url)
        };
        if [of_page(&step.url), acted, of_page(&step.url_after)].iter().any(reaches) {
            return NodeStatus::Yes;
        }
        judge |= matches!(node.node.score(&acted), Err(scoring::ScoreError::NeedsJudge));
    }
    let answer = scoring::Step { answer: Some(&draft.answer), ..scoring::Step::default() };
    if reaches(&answer) {
        return NodeStatus::Yes;
    }
    let is_of_answer = matches!(
        node.node,
        KeyNode::FinalAnswerExactMatch(_) | KeyNode::FinalAnswerIncludedMatch(_)
    );
    let unseen = draft.steps.iter().any(|step| step.url.is_empty());
    match (judge, unseen && !is_of_answer) {
        (true, _) => NodeStatus::Judge,
        (false, true) => NodeStatus::Unknown,
        (false, false) => NodeStatus::No,
    }
}

#[cfg(test)]
mod tests {
    use scoring::solution::{Element, Fill};

    use super::*;
    use crate::Source;
    use crate::draft::SeenElement;

    fn draft() -> Draft {
        let clock = jiff::Timestamp::UNIX_EPOCH;
        let start = "https://www.shop.test/".to_owned();
        let mut draft =
            Draft::new(Source::Snapshots(Vec::new()), "a".to_owned(), start.clone(), clock);
        let element = Element { role: "textbox".to_owned(), name: "Name".to_owned(), nth: 0 };
        let fill = Fill { element: element.clone(), value: "Ada".to_owned() };
        let mut step = Step::new(1, OracleStep::Fill(fill), &start);
        step.url_after = "https://www.shop.test/done?who=Ada%20M".to_owned();
        step.seen = Some(SeenElement {
            named: element,
            alike: 1,
            css: "input[name=\"who\"]".to_owned(),
            locator: String::new(),
            shadow: false,
            path: "html > body > input".to_owned(),
            identity: String::new(),
            tag: "input".to_owned(),
            text: String::new(),
            html: String::new(),
            value: "Ada".to_owned(),
        });
        draft.steps.push(step);
        draft
    }

    #[test]
    fn what_a_step_gives_reaches_its_own_node() {
        let draft = draft();
        let html = "<html><head></head><body><input name=\"who\"></body></html>".to_owned();
        for (rule, expect) in [
            (Rule::UrlExactlyMatch, NodeStatus::Yes),
            (Rule::UrlIncludedMatch, NodeStatus::Yes),
            (Rule::UrlSemanticMatch, NodeStatus::Judge),
            (Rule::ElementPathExactlyMatch, NodeStatus::Yes),
            (Rule::ElementValueExactlyMatch, NodeStatus::Yes),
            (Rule::ElementValueIncludedMatch, NodeStatus::Yes),
            (Rule::ElementValueSemanticMatch, NodeStatus::Judge),
            (Rule::FinalAnswerExactMatch, NodeStatus::No),
        ] {
            let fields = NodeFields::of_step(rule, &draft.steps[0], "");
            assert_eq!(NodeFields::of(&fields.clone().node()), fields);
            let node = Node { number: 2, step: Some(1), node: fields.node() };
            assert_eq!(reached(&draft, &node, &|_| html.clone()), expect, "{rule:?}");
        }
        let mut other = NodeFields::of_step(Rule::ElementValueExactlyMatch, &draft.steps[0], "");
        other.netloc = "bank".to_owned();
        let node = Node { number: 2, step: Some(1), node: other.node() };
        assert_eq!(reached(&draft, &node, &|_| html.clone()), NodeStatus::No);
    }
}
