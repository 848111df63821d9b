//! WebArena's and VisualWebArena's notation: `type [164] [restaurants near CMU] [1]`, between three
//! backticks.
//!
//! The action is extracted as in `CoTPromptConstructor._extract_action` and
//! `DirectPromptConstructor._extract_action` (WebArena, `agent/prompts/prompt_constructor.py`): the
//! first text between two runs of three backticks. The prompts ask for "In summary, the next action
//! I will perform is" before it, but nothing checks that. A text without backticks is the action
//! itself, as in `TeacherForcingAgent`.
//!
//! The action is parsed as in `create_id_based_action` (`browser_env/actions.py`, the same in both
//! projects). Its rules, including oddities:
//!
//! - The name is everything before the first `[`, or the first word. Text after the brackets is
//!   ignored.
//! - A bracket with a text ends at the last `]` of its line, so texts may contain brackets.
//! - `type` without `[0]` or `[1]` at its very end means `[1]`: press Enter. So `type [5] [1]` has
//!   no text, and is an error.
//! - An answer of several lines is lost: `stop` with a bracket that does not close on its line
//!   stops with an empty answer.
//! - `press` knows keys in any case from `SPECIAL_KEY_MAPPINGS` (`browser_env/constants.py`),
//!   without ArrowLeft and without modifiers other than Meta. Meta is Control, as in
//!   `execute_key_press` on anything but a Mac.
//! - `type` clicks the centre of the element and types (`execute_action`), so the element's content
//!   stays.
//! - `scroll` moves the document by the window's height (`execute_scroll`), whatever is under the
//!   mouse.
//!
//! Differences from the original: ids may have letters, because our elements in frames have them,
//! and WebArena shows none of those. `ctrl` is Control, because the prompts write `Ctrl+v`, at
//! which the published code fails.

use crate::action::is_bid;
use crate::{Action, ParseError, Press};

const FORMS: &[&str] = &[
    "click [id]",
    "type [id] [content] [press_enter_after=0|1]",
    "hover [id]",
    "press [key_comb]",
    "scroll [down|up]",
    "new_tab",
    "tab_focus [tab_index]",
    "close_tab",
    "goto [url]",
    "go_back",
    "go_forward",
    "stop [answer]",
];

/// Keys that are known in any case, with their names in pages.
const KEYS: &[(&str, &str)] = &[
    ("backquote", "`"),
    ("minus", "-"),
    ("equal", "="),
    ("backslash", "\\"),
    ("backspace", "Backspace"),
    ("meta", "Control"),
    ("ctrl", "Control"),
    ("tab", "Tab"),
    ("delete", "Delete"),
    ("escape", "Escape"),
    ("arrowdown", "ArrowDown"),
    ("end", "End"),
    ("enter", "Enter"),
    ("home", "Home"),
    ("insert", "Insert"),
    ("pagedown", "PageDown"),
    ("pageup", "PageUp"),
    ("arrowright", "ArrowRight"),
    ("arrowup", "ArrowUp"),
    ("f1", "F1"),
    ("f2", "F2"),
    ("f3", "F3"),
    ("f4", "F4"),
    ("f5", "F5"),
    ("f6", "F6"),
    ("f7", "F7"),
    ("f8", "F8"),
    ("f9", "F9"),
    ("f10", "F10"),
    ("f11", "F11"),
    ("f12", "F12"),
];

const FENCE: &str = "```";

pub(super) fn read(text: &str) -> Result<Action, ParseError> {
    let Some((_, rest)) = text.split_once(FENCE) else {
        return action(text.trim()).map_err(|error| match error {
            // Most likely a model's prose.
            ParseError::Unknown { .. } | ParseError::Empty => missing_fence(),
            error => error,
        });
    };
    let (inside, _) = rest.split_once(FENCE).ok_or_else(missing_fence)?;
    action(inside.trim())
}

fn missing_fence() -> ParseError {
    ParseError::Misplaced { place: "put it between ``` and ```, such as ```click [12]```" }
}

fn action(text: &str) -> Result<Action, ParseError> {
    let name = match text.split_once('[') {
        Some((name, _)) => name.trim(),
        None => text.split_whitespace().next().unwrap_or_default(),
    };
    if name.is_empty() {
        return Err(ParseError::Empty);
    }
    let form = FORMS.iter().find(|form| form.split(' ').next() == Some(name));
    let Some(form) = form else { return Err(ParseError::unknown(name, FORMS)) };
    let read = match name {
        "click" => id(text, name).map(Action::click),
        "hover" => id(text, name).map(|bid| Action::Hover { bid }),
        "type" => parse_type(text),
        "press" => line(text, name).map(|keys| Action::KeyPress(map_keys(keys))),
        "scroll" => parse_scroll(text),
        "goto" => line(text, name).map(|url| Action::Goto { url: url.to_owned() }),
        "tab_focus" => index(text, name).map(|index| Action::FocusTab { index }),
        "stop" => Some(Action::Answer { text: line(text, name).unwrap_or_default().to_owned() }),
        "new_tab" => Some(Action::NewTab),
        "close_tab" => Some(Action::CloseTab),
        "go_back" => Some(Action::GoBack),
        "go_forward" => Some(Action::GoForward),
        _ => None,
    };
    read.ok_or(ParseError::Arguments { form })
}

/// The text after each occurrence of a name with its opening bracket, with one optional space
/// between them. The first that fits counts, as in a regular expression search.
fn after_bracket<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(name).filter_map(|(at, _)| bracket(&text[at + name.len()..]))
}

/// The text after an opening bracket, with one optional space before it.
fn bracket(text: &str) -> Option<&str> {
    text.strip_prefix(' ').unwrap_or(text).strip_prefix('[')
}

/// The content of the bracket, up to the last one that closes on the line; at least one character.
fn line<'a>(text: &'a str, name: &'a str) -> Option<&'a str> {
    after_bracket(text, name).find_map(|rest| {
        let (inside, _) = rest.split('\n').next()?.rsplit_once(']')?;
        (!inside.is_empty()).then_some(inside)
    })
}

/// The content of the bracket, if it is an id.
fn id(text: &str, name: &str) -> Option<String> {
    let mut ids =
        after_bracket(text, name).filter_map(|rest| rest.split_once(']')).map(|(id, _)| id);
    ids.find(|id| is_bid(id)).map(str::to_owned)
}

fn index(text: &str, name: &str) -> Option<usize> {
    after_bracket(text, name)
        .filter_map(|rest| rest.split_once(']'))
        .find_map(|(index, _)| number(index)?.parse().ok())
}

/// The text, if it has only digits.
fn number(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

fn parse_type(text: &str) -> Option<Action> {
    let flagged = if text.ends_with("[0]") || text.ends_with("[1]") {
        text.to_owned()
    } else {
        format!("{text} [1]")
    };
    after_bracket(&flagged, "type").find_map(|rest| {
        let (bid, rest) = rest.split_once(']').filter(|(bid, _)| is_bid(bid))?;
        let line = bracket(rest)?.split('\n').next()?;
        // The last closing bracket with a number in another bracket behind it.
        let (typed, flag) = line.rmatch_indices(']').find_map(|(end, _)| {
            let (flag, _) = bracket(&line[end + 1..])?.split_once(']')?;
            (end > 0).then_some((&line[..end], number(flag)?))
        })?;
        let enter = if flag == "1" { "\n" } else { "" };
        Some(Action::TypeInto { bid: bid.to_owned(), text: format!("{typed}{enter}") })
    })
}

fn parse_scroll(text: &str) -> Option<Action> {
    text.match_indices("scroll").find_map(|(at, name)| {
        let rest = &text[at + name.len()..];
        let direction = bracket(rest).unwrap_or_else(|| rest.strip_prefix(' ').unwrap_or(rest));
        let by = if direction.starts_with("up") {
            -1.0
        } else if direction.starts_with("down") {
            1.0
        } else {
            return None;
        };
        Some(Action::ScrollPage { by })
    })
}

fn map_keys(keys: &str) -> String {
    let map_keys = keys.split('+').map(|key| {
        let mapping = KEYS.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        mapping.map_or(key, |&(_, map_keys)| map_keys)
    });
    map_keys.collect::<Vec<_>>().join("+")
}

pub(super) fn write(action: &Action) -> Option<String> {
    Some(match action {
        Action::Click { bid, press } if *press == Press::default() => format!("click [{bid}]"),
        Action::Hover { bid } => format!("hover [{bid}]"),
        Action::TypeInto { bid, text } => match text.strip_suffix('\n') {
            Some(text) => format!("type [{bid}] [{text}] [1]"),
            None => format!("type [{bid}] [{text}] [0]"),
        },
        Action::KeyPress(keys) => format!("press [{keys}]"),
        Action::ScrollPage { by } => format!("scroll [{}]", if *by < 0.0 { "up" } else { "down" }),
        Action::NewTab => "new_tab".to_owned(),
        Action::FocusTab { index } => format!("tab_focus [{index}]"),
        Action::CloseTab => "close_tab".to_owned(),
        Action::Goto { url } => format!("goto [{url}]"),
        Action::GoBack => "go_back".to_owned(),
        Action::GoForward => "go_forward".to_owned(),
        Action::Answer { text } => format!("stop [{text}]"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Dialect;

    fn check(text: &str, expected: &str) {
        assert_eq!(read(text).map(|action| action.to_string()), Ok(expected.to_owned()), "{text}");
    }

    #[test]
    fn actions_are_read_as_the_published_code_reads_them() {
        check("click [1744]", "click('1744')");
        check("click[1744] where [1744] is link 'x'", "click('1744')");
        check("hover [a12]", "hover('a12')");
        check("click [aB]", "click('aB')");
        check(
            "type [164] [restaurants near CMU] [1]",
            "type_into('164', 'restaurants near CMU\\n')",
        );
        check("type [164] [x] [0]", "type_into('164', 'x')");
        check("type [164] [x]", "type_into('164', 'x\\n')");
        check("type[164][a [b] c]", "type_into('164', 'a [b] c\\n')");
        check("type [164] [a] [b] [0]", "type_into('164', 'a] [b')");
        check("type [164] [x] [0] and wait", "type_into('164', 'x')");
        check("type [164] [5]", "type_into('164', '5\\n')");
        check("press [Ctrl+v]", "keyboard_press('Control+v')");
        check("press [META+a]", "keyboard_press('Control+a')");
        check("press [pagedown]", "keyboard_press('PageDown')");
        check("press [arrowleft]", "keyboard_press('arrowleft')");
        check("scroll [down]", "scroll_page(1)");
        check("scroll up", "scroll_page(-1)");
        check("new_tab", "new_tab()");
        check("tab_focus [2]", "tab_focus(2)");
        check("close_tab", "tab_close()");
        check("goto [http://a.test/?x[]=1]", "goto('http://a.test/?x[]=1')");
        check("go_back", "go_back()");
        check("go_forward ", "go_forward()");
        check("stop [N/A]", "send_msg_to_user('N/A')");
        check("stop", "send_msg_to_user('')");
        check("stop [a\nb]", "send_msg_to_user('')");
    }

    #[test]
    fn the_first_fence_of_a_models_words_counts() {
        let words = "Let's think step-by-step. In summary, the next action I will perform is ```stop [$279.49]``` or ```click [1]```";
        check(words, "send_msg_to_user('$279.49')");
        check("```\nclick [7]\n```", "click('7')");
    }

    #[test]
    fn what_is_no_action_says_what_to_write() {
        for (text, expected) in [
            (
                "I shall click",
                "there is none; put it between ``` and ```, such as ```click [12]```",
            ),
            ("```click [1]", "there is none; put it between ``` and ```, such as ```click [12]```"),
            ("", "there is none; put it between ``` and ```, such as ```click [12]```"),
            ("click [Search]", "write it as `click [id]`"),
            ("click  [1]", "write it as `click [id]`"),
            ("type [5] [1]", "write it as `type [id] [content] [press_enter_after=0|1]`"),
            ("type [5] [a\nb] [1]", "write it as `type [id] [content] [press_enter_after=0|1]`"),
            ("scroll [left]", "write it as `scroll [down|up]`"),
            ("tab_focus [-1]", "write it as `tab_focus [tab_index]`"),
            (
                "```note [x]```",
                "there is no `note`; there are click, type, hover, press, scroll, new_tab, tab_focus, close_tab, goto, go_back, go_forward, stop",
            ),
        ] {
            assert_eq!(
                read(text).unwrap_err().to_string(),
                format!("read an action: {expected}"),
                "{text}"
            );
        }
    }

    fn spoken() -> impl Strategy<Value = Action> {
        let bid = "([a-z][A-Z]?){0,2}[0-9]{1,4}|[a-z][A-Z]?";
        let words = "[^\n`]{1,20}";
        prop_oneof![
            bid.prop_map(Action::click),
            bid.prop_map(|bid| Action::Hover { bid }),
            (bid, words, any::<bool>()).prop_map(|(bid, text, enter)| Action::TypeInto {
                bid,
                text: text + if enter { "\n" } else { "" }
            }),
            "(Control\\+|Shift\\+){0,2}(a|Z|Enter|PageUp|ArrowLeft)".prop_map(Action::KeyPress),
            any::<bool>().prop_map(|up| Action::ScrollPage { by: if up { -1.0 } else { 1.0 } }),
            (0..1000_usize).prop_map(|index| Action::FocusTab { index }),
            words.prop_map(|url| Action::Goto { url }),
            "[^\n`]{0,20}".prop_map(|text| Action::Answer { text }),
            Just(Action::NewTab),
            Just(Action::CloseTab),
            Just(Action::GoBack),
            Just(Action::GoForward),
        ]
    }

    proptest! {
        #[test]
        fn actions_survive_the_round_trip(action in spoken()) {
            let written = Dialect::WebArena.write(&action).unwrap();
            prop_assert_eq!(read(&written), Ok(action.clone()));
            prop_assert_eq!(read(&format!("I [think] so. ```{written}``` indeed")), Ok(action));
        }
    }

    #[test]
    fn what_it_cannot_say_is_not_written() {
        for action in [
            "dblclick('1')",
            "fill('1', 'x')",
            "type_into('1', 'a\\nb')",
            "click('css=#x')",
            "noop()",
            "scroll_page(0.5)",
            "keyboard_press('meta')",
            "send_msg_to_user('a\\nb')",
            "goto('')",
        ] {
            assert_eq!(Dialect::WebArena.write(&action.parse().unwrap()), None, "{action}");
        }
    }
}
