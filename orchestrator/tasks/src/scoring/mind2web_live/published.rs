//! Key nodes as Mind2Web-Live's own JSON spells them.

use serde::Deserialize;

use super::{KeyNode, TextNode, UrlNode, ValueNode};

/// A key node of the published files: a rule's name, and what it compares with.
#[derive(Debug, Deserialize)]
pub(crate) struct PublishedNode {
    match_function_name: String,
    pub(crate) content: Content,
}

/// What a rule compares with.
#[derive(Debug, Deserialize)]
pub(crate) struct Content {
    reference_answer: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    netloc: String,
    path: Option<String>,
    /// A page on which the node is reached.
    pub(crate) url: Option<String>,
}

impl PublishedNode {
    /// The node as we score it, or why we cannot.
    pub(crate) fn key_node(self) -> Result<KeyNode, String> {
        let Content { reference_answer: reference, key, netloc, path, url: _ } = self.content;
        let rule = self.match_function_name.as_str();
        if path.is_some() {
            return Err(format!("{rule} with a path needs the page's HTML"));
        }
        Ok(match rule {
            "url_exactly_match" => KeyNode::UrlExactlyMatch(UrlNode { reference, key }),
            "url_included_match" => KeyNode::UrlIncludedMatch(UrlNode { reference, key }),
            "element_value_exactly_match" => {
                KeyNode::ElementValueExactlyMatch(ValueNode { reference, netloc })
            }
            "element_value_included_match" => {
                KeyNode::ElementValueIncludedMatch(ValueNode { reference, netloc })
            }
            "final_answer_exact_match" => KeyNode::FinalAnswerExactMatch(TextNode { reference }),
            "final_answer_included_match" => KeyNode::FinalAnswerIncludedMatch(TextNode { reference }),
            _ => return Err(format!("{rule} cannot be scored yet")),
        })
    }
}
