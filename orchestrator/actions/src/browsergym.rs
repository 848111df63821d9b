//! BrowserGym's notation: Python calls with literal arguments, such as `click('a12')`. Everything
//! that people read is in this notation, too.
//!
//! The calls and their parameters are those of BrowserGym's `action/functions.py`. Actions of other
//! dialects that BrowserGym does not have are calls of our own, so that every action can be written
//! here.
//!
//! In its strict mode (`HighLevelActionSet(strict=True)`) BrowserGym takes one call alone, with
//! only spaces and comments around it. Otherwise it picks the calls out of a model's text, as
//! [`read`] does. An unknown call is an error here; there it fails when it runs.

use std::fmt;
use std::str::FromStr;

use python_repr::repr;

use crate::arguments::Arguments;
use crate::python::{Call, parse_call, parse_calls};
use crate::{Action, ParseError, Point, Press};

/// Every call with its parameters, in their order, and their defaults.
const FORMS: &[&str] = &[
    "click(bid, button='left', modifiers=[])",
    "dblclick(bid, button='left', modifiers=[])",
    "hover(bid)",
    "fill(bid, value, enable_autocomplete_menu=False)",
    "clear(bid)",
    "check(bid)",
    "uncheck(bid)",
    "select_option(bid, options)",
    "press(bid, key_comb)",
    "focus(bid)",
    "drag_and_drop(from_bid, to_bid)",
    "scroll(delta_x, delta_y)",
    "scroll_at(x, y, delta_x, delta_y)",
    "mouse_move(x, y)",
    "mouse_down(x, y, button='left')",
    "mouse_up(x, y, button='left')",
    "mouse_click(x, y, button='left')",
    "mouse_dblclick(x, y, button='left')",
    "mouse_drag_and_drop(from_x, from_y, to_x, to_y)",
    "keyboard_press(key)",
    "keyboard_down(key)",
    "keyboard_up(key)",
    "keyboard_type(text)",
    "keyboard_insert_text(text)",
    "upload_file(bid, file)",
    "mouse_upload_file(x, y, file)",
    "goto(url)",
    "go_back()",
    "go_forward()",
    "new_tab()",
    "tab_close()",
    "tab_focus(index)",
    "noop(wait_ms=1000)",
    "send_msg_to_user(text)",
    "report_infeasible(reason)",
];

/// Calls that BrowserGym does not have.
const EXTENSION_FORMS: &[&str] = &[
    "fill_and_enter(bid, value)",
    "type_into(bid, text)",
    "check_all(bids)",
    "handle_dialogs(accept=False, text=None)",
    "select_closest(bid, label)",
    "scroll_page(by)",
    "scroll_to(bid)",
    "search(query)",
    "say(text)",
    "note(text)",
    "stop()",
];

/// Every call in a text, whatever is around them.
pub(super) fn read(text: &str) -> Result<Vec<Action>, ParseError> {
    let actions = parse_calls(text).into_iter().map(action).collect::<Result<Vec<_>, _>>()?;
    if actions.is_empty() { Err(ParseError::Empty) } else { Ok(actions) }
}

impl FromStr for Action {
    type Err = ParseError;

    /// Parses exactly one call.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        action(parse_call(text)?)
    }
}

fn action(call: Call) -> Result<Action, ParseError> {
    let form =
        FORMS.iter().chain(EXTENSION_FORMS).find(|form| form.split('(').next() == Some(&call.name));
    let Some(form) = form else { return Err(ParseError::unknown(call.name, FORMS)) };
    let name = call.name.clone();
    let mut args = Arguments::new(call, form);
    let action = match &*name {
        "click" | "dblclick" => {
            let (bid, button, modifiers) = (args.text("bid")?, args.button()?, args.modifiers()?);
            Action::Click { bid, press: Press { button, modifiers, twice: name == "dblclick" } }
        }
        "hover" => Action::Hover { bid: args.text("bid")? },
        "fill" => {
            let (bid, value) = (args.text("bid")?, args.text("value")?);
            Action::Fill { bid, value, by_keys: args.flag("enable_autocomplete_menu")? }
        }
        "clear" => Action::Clear { bid: args.text("bid")? },
        "check" | "uncheck" => Action::Tick { bid: args.text("bid")?, on: name == "check" },
        "select_option" => {
            Action::Select { bid: args.text("bid")?, options: args.texts("options")? }
        }
        "press" => Action::Press { bid: args.text("bid")?, keys: args.text("key_comb")? },
        "focus" => Action::Focus { bid: args.text("bid")? },
        "drag_and_drop" => Action::Drag { from: args.text("from_bid")?, to: args.text("to_bid")? },
        "scroll" => {
            Action::Scroll { at: None, dx: args.number("delta_x")?, dy: args.number("delta_y")? }
        }
        "scroll_at" => {
            let at = Some(args.point("x", "y")?);
            Action::Scroll { at, dx: args.number("delta_x")?, dy: args.number("delta_y")? }
        }
        "mouse_move" => Action::MouseMove(args.point("x", "y")?),
        "mouse_down" => Action::MouseDown(args.point("x", "y")?, args.button()?),
        "mouse_up" => Action::MouseUp(args.point("x", "y")?, args.button()?),
        "mouse_click" | "mouse_dblclick" => {
            let (at, button) = (args.point("x", "y")?, args.button()?);
            Action::MouseClick(
                at,
                Press { button, modifiers: Vec::new(), twice: name == "mouse_dblclick" },
            )
        }
        "mouse_drag_and_drop" => {
            Action::MouseDrag(args.point("from_x", "from_y")?, args.point("to_x", "to_y")?)
        }
        "keyboard_press" => Action::KeyPress(args.text("key")?),
        "keyboard_down" => Action::KeyDown(args.text("key")?),
        "keyboard_up" => Action::KeyUp(args.text("key")?),
        "keyboard_type" => Action::Type(args.text("text")?),
        "keyboard_insert_text" => Action::Insert(args.text("text")?),
        "upload_file" => Action::Upload { bid: args.text("bid")?, files: args.texts("file")? },
        "mouse_upload_file" => Action::UploadAt(args.point("x", "y")?, args.texts("file")?),
        "goto" => Action::Goto { url: args.text("url")? },
        "go_back" => Action::GoBack,
        "go_forward" => Action::GoForward,
        "new_tab" => Action::NewTab,
        "tab_close" => Action::CloseTab,
        "tab_focus" => Action::FocusTab { index: args.index("index")? },
        "noop" => {
            let millis =
                args.number_or("wait_ms", Action::NOOP_MS)?.clamp(0.0, Action::MAX_WAIT_MS);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            if millis == Action::NOOP_MS {
                Action::Noop
            } else {
                Action::Wait { millis: millis as u32 }
            }
        }
        "send_msg_to_user" => Action::Answer { text: args.text("text")? },
        "report_infeasible" => Action::Infeasible { reason: args.text("reason")? },
        "fill_and_enter" => {
            Action::FillAndEnter { bid: args.text("bid")?, value: args.text("value")? }
        }
        "type_into" => Action::TypeInto { bid: args.text("bid")?, text: args.text("text")? },
        "handle_dialogs" => {
            Action::HandleDialogs { accept: args.flag("accept")?, text: args.text_or_none("text")? }
        }
        "check_all" => Action::TickAll { bids: args.texts("bids")? },
        "select_closest" => {
            Action::SelectClosest { bid: args.text("bid")?, label: args.text("label")? }
        }
        "scroll_page" => Action::ScrollPage { by: args.number("by")? },
        "scroll_to" => Action::ScrollTo { bid: args.text("bid")? },
        "search" => Action::Search { query: args.text("query")? },
        "say" => Action::Say { text: args.text("text")? },
        "note" => Action::Note { text: args.text("text")? },
        "stop" => Action::Stop,
        _ => return Err(ParseError::unknown(name, FORMS)),
    };
    args.done(action)
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let twice = |press: &Press| if press.twice { "dbl" } else { "" };
        match self {
            Self::Click { bid, press } => {
                write!(f, "{}click({}{}", twice(press), repr(bid), button(press.button))?;
                if !press.modifiers.is_empty() {
                    write!(
                        f,
                        ", modifiers={}",
                        list(press.modifiers.iter().map(|key| key.as_str()))
                    )?;
                }
                f.write_str(")")
            }
            Self::Hover { bid } => write!(f, "hover({})", repr(bid)),
            Self::Fill { bid, value, by_keys: false } => {
                write!(f, "fill({}, {})", repr(bid), repr(value))
            }
            Self::Fill { bid, value, by_keys: true } => {
                write!(f, "fill({}, {}, enable_autocomplete_menu=True)", repr(bid), repr(value))
            }
            Self::Clear { bid } => write!(f, "clear({})", repr(bid)),
            Self::Tick { bid, on: true } => write!(f, "check({})", repr(bid)),
            Self::Tick { bid, on: false } => write!(f, "uncheck({})", repr(bid)),
            Self::Select { bid, options } => {
                write!(f, "select_option({}, {})", repr(bid), one_or_list(options))
            }
            Self::Press { bid, keys } => write!(f, "press({}, {})", repr(bid), repr(keys)),
            Self::Focus { bid } => write!(f, "focus({})", repr(bid)),
            Self::Drag { from, to } => write!(f, "drag_and_drop({}, {})", repr(from), repr(to)),
            Self::Scroll { at: None, dx, dy } => write!(f, "scroll({dx}, {dy})"),
            Self::Scroll { at: Some(Point { x, y }), dx, dy } => {
                write!(f, "scroll_at({x}, {y}, {dx}, {dy})")
            }
            Self::MouseMove(Point { x, y }) => write!(f, "mouse_move({x}, {y})"),
            Self::MouseDown(Point { x, y }, pressed) => {
                write!(f, "mouse_down({x}, {y}{})", button(*pressed))
            }
            Self::MouseUp(Point { x, y }, pressed) => {
                write!(f, "mouse_up({x}, {y}{})", button(*pressed))
            }
            Self::MouseClick(Point { x, y }, press) => {
                write!(f, "mouse_{}click({x}, {y}{})", twice(press), button(press.button))
            }
            Self::MouseDrag(from, to) => {
                write!(f, "mouse_drag_and_drop({}, {}, {}, {})", from.x, from.y, to.x, to.y)
            }
            Self::KeyPress(keys) => write!(f, "keyboard_press({})", repr(keys)),
            Self::KeyDown(key) => write!(f, "keyboard_down({})", repr(key)),
            Self::KeyUp(key) => write!(f, "keyboard_up({})", repr(key)),
            Self::Type(text) => write!(f, "keyboard_type({})", repr(text)),
            Self::Insert(text) => write!(f, "keyboard_insert_text({})", repr(text)),
            Self::Upload { bid, files } => {
                write!(f, "upload_file({}, {})", repr(bid), one_or_list(files))
            }
            Self::UploadAt(Point { x, y }, files) => {
                write!(f, "mouse_upload_file({x}, {y}, {})", one_or_list(files))
            }
            Self::Goto { url } => write!(f, "goto({})", repr(url)),
            Self::GoBack => f.write_str("go_back()"),
            Self::GoForward => f.write_str("go_forward()"),
            Self::NewTab => f.write_str("new_tab()"),
            Self::CloseTab => f.write_str("tab_close()"),
            Self::FocusTab { index } => write!(f, "tab_focus({index})"),
            Self::Noop => f.write_str("noop()"),
            Self::Wait { millis } => write!(f, "noop({millis})"),
            Self::Answer { text } => write!(f, "send_msg_to_user({})", repr(text)),
            Self::Infeasible { reason } => write!(f, "report_infeasible({})", repr(reason)),
            Self::FillAndEnter { bid, value } => {
                write!(f, "fill_and_enter({}, {})", repr(bid), repr(value))
            }
            Self::TypeInto { bid, text } => write!(f, "type_into({}, {})", repr(bid), repr(text)),
            Self::HandleDialogs { accept, text } => {
                write!(f, "handle_dialogs({}", if *accept { "True" } else { "False" })?;
                text.iter().try_for_each(|text| write!(f, ", {}", repr(text)))?;
                f.write_str(")")
            }
            Self::TickAll { bids } => {
                write!(f, "check_all({})", list(bids.iter().map(String::as_str)))
            }
            Self::SelectClosest { bid, label } => {
                write!(f, "select_closest({}, {})", repr(bid), repr(label))
            }
            Self::ScrollPage { by } => write!(f, "scroll_page({by})"),
            Self::ScrollTo { bid } => write!(f, "scroll_to({})", repr(bid)),
            Self::Search { query } => write!(f, "search({})", repr(query)),
            Self::Say { text } => write!(f, "say({})", repr(text)),
            Self::Note { text } => write!(f, "note({})", repr(text)),
            Self::Stop => f.write_str("stop()"),
        }
    }
}

fn button(button: crate::Button) -> String {
    if button == crate::Button::Left {
        String::new()
    } else {
        format!(", button={}", repr(button.as_str()))
    }
}

fn one_or_list(items: &[String]) -> String {
    match items {
        [one] => repr(one),
        many => list(many.iter().map(String::as_str)),
    }
}

fn list<'a>(items: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", items.map(repr).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At least one of each call, as it is written.
    const WRITTEN: &[&str] = &[
        "click('a12')",
        "click('a12', button='right', modifiers=['Control', 'Shift'])",
        "dblclick('a12')",
        "dblclick('a12', button='middle')",
        "hover('7')",
        "fill('a12', \"it's\\n\")",
        "fill('a12', 'x', enable_autocomplete_menu=True)",
        "clear('7')",
        "check('7')",
        "uncheck('7')",
        "select_option('a12', 'x')",
        "select_option('a12', ['x', 'y'])",
        "select_option('a12', [])",
        "press('a12', 'Control+a')",
        "focus('7')",
        "drag_and_drop('7', '8')",
        "scroll(0, -200.5)",
        "scroll_at(10, 20, 0, -200.5)",
        "mouse_move(1, 2)",
        "mouse_down(1, 2)",
        "mouse_up(1, 2, button='middle')",
        "mouse_click(1, 2.5)",
        "mouse_dblclick(1, 2, button='right')",
        "mouse_drag_and_drop(1, 2, 3, 4)",
        "keyboard_press('Control+c')",
        "keyboard_down('Shift')",
        "keyboard_up('Shift')",
        "keyboard_type('abc')",
        "keyboard_insert_text('é')",
        "upload_file('7', 'a.txt')",
        "upload_file('7', ['a.txt', 'b/c.txt'])",
        "mouse_upload_file(1, 2, 'a.txt')",
        "handle_dialogs(True)",
        "handle_dialogs(False)",
        "handle_dialogs(True, 'yes')",
        "goto(\"https://a.test/?q='\")",
        "go_back()",
        "go_forward()",
        "new_tab()",
        "tab_close()",
        "tab_focus(2)",
        "noop()",
        "noop(500)",
        "send_msg_to_user('42')",
        "report_infeasible('no')",
        "fill_and_enter('7', 'x')",
        "type_into('7', 'x\\n')",
        "check_all(['7', 'css=[name=\"x\"]'])",
        "select_closest('7', 'x')",
        "scroll_page(-0.5)",
        "scroll_to('7')",
        "search('x')",
        "say('x')",
        "note('x')",
        "stop()",
    ];

    #[test]
    fn actions_survive_the_round_trip() {
        for text in WRITTEN {
            assert_eq!(text.parse::<Action>().unwrap().to_string(), *text);
        }
        for name in FORMS.iter().chain(EXTENSION_FORMS).filter_map(|form| form.split('(').next()) {
            assert!(
                WRITTEN.iter().any(|text| text.starts_with(&format!("{name}("))),
                "{name} is not tried"
            );
        }
    }

    #[test]
    fn other_spellings_are_taken() {
        for (text, expected) in [
            ("click(12)", "click('12')"),
            ("click(bid=\"7\", button='left')", "click('7')"),
            ("click('7', 'left', ['Alt'])", "click('7', modifiers=['Alt'])"),
            ("fill('1', value='x', enable_autocomplete_menu=False)", "fill('1', 'x')"),
            ("noop(1000)", "noop()"),
            ("noop(wait_ms=2500)", "noop(2500)"),
            ("noop(1e9)", "noop(60000)"),
            ("# look\nclick('3')", "click('3')"),
        ] {
            assert_eq!(text.parse::<Action>().unwrap().to_string(), expected);
        }
    }

    #[test]
    fn what_is_no_action_says_why() {
        for (text, expected) in [
            ("click()", "read an action: write it as `click(bid, button='left', modifiers=[])`"),
            (
                "click('1', 'up')",
                "read an action: write it as `click(bid, button='left', modifiers=[])`",
            ),
            ("hover('1', x=2)", "read an action: write it as `hover(bid)`"),
            ("tab_focus(-1)", "read an action: write it as `tab_focus(index)`"),
            ("goto('a', 'b')", "read an action: write it as `goto(url)`"),
            ("halt", "read an action: expected `(` at character 5"),
        ] {
            assert_eq!(text.parse::<Action>().unwrap_err().to_string(), expected);
        }
        let unknown = "launch('x')".parse::<Action>().unwrap_err().to_string();
        assert!(
            unknown.starts_with(
                "read an action: there is no `launch`; there are click, dblclick, hover"
            ),
            "{unknown}"
        );
    }

    #[test]
    fn calls_are_found_in_a_models_words() {
        let text = "I shall (first) fill it in:\n```\nfill('1', 'a) b')  # click('9')\nclick('2')\n```\nthen wait.";
        let found: Vec<String> = read(text).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(found, ["fill('1', 'a) b')", "click('2')"]);
        assert_eq!(read("nothing to do"), Err(ParseError::Empty));
        assert!(matches!(read("launch('x')"), Err(ParseError::Unknown { .. })));
    }
}
