//! Scorers on whole episodes, and on any input.

use std::convert::Infallible;

use proptest::prelude::*;
use scoring::assistantbench::{GoldAnswer, question_scorer};
use scoring::evidence::PageEvidence;
use scoring::judge::{Judge, Prompt};
use scoring::mode::ScoringMode;
use scoring::{
    Assessment, KeyNode, KeyNodes, Moment, PageCheck, ScoreError, Scorer, Step, UrlNode, ValueNode,
};
use serde_json::json;

use crate::canned::page::Canned;

fn journey() -> Scorer {
    let url = |reference: &str| UrlNode { reference: reference.to_owned(), key: String::new() };
    Scorer::Mind2WebLive(KeyNodes {
        nodes: vec![
            KeyNode::UrlIncludedMatch(url("rail.")),
            KeyNode::UrlExactlyMatch(UrlNode {
                reference: "Alton".to_owned(),
                key: "from".to_owned(),
            }),
            KeyNode::ElementValueExactlyMatch(ValueNode {
                reference: "06:12".to_owned(),
                netloc: "rail".to_owned(),
                path: None,
            }),
        ],
    })
}

#[test]
fn key_nodes_are_kept_once_reached_and_survive_saving() {
    let scorer = journey();
    let mut state = scorer.start();
    state.observe(&Step { url: "https://rail.test/", ..Step::default() });
    assert_eq!(state.key_nodes(), [1.0, 0.0, 0.0]);

    let mut state = scorer.restore(&serde_json::to_value(&state).unwrap()).unwrap();
    state.observe(&Step { url: "https://www.rail.test/?from=Alton", ..Step::default() });
    state.observe(&Step { url: "https://elsewhere.test/", ..Step::default() });
    let score = state.score().unwrap();
    assert_eq!((score.success, score.near_success), (false, true));
    assert!((score.value - 2.0 / 3.0).abs() < 1e-9);

    let choice = Step {
        url: "http://rail.test/b",
        selector: Some("#t"),
        value: Some("06:12"),
        ..Step::default()
    };
    state.observe(&choice);
    let score = state.score().unwrap();
    assert!(score.success && !score.near_success && score.answered.is_none());
}

#[tokio::test]
async fn the_score_on_the_way_is_told_where_nothing_is_left_to_be_looked_at() {
    let scorer = Scorer::All(vec![
        journey(),
        Scorer::Page(PageCheck { reward: "1".to_owned(), done: None }),
    ]);
    let mut state = scorer.start();
    assert_eq!((state.so_far(), state.key_nodes()), (None, vec![0.0; 3]));
    state.observe(&Step { url: "https://rail.test/?from=Alton", ..Step::default() });
    assert_eq!((state.so_far(), state.key_nodes()), (None, vec![1.0, 1.0, 0.0]));
    let Ok(over) = state.collect(Moment::Settled, &mut Canned(|_: &str| Ok(json!(0.5)))).await;
    assert!(!over);
    assert!((state.so_far().unwrap() - 1.0 / 3.0).abs() < 1e-9);

    let answer = Scorer::AssistantBench(GoldAnswer { gold: "Alton".to_owned() });
    let mut state = answer.start();
    assert_eq!(state.so_far(), Some(0.0));
    state.observe(&Step { answer: Some("Alton"), ..Step::default() });
    assert_eq!((state.so_far(), state.key_nodes()), (Some(1.0), Vec::new()));
}

#[test]
fn the_last_answer_counts_and_none_is_no_success() {
    let scorer = Scorer::AssistantBench(GoldAnswer { gold: "Alton\nBarrow".to_owned() });
    let mut state = scorer.start();
    let nothing = state.score().unwrap();
    assert_eq!((nothing.value, nothing.answered), (0.0, Some(false)));
    for answer in ["Alton", "[\"barrow\", \"Alton\"]"] {
        state.observe(&Step { answer: Some(answer), ..Step::default() });
    }
    let score = state.score().unwrap();
    assert!(score.success && score.answered == Some(true));
}

#[tokio::test]
async fn what_a_page_said_last_counts_and_parts_hear_their_own() {
    let page = |reward: &str| {
        Scorer::Page(PageCheck { reward: reward.to_owned(), done: Some("over".to_owned()) })
    };
    let scorer = Scorer::All(vec![
        page("a"),
        Scorer::AssistantBench(GoldAnswer { gold: "5".to_owned() }),
        page("b"),
    ]);
    let says = |a: f64, b: f64, over: bool| {
        Canned(move |expression: &str| match expression {
            "a" => Ok(json!(a)),
            "b" => Ok(json!(b)),
            _ => Ok(json!(over)),
        })
    };
    let mut assessment = scorer.start();
    assessment.observe(&Step { answer: Some("5"), ..Step::default() });
    let never = assessment.score().unwrap();
    assert_eq!((never.value, never.wrong.len()), (0.0, 2));
    assert_eq!(assessment.collect(Moment::Settled, &mut says(1.0, 0.0, false)).await, Ok(false));
    assert_eq!(assessment.score().unwrap().value, 0.0);
    let mut assessment = scorer.restore(&serde_json::to_value(&assessment).unwrap()).unwrap();
    assert_eq!(assessment.collect(Moment::Settled, &mut says(1.0, 0.5, true)).await, Ok(true));
    let score = assessment.score().unwrap();
    assert_eq!((score.value, score.success, score.answered), (0.5, false, Some(true)));
}

#[test]
fn states_of_earlier_versions_are_taken_up() {
    let saved = json!({
        "nodes": [], "answer": "An Oak", "infeasible": false,
        "parts": [
            { "nodes": [1.0, 0.0, 0.5], "answer": "An Oak", "infeasible": false },
            { "rules": "fixed", "nodes": [], "answer": "An Oak", "verdict": { "reward": { "Ok": 1 }, "done": null } },
        ],
    });
    let scorer = Scorer::All(vec![
        journey(),
        Scorer::Page(PageCheck { reward: "1".to_owned(), done: None }),
    ]);
    let assessment = scorer.restore(&saved).unwrap();
    assert_eq!(
        (assessment.score().unwrap().value, assessment.key_nodes()),
        (0.5, vec![1.0, 0.0, 0.5])
    );
    // Where the task has got another scorer, what was seen of the agent counts.
    let other =
        serde_json::from_value::<Scorer>(json!({ "all": [{ "equals": "an oak" }] })).unwrap();
    assert!(
        other
            .restore(&json!({ "nodes": [], "answer": "An Oak" }))
            .unwrap()
            .score()
            .unwrap()
            .success
    );
    assert!(scorer.restore(&json!({ "answer": 5 })).is_err());
}

#[test]
fn what_the_published_code_raises_is_an_error() {
    assert_eq!(question_scorer("[5]", "5"), Err(ScoreError::Raised("TypeError")));
    assert_eq!(question_scorer("{}", "{\"a\": 1}"), Err(ScoreError::Raised("ValueError")));
}

/// Texts that come close to what the scorers take apart.
fn answer() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ":",
        ",",
        " ",
        "-",
        "\n",
        "a",
        "the",
        "1",
        "0",
        ".5",
        "e9",
        "$",
        "%",
        "sqft",
        "null",
        "true",
        "NaN",
        "Infinity",
        "\\u",
        "d800",
        "é",
        "٣",
        "½",
        "五",
        "\u{200b}",
        "\u{a0}",
        "{\"k\": 1}",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
    ]
}

proptest! {
    #[test]
    fn any_answer_has_a_score_or_an_error(prediction in answer(), gold in answer()) {
        if let Ok(scored) = question_scorer(&prediction, &gold) {
            prop_assert!(scored.accuracy >= 0.0 && scored.accuracy.is_finite());
            prop_assert!(scored.accuracy <= 1.0 + 1e-9 || gold.contains('-'));
        }
    }

    #[test]
    fn a_plain_text_agrees_with_itself(text in "[b-z]{2,8}( [b-z]{2,8}){0,4}") {
        prop_assume!(!text.split(' ').any(|word| matches!(word, "an" | "the" | "nan" | "inf" | "null" | "true" | "false")));
        prop_assert_eq!(question_scorer(&text, &text).map(|scored| scored.accuracy), Ok(1.0));
    }

    #[test]
    fn any_page_scores_between_0_and_1(url in any::<String>(), path in answer(), value in any::<String>()) {
        let scorer = journey();
        let mut state = scorer.start();
        for url in [&url, &format!("https://{path}"), &format!("https://rail.test/?from={path}")] {
            let before = state.score().unwrap().value;
            state.observe(&Step { url, selector: Some("*"), value: Some(&value), answer: Some(&value), ..Step::default() });
            let after = state.score().unwrap().value;
            prop_assert!((0.0..=1.0).contains(&after) && after >= before);
        }
    }
}

/// A judge that says what it is told to, and counts.
struct ScriptedJudge(&'static [&'static str], std::sync::atomic::AtomicUsize);

impl Judge for ScriptedJudge {
    type Error = Infallible;

    async fn reply(&self, _: &Prompt, attempt: u32) -> Result<String, Self::Error> {
        self.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ok(self.0[attempt as usize].to_owned())
    }
}

/// How often the judge is asked what is left open.
async fn judged(assessment: &mut Assessment, replies: &'static [&'static str]) -> usize {
    let judge = ScriptedJudge(replies, Default::default());
    let Ok(()) = assessment.consult(&judge, "Find oak").await;
    judge.1.into_inner()
}

#[tokio::test]
async fn what_nobody_has_ruled_on_is_no_score() {
    let node =
        UrlNode { reference: "Decide whether it is about oak".to_owned(), key: "q".to_owned() };
    let scorer = Scorer::All(vec![
        Scorer::Mind2WebLive(KeyNodes { nodes: vec![KeyNode::UrlSemanticMatch(node)] }),
        Scorer::AssistantBench(GoldAnswer { gold: "oak".to_owned() }),
    ]);
    let mut state = scorer.start();
    assert_eq!(state.score().unwrap().value, 0.0, "no page has such a parameter");
    for url in
        ["https://shop.test/?q=elm", "https://shop.test/?q=old+oak", "https://shop.test/?q=elm"]
    {
        state.observe(&Step { url, answer: Some("oak"), ..Step::default() });
    }
    assert_eq!(state.score(), Err(ScoreError::NeedsJudge));
    assert_eq!(state.questions().len(), 2);
    let mut saved = scorer.restore(&serde_json::to_value(&state).unwrap()).unwrap();
    assert_eq!(judged(&mut saved, &["perhaps", "```0.333```"]).await, 4);
    assert_eq!(saved.score().unwrap().value, 0.33);
    assert_eq!(judged(&mut state, &["perhaps", "perhaps", "perhaps"]).await, 6);
    assert_eq!(state.score().unwrap().value, 0.0);
    // Where the answer has earned nothing, no judge is needed.
    let mut state = scorer.start();
    state.observe(&Step {
        url: "https://shop.test/?q=oak",
        answer: Some("elm"),
        ..Step::default()
    });
    assert_eq!(state.score().unwrap().value, 0.0);
}

#[tokio::test]
async fn answers_are_judged_where_rules_do_not_decide() {
    let evaluation = |eval: serde_json::Value| -> Scorer {
        serde_json::from_value(json!({ "webarena": eval })).unwrap()
    };
    let eval = json!({
        "eval_types": ["string_match", "url_match"], "reference_answers": { "fuzzy_match": ["an oak", "a tree"] },
        "reference_url": "https://shop.test/oak", "url_note": "GOLD in PRED"
    });
    let scorer = evaluation(eval);
    for (url, replies, calls, expect) in [
        ("https://shop.test/oak", &["Correct"] as &[&str], 2, Ok(1.0)),
        ("https://shop.test/oak", &["partially correct"], 2, Ok(0.0)),
        ("https://shop.test/oak", &["I see"], 2, Err(ScoreError::Raised("AssertionError"))),
        ("https://shop.test/elm", &["Correct"], 0, Ok(0.0)),
    ] {
        let mut state = scorer.start();
        state.observe(&Step { answer: Some("An Oak"), ..Step::default() });
        state.accept_pages(&PageEvidence { url: url.to_owned(), ..PageEvidence::default() });
        let replies: &'static [&'static str] = Vec::leak(replies.to_vec());
        assert_eq!(judged(&mut state, replies).await, calls, "{url}");
        assert_eq!(state.score().map(|score| score.value), expect, "{url} {replies:?}");
    }
    // By fixed rules what a judge says unclearly is no error.
    let eval = json!({ "eval_types": ["string_match"], "reference_answers": { "fuzzy_match": ["an oak"] } });
    let scorer = evaluation(eval);
    let mut state = scorer.start().by(ScoringMode::Fixed);
    state.observe(&Step { answer: Some("oak"), ..Step::default() });
    state.accept_pages(&PageEvidence::default());
    assert_eq!(judged(&mut state, &["I see"]).await, 1);
    assert_eq!(state.score(), Err(ScoreError::NeedsJudge));
    let reason = json!({
        "eval_types": ["string_match"], "reference_answers": { "fuzzy_match": "N/A" }, "string_note": "no oaks are sold"
    });
    let scorer = evaluation(reason);
    for (answer, calls, expect) in [("n/a", 0, 1.0), ("they sell none", 1, 1.0)] {
        let mut state = scorer.start();
        state.observe(&Step { answer: Some(answer), ..Step::default() });
        state.accept_pages(&PageEvidence::default());
        assert_eq!(judged(&mut state, &["same"]).await, calls);
        assert_eq!(state.score().unwrap().value, expect, "{answer}");
    }
}
