//! A task's `eval`: which evaluators score it, and what each is given.

use serde::{Deserialize, Serialize};

use super::super::judge::{PartialScore, Question};
use super::super::webarena::reading::{read_answers, read_targets, read_types};
use super::super::webarena::{self, Ending, NO_METHOD, Target, raised};
use super::super::{Score, ScoreError};
use super::function::Function;
use super::{PageImageQuery, StringMatch, UrlMatch, page_image_query, target};
use crate::evidence::pages::{self, Stop};
use crate::evidence::{PageEvidence, Pages};

/// `eval` of a task file, as VisualWebArena publishes it.
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
    /// How to compare it: `EXACT`, as without a note, or `GOLD in PRED`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_note: Option<String>,
    /// For `program_html`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "read_targets")]
    pub program_html: Vec<Target>,
    /// For `page_image_query`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "read_targets")]
    pub page_image_query: Vec<PageImageQuery>,
    /// The shop's address, which `SHOPPING` is in the published code: `func:` calls ask its
    /// interface. Not in the published files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shopping: Option<String>,
    /// Why the goal cannot be reached, for a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub string_note: Option<String>,
    /// The answer as the annotator wrote it down, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_answer_raw_annotation: Option<String>,
}

/// An evaluator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvalType {
    /// `StringEvaluator`: the answer.
    StringMatch,
    /// `URLExactEvaluator`: the page that the episode ends on.
    UrlMatch,
    /// `HTMLContentExactEvaluator`: what pages say afterwards.
    ProgramHtml,
    /// `PageImageEvaluator`: what pictures of pages show.
    PageImageQuery,
}

impl Evaluation {
    /// Reads what the score depends on, each page in a tab of its own that is closed again.
    ///
    /// # Errors
    /// Where pages can no longer be read.
    pub async fn read<P: Pages>(&self, pages: &mut P) -> Result<PageEvidence, P::Error> {
        let mut found =
            PageEvidence { url: pages::address(pages).await?, ..PageEvidence::default() };
        for evaluator in &self.eval_types {
            let read = match evaluator {
                EvalType::StringMatch | EvalType::UrlMatch => Ok(()),
                EvalType::ProgramHtml => target::read(self, pages, &mut found.contents).await,
                EvalType::PageImageQuery => {
                    page_image_query::read(self, pages, &mut found.pictures).await
                }
            };
            match read {
                Ok(()) => {}
                Err(Stop::Raised(raised)) => {
                    found.raised = Some(raised.to_owned());
                    break;
                }
                Err(Stop::Broken(error)) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Scores an episode: 0 or 1.
    ///
    /// # Errors
    /// Where the published code raises an exception, and where a judge has to decide who has not.
    pub fn score_ending(&self, ending: Ending<'_>) -> Result<Score, ScoreError> {
        let (judged, wrong) = self.judge(ending)?;
        let value = judged.score(ending.judgements, ending.mode)?;
        Ok(Score { wrong, ..Score::of(value >= 1.0, Vec::new()) })
    }

    /// Returns the questions that no judge has been asked yet.
    pub(crate) fn open_questions(&self, ending: Ending<'_>) -> Vec<Question> {
        let judged = self.judge(ending).ok();
        judged.iter().flat_map(|(judged, _)| judged.open(ending.judgements)).cloned().collect()
    }

    /// Returns the score by rules with the questions that they leave to a judge, and the conditions
    /// that do not hold, for people.
    fn judge(&self, ending: Ending<'_>) -> Result<(PartialScore, Vec<String>), ScoreError> {
        let Ending { answer, found, .. } = ending;
        if let Some(name) = &found.raised {
            return Err(raised(name));
        }
        let mut all = PartialScore::new();
        let mut wrong = Vec::new();
        for evaluator in &self.eval_types {
            let (given, why) = match evaluator {
                EvalType::StringMatch => {
                    (self.answer(answer)?, vec!["the answer is not what is wanted".to_owned()])
                }
                EvalType::UrlMatch => {
                    (self.address(&found.url)?, vec![format!("the episode ended on {}", found.url)])
                }
                EvalType::ProgramHtml => target::score(&self.program_html, &found.contents)?,
                EvalType::PageImageQuery => {
                    page_image_query::score(&self.page_image_query, &found.pictures)?
                }
            };
            wrong.extend(why.into_iter().filter(|_| given.rule_score == 0.0));
            all.and(given);
        }
        Ok((all, wrong))
    }

    fn answer(&self, answer: &str) -> Result<PartialScore, ScoreError> {
        // `configs["eval"]["reference_answers"].items()` of a null.
        let references = self.reference_answers.as_ref().ok_or(NO_METHOD)?;
        let judged = references.score(answer, self.string_note.as_deref().unwrap_or_default())?;
        let asks_for_reason = |question: &Question| matches!(question, Question::SameReason { .. });
        if self.string_note.is_none() && judged.questions.iter().any(asks_for_reason) {
            return Err(ScoreError::Raised("KeyError"));
        }
        Ok(judged)
    }

    fn address(&self, url: &str) -> Result<PartialScore, ScoreError> {
        let reference_url = self.reference_url.clone().ok_or(NO_METHOD)?;
        let rule = UrlMatch(webarena::UrlMatch { reference_url, url_note: self.url_note.clone() });
        let mut judged = PartialScore::new();
        judged.rule(rule.score(url)? == 1.0);
        Ok(judged)
    }

    /// The evaluators that read the page which is open when the episode ends, or its address.
    pub fn reads_of_the_open_page(&self) -> Vec<&'static str> {
        let is_open = webarena::is_of_the_open_page;
        let html = self.program_html.iter().any(|target| is_open(&target.url));
        let pictures = self.page_image_query.iter().any(|query| is_open(&query.eval_image_url));
        let all = [
            (EvalType::UrlMatch, true, "url_match"),
            (EvalType::ProgramHtml, html, "program_html"),
            (EvalType::PageImageQuery, pictures, "page_image_query"),
        ];
        let read =
            all.into_iter().filter(|(kind, reads, _)| *reads && self.eval_types.contains(kind));
        read.map(|(_, _, name)| name).collect()
    }

    /// Whether the goal can be reached at all.
    pub fn is_achievable(&self) -> bool {
        let references = self
            .reference_answers
            .as_ref()
            .filter(|_| self.eval_types.contains(&EvalType::StringMatch));
        references.is_none_or(|references| {
            references.0.get("fuzzy_match").is_none_or(|value| value != "N/A")
        })
    }

    /// Describes why its score is an exception whatever the agent does, or means nothing by its
    /// rules.
    pub fn flaw(&self) -> Option<String> {
        if self.program_html.iter().any(|target| !target.or.is_empty()) {
            return Some("it has a key `or`, which is WebChoreArena's".to_owned());
        }
        if self.reference_answers.is_none() && self.eval_types.contains(&EvalType::StringMatch) {
            return Some(
                "its `reference_answers` has no rules to compare the answer by".to_owned(),
            );
        }
        let named = self.eval_types.contains(&EvalType::ProgramHtml);
        let without = self.program_html.iter().find(|target| named && target.locator.is_none());
        without.map(|target| format!("its target at `{}` has no `locator`", target.url))
    }

    /// A call that cannot be carried out here.
    pub fn unknown_call(&self) -> Option<&str> {
        self.calls().find(|call| Function::parse(call).is_err())
    }

    /// Whether a call asks the shop's interface.
    pub fn asks_the_shop(&self) -> bool {
        self.calls().filter_map(|call| Function::parse(call).ok()).any(|call| call.asks_the_shop())
    }

    fn calls(&self) -> impl Iterator<Item = &str> {
        let pictures = self.page_image_query.iter().map(|query| query.eval_image_url.as_str());
        let addresses = pictures.filter_map(|url| url.strip_prefix("func:"));
        self.program_html.iter().flat_map(Target::calls).chain(addresses)
    }
}
