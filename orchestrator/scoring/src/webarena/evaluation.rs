//! A task's `eval`: which evaluators score it, and what each is given.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::judge::{Judgement, PartialScore, Question};
use super::super::mode::ScoringMode;
use super::super::{AgentRecord, Score, ScoreError};
use super::edition::{Edition, read_edition};
use super::function::{Call, Function};
use super::reading::{read_answers, read_targets, read_types};
use super::{StringMatch, Target, UrlMatch, target};
use crate::evidence::PageEvidence;

/// `eval` of a task file, as WebArena publishes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// The score is the product of what these give.
    #[serde(deserialize_with = "read_types")]
    pub eval_types: Vec<EvalType>,
    /// For `string_match`. Tasks without it say null, `[]` or `""`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_answers")]
    pub reference_answers: Option<StringMatch>,
    /// For `url_match`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_url: Option<String>,
    /// How to compare it; what a missing note means depends on the benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_note: Option<String>,
    /// Further addresses that `url_match` is content with, by WebChoreArena's rules alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<OtherUrl>,
    /// For `program_html`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "read_targets")]
    pub program_html: Vec<Target>,
    /// The shop's address, which `SHOPPING` is in the published code: `func:` calls ask its
    /// interface. Not in the published files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shopping: Option<String>,
    /// The edition of the evaluators. It is not in the published files. Suites of earlier versions
    /// say `lite: true` for WebArena-Lite's.
    #[serde(
        default,
        rename = "rules",
        alias = "lite",
        deserialize_with = "read_edition",
        skip_serializing_if = "Edition::is_webarena"
    )]
    pub edition: Edition,
    /// Why the goal cannot be reached, for a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub string_note: Option<String>,
    /// The answer as the annotator wrote it down, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_answer_raw_annotation: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotation_note: Option<String>,
    /// How the annotator came to a price, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_calculation: Option<String>,
}

/// Another address that will do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherUrl {
    /// As [`Evaluation::reference_url`].
    pub reference_url: String,
}

/// Whether a place is the page that is open at the end, or follows from its address.
pub(crate) fn is_of_the_open_page(url: &str) -> bool {
    url == "last" || url.contains("__last_url__")
}

/// An evaluator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvalType {
    /// `StringEvaluator`: the answer.
    StringMatch,
    /// `URLEvaluator`: the page that the episode ends on.
    UrlMatch,
    /// `HTMLContentEvaluator`: what pages say afterwards.
    ProgramHtml,
}

/// The end of an episode, as far as an [`Evaluation`] looks at it.
#[derive(Debug, Clone, Copy)]
pub struct Ending<'a> {
    /// The answer; empty when none was given.
    pub answer: &'a str,
    /// The evidence that [`Evaluation::read`] found.
    pub found: &'a PageEvidence,
    /// The rulings of a judge.
    pub judgements: &'a [Judgement],
    /// Whether published bugs are reproduced.
    pub mode: ScoringMode,
}

impl<'a> Ending<'a> {
    pub(crate) fn new(conduct: &'a AgentRecord, found: &'a PageEvidence) -> Ending<'a> {
        let AgentRecord { mode, judgements, .. } = conduct;
        Ending { answer: conduct.stop_answer(), found, judgements, mode: *mode }
    }
}

impl Evaluation {
    /// Scores an episode: 0 or 1, and by WebChoreArena's rules what lies between, too.
    ///
    /// # Errors
    /// Where the published code raises an exception, and where a judge has to decide who has not.
    pub fn score_ending(&self, ending: Ending<'_>) -> Result<Score, ScoreError> {
        let mut value = 1.0;
        let mut wrong = Vec::new();
        let mut unjudged = None;
        for evaluator in &self.eval_types {
            let (given, why) = match evaluator {
                EvalType::StringMatch => {
                    (self.answer(ending), Some("the answer is not what is wanted".to_owned()))
                }
                EvalType::UrlMatch => (
                    self.address(&ending.found.url, ending.mode),
                    Some(format!("the episode ended on {}", ending.found.url)),
                ),
                EvalType::ProgramHtml => {
                    let (given, places) =
                        target::score(&self.program_html, ending.found, self.edition)?;
                    wrong.extend(places);
                    // The places say what is wrong.
                    (Ok(given), None)
                }
            };
            match given.and_then(|given| given.score(ending.judgements, ending.mode)) {
                Err(ScoreError::NeedsJudge) => unjudged = Some(ScoreError::NeedsJudge),
                given => {
                    let given = given?;
                    value *= given;
                    wrong.extend(why.filter(|_| given == 0.0));
                }
            }
        }
        // Whatever a judge says, nothing comes of an evaluator that gave nothing.
        match unjudged {
            Some(error) if value > 0.0 => Err(error),
            _ => Ok(Score { value, wrong, ..Score::of(value >= 1.0, Vec::new()) }),
        }
    }

    /// Returns the questions that no judge has been asked yet, whether or not the answer makes a
    /// difference.
    pub(crate) fn open_questions(&self, ending: Ending<'_>) -> Vec<Question> {
        let mut questions = Vec::new();
        for evaluator in &self.eval_types {
            let judged = match evaluator {
                EvalType::StringMatch => self.answer(ending),
                EvalType::UrlMatch => continue,
                EvalType::ProgramHtml => {
                    target::score(&self.program_html, ending.found, self.edition)
                        .map(|(given, _)| given)
                }
            };
            // What raises an exception asks nobody.
            if let Ok(judged) = judged {
                questions.extend(judged.open(ending.judgements).into_iter().cloned());
            }
        }
        questions
    }

    fn answer(&self, ending: Ending<'_>) -> Result<PartialScore, ScoreError> {
        // `configs["eval"]["reference_answers"].items()` of a null.
        let references = self.reference_answers.as_ref().ok_or(super::NO_METHOD)?;
        let reason = self.string_note.as_deref().unwrap_or_default();
        let answer = references.score_by(self.edition, ending.answer, reason, ending.mode)?;
        let asks_for_reason = |question: &Question| matches!(question, Question::SameReason { .. });
        if self.string_note.is_none() && answer.questions.iter().any(asks_for_reason) {
            return Err(ScoreError::Raised("KeyError"));
        }
        Ok(answer)
    }

    fn address(&self, url: &str, mode: ScoringMode) -> Result<PartialScore, ScoreError> {
        let reference_url = self.reference_url.clone().ok_or(super::NO_METHOD)?;
        let rule = UrlMatch { reference_url, url_note: self.url_note.clone() };
        let mut judged = PartialScore::new();
        judged.rule(match self.edition {
            Edition::WebChore => rule.score_webchore(&self.or, url, mode)? == 1.0,
            Edition::WebArena | Edition::Lite => rule.score(url, mode)? == 1.0,
        });
        Ok(judged)
    }

    /// Whether the goal can be reached at all. WebArena says that it cannot by `fuzzy_match`,
    /// WebArena-Lite by any rule.
    pub fn is_achievable(&self) -> bool {
        let references = self
            .reference_answers
            .as_ref()
            .filter(|_| self.eval_types.contains(&EvalType::StringMatch));
        let not_achievable = |value: &Value| value == "N/A" || *value == json!(["N/A"]);
        references.is_none_or(|references| !references.0.values().any(not_achievable))
    }

    /// Describes why its score is an exception whatever the agent does, or means nothing by its
    /// rules.
    pub fn flaw(&self) -> Option<String> {
        let chore = self.edition == Edition::WebChore;
        if !chore
            && (!self.or.is_empty() || self.program_html.iter().any(|target| !target.or.is_empty()))
        {
            return Some("it has a key `or`, which is WebChoreArena's".to_owned());
        }
        if self.reference_answers.is_none() && self.eval_types.contains(&EvalType::StringMatch) {
            return Some(
                "its `reference_answers` has no rules to compare the answer by".to_owned(),
            );
        }
        let named = self.eval_types.contains(&EvalType::ProgramHtml);
        let without = self.targets().find(|target| named && target.locator.is_none());
        without.map(|target| format!("its target at `{}` has no `locator`", target.url))
    }

    /// The evaluators that read the page which is open when the episode ends, or its address.
    pub fn reads_of_the_open_page(&self) -> Vec<&'static str> {
        let (named, is_open) =
            (|kind| self.eval_types.contains(&kind), |url: &str| is_of_the_open_page(url));
        let url = named(EvalType::UrlMatch).then_some("url_match");
        let html =
            named(EvalType::ProgramHtml) && self.targets().any(|target| is_open(&target.url));
        url.into_iter().chain(html.then_some("program_html")).collect()
    }

    /// The targets with their alternatives, in the order in which they are read.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.program_html.iter().flat_map(Target::with_alternatives)
    }

    /// A call that targets hold and that cannot be carried out here.
    pub fn unknown_call(&self) -> Option<&str> {
        let known = |call: &&str| Call::parse(call).and_then(|call| Function::of(&call)).is_ok();
        self.targets().flat_map(Target::calls).find(|call| !known(call))
    }

    /// Whether a call asks the shop's interface.
    pub fn asks_the_shop(&self) -> bool {
        let calls = self.targets().flat_map(Target::calls);
        calls
            .filter_map(|call| Function::of(&Call::parse(call).ok()?).ok())
            .any(|call| call.asks_the_shop())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::judge::Ruling;
    use super::*;

    #[test]
    fn a_judge_is_asked_about_contents_by_lite_rules_alone() {
        let eval = json!({ "eval_types": ["program_html"], "program_html": [
            { "url": "last", "locator": "", "required_contents": { "exact_match": "&amp;" } },
            { "url": "last", "locator": "", "required_contents": { "fuzzy_match": ["oak", "elm"] } },
        ]});
        let webarena: Evaluation = serde_json::from_value(eval).expect("the benchmark's form");
        let lite = Evaluation { edition: Edition::Lite, ..webarena.clone() };
        let found = PageEvidence {
            contents: vec!["&amp;".into(), "trees".into()],
            ..PageEvidence::default()
        };
        let ending =
            Ending { answer: "", found: &found, judgements: &[], mode: ScoringMode::Faithful };
        assert_eq!(webarena.score_ending(ending), Err(ScoreError::Raised("ValueError")));
        assert_eq!(lite.score_ending(ending), Err(ScoreError::NeedsJudge));
        let [question] = lite.open_questions(ending).try_into().expect("one question");
        for (ruling, expect) in [(1.0, true), (0.0, false)] {
            let judgements =
                [Judgement { question: question.clone(), ruling: Ruling::Score(ruling) }];
            let score = lite
                .score_ending(Ending { judgements: &judgements, ..ending })
                .expect("it is judged");
            assert_eq!(score.success, expect);
        }
        let nothing = PageEvidence { contents: vec![Value::Null], ..PageEvidence::default() };
        let score =
            lite.score_ending(Ending { found: &nothing, ..ending }).expect("it looks no further");
        assert!(!score.success);
    }
}
