//! `HTMLContentEvaluator`: the contents of pages after the episode, and the conditions on them.

use serde::{Deserialize, Serialize};

use super::super::ScoreError;
use super::super::judge::PartialScore;
use super::edition::Edition;
use super::function::{Call, Function};
use super::{BAD_VALUE, Evaluation, RequiredContents};
use crate::evidence::pages::{self, PageEvidence, Pages, Stop, returned, text};

/// One place to look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The page: `last` for the one that is open, an address, or `func:` and a call that returns
    /// one.
    pub url: String,
    /// The locator: nothing for the whole document, an expression of JavaScript that begins with
    /// `document.` or `[...document.`, or `func:` and a call that returns a text. The published
    /// code requires one; a target that no evaluator looks at may lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locator: Option<String>,
    /// The condition on its content.
    pub required_contents: RequiredContents,
    /// Expressions that are evaluated before; what they throw is ignored, and those after it are
    /// left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prep_actions: Vec<String>,
    /// Other targets that will do in its place, by WebChoreArena's rules alone: the best counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<Target>,
}

impl Evaluation {
    /// Reads what the score depends on. Pages are opened one after the other in the order of the
    /// targets, each from where the last one left the browser.
    ///
    /// # Errors
    /// Where pages can no longer be read.
    pub async fn read<P: Pages>(&self, pages: &mut P) -> Result<PageEvidence, P::Error> {
        let mut found =
            PageEvidence { url: pages::address(pages).await?, ..PageEvidence::default() };
        if !self.eval_types.contains(&super::EvalType::ProgramHtml) {
            return Ok(found);
        }
        let shop = self.shopping.as_deref().unwrap_or_default();
        for target in self.targets() {
            match target.read(pages, shop).await {
                Ok(content) => found.contents.push(content),
                Err(Stop::Raised(raised)) => {
                    found.raised = Some(raised.to_owned());
                    break;
                }
                Err(Stop::Broken(error)) => return Err(error),
            }
        }
        Ok(found)
    }
}

impl Target {
    /// It, and what will do in its place.
    pub(super) fn with_alternatives(&self) -> impl Iterator<Item = &Target> {
        std::iter::once(self).chain(&self.or)
    }

    /// `target["locator"]`.
    pub(crate) fn locator(&self) -> Result<&str, &'static str> {
        self.locator.as_deref().ok_or("KeyError")
    }

    /// The calls it holds, as they stand after `func:`.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &str> {
        let texts = [Some(&self.url), self.locator.as_ref()].into_iter().flatten();
        texts.filter_map(|text| text.strip_prefix("func:"))
    }

    /// Evaluates the locator.
    async fn read<P: Pages>(
        &self,
        pages: &mut P,
        shop: &str,
    ) -> Result<serde_json::Value, Stop<P::Error>> {
        let url = match self.url.strip_prefix("func:") {
            None => self.url.clone(),
            Some(call) => {
                let here = pages::address(pages).await?;
                let function = Call::parse(&call.replace("__last_url__", &here));
                let function =
                    function.and_then(|call| Function::of(&call)).map_err(Stop::Raised)?;
                text(Ok(function.call(pages, shop).await?))
            }
        };
        let locator = self.locator().map_err(Stop::Raised)?;
        if url != "last" {
            pages.open(&url).await?;
        }
        if python_compat::text::strip(locator).is_empty() {
            return Ok(pages::content(pages).await?.into());
        }
        if let Some(call) = locator.strip_prefix("func:") {
            let function =
                Call::parse(call).and_then(|call| Function::of(&call)).map_err(Stop::Raised)?;
            return function.call(pages, shop).await;
        }
        self.evaluate(pages).await.map(serde_json::Value::from)
    }

    /// Evaluates a locator of JavaScript, after its preparation.
    pub(crate) async fn evaluate<P: Pages>(&self, pages: &mut P) -> Result<String, Stop<P::Error>> {
        let locator = self.locator().map_err(Stop::Raised)?;
        if !(locator.starts_with("document.") || locator.starts_with("[...document.")) {
            return Err(Stop::Raised("ValueError"));
        }
        for action in &self.prep_actions {
            if pages.evaluate(&returned(action)).await?.is_err() {
                break;
            }
        }
        Ok(text(pages.evaluate(&returned(locator)).await?))
    }

    /// Describes why a content does not satisfy the condition, for people.
    pub(crate) fn complain(&self, content: &serde_json::Value) -> String {
        let locator = self.locator.as_deref().map(str::trim).filter(|locator| !locator.is_empty());
        let locator = locator.unwrap_or("the page");
        let content: String = pages::to_text(content.clone()).chars().take(80).collect();
        format!("{locator} at {} is {content:?}", self.url)
    }
}

/// Returns the score of the targets, and those that lack their required contents, for people.
/// WebArena-Lite looks no further than a target without content. The evaluation that `or` names is
/// read besides, and the better score counts.
pub(super) fn score(
    targets: &[Target],
    found: &PageEvidence,
    edition: Edition,
) -> Result<(PartialScore, Vec<String>), ScoreError> {
    let mut score = PartialScore::new();
    let mut wrong = Vec::new();
    let mut contents = found.contents.iter();
    for target in targets {
        let mut best: Option<PartialScore> = None;
        let mut complaint = None;
        let mut nothing = false;
        for one in target.with_alternatives() {
            let content =
                contents.next().ok_or(found.raised.as_deref().map_or(BAD_VALUE, raised))?;
            let given = one.required_contents.judge(content, edition)?;
            nothing = content.is_null();
            if complaint.is_none() {
                complaint = Some(one.complain(content));
            }
            if best.as_ref().is_none_or(|best| given.rule_score > best.rule_score) {
                best = Some(given);
            }
        }
        let given = best.unwrap_or_else(PartialScore::new);
        wrong.extend(complaint.filter(|_| given.rule_score < 1.0));
        score.and(given);
        if edition == Edition::Lite && nothing {
            break;
        }
    }
    Ok((score, wrong))
}

/// The exceptions that reading ends in, by name.
pub(crate) fn raised(name: &str) -> ScoreError {
    const KNOWN: [&str; 14] = [
        "AssertionError",
        "BeartypeCallHintParamViolation",
        "ConnectionError",
        "FileNotFoundError",
        "IndexError",
        "JSONDecodeError",
        "KeyError",
        "NameError",
        "OSError",
        "SyntaxError",
        "TypeError",
        "UnidentifiedImageError",
        "ValueError",
        "ZeroDivisionError",
    ];
    ScoreError::Raised(KNOWN.into_iter().find(|known| *known == name).unwrap_or("Exception"))
}
