//! WARC-Bench's four evaluators on made-up episodes, by both kinds of rules.

use scoring::mode::ScoringMode;
use scoring::warcbench::Check;
use scoring::{Moment, ScoreError, Scorer, Step};
use serde_json::json;

use crate::canned::page::Canned;

fn worth(kind: &str, wanted: &str, answer: &str, mode: ScoringMode) -> Result<f64, ScoreError> {
    let scorer = Scorer::WarcBench(Check::new(kind, wanted.to_owned()).unwrap());
    let mut state = scorer.start().by(mode);
    state.observe(&Step { answer: Some(answer), ..Step::default() });
    Ok(state.score()?.value)
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
        assert_eq!(
            worth(kind, wanted, answer, ScoringMode::Faithful),
            faithful,
            "{answer} for {wanted}"
        );
        assert_eq!(
            worth(kind, wanted, answer, ScoringMode::Fixed),
            fixed,
            "{answer} for {wanted}, fixed"
        );
    }
}

#[tokio::test]
async fn what_was_so_before_anything_was_done_decides_nothing_by_fixed_rules() {
    let url = Scorer::WarcBench(Check::UrlMatcher("https://rail.test/#/a".to_owned()));
    let js = Scorer::WarcBench(Check::JsMatcher("done".to_owned()));
    let at = |(url, truth): (&'static str, bool)| {
        Canned(move |expression: &str| match expression {
            "location.href" => Ok(json!(url)),
            _ => Ok(json!(truth)),
        })
    };
    for scorer in [url, js] {
        let (before, after) = (("https://rail.test/", false), ("https://rail.test/#/a", true));
        for (mode, before, after, expect) in [
            (ScoringMode::Faithful, after, after, Ok(1.0)),
            (ScoringMode::Fixed, before, after, Ok(1.0)),
            (ScoringMode::Fixed, before, before, Ok(0.0)),
            (ScoringMode::Fixed, after, after, Err(ScoreError::FromTheStart)),
            (ScoringMode::Fixed, after, before, Err(ScoreError::FromTheStart)),
        ] {
            let mut state = scorer.start().by(mode);
            let Ok(_) = state.collect(Moment::Start, &mut at(before)).await;
            let Ok(_) = state.collect(Moment::End, &mut at(after)).await;
            assert_eq!(state.score().map(|score| score.value), expect, "{mode} {scorer:?}");
        }
    }
}
