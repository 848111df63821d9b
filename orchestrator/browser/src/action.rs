//! What an agent can do, and how it is spelt: as BrowserGym's Python calls, such as `click('a12')`.

use std::{fmt, str::FromStr};

use crate::python::{Call, Literal, SyntaxError, parse_call, repr};

/// One action. Elements are named by the `bid` that the last observation shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Clicks in the middle of an element.
    Click {
        /// The element.
        bid: String,
    },
    /// Replaces what an input holds.
    Fill {
        /// The element.
        bid: String,
        /// Its new content.
        value: String,
    },
    /// Chooses in a `<select>`, by value or by label.
    Select {
        /// The element.
        bid: String,
        /// All that shall be selected.
        options: Vec<String>,
    },
    /// Presses keys on an element, such as `Enter` or `Control+a`.
    Press {
        /// The element.
        bid: String,
        /// Modifiers and one key, joined by `+`.
        keys: String,
    },
    /// Turns the mouse wheel, by CSS pixels.
    Scroll {
        /// To the right.
        dx: f64,
        /// Down.
        dy: f64,
    },
    /// Opens an address in the active tab.
    Goto {
        /// An absolute URL.
        url: String,
    },
    /// Goes back in the tab's history.
    GoBack,
    /// Does nothing; the page's time runs on.
    Noop,
    /// Gives the answer, in the agent's words.
    Answer {
        /// The answer.
        text: String,
    },
    /// Declares that the task cannot be done.
    Infeasible {
        /// Why not.
        reason: String,
    },
}

/// Why a text is not an action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Not a call at all.
    #[error("read an action: {0}")]
    Syntax(#[from] SyntaxError),
    /// A call of something else.
    #[error("read an action: there is no `{name}`; there are {}", NAMES.join(", "))]
    Unknown {
        /// The name that was called.
        name: String,
    },
    /// The right call with the wrong arguments.
    #[error("read an action: write it as `{form}`")]
    Arguments {
        /// The call as it should be.
        form: &'static str,
    },
}

const NAMES: &[&str] = &[
    "click",
    "fill",
    "select_option",
    "press",
    "scroll",
    "goto",
    "go_back",
    "noop",
    "send_msg_to_user",
    "report_infeasible",
];

impl Action {
    /// The element that the action is about, if any.
    pub fn bid(&self) -> Option<&str> {
        match self {
            Self::Click { bid }
            | Self::Fill { bid, .. }
            | Self::Select { bid, .. }
            | Self::Press { bid, .. } => Some(bid),
            _ => None,
        }
    }

    /// Whether the episode ends with it.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::Infeasible { .. })
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Click { bid } => write!(f, "click({})", repr(bid)),
            Self::Fill { bid, value } => write!(f, "fill({}, {})", repr(bid), repr(value)),
            Self::Select { bid, options } => match options.as_slice() {
                [one] => write!(f, "select_option({}, {})", repr(bid), repr(one)),
                many => {
                    let many: Vec<String> = many.iter().map(|option| repr(option)).collect();
                    write!(f, "select_option({}, [{}])", repr(bid), many.join(", "))
                }
            },
            Self::Press { bid, keys } => write!(f, "press({}, {})", repr(bid), repr(keys)),
            Self::Scroll { dx, dy } => write!(f, "scroll({dx}, {dy})"),
            Self::Goto { url } => write!(f, "goto({})", repr(url)),
            Self::GoBack => f.write_str("go_back()"),
            Self::Noop => f.write_str("noop()"),
            Self::Answer { text } => write!(f, "send_msg_to_user({})", repr(text)),
            Self::Infeasible { reason } => write!(f, "report_infeasible({})", repr(reason)),
        }
    }
}

impl FromStr for Action {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let call = parse_call(text)?;
        match call.name.as_str() {
            "click" => {
                // Only the plain click of BrowserGym's; the other buttons would be a silent change of meaning.
                let mut args = Arguments::new(call, "click(bid)", &["bid", "button", "modifiers"]);
                let bid = args.text("bid")?;
                let left = match args.optional("button") {
                    None => true,
                    Some(button) => button == Literal::Text("left".to_owned()),
                };
                let bare = args.optional("modifiers").is_none_or(|keys| keys == Literal::List(Vec::new()));
                if !left || !bare {
                    return Err(args.wrong());
                }
                args.done(Self::Click { bid })
            }
            "fill" => {
                let mut args =
                    Arguments::new(call, "fill(bid, value)", &["bid", "value", "enable_autocomplete_menu"]);
                let (bid, value) = (args.text("bid")?, args.text("value")?);
                args.optional("enable_autocomplete_menu");
                args.done(Self::Fill { bid, value })
            }
            "select_option" => {
                let mut args = Arguments::new(call, "select_option(bid, options)", &["bid", "options"]);
                let bid = args.text("bid")?;
                let options = match args.optional("options") {
                    Some(Literal::Text(option)) => vec![option],
                    Some(Literal::List(options)) => {
                        let texts = options.into_iter().map(|option| match option {
                            Literal::Text(option) => Some(option),
                            _ => None,
                        });
                        texts.collect::<Option<_>>().ok_or_else(|| args.wrong())?
                    }
                    _ => return Err(args.wrong()),
                };
                args.done(Self::Select { bid, options })
            }
            "press" => {
                let mut args = Arguments::new(call, "press(bid, key_comb)", &["bid", "key_comb"]);
                let (bid, keys) = (args.text("bid")?, args.text("key_comb")?);
                args.done(Self::Press { bid, keys })
            }
            "scroll" => {
                let mut args = Arguments::new(call, "scroll(delta_x, delta_y)", &["delta_x", "delta_y"]);
                let (dx, dy) = (args.number("delta_x")?, args.number("delta_y")?);
                args.done(Self::Scroll { dx, dy })
            }
            "goto" => {
                let mut args = Arguments::new(call, "goto(url)", &["url"]);
                let url = args.text("url")?;
                args.done(Self::Goto { url })
            }
            "go_back" => Arguments::new(call, "go_back()", &[]).done(Self::GoBack),
            "noop" => {
                let mut args = Arguments::new(call, "noop()", &["wait_ms"]);
                args.optional("wait_ms");
                args.done(Self::Noop)
            }
            "send_msg_to_user" => {
                let mut args = Arguments::new(call, "send_msg_to_user(text)", &["text"]);
                let text = args.text("text")?;
                args.done(Self::Answer { text })
            }
            "report_infeasible" => {
                let mut args = Arguments::new(call, "report_infeasible(reason)", &["reason"]);
                let reason = args.text("reason")?;
                args.done(Self::Infeasible { reason })
            }
            _ => Err(ParseError::Unknown { name: call.name }),
        }
    }
}

/// The arguments of a call by name, wherever they stood.
struct Arguments {
    given: Vec<(String, Literal)>,
    fits: bool,
    form: &'static str,
}

impl Arguments {
    fn new(call: Call, form: &'static str, names: &[&str]) -> Self {
        let fits = call.positional.len() <= names.len();
        let mut given: Vec<(String, Literal)> =
            names.iter().map(|&name| name.to_owned()).zip(call.positional).collect();
        given.extend(call.keywords);
        Self { given, fits, form }
    }

    fn wrong(&self) -> ParseError {
        ParseError::Arguments { form: self.form }
    }

    fn optional(&mut self, name: &str) -> Option<Literal> {
        let at = self.given.iter().position(|(given, _)| given == name)?;
        Some(self.given.remove(at).1)
    }

    fn text(&mut self, name: &str) -> Result<String, ParseError> {
        match self.optional(name) {
            Some(Literal::Text(text)) => Ok(text),
            // A bid is often written as a number.
            Some(Literal::Number(number)) if number.fract() == 0.0 => Ok(number.to_string()),
            _ => Err(self.wrong()),
        }
    }

    fn number(&mut self, name: &str) -> Result<f64, ParseError> {
        match self.optional(name) {
            Some(Literal::Number(number)) => Ok(number),
            _ => Err(self.wrong()),
        }
    }

    /// The action, unless arguments are left over.
    fn done(self, action: Action) -> Result<Action, ParseError> {
        if self.fits && self.given.is_empty() { Ok(action) } else { Err(self.wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_survive_the_round_trip() {
        let bid = || "a12".to_owned();
        for (action, text) in [
            (Action::Click { bid: bid() }, "click('a12')"),
            (Action::Fill { bid: bid(), value: "it's\n".to_owned() }, "fill('a12', \"it's\\n\")"),
            (Action::Select { bid: bid(), options: vec!["x".to_owned()] }, "select_option('a12', 'x')"),
            (
                Action::Select { bid: bid(), options: vec!["x".to_owned(), "y".to_owned()] },
                "select_option('a12', ['x', 'y'])",
            ),
            (Action::Select { bid: bid(), options: vec![] }, "select_option('a12', [])"),
            (Action::Press { bid: bid(), keys: "Control+a".to_owned() }, "press('a12', 'Control+a')"),
            (Action::Scroll { dx: 0.0, dy: -200.5 }, "scroll(0, -200.5)"),
            (Action::Goto { url: "https://a.test/?q='".to_owned() }, "goto(\"https://a.test/?q='\")"),
            (Action::GoBack, "go_back()"),
            (Action::Noop, "noop()"),
            (Action::Answer { text: "42".to_owned() }, "send_msg_to_user('42')"),
            (Action::Infeasible { reason: "no".to_owned() }, "report_infeasible('no')"),
        ] {
            assert_eq!(action.to_string(), text);
            assert_eq!(text.parse::<Action>().unwrap(), action, "{text}");
        }
    }

    #[test]
    fn other_spellings_are_taken() {
        for (text, expected) in [
            ("click(12)", "click('12')"),
            ("click(bid=\"7\", button='left')", "click('7')"),
            ("fill('1', value='x', enable_autocomplete_menu=True)", "fill('1', 'x')"),
            ("noop(500)", "noop()"),
            ("# look\nclick('3')", "click('3')"),
        ] {
            assert_eq!(text.parse::<Action>().unwrap().to_string(), expected);
        }
    }

    #[test]
    fn what_is_no_action_says_why() {
        for (text, expected) in [
            ("click()", "read an action: write it as `click(bid)`"),
            ("click('1', 'right')", "read an action: write it as `click(bid)`"),
            ("goto('a', 'b')", "read an action: write it as `goto(url)`"),
            ("stop", "read an action: expected `(` at character 5"),
        ] {
            assert_eq!(text.parse::<Action>().unwrap_err().to_string(), expected);
        }
        let unknown = "launch('x')".parse::<Action>().unwrap_err().to_string();
        assert!(
            unknown.starts_with("read an action: there is no `launch`; there are click, fill"),
            "{unknown}"
        );
    }
}
