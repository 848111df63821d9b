//! Scorers on whole episodes, and on any input.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use scoring::assistantbench::question_scorer;
use scoring::judge::{Judge, Prompt, ask};
use scoring::rules::Rules;
use scoring::webarena::Found;
use scoring::{KeyNode, PageCheck, ScoreError, ScoreState, Scorer, Step, UrlNode, ValueNode, Verdict};

fn journey() -> Scorer {
    let url = |reference: &str| UrlNode { reference: reference.to_owned(), key: String::new() };
    Scorer::Mind2WebLive {
        nodes: vec![
            KeyNode::UrlIncludedMatch(url("rail.")),
            KeyNode::UrlExactlyMatch(UrlNode { reference: "Alton".to_owned(), key: "from".to_owned() }),
            KeyNode::ElementValueExactlyMatch(ValueNode {
                reference: "06:12".to_owned(),
                netloc: "rail".to_owned(),
                path: None,
            }),
        ],
    }
}

#[test]
fn key_nodes_are_kept_once_reached_and_survive_saving() {
    let scorer = journey();
    let mut state = scorer.start();
    scorer.observe(&mut state, &Step { url: "https://rail.test/", ..Step::default() });
    assert_eq!(state.nodes, [1.0, 0.0, 0.0]);

    let saved = serde_json::to_string(&state).unwrap();
    let mut state: ScoreState = serde_json::from_str(&saved).unwrap();
    scorer.observe(&mut state, &Step { url: "https://www.rail.test/?from=Alton", ..Step::default() });
    scorer.observe(&mut state, &Step { url: "https://elsewhere.test/", ..Step::default() });
    let score = scorer.score(&state).unwrap();
    assert_eq!((score.success, score.near_success), (false, true));
    assert!((score.value - 2.0 / 3.0).abs() < 1e-9);

    let choice =
        Step { url: "http://rail.test/b", selector: Some("#t"), value: Some("06:12"), ..Step::default() };
    scorer.observe(&mut state, &choice);
    let score = scorer.score(&state).unwrap();
    assert!(score.success && !score.near_success && score.answered.is_none());
}

#[test]
fn the_score_on_the_way_is_told_where_nothing_is_left_to_be_looked_at() {
    let scorer = Scorer::All(vec![journey(), Scorer::Page(PageCheck { reward: "1".to_owned(), done: None })]);
    let mut state = scorer.start();
    assert_eq!((scorer.so_far(&state), scorer.nodes_so_far(&state)), (None, vec![0.0; 3]));
    scorer.observe(&mut state, &Step { url: "https://rail.test/?from=Alton", ..Step::default() });
    assert_eq!((scorer.so_far(&state), scorer.nodes_so_far(&state)), (None, vec![1.0, 1.0, 0.0]));
    let verdict = Verdict { reward: Ok(serde_json::json!(0.5)), done: None };
    scorer.hear(&mut state, &mut vec![verdict].into_iter());
    assert!((scorer.so_far(&state).unwrap() - 1.0 / 3.0).abs() < 1e-9);

    let answer = Scorer::AssistantBench { gold: "Alton".to_owned() };
    let mut state = answer.start();
    assert_eq!(answer.so_far(&state), Some(0.0));
    answer.observe(&mut state, &Step { answer: Some("Alton"), ..Step::default() });
    assert_eq!((answer.so_far(&state), answer.nodes_so_far(&state)), (Some(1.0), Vec::new()));
}

#[test]
fn the_last_answer_counts_and_none_is_no_success() {
    let scorer = Scorer::AssistantBench { gold: "Alton\nBarrow".to_owned() };
    let mut state = scorer.start();
    let nothing = scorer.score(&state).unwrap();
    assert_eq!((nothing.value, nothing.answered), (0.0, Some(false)));
    for answer in ["Alton", "[\"barrow\", \"Alton\"]"] {
        scorer.observe(&mut state, &Step { answer: Some(answer), ..Step::default() });
    }
    let score = scorer.score(&state).unwrap();
    assert!(score.success && score.answered == Some(true));
}

#[test]
fn what_a_page_said_last_counts_and_parts_hear_their_own() {
    let page =
        |reward: &str| Scorer::Page(PageCheck { reward: reward.to_owned(), done: Some("over".to_owned()) });
    let scorer = Scorer::All(vec![page("a"), Scorer::AssistantBench { gold: "5".to_owned() }, page("b")]);
    let asked: Vec<&str> = scorer.page_checks().iter().map(|check| check.reward.as_str()).collect();
    assert_eq!(asked, ["a", "b"]);
    let mut state = scorer.start();
    scorer.observe(&mut state, &Step { answer: Some("5"), ..Step::default() });
    let never = scorer.score(&state).unwrap();
    assert_eq!((never.value, never.wrong.len()), (0.0, 2));
    let said = |reward: f64, done: bool| Verdict { reward: Ok(reward.into()), done: Some(Ok(done.into())) };
    assert!(!scorer.hear(&mut state, &mut [said(1.0, false), said(0.0, false)].into_iter()));
    assert_eq!(scorer.score(&state).unwrap().value, 0.0);
    let mut state: ScoreState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert!(scorer.hear(&mut state, &mut [said(1.0, true), said(0.5, false)].into_iter()));
    let score = scorer.score(&state).unwrap();
    assert_eq!((score.value, score.success, score.answered), (0.5, false, Some(true)));
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
    prop_oneof![any::<String>(), prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())]
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
            let before = scorer.score(&state).unwrap().value;
            scorer.observe(&mut state, &Step { url, selector: Some("*"), value: Some(&value), answer: Some(&value), ..Step::default() });
            let after = scorer.score(&state).unwrap().value;
            prop_assert!((0.0..=1.0).contains(&after) && after >= before);
        }
    }
}

/// A judge that says what it is told to, and counts.
struct Told(&'static [&'static str], std::sync::atomic::AtomicUsize);

impl Judge for Told {
    type Error = std::convert::Infallible;

    async fn reply(&self, _: &Prompt, attempt: u32) -> Result<String, Self::Error> {
        self.1.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ok(self.0[attempt as usize].to_owned())
    }
}

/// What the judge's replies make of an episode that reached everything else.
async fn judged(scorer: &Scorer, state: &mut ScoreState, replies: &'static [&'static str]) -> usize {
    let judge = Told(replies, Default::default());
    for question in scorer.questions_to_judge(state) {
        let Ok(judgement) = ask(&judge, "Find oak", &question).await;
        scorer.judged(state, &judgement);
    }
    judge.1.into_inner()
}

#[tokio::test]
async fn what_nobody_has_ruled_on_is_no_score() {
    let node = UrlNode { reference: "Decide whether it is about oak".to_owned(), key: "q".to_owned() };
    let scorer = Scorer::All(vec![
        Scorer::Mind2WebLive { nodes: vec![KeyNode::UrlSemanticMatch(node)] },
        Scorer::AssistantBench { gold: "oak".to_owned() },
    ]);
    let mut state = scorer.start();
    assert_eq!(scorer.score(&state).unwrap().value, 0.0, "no page has such a parameter");
    for url in ["https://shop.test/?q=elm", "https://shop.test/?q=old+oak", "https://shop.test/?q=elm"] {
        scorer.observe(&mut state, &Step { url, answer: Some("oak"), ..Step::default() });
    }
    assert_eq!(scorer.score(&state), Err(ScoreError::NeedsJudge));
    assert_eq!(scorer.questions_to_judge(&state).len(), 2);
    let mut saved: ScoreState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
    assert_eq!(judged(&scorer, &mut saved, &["perhaps", "```0.333```"]).await, 4);
    assert_eq!(scorer.score(&saved).unwrap().value, 0.33);
    assert_eq!(judged(&scorer, &mut state, &["perhaps", "perhaps", "perhaps"]).await, 6);
    assert_eq!(scorer.score(&state).unwrap().value, 0.0);
    // Where the answer has earned nothing, no judge is needed.
    let mut state = scorer.start();
    scorer.observe(
        &mut state,
        &Step { url: "https://shop.test/?q=oak", answer: Some("elm"), ..Step::default() },
    );
    assert_eq!(scorer.score(&state).unwrap().value, 0.0);
}

#[tokio::test]
async fn answers_are_judged_where_rules_do_not_decide() {
    let evaluation = |eval: serde_json::Value| -> Scorer {
        serde_json::from_value(serde_json::json!({ "webarena": eval })).unwrap()
    };
    let eval = serde_json::json!({
        "eval_types": ["string_match", "url_match"], "reference_answers": { "fuzzy_match": ["an oak", "a tree"] },
        "reference_url": "https://shop.test/oak", "url_note": "GOLD in PRED"
    });
    let scorer = evaluation(eval);
    for (url, replies, asked, expect) in [
        ("https://shop.test/oak", &["Correct"] as &[&str], 2, Ok(1.0)),
        ("https://shop.test/oak", &["partially correct"], 2, Ok(0.0)),
        ("https://shop.test/oak", &["I see"], 2, Err(ScoreError::Raised("AssertionError"))),
        ("https://shop.test/elm", &["Correct"], 0, Ok(0.0)),
    ] {
        let mut state = scorer.start();
        scorer.observe(&mut state, &Step { answer: Some("An Oak"), ..Step::default() });
        scorer.read(&mut state, &mut [Found { url: url.to_owned(), ..Found::default() }].into_iter());
        let replies: &'static [&'static str] = Vec::leak(replies.to_vec());
        assert_eq!(judged(&scorer, &mut state, replies).await, asked, "{url}");
        assert_eq!(scorer.score(&state).map(|score| score.value), expect, "{url} {replies:?}");
    }
    // By fixed rules what a judge says unclearly is no error.
    let eval = serde_json::json!({ "eval_types": ["string_match"], "reference_answers": { "fuzzy_match": ["an oak"] } });
    let scorer = evaluation(eval);
    let mut state = scorer.start().by(Rules::Fixed);
    scorer.observe(&mut state, &Step { answer: Some("oak"), ..Step::default() });
    scorer.read(&mut state, &mut [Found::default()].into_iter());
    assert_eq!(judged(&scorer, &mut state, &["I see"]).await, 1);
    assert_eq!(scorer.score(&state), Err(ScoreError::NeedsJudge));
    let reason = serde_json::json!({
        "eval_types": ["string_match"], "reference_answers": { "fuzzy_match": "N/A" }, "string_note": "no oaks are sold"
    });
    let scorer = evaluation(reason);
    for (answer, asked, expect) in [("n/a", 0, 1.0), ("they sell none", 1, 1.0)] {
        let mut state = scorer.start();
        scorer.observe(&mut state, &Step { answer: Some(answer), ..Step::default() });
        scorer.read(&mut state, &mut [Found::default()].into_iter());
        assert_eq!(judged(&scorer, &mut state, &["same"]).await, asked);
        assert_eq!(scorer.score(&state).unwrap().value, expect, "{answer}");
    }
}
