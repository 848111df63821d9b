//! WARC-Bench's four evaluators (`evaluator.py`), each asked once, when the episode has ended.
//!
//! ```text
//! js_matcher       a script in the active page gives something that Python holds for true
//! url_matcher      the address of the active page, letter by letter
//! string_matcher   the answer as a text      json_matcher   the answer as JSON
//! ```

mod answer;
mod js_matcher;
mod json_matcher;
mod rule;
mod string_matcher;

use python_compat::json;
pub use rule::State;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::mode::ScoringMode;
use super::{Score, ScoreError};
use crate::evidence::{PageEvidence, Pages};

/// The benchmark's `eval_type`, with the script or the wanted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Check {
    /// A script of JavaScript, expression or statements.
    JsMatcher(#[serde(deserialize_with = "crate::read_text")] String),
    /// An address.
    UrlMatcher(#[serde(deserialize_with = "crate::read_text")] String),
    /// A text.
    StringMatcher(String),
    /// JSON.
    JsonMatcher(#[serde(deserialize_with = "read_json")] String),
}

impl Check {
    /// The check of a task with this `eval_type`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(eval_type: &str, script: String) -> Result<Check, String> {
        match eval_type {
            "js_matcher" => Ok(Check::JsMatcher(script)),
            "url_matcher" => Ok(Check::UrlMatcher(script)),
            "string_matcher" => Ok(Check::StringMatcher(script)),
            "json_matcher" if json::parse(&script).is_none() => {
                Err(format!("what it wants is no JSON: `{script}`"))
            }
            "json_matcher" => Ok(Check::JsonMatcher(script)),
            other => Err(format!("its eval_type `{other}` is none of the benchmark's four")),
        }
    }

    /// The benchmark's name for it.
    pub fn eval_type(&self) -> &'static str {
        match self {
            Check::JsMatcher(_) => "js_matcher",
            Check::UrlMatcher(_) => "url_matcher",
            Check::StringMatcher(_) => "string_matcher",
            Check::JsonMatcher(_) => "json_matcher",
        }
    }

    /// Whether the open page decides, and not the answer.
    fn reads_pages(&self) -> bool {
        matches!(self, Check::JsMatcher(_) | Check::UrlMatcher(_))
    }

    /// Reads what decides of the active page.
    ///
    /// # Errors
    /// Where pages can no longer be read.
    pub async fn read<P: Pages + Send>(
        &self,
        pages: &mut P,
        mode: ScoringMode,
    ) -> Result<PageEvidence, P::Error> {
        let mut found = PageEvidence::default();
        if let Check::UrlMatcher(_) = self {
            found.url = super::evidence::pages::address(pages).await?;
        }
        if let Check::JsMatcher(script) = self {
            match pages.evaluate(&js_matcher::expression(script, mode)).await? {
                Ok(truth) => found.contents.push(truth),
                Err(thrown) => found.raised = Some(thrown),
            }
        }
        Ok(found)
    }

    /// Whether what was read of pages is as it should be.
    fn holds(&self, found: &PageEvidence) -> bool {
        match self {
            Check::JsMatcher(_) => found.contents.first() == Some(&Value::Bool(true)),
            Check::UrlMatcher(url) => found.url == *url,
            Check::StringMatcher(_) | Check::JsonMatcher(_) => false,
        }
    }

    /// The score of an answer, and of what was read of pages in the end and, in
    /// [`ScoringMode::Fixed`], before anything was done.
    fn score_ending(&self, ending: &Ending<'_>) -> Result<Score, ScoreError> {
        let wrong = match self {
            Check::StringMatcher(wanted) => {
                string_matcher::wrong(wanted, ending.answer, ending.mode)?
            }
            Check::JsonMatcher(wanted) => json_matcher::wrong(wanted, ending.answer, ending.mode)?,
            Check::JsMatcher(_) | Check::UrlMatcher(_) => {
                if ending.mode == ScoringMode::Fixed
                    && ending.before.is_some_and(|before| self.holds(before))
                {
                    return Err(ScoreError::FromTheStart);
                }
                self.wrong_with(ending.found)
            }
        };
        let answered = (!self.reads_pages()).then_some(!ending.answer.is_empty());
        Ok(Score { answered, ..Score::of(wrong.is_none(), wrong.into_iter().collect()) })
    }

    fn wrong_with(&self, found: Option<&PageEvidence>) -> Option<String> {
        let Some(found) = found else { return Some("the episode broke off".to_owned()) };
        if self.holds(found) {
            return None;
        }
        Some(match (self, &found.raised) {
            (Check::UrlMatcher(url), _) => format!("the page is {} and not {url}", found.url),
            (_, Some(thrown)) => {
                format!("the script throws {}", thrown.lines().next().unwrap_or_default())
            }
            _ => "what the script gives is not true".to_owned(),
        })
    }
}

/// The state at the end of an episode.
struct Ending<'a> {
    /// Empty for none.
    answer: &'a str,
    found: Option<&'a PageEvidence>,
    /// Of the start page, where it was looked at.
    before: Option<&'a PageEvidence>,
    mode: ScoringMode,
}

fn read_json<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    yaml::text(input, |text| match json::parse(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!("`{text}` is no JSON")),
    })
}
