//! Key nodes as Mind2Web-Live's own JSON spells them.

use serde::Deserialize;

use super::{KeyNode, Method, PathNode, TextNode, UrlNode, ValueNode};

/// A key node of the published files: a rule's name, and what it compares with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedNode {
    match_function_name: String,
    method: Option<String>,
    /// What it compares with.
    pub content: Content,
}

/// What a rule compares with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    reference_answer: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    netloc: String,
    path: Option<String>,
    /// A page on which the node is reached.
    pub url: Option<String>,
}

impl PublishedNode {
    /// The published code knows no such way of finding elements, and gives 0.
    pub fn matches_nothing(&self) -> bool {
        let is_known = matches!(self.method.as_deref(), None | Some("selector" | "xpath"));
        self.match_function_name == "element_path_exactly_match" && !is_known
    }

    /// The node as we score it, or why we cannot.
    pub fn key_node(self) -> Result<KeyNode, String> {
        let Content { reference_answer: reference, key, netloc, path, url: _ } = self.content;
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
            "final_answer_included_match" => KeyNode::FinalAnswerIncludedMatch(TextNode { reference }),
            _ => return Err(format!("{rule} cannot be scored yet")),
        })
    }
}
