//! Key nodes of Mind2Web-Live, as in WebCanvas' `evaluate/step_score.py` and `step_evaluate`.
//!
//! Every node keeps the best score it has had. The published code raises an exception at a page address that it
//! cannot parse, and gives up the step; here that node stays as it was and the others are still judged.

mod element;
mod node;
mod published;
mod rules;

pub use node::{KeyNode, Method, PathNode, TextNode, UrlNode, ValueNode};
pub use published::PublishedNode;

use serde::{Deserialize, Deserializer, Serialize, de};

use super::judge::{Judgement, Question};
use super::{ScoreError, ScoreState, Step};

impl KeyNode {
    /// The score of this node at one step: 0 or 1.
    ///
    /// # Errors
    /// Where the published code raises an exception, and where it asks a judge.
    pub fn score(&self, step: &Step<'_>) -> Result<f64, ScoreError> {
        let matched = match self {
            KeyNode::UrlExactlyMatch(node) => rules::url_exact(step.url, node),
            KeyNode::UrlIncludedMatch(node) => rules::url_included(step.url, node),
            KeyNode::ElementValueExactlyMatch(node) => {
                rules::value(step, node, |value, reference| value == reference)?
            }
            KeyNode::ElementValueIncludedMatch(node) => {
                rules::value(step, node, |value, reference| value.contains(reference))?
            }
            KeyNode::FinalAnswerExactMatch(node) => {
                rules::text(step, node, |answer, reference| answer == reference)
            }
            KeyNode::FinalAnswerIncludedMatch(node) => {
                rules::text(step, node, |answer, reference| answer.contains(reference))
            }
            KeyNode::ElementPathExactlyMatch(node) => rules::path(step, node)?,
            KeyNode::UrlSemanticMatch(_) | KeyNode::ElementValueSemanticMatch(_) => match self.asks(step)? {
                Some(_) => return Err(ScoreError::NeedsJudge),
                None => false,
            },
        };
        Ok(f64::from(u8::from(matched)))
    }

    /// What a judge is asked at one step.
    fn asks(&self, step: &Step<'_>) -> Result<Option<Question>, ScoreError> {
        match self {
            KeyNode::UrlSemanticMatch(node) => Ok(rules::url_means(step.url, node)),
            KeyNode::ElementValueSemanticMatch(node) => rules::value_means(step, node),
            _ => Ok(None),
        }
    }

    /// Whether the page's HTML decides the score when an element is acted on.
    pub(super) fn wants_html(&self) -> bool {
        match self {
            KeyNode::ElementPathExactlyMatch(_) => true,
            KeyNode::ElementValueExactlyMatch(node)
            | KeyNode::ElementValueIncludedMatch(node)
            | KeyNode::ElementValueSemanticMatch(node) => node.path.is_some(),
            _ => false,
        }
    }
}

/// A task without key nodes would be done before it began.
pub(super) fn read_nodes<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<KeyNode>, D::Error> {
    let nodes = Vec::deserialize(input)?;
    if nodes.is_empty() { Err(de::Error::custom("nodes: none given")) } else { Ok(nodes) }
}

/// Raises each node's best score by what this step earns, and notes what a judge has to be asked. What is reached is not asked about again.
pub(super) fn observe(nodes: &[KeyNode], state: &mut ScoreState, step: &Step<'_>) {
    let ScoreState { nodes: best, asked, .. } = state;
    best.resize(nodes.len(), 0.0);
    for (place, (node, best)) in nodes.iter().zip(best).enumerate().filter(|(_, (_, best))| **best < 1.0) {
        if let Ok(Some(question)) = node.asks(step) {
            let asks = Asks { node: place, question };
            if !asked.contains(&asks) {
                asked.push(asks);
            }
        } else if let Ok(score) = node.score(step) {
            *best = best.max(score);
        }
    }
}

/// A question whose answer is a score of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asks {
    /// Which node of the task, from 0.
    node: usize,
    /// What a judge has to be asked.
    question: Question,
}

/// What nobody has ruled on yet, in the order in which it came up.
pub(super) fn questions(state: &ScoreState) -> Vec<Question> {
    let known = |question: &Question| state.judgements.iter().any(|known| known.question == *question);
    let mut open: Vec<Question> = Vec::new();
    for Asks { question, .. } in &state.asked {
        if !known(question) && !open.contains(question) {
            open.push(question.clone());
        }
    }
    open
}

/// Key-node completion: the mean of the nodes' best scores, and how many nodes are not reached.
pub(super) fn completion(state: &ScoreState) -> Result<(f64, usize), ScoreError> {
    let mut best = state.nodes.clone();
    for Asks { node, question } in &state.asked {
        let ruled = state.judgements.iter().find(|Judgement { question: known, .. }| known == question);
        let score = ruled.ok_or(ScoreError::NeedsJudge)?.score(state.rules)?;
        if let Some(best) = best.get_mut(*node) {
            *best = best.max(score);
        }
    }
    let missing = best.iter().filter(|&&score| score < 1.0).count();
    Ok((best.iter().sum::<f64>() / best.len().max(1) as f64, missing))
}
