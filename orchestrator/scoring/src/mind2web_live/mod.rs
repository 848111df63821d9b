//! Key nodes of Mind2Web-Live, as in WebCanvas' `evaluate/step_score.py` and `step_evaluate`.

mod comparisons;
mod element;
mod node;
mod published;
mod rule;

pub use node::{KeyNode, Method, PathNode, TextNode, UrlNode, ValueNode};
pub use published::PublishedNode;
pub use rule::{KeyNodes, NodeQuestion, State};

use super::judge::Question;
use super::{ScoreError, Step};

impl KeyNode {
    /// The score of this node at one step: 0 or 1.
    ///
    /// # Errors
    /// Where the published code raises an exception, and where it asks a judge.
    pub fn score(&self, step: &Step<'_>) -> Result<f64, ScoreError> {
        let matched = match self {
            KeyNode::UrlExactlyMatch(node) => comparisons::url_exact(step.url, node),
            KeyNode::UrlIncludedMatch(node) => comparisons::url_included(step.url, node),
            KeyNode::ElementValueExactlyMatch(node) => {
                comparisons::value(step, node, |value, reference| value == reference)?
            }
            KeyNode::ElementValueIncludedMatch(node) => {
                comparisons::value(step, node, |value, reference| value.contains(reference))?
            }
            KeyNode::FinalAnswerExactMatch(node) => {
                comparisons::text(step, node, |answer, reference| answer == reference)
            }
            KeyNode::FinalAnswerIncludedMatch(node) => {
                comparisons::text(step, node, |answer, reference| answer.contains(reference))
            }
            KeyNode::ElementPathExactlyMatch(node) => comparisons::path(step, node)?,
            KeyNode::UrlSemanticMatch(_) | KeyNode::ElementValueSemanticMatch(_) => {
                match self.asks(step)? {
                    Some(_) => return Err(ScoreError::NeedsJudge),
                    None => false,
                }
            }
        };
        Ok(f64::from(u8::from(matched)))
    }

    /// Returns the question for a judge at one step.
    fn asks(&self, step: &Step<'_>) -> Result<Option<Question>, ScoreError> {
        match self {
            KeyNode::UrlSemanticMatch(node) => Ok(comparisons::url_means(step.url, node)),
            KeyNode::ElementValueSemanticMatch(node) => comparisons::value_means(step, node),
            _ => Ok(None),
        }
    }

    /// Whether the page's HTML decides the score when an element is acted on.
    fn wants_html(&self) -> bool {
        match self {
            KeyNode::ElementPathExactlyMatch(_) => true,
            KeyNode::ElementValueExactlyMatch(node)
            | KeyNode::ElementValueIncludedMatch(node)
            | KeyNode::ElementValueSemanticMatch(node) => node.path.is_some(),
            _ => false,
        }
    }
}

/// The word that the host of an address reduces to, which nodes have as their `netloc`. Empty for
/// what is no address.
pub fn netloc_of(url: &str) -> String {
    python_compat::url::Url::parse(url)
        .map(|url| comparisons::host_word(&url.netloc).to_owned())
        .unwrap_or_default()
}

/// An address as the rules see it: decoded once.
pub fn decoded(url: &str) -> String {
    python_compat::url::unquote(url)
}

/// How many elements a selector finds in a page, as the rule reads both; `None` for what is no
/// selector, or a page that cannot be read.
pub fn count_elements(html: &str, selector: &str) -> Option<usize> {
    python_compat::soup::count(&python_compat::soup::parse(html).ok()?, selector)
}
