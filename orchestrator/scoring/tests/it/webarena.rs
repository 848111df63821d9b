//! WebArena's and VisualWebArena's scorers on any input.

use proptest::prelude::*;
use scoring::mode::ScoringMode;
use scoring::{ScoreError, visualwebarena, webarena};
use serde_json::{Value, json};

/// Texts that come close to what the scorers take apart.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "oak",
        "Elm",
        "4",
        "1,000",
        "u.s.",
        "mr.",
        "can't",
        "cannot",
        "'tis",
        "Σ",
        "é",
        "٣",
        " ",
        "  ",
        "\n",
        "\u{a0}",
        ".",
        "..",
        ". . .",
        "?",
        "!",
        "'",
        "''",
        "\"",
        "`",
        "--",
        ":",
        ",",
        "(",
        ")",
        "$",
        "&",
        "&amp",
        "&#128;",
        "&#x",
        ";",
        " |OR| ",
        "<",
        ">=",
        "==",
        "-",
        "+",
        "_",
        "/",
        "//",
        "?a=b",
        "&a=%ff",
        "#",
        "[",
        "]",
        "http:",
        "localhost",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
    ]
}

/// A value as a task may have it, or not.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => prop::collection::vec(text(), 0..3).prop_map(Value::from),
        2 => text().prop_map(Value::from),
        1 => Just(json!("N/A")),
        1 => Just(json!([5, null])),
        1 => Just(Value::Null),
    ]
}

fn references() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "exact_match",
        "must_include",
        "must_exclude",
        "one_of",
        "required_values",
        "fuzzy_match",
        "note",
    ]);
    prop::collection::vec((key.prop_map(str::to_owned), value()), 0..4)
        .prop_map(|keys| Value::Object(keys.into_iter().collect()))
}

fn on_webarena(references: Value, answer: &str) -> Result<f64, ScoreError> {
    serde_json::from_value::<webarena::StringMatch>(references)
        .unwrap()
        .score(answer, "", ScoringMode::Faithful)?
        .score(&[], ScoringMode::Faithful)
}

fn on_visualwebarena(references: Value, answer: &str) -> Result<f64, ScoreError> {
    serde_json::from_value::<visualwebarena::StringMatch>(references)
        .unwrap()
        .score(answer, "")?
        .score(&[], ScoringMode::Faithful)
}

fn is_all_or_nothing(score: &Result<f64, ScoreError>) -> bool {
    score.as_ref().map_or(true, |score| [0.0, 1.0].contains(score))
}

proptest! {
    #[test]
    fn answers_score_all_or_nothing(references in references(), answer in text()) {
        prop_assert!(is_all_or_nothing(&on_webarena(references.clone(), &answer)));
        prop_assert!(is_all_or_nothing(&on_visualwebarena(references, &answer)));
    }

    #[test]
    fn addresses_score_all_or_nothing(reference in text(), note in prop::option::of(text()), url in text()) {
        for url_note in [note, Some("GOLD in PRED".to_owned())] {
            let rule = webarena::UrlMatch { reference_url: reference.clone(), url_note };
            prop_assert!(is_all_or_nothing(&rule.score(&url, ScoringMode::Faithful)));
            prop_assert!(is_all_or_nothing(&visualwebarena::UrlMatch(rule).score(&url)));
        }
    }

    #[test]
    fn contents_score_all_or_nothing(contents in references(), content in text()) {
        let rule: webarena::RequiredContents = serde_json::from_value(contents).unwrap();
        prop_assert!(is_all_or_nothing(&rule.score(&content)));
    }

    #[test]
    fn a_text_without_quotes_is_itself(text in "[^'\"]{0,20}") {
        prop_assert_eq!(on_webarena(json!({ "exact_match": text }), &text), Ok(1.0));
        prop_assert_eq!(on_visualwebarena(json!({ "exact_match": text }), &text), Ok(1.0));
        prop_assert_eq!(on_visualwebarena(json!({ "one_of": [text] }), &text), Ok(1.0));
        prop_assert_eq!(on_webarena(json!({ "must_include": [text, text] }), &text), Ok(1.0));
    }

    #[test]
    fn a_word_is_in_a_line_of_words(words in prop::collection::vec("[b-z]{3,8}", 1..8), at in any::<prop::sample::Index>()) {
        // Words that are split in two.
        prop_assume!(!words.iter().any(|word| ["cannot", "gimme", "gonna", "gotta", "lemme", "wanna"].contains(&word.as_str())));
        let references = json!({ "must_include": [at.get(&words)] });
        prop_assert_eq!(on_visualwebarena(references.clone(), &words.join(" ")), Ok(1.0));
        let none = json!({ "must_exclude": [at.get(&words)] });
        prop_assert_eq!(on_visualwebarena(none, &words.join(" ")), Ok(0.0));
    }

    #[test]
    fn a_page_is_where_it_is(path in "(/[a-z0-9]{1,6}){0,4}", query in "([a-c]=[a-z0-9]{1,4}&){0,3}") {
        let url = format!("http://shop.test{path}?{query}");
        let rule = webarena::UrlMatch { reference_url: url.clone(), url_note: None };
        prop_assert_eq!(rule.score(&url, ScoringMode::Faithful), Ok(1.0));
        prop_assert_eq!(rule.score("http://elsewhere.test/", ScoringMode::Faithful), Ok(0.0));
        prop_assert_eq!(visualwebarena::UrlMatch(rule).score(&url), Ok(1.0));
    }

    #[test]
    fn integers_satisfy_what_they_satisfy(number in -1_000_000_i64..1_000_000, bound in -1_000_000_i64..1_000_000) {
        let holds = |inequality: String| {
            on_visualwebarena(json!({ "required_values": [inequality] }), &number.to_string()) == Ok(1.0)
        };
        prop_assert_eq!(holds(format!("<= {bound}")), number <= bound);
        prop_assert_eq!(holds(format!("< {bound}")), number <= bound);
        prop_assert_eq!(holds(format!(">={bound}.5")), number > bound);
        prop_assert_eq!(holds(format!("== {bound} |OR| == {number}")), true);
    }
}
