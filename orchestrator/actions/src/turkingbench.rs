//! TurkingBench's notation: Python calls on form fields, which are named by their `name` attribute:
//! `self.actions.modify_text("comment", "fine")`.
//!
//! The calls are the methods of `MyActions` (turking-bench, `src/evaluation/actions.py`).
//! `ModelBaseline.solve` executes a model's text as Python. Here the calls are picked out of it,
//! whatever object they are called on, and nothing else of it runs. A call's first argument is a
//! field's name, as in the later versions, not an `Input` object. Its rules, including oddities:
//!
//! - `modify_text` does nothing for an empty value, 0, None or `nan`. Otherwise it replaces the
//!   content of the field, key by key (the first versions appended to it).
//! - `modify_checkbox` takes values between `|`, without those that are `nan`. The original clicks
//!   each box of the name with one of these values, so it unchecks checked ones, and ignores a
//!   value without a box. Here the boxes are checked afterwards, and a missing one is an error.
//! - A box without a value of its own has the value `on`, as for a page's scripts.
//! - `modify_radio` does nothing for `nan` and None. A number is truncated to an integer, as in
//!   `modify_select`.
//! - `modify_select` selects by value; here by label, too.
//! - `modify_range` sets the value by a script. The original sends no event, so scripts of the page
//!   do not notice; here they do.
//! - `wait_for_element` waits for ten seconds. Here a page has settled before an agent is asked, so
//!   it only fails if there is no such field. It scrolls there, as `scroll_to_element` does after
//!   its wait.
//! - Screenshots come after every action and the window has its largest size, so those calls do
//!   nothing. `take_screenshot` and `take_page_screenshots` leave their page scrolled; here it
//!   stays in place.
//!
//! Fields are named by [`css=`](crate::Action), in the page or else in its frames.
//! `WebDriver.find_element` looks in one frame only.

use python_repr::repr;

use crate::arguments::Arguments;
use crate::field_selector::{name_selector, parse_field, type_selector, value_selector};
use crate::python::{Call, Literal, parse_calls};
use crate::{Action, ParseError};

const FORMS: &[&str] = &[
    "modify_text(input_name, input_value)",
    "modify_checkbox(input_name, input_value)",
    "modify_radio(input_name, input_value)",
    "modify_select(input_name, input_value)",
    "modify_range(input_name, input_value)",
    "scroll_to_element(input_name)",
    "wait_for_element(input_name)",
    "maximize_window()",
    "take_screenshot()",
    "take_element_screenshot(input_name)",
    "take_element_screenshot_with_border(input_name)",
    "take_page_screenshots()",
    "take_full_screenshot()",
];

/// Methods that do more than a person at the page can.
const UNSUPPORTED: &[(&str, &str)] = &[
    (
        "execute_js_command",
        "scripts would go past what a person can do on the page; use the calls that modify fields",
    ),
    (
        "load_jquery",
        "scripts would go past what a person can do on the page; use the calls that modify fields",
    ),
    ("get_html", "the page is shown after every action as it is"),
];

pub(super) fn read(text: &str) -> Result<Vec<Action>, ParseError> {
    let actions = parse_calls(text).into_iter().map(action).collect::<Result<Vec<_>, _>>()?;
    if actions.is_empty() {
        let place = "write a call such as self.actions.modify_text(\"name\", \"text\")";
        return Err(ParseError::Misplaced { place });
    }
    Ok(actions)
}

fn action(call: Call) -> Result<Action, ParseError> {
    if let Some(&(_, reason)) = UNSUPPORTED.iter().find(|(name, _)| *name == call.name) {
        return Err(ParseError::NotOffered { name: call.name, reason });
    }
    let form = FORMS.iter().find(|form| form.split('(').next() == Some(&call.name));
    let Some(form) = form else { return Err(ParseError::unknown(call.name, FORMS)) };
    let name = call.name.clone();
    let mut args = Arguments::new(call, form);
    let action = match &*name {
        "modify_text" => {
            let parse_field = name_selector(&args.text("input_name")?);
            match args.optional("input_value") {
                Some(Literal::None | Literal::Bool(false)) => Action::Noop,
                Some(Literal::Number(0.0)) => Action::Noop,
                value => match literal_text(value).ok_or_else(|| args.wrong())? {
                    value if value.is_empty() || value == "nan" => Action::Noop,
                    value => Action::Fill { bid: parse_field, value, by_keys: true },
                },
            }
        }
        "modify_checkbox" => {
            let parse_field = args.text("input_name")?;
            let values = literal_text(args.optional("input_value")).ok_or_else(|| args.wrong())?;
            let box_of = |value| value_selector("checkbox", &parse_field, value);
            let mut bids: Vec<String> =
                values.split('|').filter(|&value| value != "nan").map(box_of).collect();
            match (bids.pop(), bids.is_empty()) {
                (None, _) => Action::Noop,
                (Some(bid), true) => Action::Tick { bid, on: true },
                (Some(bid), false) => {
                    bids.push(bid);
                    Action::TickAll { bids }
                }
            }
        }
        "modify_radio" => {
            let parse_field = args.text("input_name")?;
            match args.optional("input_value") {
                Some(Literal::None) => Action::Noop,
                value => match literal_text(value.map(truncated)).ok_or_else(|| args.wrong())? {
                    value if value == "nan" || value == "None" => Action::Noop,
                    value => Action::Tick {
                        bid: value_selector("radio", &parse_field, &value),
                        on: true,
                    },
                },
            }
        }
        "modify_select" => {
            let bid = name_selector(&args.text("input_name")?);
            let value = args.optional("input_value").map(truncated);
            Action::Select { bid, options: vec![literal_text(value).ok_or_else(|| args.wrong())?] }
        }
        "modify_range" => {
            let bid = type_selector("range", &args.text("input_name")?);
            match literal_text(args.optional("input_value")).ok_or_else(|| args.wrong())? {
                value if value == "nan" || value == "None" => Action::Noop,
                value => Action::Fill { bid, value, by_keys: false },
            }
        }
        "scroll_to_element" | "wait_for_element" => {
            Action::ScrollTo { bid: name_selector(&args.text("input_name")?) }
        }
        "take_element_screenshot" | "take_element_screenshot_with_border" => {
            args.text("input_name")?;
            Action::Noop
        }
        _ => Action::Noop,
    };
    args.done(action)
}

/// The action that fills in a field.
pub(super) fn fill_in(kind: &str, name: &str, value: &str) -> Option<Action> {
    let method = match kind {
        "text" | "textarea" => "modify_text",
        "checkbox" => "modify_checkbox",
        "radio" => "modify_radio",
        "select" => "modify_select",
        "range" => "modify_range",
        _ => return None,
    };
    read(&format!("{method}({}, {})", repr(name), repr(value))).ok()?.pop()
}

/// A value as text.
fn literal_text(value: Option<Literal>) -> Option<String> {
    match value? {
        Literal::Text(text) => Some(text),
        Literal::Number(number) => Some(number.to_string()),
        Literal::Bool(true) => Some("True".to_owned()),
        Literal::Bool(false) => Some("False".to_owned()),
        Literal::None | Literal::List(_) => None,
    }
}

fn truncated(value: Literal) -> Literal {
    match value {
        Literal::Number(number) => Literal::Number(number.trunc()),
        value => value,
    }
}

pub(super) fn write(action: &Action) -> Option<String> {
    let call = |method: &str, parse_field: &str, value: &str| {
        Some(format!("self.actions.{method}({}, {})", repr(parse_field), repr(value)))
    };
    match action {
        Action::Fill { bid, value, .. } => match parse_field(bid)? {
            (None, name, None) => call("modify_text", &name, value),
            (Some("range"), name, None) => call("modify_range", &name, value),
            _ => None,
        },
        Action::Tick { bid, on: true } => match parse_field(bid)? {
            (Some("checkbox"), name, Some(value)) => call("modify_checkbox", &name, &value),
            (Some("radio"), name, Some(value)) => call("modify_radio", &name, &value),
            _ => None,
        },
        Action::TickAll { bids } => {
            let boxes: Vec<_> = bids.iter().map(|bid| parse_field(bid)).collect::<Option<_>>()?;
            let (_, name, _) = boxes.first()?;
            let values: Vec<&str> =
                boxes.iter().filter_map(|(_, _, value)| value.as_deref()).collect();
            call("modify_checkbox", name, &values.join("|"))
        }
        Action::Select { bid, options } => match (parse_field(bid)?, options.as_slice()) {
            ((None, name, None), [value]) => call("modify_select", &name, value),
            _ => None,
        },
        Action::ScrollTo { bid } => {
            let (_, name, _) = parse_field(bid)?;
            Some(format!("self.actions.scroll_to_element({})", repr(&name)))
        }
        Action::Noop => Some("self.actions.maximize_window()".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Dialect;

    fn check(text: &str, expected: &[&str]) {
        let found =
            read(text).map(|actions| actions.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(found, Ok(expected.iter().map(ToString::to_string).collect()), "{text}");
    }

    #[test]
    fn calls_name_fields() {
        check(
            r#"self.actions.modify_text("name", "John's")"#,
            &[r#"fill('css=[name="name"]', "John's", enable_autocomplete_menu=True)"#],
        );
        check(
            "modify_text('age', 5)",
            &[r#"fill('css=[name="age"]', '5', enable_autocomplete_menu=True)"#],
        );
        check(
            "self.actions.modify_checkbox('colors', 'red')",
            &[r#"check('css=input[type="checkbox"][name="colors"][value="red"]')"#],
        );
        check(
            "self.actions.modify_checkbox('colors', 'red|nan|blue')",
            &[
                r#"check_all(['css=input[type="checkbox"][name="colors"][value="red"]', 'css=input[type="checkbox"][name="colors"][value="blue"]'])"#,
            ],
        );
        check(
            "self.modify_radio('year', 2025.0)",
            &[r#"check('css=input[type="radio"][name="year"][value="2025"]')"#],
        );
        check(
            r#"modify_radio('q', 'a"b\\')"#,
            &[r#"check('css=input[type="radio"][name="q"][value="a\\"b\\\\"]')"#],
        );
        check(
            "self.actions.modify_select('cars', 'Audi')",
            &[r#"select_option('css=[name="cars"]', 'Audi')"#],
        );
        check(
            "self.actions.modify_range('volume', 20)",
            &[r#"fill('css=input[type="range"][name="volume"]', '20')"#],
        );
        check("self.actions.scroll_to_element('q')", &[r#"scroll_to('css=[name="q"]')"#]);
        check("self.actions.wait_for_element(input_name='q')", &[r#"scroll_to('css=[name="q"]')"#]);
    }

    #[test]
    fn what_has_nothing_to_do_does_nothing() {
        for text in [
            "self.actions.maximize_window()",
            "self.actions.take_screenshot()",
            "self.actions.take_element_screenshot('q')",
            "self.actions.take_element_screenshot_with_border('q')",
            "self.actions.take_page_screenshots()",
            "self.actions.take_full_screenshot()",
            "self.actions.modify_text('q', '')",
            "self.actions.modify_text('q', 'nan')",
            "self.actions.modify_text('q', 0)",
            "self.actions.modify_text('q', None)",
            "self.actions.modify_checkbox('q1-quant', 'nan')",
            "self.actions.modify_radio('q', 'None')",
            "self.actions.modify_range('q', 'nan')",
        ] {
            check(text, &["noop()"]);
        }
    }

    #[test]
    fn fields_are_filled_in_by_their_type() {
        let literal_text =
            |kind, value| fill_in(kind, "q'1", value).map(|action| action.to_string());
        let expected = r#"check_all(['css=input[type="checkbox"][name="q\'1"][value="a"]', 'css=input[type="checkbox"][name="q\'1"][value="b"]'])"#;
        assert_eq!(literal_text("checkbox", "a|b").as_deref(), Some(expected));
        let expected = r#"fill('css=[name="q\'1"]', 'a\nb', enable_autocomplete_menu=True)"#;
        assert_eq!(literal_text("textarea", "a\nb").as_deref(), Some(expected));
        let own = literal_text("checkbox", "on").unwrap();
        assert!(own.contains(r#":is([value="on"], :not([value]))"#), "{own}");
        let again = write(&fill_in("checkbox", "q'1", "on").unwrap());
        assert_eq!(again.as_deref(), Some(r#"self.actions.modify_checkbox("q'1", 'on')"#));
        assert_eq!(literal_text("hidden", "a"), None);
    }

    #[test]
    fn several_calls_come_in_their_order() {
        let text = "First:\n```python\nself.actions.modify_radio('a', 'x')  # yes\nself.actions.modify_select('b', 'y')\n```";
        check(
            text,
            &[
                r#"check('css=input[type="radio"][name="a"][value="x"]')"#,
                r#"select_option('css=[name="b"]', 'y')"#,
            ],
        );
        assert_eq!(
            Dialect::TurkingBench.read_one(text).unwrap_err().to_string(),
            "read an action: there are 2; give one at a time"
        );
    }

    #[test]
    fn what_is_no_action_says_what_to_write() {
        for (text, expected) in [
            (
                "none",
                "there is none; write a call such as self.actions.modify_text(\"name\", \"text\")",
            ),
            ("self.actions.modify_text('q')", "write it as `modify_text(input_name, input_value)`"),
            (
                "self.actions.modify_select('q', [1])",
                "write it as `modify_select(input_name, input_value)`",
            ),
            ("self.actions.maximize_window('q')", "write it as `maximize_window()`"),
            (
                "self.actions.execute_js_command('alert(1)')",
                "`execute_js_command` is not offered: scripts would go past what a person can do on the page; use the calls that modify fields",
            ),
            (
                "self.actions.get_html('http://a.test/')",
                "`get_html` is not offered: the page is shown after every action as it is",
            ),
            (
                "driver.quit()",
                "there is no `quit`; there are modify_text, modify_checkbox, modify_radio, modify_select, modify_range, scroll_to_element, wait_for_element, maximize_window, take_screenshot, take_element_screenshot, take_element_screenshot_with_border, take_page_screenshots, take_full_screenshot",
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
        let name = || any::<String>();
        let value = || {
            any::<String>().prop_filter("means nothing", |value| {
                !value.is_empty() && value != "nan" && value != "None"
            })
        };
        let part = || value().prop_map(|value| value.replace('|', "/"));
        prop_oneof![
            (name(), value()).prop_map(|(name, value)| Action::Fill {
                bid: name_selector(&name),
                value,
                by_keys: true
            }),
            (name(), value()).prop_map(|(name, value)| Action::Fill {
                bid: type_selector("range", &name),
                value,
                by_keys: false
            }),
            (name(), value()).prop_map(|(name, value)| Action::Tick {
                bid: value_selector("radio", &name, &value),
                on: true
            }),
            (name(), part()).prop_map(|(name, value)| Action::Tick {
                bid: value_selector("checkbox", &name, &value),
                on: true
            }),
            (name(), proptest::collection::vec(part(), 2..4)).prop_map(|(name, values)| {
                Action::TickAll {
                    bids: values
                        .iter()
                        .map(|value| value_selector("checkbox", &name, value))
                        .collect(),
                }
            }),
            (name(), value()).prop_map(|(name, value)| Action::Select {
                bid: name_selector(&name),
                options: vec![value]
            }),
            name().prop_map(|name| Action::ScrollTo { bid: name_selector(&name) }),
            Just(Action::Noop),
        ]
    }

    proptest! {
        #[test]
        fn actions_survive_the_round_trip(action in spoken()) {
            let written = Dialect::TurkingBench.write(&action).unwrap();
            prop_assert_eq!(read(&format!("```\n{written}\n```")), Ok(vec![action]));
        }
    }

    #[test]
    fn what_it_cannot_say_is_not_written() {
        for action in [
            "click('1')",
            "fill('1', 'x')",
            "fill('css=[name=\"q\"]', 'x')",
            "uncheck('css=input[type=\"radio\"][name=\"q\"][value=\"x\"]')",
            "check('css=input[type=\"text\"][name=\"q\"][value=\"x\"]')",
            "check_all([])",
            "select_option('css=[name=\"q\"]', ['x', 'y'])",
            "scroll_to('css=input[type=\"radio\"][name=\"q\"]')",
            "goto('http://a.test/')",
        ] {
            assert_eq!(Dialect::TurkingBench.write(&action.parse().unwrap()), None, "{action}");
        }
    }
}
