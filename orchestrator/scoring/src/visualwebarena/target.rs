//! `HTMLContentExactEvaluator`: the contents of pages after the episode, and the conditions on
//! them.

use serde_json::Value;

use super::super::ScoreError;
use super::super::judge::PartialScore;
use super::super::webarena::{BAD_VALUE, Target};
use super::function::Function;
use super::{Evaluation, contents};
use crate::evidence::pages::{self, Pages, Stop, to_text};

/// Reads target after target, up to the first that gives nothing at all.
pub(super) async fn read<P: Pages>(
    evaluation: &Evaluation,
    pages: &mut P,
    contents: &mut Vec<Value>,
) -> Result<(), Stop<P::Error>> {
    let shop = evaluation.shopping.as_deref().unwrap_or_default();
    for target in &evaluation.program_html {
        let url = address(&target.url, pages, shop).await?;
        let content = match url.as_str() {
            "last" => locate(target, pages, shop).await,
            url => {
                pages.open_beside(url).await?;
                let content = locate(target, pages, shop).await;
                pages.close_beside().await?;
                content
            }
        }?;
        let nothing = content.is_null();
        contents.push(content);
        if nothing {
            break;
        }
    }
    Ok(())
}

/// The address that a text stands for: itself, or what a call gives.
pub(super) async fn address<P: Pages>(
    url: &str,
    pages: &mut P,
    shop: &str,
) -> Result<String, Stop<P::Error>> {
    let Some(call) = url.strip_prefix("func:") else { return Ok(url.to_owned()) };
    let here = pages::address(pages).await?;
    let function = Function::parse(&call.replace("__last_url__", &here)).map_err(Stop::Raised)?;
    Ok(to_text(function.call(pages, shop).await?))
}

/// Evaluates the locator; null stands for nothing at all.
async fn locate<P: Pages>(
    target: &Target,
    pages: &mut P,
    shop: &str,
) -> Result<Value, Stop<P::Error>> {
    let locator = target.locator().map_err(Stop::Raised)?;
    if python_compat::text::strip(locator).is_empty() {
        return Ok(pages::content(pages).await?.into());
    }
    if let Some(call) = locator.strip_prefix("func:") {
        let function = Function::parse(call).map_err(Stop::Raised)?;
        return function.call(pages, shop).await;
    }
    if !locator.starts_with("lambda:") {
        return target.evaluate(pages).await.map(Value::from);
    }
    // `locator.lstrip("lambda:")` takes off these letters in any order; then a function is called,
    // another value is it.
    let expression = locator.trim_start_matches(['l', 'a', 'm', 'b', 'd', ':']);
    let expression = expression.trim_end().trim_end_matches(';');
    let script =
        format!("((value) => typeof value === 'function' ? value() : value)({expression})");
    let given = pages.evaluate(&script).await?.unwrap_or_default();
    Ok(if is_true(&given) { given } else { Value::Null })
}

/// `bool(value)`.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(keys) => !keys.is_empty(),
    }
}

/// Returns the score of the targets, up to the first without content, and those that lack their
/// required contents, for people.
pub(super) fn score(
    targets: &[Target],
    found: &[Value],
) -> Result<(PartialScore, Vec<String>), ScoreError> {
    let mut score = PartialScore::new();
    let mut wrong = Vec::new();
    for (place, target) in targets.iter().enumerate() {
        let content = found.get(place).ok_or(BAD_VALUE)?;
        let given = contents::score(&target.required_contents.0, content)?;
        wrong.extend((given.rule_score == 0.0).then(|| target.complain(content)));
        score.and(given);
        if content.is_null() {
            break;
        }
    }
    Ok((score, wrong))
}
