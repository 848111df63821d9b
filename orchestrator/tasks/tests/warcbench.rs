//! WARC-Bench's four evaluators on made-up episodes, by both kinds of rules.
#![allow(clippy::unwrap_used)]

use scoring::rules::Rules;
use scoring::warcbench::Check;
use scoring::webarena::Found;
use scoring::{ScoreError, Scorer, Step};
use serde_json::{Value, json};
use tasks::saved::read_saved;
use tasks::{GoalText, Task};

fn worth(kind: &str, wanted: &str, answer: &str, rules: Rules) -> Result<f64, ScoreError> {
    let scorer = Scorer::WarcBench(Check::new(kind, wanted.to_owned()).unwrap());
    let mut state = scorer.start().by(rules);
    scorer.observe(&mut state, &Step { answer: Some(answer), ..Step::default() });
    Ok(scorer.score(&state)?.value)
}

#[test]
fn answers_are_compared_as_published_or_as_they_were_meant() {
    for (kind, wanted, answer, faithful, fixed) in [
        ("string_matcher", "St. Barthélemy", "St. Barthélemy", Ok(0.0), Ok(1.0)),
        ("string_matcher", "St. Barthélemy", "St. Barth\\u00e9lemy", Ok(1.0), Ok(1.0)),
        ("string_matcher", "C:\\new", "C:\\new", Ok(0.0), Ok(1.0)),
        ("string_matcher", "x\\", "x\\", Err(ScoreError::Raised("UnicodeDecodeError")), Ok(1.0)),
        ("string_matcher", "11/15/2024", " 11/15/2024\n", Ok(1.0), Ok(1.0)),
        ("string_matcher", "Ja", "ja", Ok(0.0), Ok(0.0)),
        ("json_matcher", r#"{"a": 240, "b": "x"}"#, r#"{"b": " x", "a": "240"}"#, Ok(1.0), Ok(1.0)),
        ("json_matcher", r#"["é"]"#, r#"["é"]"#, Ok(0.0), Ok(1.0)),
        ("json_matcher", r#"["a\nb"]"#, r#"["a\nb"]"#, Ok(0.0), Ok(1.0)),
        ("json_matcher", r#"[{"a": 1, "b": 2}]"#, r#"[{"b": 2, "a": 1}]"#, Ok(0.0), Ok(1.0)),
        ("json_matcher", "[1, 2]", "[2]", Ok(0.0), Ok(0.0)),
        ("json_matcher", "657", "\"657\"", Ok(0.0), Ok(0.0)),
    ] {
        assert_eq!(worth(kind, wanted, answer, Rules::Faithful), faithful, "{answer} for {wanted}");
        assert_eq!(worth(kind, wanted, answer, Rules::Fixed), fixed, "{answer} for {wanted}, fixed");
    }
}

#[test]
fn what_was_so_before_anything_was_done_decides_nothing_by_fixed_rules() {
    let url = Scorer::WarcBench(Check::UrlMatcher("https://rail.test/#/a".to_owned()));
    let js = Scorer::WarcBench(Check::JsMatcher("done".to_owned()));
    let at = |url: &str, truth: bool| Found {
        url: url.to_owned(),
        contents: vec![Value::Bool(truth)],
        ..Found::default()
    };
    for scorer in [url, js] {
        let (before, after) = (at("https://rail.test/", false), at("https://rail.test/#/a", true));
        for (rules, before, after, expect) in [
            (Rules::Faithful, &after, &after, Ok(1.0)),
            (Rules::Fixed, &before, &after, Ok(1.0)),
            (Rules::Fixed, &before, &before, Ok(0.0)),
            (Rules::Fixed, &after, &after, Err(ScoreError::FromTheStart)),
            (Rules::Fixed, &after, &before, Err(ScoreError::FromTheStart)),
        ] {
            let mut state = scorer.start().by(rules);
            if !scorer.evaluations_before(rules).is_empty() {
                scorer.read_before(&mut state, &mut [before.clone()].into_iter());
            }
            scorer.read(&mut state, &mut [after.clone()].into_iter());
            assert_eq!(scorer.score(&state).map(|score| score.value), expect, "{rules} {scorer:?}");
        }
    }
}

#[test]
fn files_have_one_evaluator_and_mistakes_are_named() {
    let task = |scorer: Value| {
        let task = json!({ "id": "a", "goal": "Go", "scorer": { "warcbench": scorer } });
        serde_json::from_value::<Task>(task).map_err(|error| error.to_string())
    };
    let read = task(json!({ "js_matcher": "a > 1;" })).unwrap();
    assert_eq!(read.scorer, Scorer::WarcBench(Check::JsMatcher("a > 1;".to_owned())));
    for (scorer, wrong) in [
        (json!({ "json_matcher": "{a}" }), "`{a}` is no JSON"),
        (json!({ "js_matcher": " " }), "is empty"),
        (json!({ "js": "1" }), "unknown variant `js`"),
    ] {
        let error = task(scorer).unwrap_err();
        assert!(error.contains(wrong), "{error}");
    }
}

#[test]
fn attempts_made_elsewhere_are_scored() {
    let lines = concat!(
        "{\"task_id\": \"online.3\", \"answer\": \"5\", \"url\": \"https://rail.test/#/b\"}\n",
        "{\"task_id\": \"online.3\", \"url\": \"https://rail.test/#/a\", \"contents\": [true]}\n",
    );
    let saved = read_saved(lines).unwrap();
    let worth = |check: Check| {
        let scorer = Scorer::WarcBench(check);
        let task = Task::new("dev.online.3".to_owned(), GoalText::Words("Go".to_owned()), scorer);
        let worth = |attempt: &tasks::saved::Saved| {
            assert!(attempt.is_of(&task));
            task.scorer.score(&attempt.state(&task.scorer)).unwrap().value
        };
        saved.iter().map(worth).collect::<Vec<_>>()
    };
    assert_eq!(worth(Check::UrlMatcher("https://rail.test/#/a".to_owned())), [0.0, 1.0]);
    assert_eq!(worth(Check::JsMatcher("x".to_owned())), [0.0, 1.0]);
    assert_eq!(worth(Check::StringMatcher("5".to_owned())), [1.0, 0.0]);
}
