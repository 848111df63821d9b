//! Why a text is not an action, in words that an agent can act on.

use crate::python::SyntaxError;

/// Why a text is not an action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Not a call at all.
    #[error("read an action: {0}")]
    Syntax(#[from] SyntaxError),
    /// An action of a name that the dialect does not have.
    #[error("read an action: there is no `{name}`; there are {}", .known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<&'static str>,
    },
    /// The right action with the wrong arguments.
    #[error("read an action: write it as `{form}`")]
    Arguments {
        /// The action as it should be.
        form: &'static str,
    },
    /// There is none at all.
    #[error("read an action: there is none")]
    Empty,
    /// There is none where the dialect has it.
    #[error("read an action: there is none; {place}")]
    Misplaced {
        /// Where it should be.
        place: &'static str,
    },
    /// More than one, where one is expected.
    #[error("read an action: there are {count}; give one at a time")]
    Several {
        /// How many.
        count: usize,
    },
    /// An action of the dialect that is not for agents here.
    #[error("read an action: `{name}` is not offered: {reason}")]
    NotOffered {
        /// Its name.
        name: String,
        /// Why not, and what to do instead.
        reason: &'static str,
    },
    /// The element is a choice that was not given.
    #[error("read an action: there is no choice {choice}; {}", choices(.count))]
    NoChoice {
        /// The letters.
        choice: String,
        /// How many choices there are.
        count: usize,
    },
}

impl ParseError {
    /// For a name that is in none of the forms.
    pub(super) fn unknown(name: impl Into<String>, forms: &[&'static str]) -> Self {
        let known = forms.iter().filter_map(|form| form.split(['(', ' ']).next()).collect();
        Self::Unknown { name: name.into(), known }
    }
}

fn choices(count: &usize) -> String {
    match count.checked_sub(1) {
        None => "name the element by its id".to_owned(),
        Some(last) => format!("there are A to {}", super::choice_name(last)),
    }
}
