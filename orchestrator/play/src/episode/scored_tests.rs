//! Every kind of scorer on texts that an agent may answer with to stop it. There is a score, or a
//! loss with a reason, in time; never an error.

use std::time::Instant;

use scoring::Scorer;
use serde_json::{Value, json};

use super::*;

/// How long each may take here.
const LIMIT: Duration = Duration::from_secs(3);
/// How much later than that it may be known, on a busy machine.
const GRACE: Duration = Duration::from_secs(10);

fn scorers() -> Vec<Value> {
    let verified = |format: &str, data: Value| {
        json!({ "webarena_verified": { "task": {
            "sites": ["gitlab"], "task_id": 7, "intent_template_id": 1, "start_urls": ["__GITLAB__"],
            "intent": "Find it.", "intent_template": "Find it.", "instantiation_dict": {}, "revision": 1,
            "eval": [{
                "evaluator": "AgentResponseEvaluator",
                "results_schema": {"type": "array", "items": {"format": format}},
                "expected": {"task_type": "retrieve", "status": "SUCCESS", "retrieved_data": data},
            }],
        } } })
    };
    vec![
        json!({ "equals": "a" }),
        json!({ "contains": ["a", "qq"] }),
        json!({ "matches": "(?<!x)(a|aa)+$b" }),
        json!({ "matches": "^(?=(a+)+$)b" }),
        json!({ "matches": "(a*)*\\1b" }),
        json!({ "matches": "(a|aa)+$b" }),
        json!({ "assistantbench": { "gold": "a red bicycle" } }),
        json!({ "assistantbench": { "gold": "one\ntwo\nthree" } }),
        json!({ "assistantbench": { "gold": "{\"a\": 1}" } }),
        json!({ "assistantbench": { "gold": "12.5" } }),
        json!({ "mind2web_live": { "nodes": [{ "final_answer_included_match": { "reference": "06:12" } }] } }),
        json!({ "warcbench": { "string_matcher": "a" } }),
        json!({ "warcbench": { "json_matcher": "{\"a\": [1]}" } }),
        verified("currency", json!([12.5])),
        verified("date", json!(["2026-01-02"])),
        verified("duration", json!(["1 hour"])),
        json!({ "infeasible": {} }),
        json!({ "all": [{ "matches": "(?<!x)(a|aa)+$b" }, { "equals": "a" }] }),
    ]
}

fn answers() -> Vec<String> {
    const MOST: usize = 900_000;
    let times = |piece: &str| piece.repeat(MOST / piece.len());
    let in_reply = |data: String| {
        json!({ "task_type": "RETRIEVE", "status": "success", "retrieved_data": [data] })
            .to_string()
    };
    vec![
        times("a"),
        times("a\n"),
        times("1,"),
        times("9"),
        times("["),
        times("{\"a\":"),
        times("\u{130}"),
        times(" "),
        times("a b c d "),
        times("2026-01-02 "),
        in_reply("1.".repeat(200_000)),
        in_reply(" 1h".repeat(200_000)),
        String::new(),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_stops_a_scorer_or_makes_an_error() {
    for scorer in scorers() {
        let read: Result<Scorer, _> = serde_json::from_value(scorer.clone());
        let read = read.unwrap_or_else(|error| panic!("{scorer}: {error}"));
        for answer in answers() {
            let named = format!(
                "{scorer} on {} bytes of {:?}",
                answer.len(),
                &answer.get(..9.min(answer.len()))
            );
            let mut assessment = read.start();
            let began = Instant::now();
            let shown = answer.clone();
            let observed = deadline::within(LIMIT, move || {
                assessment
                    .observe(&scoring::Step { answer: Some(&shown), ..scoring::Step::default() });
                assessment
            });
            let Ok(mut assessment) = observed.await else { continue };
            let model = Model::default();
            let scored = score_episode(
                &mut assessment,
                "Go.",
                Outcome::Answered,
                &model,
                Suspect::Agent,
                LIMIT,
            )
            .await;
            assert!(began.elapsed() < 3 * LIMIT + GRACE, "{named}: {:?}", began.elapsed());
            assert!(
                !matches!(scored.outcome, Outcome::Error { .. }),
                "{named}: {:?}",
                scored.outcome
            );
            assert!(scored.detail.is_none_or(|score| !score.success), "{named}");
        }
    }
}
