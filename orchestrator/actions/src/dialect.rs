//! The notations (dialects) of agents. Each has a module here, which names the published rules that
//! it follows.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Action, ParseError, browsergym, seeact, turkingbench, webarena, webcanvas};

/// A notation for actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Python calls: `click('a12')`. The only dialect that has every action.
    #[default]
    BrowserGym,
    /// WebArena and VisualWebArena: `click [12]`, between three backticks.
    WebArena,
    /// WebCanvas (Mind2Web-Live): a JSON object with `action`, `action_input` and `element_id`.
    WebCanvas,
    /// SeeAct and SeePlanAct: lines that begin with `ELEMENT:`, `ACTION:` and `VALUE:`.
    SeeAct,
    /// TurkingBench: Python calls on form fields, `self.actions.modify_text("name", "text")`.
    TurkingBench,
}

/// The text is not the name of a dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "find a dialect called {0:?}{meant}; there are {list}",
    meant = suggestions::did_you_mean(.0, Dialect::ALL.map(Dialect::as_str)),
    list = Dialect::ALL.map(Dialect::as_str).join(", ")
)]
pub struct UnknownDialect(
    /// The text.
    pub String,
);

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 5] =
        [Self::BrowserGym, Self::WebArena, Self::WebCanvas, Self::SeeAct, Self::TurkingBench];

    /// Its name, in kebab-case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BrowserGym => "browsergym",
            Self::WebArena => "webarena",
            Self::WebCanvas => "webcanvas",
            Self::SeeAct => "seeact",
            Self::TurkingBench => "turkingbench",
        }
    }

    /// Parses every action in a model's text, in their order. It returns at least one, or an error.
    pub fn read(self, text: &str) -> Result<Vec<Action>, ParseError> {
        self.read_among(text, &[])
    }

    /// As [`Dialect::read`], but elements may also be letters, as in SeeAct: `A` is the element
    /// with the first of these bids.
    pub fn read_among(self, text: &str, choices: &[String]) -> Result<Vec<Action>, ParseError> {
        match self {
            Self::BrowserGym => browsergym::read(text),
            Self::WebArena => webarena::read(text).map(|action| vec![action]),
            Self::WebCanvas => webcanvas::read(text).map(|action| vec![action]),
            Self::SeeAct => seeact::read(text, choices).map(|action| vec![action]),
            Self::TurkingBench => turkingbench::read(text),
        }
    }

    /// Parses the one action in a model's text. In BrowserGym's notation only comments may be
    /// around it.
    pub fn read_one(self, text: &str) -> Result<Action, ParseError> {
        if self == Self::BrowserGym {
            return text.parse();
        }
        let mut actions = self.read(text)?;
        match (actions.pop(), actions.len()) {
            (Some(action), 0) => Ok(action),
            (None, _) => Err(ParseError::Empty),
            (Some(_), before) => Err(ParseError::Several { count: before + 1 }),
        }
    }

    /// Writes the action in this notation, so that [`Dialect::read_one`] reads it again; `None` if
    /// the notation has no way to write it.
    pub fn write(self, action: &Action) -> Option<String> {
        let text = match self {
            Self::BrowserGym => Some(action.to_string()),
            Self::WebArena => webarena::write(action),
            Self::WebCanvas => webcanvas::write(action),
            Self::SeeAct => seeact::write(action),
            Self::TurkingBench => turkingbench::write(action),
        };
        // A notation may have the action, but no way to write its text: a line break, or its own
        // brackets.
        text.filter(|text| self.read_one(text).as_ref() == Ok(action))
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(text: &str) -> Result<Self, UnknownDialect> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.as_str() == text);
        found.ok_or_else(|| UnknownDialect(text.to_owned()))
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        for dialect in Dialect::ALL {
            assert_eq!(dialect.to_string().parse(), Ok(dialect));
            assert_eq!(serde_json::to_value(dialect).unwrap(), dialect.as_str());
        }
        assert_eq!(
            "WebArena".parse::<Dialect>().unwrap_err().to_string(),
            "find a dialect called \"WebArena\" (did you mean `webarena`?); there are browsergym, webarena, webcanvas, seeact, turkingbench"
        );
    }

    #[test]
    fn browsergym_takes_one_call_alone_or_several_among_words() {
        let words = "First\nclick('1')\nthen\nclick('2')";
        assert_eq!(
            Dialect::BrowserGym.read(words),
            Ok(vec![Action::click("1"), Action::click("2")])
        );
        assert!(Dialect::BrowserGym.read_one(words).is_err());
        assert_eq!(Dialect::BrowserGym.read_one("click('1') # why"), Ok(Action::click("1")));
    }

    /// Texts that are nearly actions.
    fn nearly() -> impl Strategy<Value = String> {
        let piece = proptest::sample::select(vec![
            "```",
            "[",
            "]",
            " ",
            "\n",
            "click",
            "type",
            "stop",
            "12",
            "[1]",
            "{",
            "}",
            "\"action\"",
            ":",
            "\"",
            "'",
            ",",
            "\\",
            "\\u",
            "ELEMENT: ",
            "ACTION: ",
            "VALUE: ",
            "CLICK",
            "SCROLL",
            "The uppercase letter of your choice",
            ".",
            "AZ",
            "self.actions.",
            "modify_text",
            "modify_checkbox",
            "(",
            ")",
            "|",
            "nan",
            "None",
            "é",
            "#",
            "-",
            "1e9",
        ]);
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn whatever_a_model_says_is_an_action_or_told(text in prop_oneof![any::<String>(), nearly()]) {
            for dialect in Dialect::ALL {
                match dialect.read(&text) {
                    Ok(actions) => {
                        prop_assert!(!actions.is_empty());
                        for action in actions {
                            // Each action can at least be written in BrowserGym's notation, which
                            // people see.
                            let again = Dialect::BrowserGym.write(&action);
                            prop_assert!(again.is_some() || matches!(action, Action::FocusTab { .. }), "{action}");
                        }
                    }
                    Err(error) => prop_assert!(error.to_string().starts_with("read an action: ")),
                }
            }
        }
    }
}
