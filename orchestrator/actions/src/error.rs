//! Why a text is not an action, in a form that helps an agent.

use crate::python::SyntaxError;

/// Why a text is not an action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Not a call.
    #[error("read an action: {0}")]
    Syntax(#[from] SyntaxError),
    /// The dialect has no action of this name.
    #[error("read an action: there is no `{name}`; there are {}", .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The names that it has.
        known: Vec<&'static str>,
    },
    /// The arguments do not fit the action.
    #[error("read an action: write it as `{form}`")]
    Arguments {
        /// The correct form.
        form: &'static str,
    },
    /// There is no action.
    #[error("read an action: there is none")]
    Empty,
    /// There is no action in the place that the dialect has for it.
    #[error("read an action: there is none; {place}")]
    Misplaced {
        /// That place.
        place: &'static str,
    },
    /// Several actions, where one is expected.
    #[error("read an action: there are {count}; give one at a time")]
    Several {
        /// Their number.
        count: usize,
    },
    /// An action of the dialect that is not offered here.
    #[error("read an action: `{name}` is not offered: {reason}")]
    NotOffered {
        /// Its name.
        name: String,
        /// The reason, and what to do instead.
        reason: &'static str,
    },
    /// The element is a letter without a choice.
    #[error("read an action: there is no choice {choice}; {}", choices(.count))]
    NoChoice {
        /// The letters.
        choice: String,
        /// The number of choices.
        count: usize,
    },
}

impl ParseError {
    /// The error for a name that no form has.
    pub(super) fn unknown(name: impl Into<String>, forms: &[&'static str]) -> Self {
        let known = forms.iter().filter_map(|form| form.split(['(', ' ']).next()).collect();
        Self::Unknown { name: name.into(), known }
    }
}

fn choices(count: &usize) -> String {
    match count.checked_sub(1) {
        None => "name the element by its id".to_owned(),
        Some(last) => format!("there are A to {}", crate::choice_name(last)),
    }
}
