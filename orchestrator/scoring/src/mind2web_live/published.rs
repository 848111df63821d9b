//! Key nodes as Mind2Web-Live's own JSON spells them.

use serde::{Deserialize, Serialize};

use super::{KeyNode, Method, PathNode, TextNode, UrlNode, ValueNode};

/// A key node of the published files: a rule's name, and what it compares with.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedNode {
    match_function_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// The reference of the comparison.
    pub content: Content,
}

/// The reference of a rule.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    reference_answer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    netloc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// A page on which the node is reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl PublishedNode {
    /// A node as the benchmark's files have it. `url` is a page on which it is reached.
    pub fn new(node: &KeyNode, url: &str) -> PublishedNode {
        let empty = Content {
            key: None,
            reference_answer: String::new(),
            netloc: None,
            path: None,
            url: Some(url.to_owned()).filter(|url| !url.is_empty()),
        };
        let of_url =
            |name: &str, UrlNode { reference, key }: &UrlNode, empty: Content| PublishedNode {
                match_function_name: name.to_owned(),
                method: None,
                // The published files have an empty one where the whole URL counts.
                content: Content {
                    key: Some(key.clone()),
                    reference_answer: reference.clone(),
                    ..empty
                },
            };
        let of_value = |name: &str,
                        ValueNode { reference, netloc, path }: &ValueNode,
                        empty: Content| {
            let (netloc, path) = (Some(netloc.clone()), path.clone());
            let content = Content { reference_answer: reference.clone(), netloc, path, ..empty };
            PublishedNode { match_function_name: name.to_owned(), method: None, content }
        };
        let of_answer =
            |name: &str, TextNode { reference }: &TextNode, empty: Content| PublishedNode {
                match_function_name: name.to_owned(),
                method: None,
                content: Content { reference_answer: reference.clone(), ..empty },
            };
        match node {
            KeyNode::UrlExactlyMatch(node) => of_url("url_exactly_match", node, empty),
            KeyNode::UrlIncludedMatch(node) => of_url("url_included_match", node, empty),
            KeyNode::UrlSemanticMatch(node) => of_url("url_semantic_match", node, empty),
            KeyNode::ElementValueExactlyMatch(node) => {
                of_value("element_value_exactly_match", node, empty)
            }
            KeyNode::ElementValueIncludedMatch(node) => {
                of_value("element_value_included_match", node, empty)
            }
            KeyNode::ElementValueSemanticMatch(node) => {
                of_value("element_value_semantic_match", node, empty)
            }
            KeyNode::FinalAnswerExactMatch(node) => {
                of_answer("final_answer_exact_match", node, empty)
            }
            KeyNode::FinalAnswerIncludedMatch(node) => {
                of_answer("final_answer_included_match", node, empty)
            }
            KeyNode::ElementPathExactlyMatch(PathNode { reference, netloc, method }) => {
                PublishedNode {
                    match_function_name: "element_path_exactly_match".to_owned(),
                    method: Some(match method {
                        Method::Selector => "selector".to_owned(),
                        Method::Xpath => "xpath".to_owned(),
                    }),
                    content: Content {
                        reference_answer: reference.clone(),
                        netloc: Some(netloc.clone()),
                        ..empty
                    },
                }
            }
        }
    }

    /// The published code knows no such way of finding elements, and gives 0.
    pub fn matches_nothing(&self) -> bool {
        let is_known = matches!(self.method.as_deref(), None | Some("selector" | "xpath"));
        self.match_function_name == "element_path_exactly_match" && !is_known
    }

    /// The node as we score it, or why we cannot.
    pub fn key_node(self) -> Result<KeyNode, String> {
        let Content { reference_answer: reference, key, netloc, path, url: _ } = self.content;
        let (key, netloc) = (key.unwrap_or_default(), netloc.unwrap_or_default());
        let rule = self.match_function_name.as_str();
        Ok(match rule {
            "url_exactly_match" => KeyNode::UrlExactlyMatch(UrlNode { reference, key }),
            "url_included_match" => KeyNode::UrlIncludedMatch(UrlNode { reference, key }),
            "url_semantic_match" => KeyNode::UrlSemanticMatch(UrlNode { reference, key }),
            "element_value_semantic_match" => {
                KeyNode::ElementValueSemanticMatch(ValueNode { reference, netloc, path })
            }
            "element_value_exactly_match" => {
                KeyNode::ElementValueExactlyMatch(ValueNode { reference, netloc, path })
            }
            "element_value_included_match" => {
                KeyNode::ElementValueIncludedMatch(ValueNode { reference, netloc, path })
            }
            "element_path_exactly_match" => {
                let method = match self.method.as_deref() {
                    None | Some("selector") => Method::Selector,
                    Some("xpath") => Method::Xpath,
                    Some(other) => return Err(format!("{rule} by `{other}` matches nothing")),
                };
                KeyNode::ElementPathExactlyMatch(PathNode { reference, netloc, method })
            }
            "final_answer_exact_match" => KeyNode::FinalAnswerExactMatch(TextNode { reference }),
            "final_answer_included_match" => {
                KeyNode::FinalAnswerIncludedMatch(TextNode { reference })
            }
            _ => return Err(format!("{rule} cannot be scored yet")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_the_same_after_the_benchmarks_own_form() {
        let url = || UrlNode { reference: "/a".to_owned(), key: "q".to_owned() };
        let value = |path: Option<&str>| ValueNode {
            reference: "2".to_owned(),
            netloc: "rail".to_owned(),
            path: path.map(str::to_owned),
        };
        let text = || TextNode { reference: "yes".to_owned() };
        let path =
            |method| PathNode { reference: "#a".to_owned(), netloc: "rail".to_owned(), method };
        for node in [
            KeyNode::UrlExactlyMatch(url()),
            KeyNode::UrlIncludedMatch(UrlNode { key: String::new(), ..url() }),
            KeyNode::UrlSemanticMatch(url()),
            KeyNode::ElementValueExactlyMatch(value(None)),
            KeyNode::ElementValueIncludedMatch(value(Some("#b"))),
            KeyNode::ElementValueSemanticMatch(value(None)),
            KeyNode::FinalAnswerExactMatch(text()),
            KeyNode::FinalAnswerIncludedMatch(text()),
            KeyNode::ElementPathExactlyMatch(path(Method::Selector)),
            KeyNode::ElementPathExactlyMatch(path(Method::Xpath)),
        ] {
            let json = serde_json::to_string(&PublishedNode::new(&node, "https://rail.test/"))
                .expect("JSON");
            let read: PublishedNode = serde_json::from_str(&json).expect("our own JSON");
            assert_eq!(read.content.url.as_deref(), Some("https://rail.test/"));
            assert_eq!(read.key_node(), Ok(node), "{json}");
        }
    }
}
