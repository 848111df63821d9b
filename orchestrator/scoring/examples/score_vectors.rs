//! Times our scorers on reference vectors, for `make bench ONLY=scores`: one JSON object on
//! standard output, seconds of one round by metric.
//!
//!     score_vectors FOLDER SECONDS METRIC...
//!
//! Vectors are parsed before; what is timed are calls of a task's rule with an answer, an address
//! or the content of a page, and nothing else.

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use scoring::assistantbench::question_scorer;
use scoring::mode::ScoringMode::Faithful;
use scoring::{ScoreError, visualwebarena, webarena};
use serde_json::{Value, json};

type Call = Box<dyn Fn() -> Result<f64, ScoreError>>;

fn main() -> Result<(), Box<dyn Error>> {
    const USAGE: &str = "usage: score_vectors FOLDER SECONDS METRIC...";
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or(USAGE)?;
    let least = Duration::from_secs_f64(arguments.next().ok_or(USAGE)?.parse()?);
    let mut timed: BTreeMap<String, Value> = BTreeMap::new();
    for metric in arguments {
        let path = format!("{folder}/{metric}.jsonl");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let calls = text.lines().map(|line| call(&metric, line)).collect::<Result<Vec<_>, _>>()?;
        let agreed = agreed(&calls, &text)?;
        let seconds = quickest(&calls, least);
        timed.insert(
            metric,
            json!({ "vectors": calls.len(), "agreed": agreed, "seconds": seconds }),
        );
    }
    println!("{}", serde_json::to_string(&timed)?);
    Ok(())
}

/// The call of a vector, whose inputs have the types that they have in tasks.
fn call(metric: &str, line: &str) -> Result<Call, Box<dyn Error>> {
    let vector: Value = serde_json::from_str(line)?;
    let text = |key: &str| vector[key].as_str().map(str::to_owned);
    let rule = |key: &str| vector[key].as_object().cloned();
    let address = |url_note: Option<String>| {
        text("reference_url").map(|reference_url| webarena::UrlMatch { reference_url, url_note })
    };
    let note = match vector.get("url_note") {
        None => Some(None),
        Some(note) => note.as_str().map(|note| Some(note.to_owned())),
    };
    let call: Option<Call> = match metric {
        "assistantbench.answer" => text("prediction").zip(text("gold")).map(|(answer, gold)| {
            Box::new(move || question_scorer(&answer, &gold).map(|scored| scored.accuracy)) as Call
        }),
        "webarena.string_match" => {
            rule("reference_answers").zip(text("prediction")).map(|(rule, answer)| {
                let rule = webarena::StringMatch(rule);
                Box::new(move || rule.score(&answer, "", Faithful)?.score(&[], Faithful)) as Call
            })
        }
        "visualwebarena.string_match" => {
            rule("reference_answers").zip(text("prediction")).map(|(rule, answer)| {
                let rule = visualwebarena::StringMatch(rule);
                Box::new(move || rule.score(&answer, "")?.score(&[], Faithful)) as Call
            })
        }
        "webarena.required_contents" => {
            rule("required_contents").zip(text("content")).map(|(rule, content)| {
                let rule = webarena::RequiredContents(rule);
                Box::new(move || rule.score(&content)) as Call
            })
        }
        "webarena.url_match" => note
            .and_then(address)
            .zip(text("url"))
            .map(|(rule, url)| Box::new(move || rule.score(&url, Faithful)) as Call),
        "visualwebarena.url_match" => note.and_then(address).zip(text("url")).map(|(rule, url)| {
            let rule = visualwebarena::UrlMatch(rule);
            Box::new(move || rule.score(&url)) as Call
        }),
        _ => None,
    };
    Ok(call.ok_or_else(|| {
        format!(
            "{metric}: no task has inputs of such types, or nothing is timed of this metric: {line}"
        )
    })?)
}

/// How many of the calls give what the vectors say.
fn agreed(calls: &[Call], text: &str) -> Result<usize, serde_json::Error> {
    let mut agreed = 0;
    for (call, line) in calls.iter().zip(text.lines()) {
        let expected = serde_json::from_str::<Value>(line)?["expected"].as_f64();
        agreed += usize::from(match (call(), expected) {
            (Ok(score), Some(expected)) => (score - expected).abs() < 1e-6,
            (Err(_), None) => true,
            _ => false,
        });
    }
    Ok(agreed)
}

/// How long the quickest round takes; there are rounds for so long.
fn quickest(calls: &[Call], least: Duration) -> f64 {
    let (mut best, began) = (f64::INFINITY, Instant::now());
    while began.elapsed() < least {
        let start = Instant::now();
        for call in calls {
            let _ = black_box(call());
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}
