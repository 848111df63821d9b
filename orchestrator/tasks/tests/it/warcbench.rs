//! Tasks of WARC-Bench, and attempts at them.

use scoring::Scorer;
use scoring::warcbench::Check;
use serde_json::{Value, json};
use tasks::saved::read_saved;
use tasks::{GoalText, Task};

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
        let worth = |attempt: &tasks::saved::SavedAttempt| {
            assert!(attempt.is_of(&task));
            attempt.assessment(&task.scorer).score().unwrap().value
        };
        saved.iter().map(worth).collect::<Vec<_>>()
    };
    assert_eq!(worth(Check::UrlMatcher("https://rail.test/#/a".to_owned())), [0.0, 1.0]);
    assert_eq!(worth(Check::JsMatcher("x".to_owned())), [0.0, 1.0]);
    assert_eq!(worth(Check::StringMatcher("5".to_owned())), [1.0, 0.0]);
}
