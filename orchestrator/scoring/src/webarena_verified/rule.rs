//! A task of the benchmark as the rule of one of ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Value, json};

use super::{Config, Run, Status, Task, evaluate, read};
use crate::{AgentRecord, Evidence, EvidenceKind, Moment, Needs, Rule, Score, ScoreError};

/// A task as its dataset has it, and where its sites are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifiedTask {
    /// An object of `webarena-verified.json`.
    #[serde(deserialize_with = "read_task")]
    pub task: Value,
    /// The addresses of the sites by their names in it, such as `reddit`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sites: BTreeMap<String, String>,
}

/// The result of its evaluators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// 0 or 1. The package counts what it cannot evaluate as 0.
    pub score: f64,
    /// The conditions that do not hold.
    pub wrong: Vec<String>,
}

impl VerifiedTask {
    /// Evaluates what an agent answered and the HAR of its network.
    pub fn check(&self, answer: &str, har: &[u8]) -> EvaluationReport {
        let failed = |wrong: String| EvaluationReport { score: 0.0, wrong: vec![wrong] };
        let task = match one(self.task.clone()) {
            Ok(task) => task,
            Err(error) => return failed(error),
        };
        let environment = |(site, url): (&String, &String)| {
            (format!("__{}__", site.to_uppercase()), json!({ "urls": [url.trim_end_matches('/')] }))
        };
        let environments: serde_json::Map<String, Value> =
            self.sites.iter().map(environment).collect();
        let config = match environments.is_empty() {
            true => Ok(Config::default()),
            false => Config::read(&json!({ "environments": environments }).to_string()),
        };
        let config = match config {
            Ok(config) => config,
            Err(error) => return failed(format!("the addresses of its sites: {error}")),
        };
        let result =
            evaluate(&task, &config, &Run { agent_response: answer.as_bytes(), network: har });
        let mut wrong: Vec<String> = result.error_msg.into_iter().collect();
        for evaluator in
            result.evaluators_results.into_iter().filter(|found| found.status != Status::Success)
        {
            wrong.extend(evaluator.error_msg);
            wrong.extend(
                evaluator.assertions.into_iter().flat_map(|assertion| assertion.assertion_msgs),
            );
        }
        EvaluationReport { score: result.score, wrong }
    }
}

/// The state of the rule.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// The verdict on the network's traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<EvaluationReport>,
}

impl Rule for VerifiedTask {
    type State = State;
    const SOURCE: EvidenceKind = EvidenceKind::Traffic;

    fn forgeable(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn needs(&self) -> Needs {
        Needs { traffic: true, ..Needs::default() }
    }

    async fn collect<E: Evidence>(
        &self,
        state: &mut State,
        moment: Moment,
        conduct: &AgentRecord,
        evidence: &mut E,
    ) -> Result<bool, E::Error> {
        if moment == Moment::End
            && let Some(har) = evidence.traffic()
        {
            state.checked = Some(self.check(conduct.answer.as_deref().unwrap_or_default(), har));
        }
        Ok(false)
    }

    fn is_complete(&self, state: &State) -> bool {
        state.checked.is_some()
    }

    fn score(&self, state: &State, _: &AgentRecord) -> Result<Score, ScoreError> {
        Ok(match &state.checked {
            Some(report) => Score::of(report.score >= 1.0, report.wrong.clone()),
            None => Score::of(false, vec!["the network was not kept".to_owned()]),
        })
    }
}

fn one(task: Value) -> Result<Task, String> {
    let tasks = read(&Value::from(vec![task]).to_string()).map_err(|error| error.to_string())?;
    tasks.into_iter().next().ok_or_else(|| "no task".to_owned())
}

fn read_task<'de, D: Deserializer<'de>>(input: D) -> Result<Value, D::Error> {
    let task = Value::deserialize(input)?;
    one(task.clone()).map_err(de::Error::custom)?;
    Ok(task)
}
