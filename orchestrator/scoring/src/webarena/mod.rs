//! WebArena's scorers, as in `evaluation_harness/evaluators.py` of web-arena-x/webarena.
//!
//! A task's `eval` names up to three of them, and its score is the product of theirs:
//! [`StringMatch`] for the answer, [`UrlMatch`] for the page that the episode ends on,
//! [`RequiredContents`] for what is read from pages afterwards. Each is kept as the benchmark's
//! JSON has it: the published code takes values as they come and raises an exception where one has
//! the wrong type, and the order of keys can matter. Where the evaluators of WebArena-Lite and
//! WebChoreArena differ, an [`Evaluation`] says by its [`Edition`] that they are meant. Nothing
//! here asks a model, and pages only through [`Pages`](crate::Pages). [`Evaluation`] puts them
//! together.

mod answer;
mod contents;
mod edition;
mod evaluation;
pub(super) mod function;
mod lite;
pub(super) mod reading;
mod rule;
pub(super) mod shop;
mod string_match;
mod target;
mod url_match;
mod webchore;

pub(super) use answer::without_quotes;
pub use contents::RequiredContents;
pub use edition::Edition;
pub(crate) use evaluation::is_of_the_open_page;
pub use evaluation::{Ending, EvalType, Evaluation, OtherUrl};
pub use rule::{PageEvaluation, State};
use serde_json::Value;
pub use string_match::StringMatch;
pub use target::Target;
pub(super) use target::raised;
pub use url_match::UrlMatch;

use super::ScoreError;

/// The separator of alternatives.
pub(super) const OR: &str = " |OR| ";

/// `assert isinstance(value, list)`.
pub(super) const NO_LIST: ScoreError = ScoreError::Raised("AssertionError");
/// An argument that is not of the declared type.
pub(super) const WRONG_ARGUMENT: ScoreError = ScoreError::Raised("BeartypeCallHintParamViolation");
/// A method that texts have.
pub(super) const NO_METHOD: ScoreError = ScoreError::Raised("AttributeError");
/// The value is not what a note or a number has to be.
pub(super) const BAD_VALUE: ScoreError = ScoreError::Raised("ValueError");
/// The operation does not take such values.
pub(super) const BAD_TYPE: ScoreError = ScoreError::Raised("TypeError");

/// A mean over nothing.
pub(super) const NO_ITEMS: ScoreError = ScoreError::Raised("ZeroDivisionError");

/// The items of a list.
pub(super) fn items(value: &Value) -> Result<&[Value], ScoreError> {
    value.as_array().map(Vec::as_slice).ok_or(NO_LIST)
}

/// A text that is passed to a function.
pub(super) fn argument(value: &Value) -> Result<&str, ScoreError> {
    value.as_str().ok_or(WRONG_ARGUMENT)
}

/// `value.split(" |OR| ")`.
pub(super) fn alternatives(value: &Value) -> Result<impl Iterator<Item = &str>, ScoreError> {
    value.as_str().map(|text| text.split(OR)).ok_or(NO_METHOD)
}

/// Truth as a score.
pub(super) fn points(good: bool) -> f64 {
    f64::from(u8::from(good))
}
