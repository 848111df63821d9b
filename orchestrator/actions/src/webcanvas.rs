//! WebCanvas's notation, which the agents of Mind2Web-Live use: `{"thought": .., "action": "click",
//! "action_input": .., "element_id": "236", "description": ..}`.
//!
//! A model's text is parsed as in `ActionParser.extract_thought_and_action` (WebCanvas,
//! `agent/Plan/action.py`): everything from the first `{` to the last `}`, fenced or not, as JSON5.
//! The names are those of `create_action` (`agent/Environment/html_env/actions.py`) and of the
//! prompts. Differences from the original:
//!
//! - `create_action` silently ignores an unknown name. That includes `cache_data`, which the
//!   prompts ask for while the code looks for `cache_storage`, and `switch_tab`, which only the
//!   list of types has. Here both are read, and any other name is an error.
//! - `google_search` was removed from the later versions. Here it is the world's search engine. The
//!   original puts the query into the URL without encoding.
//! - `Planning.plan` asks a model whether a `fill_form` is meant for a search bar, and then makes
//!   it a `fill_search`. Here the agent decides.
//! - `stringfy_value` puts a backslash before each of ``#.>+~[]():*^$|=@'`` in the filled-in text,
//!   as if it were a selector. Here it does not.
//! - `click` on a link opens its URL without a click (`AsyncHTMLEnvironment.click`). Here it
//!   clicks.
//! - `select_option` takes the option whose label is most like the input, as here.
//! - `scroll_down` scrolls by three quarters of the window, `scroll_up` by a half, but to the very
//!   end if less than a window is left. Here it always scrolls by the same distance.

use serde_json::{Value, json};

use crate::action::is_bid;
use crate::{Action, ParseError, Press, json5};

const NAMES: &[&str] = &[
    "click",
    "goto",
    "google_search",
    "fill_form",
    "fill_search",
    "switch_tab",
    "go_back",
    "select_option",
    "hover",
    "scroll_down",
    "scroll_up",
    "cache_data",
    "get_final_answer",
    "none",
];
const FORM: &str = r#"{"thought": "why", "action": "click", "action_input": "", "element_id": "12", "description": "what"}"#;

/// Down, as a multiple of the window's height.
const DOWN: f64 = 0.75;
const UP: f64 = -0.5;

pub(super) fn read(text: &str) -> Result<Action, ParseError> {
    let misplaced = || ParseError::Misplaced {
        place: "write it as a JSON object with `action`, `action_input` and `element_id`",
    };
    let (start, end) = text
        .find('{')
        .zip(text.rfind('}'))
        .filter(|(start, end)| start < end)
        .ok_or_else(misplaced)?;
    let object = json5::object(&text[start..=end]).ok_or(ParseError::Arguments { form: FORM })?;
    let field = |name: &str| match object.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(set)) => set.to_string(),
        _ => String::new(),
    };
    let (name, input, id) = (field("action"), field("action_input"), field("element_id"));
    let bid = || {
        if is_bid(id.trim()) {
            Ok(id.trim().to_owned())
        } else {
            Err(ParseError::Arguments { form: FORM })
        }
    };
    Ok(match name.trim() {
        "" => return Err(misplaced()),
        "click" => Action::click(bid()?),
        "goto" => Action::Goto { url: input },
        "google_search" => Action::Search { query: input },
        "fill_form" => Action::Fill { bid: bid()?, value: input, by_keys: false },
        "fill_search" => Action::FillAndEnter { bid: bid()?, value: input },
        "switch_tab" => {
            let tab = [&input, &id].into_iter().find_map(|tab| tab.trim().parse().ok());
            Action::FocusTab { index: tab.ok_or(ParseError::Arguments { form: FORM })? }
        }
        "go_back" => Action::GoBack,
        "select_option" => Action::SelectClosest { bid: bid()?, label: input },
        "hover" => Action::Hover { bid: bid()? },
        "scroll_down" => Action::ScrollPage { by: DOWN },
        "scroll_up" => Action::ScrollPage { by: UP },
        "cache_data" | "cache_storage" => Action::Note { text: input },
        "get_final_answer" => Action::Answer { text: input },
        "none" => Action::Noop,
        other => return Err(ParseError::unknown(other, NAMES)),
    })
}

pub(super) fn write(action: &Action) -> Option<String> {
    let (name, input) = match action {
        Action::Click { press, .. } if *press == Press::default() => ("click", String::new()),
        Action::Goto { url } => ("goto", url.clone()),
        Action::Search { query } => ("google_search", query.clone()),
        Action::Fill { value, by_keys: false, .. } => ("fill_form", value.clone()),
        Action::FillAndEnter { value, .. } => ("fill_search", value.clone()),
        Action::FocusTab { index } => ("switch_tab", index.to_string()),
        Action::GoBack => ("go_back", String::new()),
        Action::SelectClosest { label, .. } => ("select_option", label.clone()),
        Action::Hover { .. } => ("hover", String::new()),
        Action::ScrollPage { by } => {
            (if *by < 0.0 { "scroll_up" } else { "scroll_down" }, String::new())
        }
        Action::Note { text } => ("cache_data", text.clone()),
        Action::Answer { text } => ("get_final_answer", text.clone()),
        Action::Noop => ("none", String::new()),
        _ => return None,
    };
    let object = json!({
        "thought": "",
        "action": name,
        "action_input": input,
        "element_id": action.bid().unwrap_or_default(),
        "description": "",
    });
    Some(object.to_string())
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
    fn the_object_is_found_in_a_models_words() {
        check(
            "Sure:\n```json\n{\n \"thought\": \"go {on}\",\n \"action\": \"click\",\n \"action_input\": \"button\",\n \"element_id\": \"236\",\n \"description\": \"x\"\n}\n```\n",
            "click('236')",
        );
        check(
            "{action: 'fill_search', action_input: 'camping tents', element_id: 41,}",
            "fill_and_enter('41', 'camping tents')",
        );
    }

    #[test]
    fn every_name_is_read() {
        for (name, expected) in [
            ("goto", "goto('7')"),
            ("google_search", "search('7')"),
            ("fill_form", "fill('a12', '7')"),
            ("fill_search", "fill_and_enter('a12', '7')"),
            ("switch_tab", "tab_focus(7)"),
            ("go_back", "go_back()"),
            ("select_option", "select_closest('a12', '7')"),
            ("hover", "hover('a12')"),
            ("scroll_down", "scroll_page(0.75)"),
            ("scroll_up", "scroll_page(-0.5)"),
            ("cache_data", "note('7')"),
            ("cache_storage", "note('7')"),
            ("get_final_answer", "send_msg_to_user('7')"),
            ("none", "noop()"),
        ] {
            check(
                &format!(r#"{{"action": "{name}", "action_input": 7, "element_id": "a12"}}"#),
                expected,
            );
        }
    }

    #[test]
    fn what_is_no_action_says_what_to_write() {
        for (text, expected) in [
            (
                "click 12",
                "there is none; write it as a JSON object with `action`, `action_input` and `element_id`",
            ),
            (
                "} {",
                "there is none; write it as a JSON object with `action`, `action_input` and `element_id`",
            ),
            (
                r#"{"action": ""}"#,
                "there is none; write it as a JSON object with `action`, `action_input` and `element_id`",
            ),
            (r#"{"action": "click", "element_id": null}"#, &format!("write it as `{FORM}`")),
            (r#"{"action": "click""element_id": 1}"#, &format!("write it as `{FORM}`")),
            (
                r#"{"action": "drag"}"#,
                "there is no `drag`; there are click, goto, google_search, fill_form, fill_search, switch_tab, go_back, select_option, hover, scroll_down, scroll_up, cache_data, get_final_answer, none",
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
        prop_oneof![
            bid.prop_map(Action::click),
            bid.prop_map(|bid| Action::Hover { bid }),
            (bid, any::<String>()).prop_map(|(bid, value)| Action::Fill {
                bid,
                value,
                by_keys: false
            }),
            (bid, any::<String>()).prop_map(|(bid, value)| Action::FillAndEnter { bid, value }),
            (bid, any::<String>()).prop_map(|(bid, label)| Action::SelectClosest { bid, label }),
            any::<String>().prop_map(|url| Action::Goto { url }),
            any::<String>().prop_map(|query| Action::Search { query }),
            any::<String>().prop_map(|text| Action::Note { text }),
            any::<String>().prop_map(|text| Action::Answer { text }),
            any::<usize>().prop_map(|index| Action::FocusTab { index }),
            any::<bool>().prop_map(|up| Action::ScrollPage { by: if up { UP } else { DOWN } }),
            Just(Action::GoBack),
            Just(Action::Noop),
        ]
    }

    proptest! {
        #[test]
        fn actions_survive_the_round_trip(action in spoken()) {
            let written = Dialect::WebCanvas.write(&action).unwrap();
            prop_assert_eq!(read(&format!("So:\n```\n{written}\n```")), Ok(action));
        }
    }

    #[test]
    fn what_it_cannot_say_is_not_written() {
        for action in [
            "dblclick('1')",
            "fill('1', 'x', enable_autocomplete_menu=True)",
            "click('css=#x')",
            "scroll_page(1)",
            "stop()",
        ] {
            assert_eq!(Dialect::WebCanvas.write(&action.parse().unwrap()), None, "{action}");
        }
    }
}
