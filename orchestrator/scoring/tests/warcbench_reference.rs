//! WARC-Bench's string and JSON evaluators beside Python, which has made the cases' scores; `make
//! conformance`.
#![allow(clippy::unwrap_used)]

use std::{env, fs};

use scoring::warcbench::Check;
use scoring::{ScoreError, Scorer, Step};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    kind: String,
    wanted: String,
    answer: String,
    /// Nothing where Python raises an exception.
    score: Option<f64>,
}

#[test]
fn answers_are_worth_what_python_says() {
    let file = env::var("SANDBOX_WARCBENCH_REFERENCE")
        .expect("SANDBOX_WARCBENCH_REFERENCE names what tests/conformance/warcbench.py prints: run `make conformance`");
    let text = fs::read_to_string(file).unwrap();
    let cases: Vec<Case> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() > 60, "{} cases", cases.len());
    for Case { kind, wanted, answer, score } in cases {
        let scorer = Scorer::WarcBench(Check::new(&kind, wanted.clone()).unwrap());
        let mut state = scorer.start();
        scorer.observe(&mut state, &Step { answer: Some(&answer), ..Step::default() });
        let here = match scorer.score(&state) {
            Ok(score) => Some(score.value),
            Err(ScoreError::Raised(_)) => None,
            Err(other) => panic!("{other}"),
        };
        assert_eq!(here, score, "{kind}: {answer:?} for {wanted:?}");
    }
}
