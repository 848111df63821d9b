//! The key nodes of a task of Mind2Web-Live as its rule.
//!
//! Every node keeps the best score it has had. The published code raises an exception at a page
//! address that it cannot parse, and gives up the step; here that node stays as it was and the
//! others are still judged.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::KeyNode;
use crate::judge::{Judgement, Question};
use crate::{AgentRecord, EvidenceKind, Needs, Rule, Score, ScoreError, Step};

/// The key nodes that must have been reached, in any order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "struct variant Scorer::Mind2WebLive")]
#[schemars(inline, description = "")]
pub struct KeyNodes {
    /// The key nodes; at least one.
    #[serde(deserialize_with = "read_nodes")]
    pub nodes: Vec<KeyNode>,
}

/// The state of the rule.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// The best score of each key node so far, in the order of the task.
    #[serde(default)]
    pub nodes: Vec<f64>,
    /// The questions for a judge about key nodes.
    #[serde(default, rename = "asked", skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<NodeQuestion>,
}

/// A question whose answer is a score of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeQuestion {
    /// The index of the node in the task, from 0.
    node: usize,
    /// The question for a judge.
    question: Question,
}

impl Rule for KeyNodes {
    type State = State;
    const SOURCE: EvidenceKind = EvidenceKind::Steps;

    fn start(&self) -> State {
        State { nodes: vec![0.0; self.nodes.len()], questions: Vec::new() }
    }

    fn needs(&self) -> Needs {
        Needs { html: self.nodes.iter().any(KeyNode::wants_html), ..Needs::default() }
    }

    /// Steps and their elements are what the page shows of them.
    fn forgeable(&self) -> Vec<&'static str> {
        vec!["mind2web_live"]
    }

    /// Raises each node's best score by what this step earns, and notes what a judge has to be
    /// asked. What is reached is not asked about again.
    fn observe(&self, state: &mut State, step: &Step<'_>) {
        let State { nodes: best, questions } = state;
        best.resize(self.nodes.len(), 0.0);
        for (place, (node, best)) in
            self.nodes.iter().zip(best).enumerate().filter(|(_, (_, best))| **best < 1.0)
        {
            if let Ok(Some(question)) = node.asks(step) {
                let question = NodeQuestion { node: place, question };
                if !questions.contains(&question) {
                    questions.push(question);
                }
            } else if let Ok(score) = node.score(step) {
                *best = best.max(score);
            }
        }
    }

    fn is_complete(&self, _: &State) -> bool {
        true
    }

    /// Returns the questions without a ruling, in the order in which they came up.
    fn questions(&self, state: &State, conduct: &AgentRecord) -> Vec<Question> {
        let known = |question: &Question| {
            conduct.judgements.iter().any(|known| known.question == *question)
        };
        let mut open: Vec<Question> = Vec::new();
        for NodeQuestion { question, .. } in &state.questions {
            if !known(question) && !open.contains(question) {
                open.push(question.clone());
            }
        }
        open
    }

    fn node_texts(&self) -> Vec<String> {
        self.nodes.iter().filter_map(|node| serde_json::to_string(node).ok()).collect()
    }

    fn key_nodes(&self, state: &State) -> Vec<f64> {
        state.nodes.clone()
    }

    fn score(&self, state: &State, conduct: &AgentRecord) -> Result<Score, ScoreError> {
        let (value, missing) = completion(state, conduct)?;
        let success = missing == 0 && !state.nodes.is_empty();
        let near_success = missing == 1;
        Ok(Score {
            value,
            near_success,
            nodes: Some(self.nodes.len()),
            ..Score::of(success, Vec::new())
        })
    }
}

/// A task without key nodes would be done before it began.
fn read_nodes<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<KeyNode>, D::Error> {
    let nodes = Vec::<KeyNode>::deserialize(input)?;
    if nodes.is_empty() { Err(de::Error::custom("nodes: none given")) } else { Ok(nodes) }
}

/// Key-node completion: the mean of the nodes' best scores, and how many nodes are not reached.
fn completion(state: &State, conduct: &AgentRecord) -> Result<(f64, usize), ScoreError> {
    let mut best = state.nodes.clone();
    for NodeQuestion { node, question } in &state.questions {
        let ruled =
            conduct.judgements.iter().find(|Judgement { question: known, .. }| known == question);
        let score = ruled.ok_or(ScoreError::NeedsJudge)?.score(conduct.mode)?;
        if let Some(best) = best.get_mut(*node) {
            *best = best.max(score);
        }
    }
    let missing = best.iter().filter(|&&score| score < 1.0).count();
    Ok((best.iter().sum::<f64>() / best.len().max(1) as f64, missing))
}
