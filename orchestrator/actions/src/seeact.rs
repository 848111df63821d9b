//! The notation of SeeAct and of SeePlanAct, AssistantBench's agent: lines that begin with
//! `ELEMENT:`, `ACTION:` and `VALUE:`.
//!
//! A model's text is parsed as in `postprocess_action_lmm` (SeeAct,
//! `seeact_package/seeact/demo_utils/format_prompt.py`; SeePlanAct,
//! `src/demo_utils/format_prompt.py`), and carried out as in `SeeActAgent.perform_action`. The
//! actions are those of both:
//!
//! - The first `ACTION:` and the first `VALUE:` of the text count, and the `ELEMENT:` shortly
//!   before that action, or else the first one.
//! - Phrases of the prompt that models repeat, such as "The uppercase letter of your choice.", are
//!   removed first.
//! - A value loses the quotes around it and a full stop at its end, and then the same once more.
//! - `TYPE` replaces the content of the input. `SELECT` takes the option whose label is most like
//!   the value (`select_option`).
//! - `SCROLL UP` and `SCROLL DOWN` scroll by half the window. SeePlanAct's `SCROLL` scrolls down by
//!   three quarters, and with the value `up` to the top.
//! - `SAY` and `MEMORIZE` only add to the agent's history. SeeAct has no answer; here the last
//!   message is the answer at `TERMINATE`. SeePlanAct takes its answer from its plan, which is the
//!   agent's task.
//!
//! Choices are letters, `A` to `Z`, `AA` to `ZZ` (`get_index_from_option_name`), of a list that
//! only the agent knows. [`Dialect::read_among`](crate::Dialect::read_among) gets their elements. A
//! bid instead of the letter is read, too, and is what is written.
//!
//! Differences from the originals:
//!
//! - They read `ELEMENT: None` as choice N. An action without its element becomes `NONE` there, and
//!   is an error here.
//! - SeePlanAct puts `https://www.` before every URL that does not begin so, even before
//!   `https://a.test`. Here `https://` is put before one without a scheme.
//! - SeePlanAct's `GOTO`, `SEARCH`, `SCROLL` and `GOBACK` work by accident: the second letter from
//!   the end of a word stands for the element.

use crate::action::is_bid;
use crate::{Action, ParseError, Press};

/// The names after `ACTION: `, longer ones before their prefixes.
const ACTIONS: &[&str] = &[
    "CLICK",
    "SELECT",
    "TYPE",
    "HOVER",
    "PRESS ENTER",
    "SCROLL UP",
    "SCROLL DOWN",
    "SCROLL",
    "PRESS HOME",
    "PRESS END",
    "PRESS PAGEUP",
    "PRESS PAGEDOWN",
    "NEW TAB",
    "CLOSE TAB",
    "GO BACK",
    "GOBACK",
    "GO FORWARD",
    "TERMINATE",
    "NONE",
    "GOTO",
    "SEARCH",
    "SAY",
    "MEMORIZE",
];

/// Keys with an action of their own.
const KEYS: &[(&str, &str)] = &[
    ("PRESS ENTER", "Enter"),
    ("PRESS HOME", "Home"),
    ("PRESS END", "End"),
    ("PRESS PAGEUP", "PageUp"),
    ("PRESS PAGEDOWN", "PageDown"),
];

const FORM: &str = "ELEMENT: the element's id\nACTION: CLICK\nVALUE: None";

/// Down, as a multiple of the window's height.
const HALF: f64 = 0.5;
const THREE_QUARTERS: f64 = 0.75;
/// More than the length of any page.
const TO_THE_TOP: f64 = -10_000.0;

/// The letters of a choice, counted from 0: `A` to `Z`, then `AA` to `ZZ`. Beyond that it is always
/// `ZZ`.
pub fn choice_name(index: usize) -> String {
    let letter = |n: usize| char::from(b'A' + u8::try_from(n).unwrap_or(25).min(25));
    match index.checked_sub(26) {
        None => letter(index).to_string(),
        Some(rest) => [letter(rest / 26), letter(if rest < 26 * 26 { rest % 26 } else { 25 })]
            .iter()
            .collect(),
    }
}

/// The text after `ELEMENT:`.
enum Element<'a> {
    Bid(&'a str),
    Choice(&'a str),
    None,
}

pub(super) fn read(text: &str, choices: &[String]) -> Result<Action, ParseError> {
    let text = strip_prompt_echo(text.trim());
    let missing = ParseError::Misplaced {
        place: "end with three lines that begin with `ELEMENT: `, `ACTION: ` and `VALUE: `",
    };
    // A prefix without an action is skipped.
    let found = text.match_indices("ACTION: ").find_map(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        Some((at, *ACTIONS.iter().find(|name| rest.starts_with(**name))?))
    });
    let Some((start, name)) = found else {
        let word = text.split_once("ACTION: ").and_then(|(_, rest)| rest.split_whitespace().next());
        return Err(match word {
            Some(word) => ParseError::Unknown { name: word.to_owned(), known: ACTIONS.to_vec() },
            None => missing,
        });
    };
    let element = element(&text, start);
    let value = text
        .split_once("VALUE: ")
        .map_or("", |(_, rest)| rest.split('\n').next().unwrap_or_default());
    let value = unquote_value(unquote_value(value.trim()));
    let chosen = || match element {
        Element::Bid(bid) => Ok(Some(bid.to_owned())),
        Element::Choice(letters) => match index(letters).and_then(|index| choices.get(index)) {
            Some(bid) => Ok(Some(bid.clone())),
            None => Err(ParseError::NoChoice { choice: letters.to_owned(), count: choices.len() }),
        },
        Element::None => Ok(None),
    };
    let bid = || chosen()?.ok_or(ParseError::Arguments { form: FORM });
    let text = value.to_owned();
    Ok(match name {
        "CLICK" => Action::click(bid()?),
        "HOVER" => Action::Hover { bid: bid()? },
        "TYPE" => Action::Fill { bid: bid()?, value: text, by_keys: false },
        "SELECT" => Action::SelectClosest { bid: bid()?, label: text },
        "PRESS ENTER" => match chosen() {
            Ok(Some(bid)) => Action::Press { bid, keys: "Enter".to_owned() },
            // The letter after the last means that there is no element.
            Ok(None) | Err(_) => Action::KeyPress("Enter".to_owned()),
        },
        "SCROLL UP" => Action::ScrollPage { by: -HALF },
        "SCROLL DOWN" => Action::ScrollPage { by: HALF },
        "SCROLL" if text.eq_ignore_ascii_case("up") => Action::ScrollPage { by: TO_THE_TOP },
        "SCROLL" => Action::ScrollPage { by: THREE_QUARTERS },
        "NEW TAB" => Action::NewTab,
        "CLOSE TAB" => Action::CloseTab,
        "GO BACK" | "GOBACK" => Action::GoBack,
        "GO FORWARD" => Action::GoForward,
        "TERMINATE" => Action::Stop,
        "NONE" => Action::Noop,
        "GOTO" => Action::Goto { url: add_scheme(value) },
        "SEARCH" => Action::Search { query: text },
        "SAY" => Action::Say { text },
        "MEMORIZE" => Action::Note { text },
        key => match KEYS.iter().find(|(known, _)| *known == key) {
            Some((_, keys)) => Action::KeyPress((*keys).to_owned()),
            None => return Err(missing),
        },
    })
}

/// The text without phrases of the prompt that models repeat.
fn strip_prompt_echo(text: &str) -> String {
    let mut text = text.to_owned();
    for whose in ["your", "my"] {
        let choice = format!("The uppercase letter of {whose} choice");
        let full = ". Choose one of the following elements if it matches the target element based on your analysis:";
        text = strip_phrase(text, &format!("{choice}{full}"));
        for on in [" based on your analysis", " based on my analysis", " based on the analysis", ""]
        {
            for end in [" is:", " is ", "."] {
                text = strip_phrase(text, &format!("{choice}{on}{end}"));
            }
        }
    }
    for phrase in [
        "The correct choice based on the analysis would be:",
        "The correct choice based on the analysis would be :",
        "The correct choice based on the analysis would be ",
        "The correct element to select would be:",
        "The correct element to select would be ",
        "Choose an action from {CLICK, TYPE, SELECT}.",
        "Provide additional input based on ACTION.",
    ] {
        text = strip_phrase(text, phrase);
    }
    text
}

/// The text without a phrase and the line breaks, two at most, that follow it.
fn strip_phrase(text: String, phrase: &str) -> String {
    if text.contains(phrase) {
        text.replace(&format!("{phrase}\n\n"), "")
            .replace(&format!("{phrase}\n"), "")
            .replace(phrase, "")
    } else {
        text
    }
}

/// The element shortly before the action, looked for in ever longer pieces, or else the first one.
fn element(text: &str, action: usize) -> Element<'_> {
    let before = &text[..action];
    let piece = |length: usize| {
        let start = before.char_indices().rev().nth(length - 1).map_or(0, |(at, _)| at);
        first_element(&before[start..])
    };
    (15..160).step_by(10).find_map(piece).or_else(|| first_element(text)).unwrap_or(Element::None)
}

fn first_element(text: &str) -> Option<Element<'_>> {
    text.match_indices("ELEMENT: ").find_map(|(at, mark)| {
        let rest = &text[at + mark.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let line = rest.split('\n').next().unwrap_or_default().trim_end_matches(['.', ' ', '\r']);
        match &rest[..end] {
            // The bid of a frame has only letters, and so has any word.
            bid if is_bid(bid) && (bid.ends_with(|c: char| c.is_ascii_digit()) || bid == line) => {
                Some(Element::Bid(bid))
            }
            letters => index(letters).map(|_| Element::Choice(letters)),
        }
    })
}

/// The index of a choice with one or two letters.
fn index(letters: &str) -> Option<usize> {
    let number = |byte: &u8| byte.is_ascii_uppercase().then(|| usize::from(byte - b'A'));
    match letters.as_bytes() {
        [one] => number(one),
        [first, second] => Some(26 + number(first)? * 26 + number(second)?),
        _ => None,
    }
}

fn unquote_value(value: &str) -> &str {
    let inner = match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner,
        // For Python a single quote is both the first and the last.
        None if value == "\"" => "",
        None => value,
    };
    inner.strip_suffix('.').unwrap_or(inner)
}

fn add_scheme(url: &str) -> String {
    let is_scheme = |text: &str| {
        text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    let has_one = url.starts_with("about:")
        || url.split_once("://").is_some_and(|(scheme, _)| !scheme.is_empty() && is_scheme(scheme));
    if has_one { url.to_owned() } else { format!("https://{url}") }
}

pub(super) fn write(action: &Action) -> Option<String> {
    let (name, value) = match action {
        Action::Click { press, .. } if *press == Press::default() => ("CLICK", None),
        Action::Hover { .. } => ("HOVER", None),
        Action::Fill { value, by_keys: false, .. } => ("TYPE", Some(value)),
        Action::SelectClosest { label, .. } => ("SELECT", Some(label)),
        Action::Press { .. } => ("PRESS ENTER", None),
        Action::KeyPress(keys) => (KEYS.iter().find(|(_, key)| key == keys)?.0, None),
        Action::ScrollPage { by } if *by == -HALF => ("SCROLL UP", None),
        Action::ScrollPage { by } if *by == HALF => ("SCROLL DOWN", None),
        Action::ScrollPage { by } if *by > 0.0 => ("SCROLL", None),
        Action::ScrollPage { .. } => return Some("ACTION: SCROLL\nVALUE: up".to_owned()),
        Action::NewTab => ("NEW TAB", None),
        Action::CloseTab => ("CLOSE TAB", None),
        Action::GoBack => ("GO BACK", None),
        Action::GoForward => ("GO FORWARD", None),
        Action::Stop => ("TERMINATE", None),
        Action::Noop => ("NONE", None),
        Action::Goto { url } => ("GOTO", Some(url)),
        Action::Search { query } => ("SEARCH", Some(query)),
        Action::Say { text } => ("SAY", Some(text)),
        Action::Note { text } => ("MEMORIZE", Some(text)),
        _ => return None,
    };
    let element = action.bid().map(|bid| format!("ELEMENT: {bid}\n")).unwrap_or_default();
    let value = match value {
        None => "None".to_owned(),
        Some(value) if unquote_value(unquote_value(value)) == value => value.clone(),
        // Two full stops are removed again, and the quotes are not at the end.
        Some(value) => format!("{value}.."),
    };
    Some(format!("{element}ACTION: {name}\nVALUE: {value}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Dialect;

    fn check(text: &str, expected: &str) {
        let choices: Vec<String> = (1..=60).map(|n| format!("a{n}")).collect();
        assert_eq!(
            read(text, &choices).map(|action| action.to_string()),
            Ok(expected.to_owned()),
            "{text}"
        );
    }

    #[test]
    fn letters_count_the_choices() {
        for (index, name) in [
            (0, "A"),
            (25, "Z"),
            (26, "AA"),
            (51, "AZ"),
            (52, "BA"),
            (701, "ZZ"),
            (702, "ZZ"),
            (9999, "ZZ"),
        ] {
            assert_eq!(choice_name(index), name);
            assert_eq!(super::index(name), Some(index.min(701)));
        }
        check("ELEMENT: B\nACTION: CLICK\nVALUE: None", "click('a2')");
        check("ELEMENT: AB\nACTION: HOVER\nVALUE: None", "hover('a28')");
        check("ELEMENT: 12\nACTION: CLICK\nVALUE: None", "click('12')");
        check("ELEMENT: bC7.\nACTION: CLICK", "click('bC7')");
        check("ELEMENT: aB\nACTION: HOVER", "hover('aB')");
        check("ELEMENT: the link, that is ELEMENT: C\nACTION: CLICK", "click('a3')");
    }

    #[test]
    fn the_element_before_the_action_counts() {
        let words = format!(
            "ELEMENT: A would be wrong. {}\nELEMENT: C\n\nACTION: TYPE\n\nVALUE: \"New York.\"",
            "Why? ".repeat(40)
        );
        check(&words, "fill('a3', 'New York')");
        let far = format!("ELEMENT: D\n{}ACTION: CLICK", "x ".repeat(200));
        check(&far, "click('a4')");
    }

    #[test]
    fn what_is_repeated_of_the_prompt_does_not_count() {
        check(
            "ELEMENT: The uppercase letter of your choice is B\nACTION: Choose an action from {CLICK, TYPE, SELECT}.\nTYPE\nVALUE: Provide additional input based on ACTION.\n\nx",
            "fill('a2', 'x')",
        );
        check(
            "ELEMENT: The uppercase letter of my choice based on the analysis is:\n\nE\nACTION: CLICK",
            "click('a5')",
        );
    }

    #[test]
    fn every_action_is_read() {
        for (name, expected) in [
            ("CLICK", "click('7')"),
            ("SELECT", "select_closest('7', 'up')"),
            ("TYPE", "fill('7', 'up')"),
            ("HOVER", "hover('7')"),
            ("PRESS ENTER", "press('7', 'Enter')"),
            ("SCROLL UP", "scroll_page(-0.5)"),
            ("SCROLL DOWN", "scroll_page(0.5)"),
            ("SCROLL", "scroll_page(-10000)"),
            ("PRESS HOME", "keyboard_press('Home')"),
            ("PRESS END", "keyboard_press('End')"),
            ("PRESS PAGEUP", "keyboard_press('PageUp')"),
            ("PRESS PAGEDOWN", "keyboard_press('PageDown')"),
            ("NEW TAB", "new_tab()"),
            ("CLOSE TAB", "tab_close()"),
            ("GO BACK", "go_back()"),
            ("GOBACK", "go_back()"),
            ("GO FORWARD", "go_forward()"),
            ("TERMINATE", "stop()"),
            ("NONE", "noop()"),
            ("GOTO", "goto('https://up')"),
            ("SEARCH", "search('up')"),
            ("SAY", "say('up')"),
            ("MEMORIZE", "note('up')"),
        ] {
            assert!(ACTIONS.contains(&name));
            check(&format!("ELEMENT: 7\nACTION: {name}\nVALUE: up."), expected);
        }
        assert_eq!(ACTIONS.len(), 23);
        check("ACTION: SCROLL\nVALUE: down", "scroll_page(0.75)");
        check("ELEMENT: ZZ\nACTION: PRESS ENTER\nVALUE: None", "keyboard_press('Enter')");
        check(
            "ACTION: GOTO\nVALUE: www.a.test/?to=https://b.test",
            "goto('https://www.a.test/?to=https://b.test')",
        );
        check("ACTION: GOTO\nVALUE: HTTP://a.test:80/", "goto('HTTP://a.test:80/')");
    }

    #[test]
    fn what_is_no_action_says_what_to_write() {
        for (text, choices, expected) in [
            (
                "Click on it.",
                3,
                "there is none; end with three lines that begin with `ELEMENT: `, `ACTION: ` and `VALUE: `",
            ),
            (
                "ACTION: CLICK",
                3,
                "write it as `ELEMENT: the element's id\nACTION: CLICK\nVALUE: None`",
            ),
            (
                "ELEMENT: None\nACTION: TYPE\nVALUE: x",
                30,
                "write it as `ELEMENT: the element's id\nACTION: CLICK\nVALUE: None`",
            ),
            ("ELEMENT: D\nACTION: CLICK", 3, "there is no choice D; there are A to C"),
            ("ELEMENT: D\nACTION: CLICK", 0, "there is no choice D; name the element by its id"),
        ] {
            let choices: Vec<String> = (0..choices).map(|n| n.to_string()).collect();
            assert_eq!(
                read(text, &choices).unwrap_err().to_string(),
                format!("read an action: {expected}"),
                "{text}"
            );
        }
        let unknown = read("ACTION: JUMP", &[]).unwrap_err().to_string();
        assert!(
            unknown.starts_with("read an action: there is no `JUMP`; there are CLICK, SELECT"),
            "{unknown}"
        );
    }

    fn spoken() -> impl Strategy<Value = Action> {
        let bid = "([a-z][A-Z]?){0,2}[0-9]{1,4}|[a-z][A-Z]?";
        // Spaces around a value are lost.
        let words = "([^\\s\\p{C}]([^\\p{C}\\p{Z}]| ){0,12}[^\\s\\p{C}])|[\".]{1,4}";
        prop_oneof![
            bid.prop_map(Action::click),
            bid.prop_map(|bid| Action::Hover { bid }),
            bid.prop_map(|bid| Action::Press { bid, keys: "Enter".to_owned() }),
            (bid, words).prop_map(|(bid, value)| Action::Fill { bid, value, by_keys: false }),
            (bid, words).prop_map(|(bid, label)| Action::SelectClosest { bid, label }),
            words.prop_map(|rest| Action::Goto { url: format!("https://{rest}") }),
            words.prop_map(|query| Action::Search { query }),
            words.prop_map(|text| Action::Say { text }),
            words.prop_map(|text| Action::Note { text }),
            proptest::sample::select(KEYS).prop_map(|(_, key)| Action::KeyPress(key.to_owned())),
            proptest::sample::select(vec![HALF, -HALF, THREE_QUARTERS, TO_THE_TOP])
                .prop_map(|by| Action::ScrollPage { by }),
            Just(Action::NewTab),
            Just(Action::CloseTab),
            Just(Action::GoBack),
            Just(Action::GoForward),
            Just(Action::Stop),
            Just(Action::Noop),
        ]
    }

    proptest! {
        #[test]
        fn actions_survive_the_round_trip(action in spoken()) {
            let written = Dialect::SeeAct.write(&action).unwrap();
            let choices = vec!["99".to_owned()];
            prop_assert_eq!(read(&format!("I reiterate: the button.\n\n{written}\n"), &choices), Ok(action));
        }
    }

    #[test]
    fn what_it_cannot_say_is_not_written() {
        for action in [
            "dblclick('1')",
            "press('1', 'Tab')",
            "fill('1', 'a\\nb')",
            "fill('1', ' x')",
            "goto('a.test')",
            "keyboard_press('a')",
            "scroll_page(2)",
            "click('css=#x')",
            "send_msg_to_user('x')",
        ] {
            assert_eq!(Dialect::SeeAct.write(&action.parse().unwrap()), None, "{action}");
        }
    }
}
