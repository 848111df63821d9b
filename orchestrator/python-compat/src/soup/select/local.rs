//! The conditions on an element alone: name, id, classes, attributes.

use super::super::css::{AttributeTest, Comparison, Test};
use crate::text;
use crate::tree::Element;

/// Attributes that BeautifulSoup keeps as lists of words, and on which elements; nothing means all.
const LISTS: [(&str, &[&str]); 11] = [
    ("class", &[]),
    ("accesskey", &[]),
    ("dropzone", &[]),
    ("rel", &["a", "link", "area"]),
    ("rev", &["a", "link"]),
    ("headers", &["td", "th"]),
    ("accept-charset", &["form"]),
    ("archive", &["object"]),
    ("sizes", &["icon"]),
    ("sandbox", &["iframe"]),
    ("for", &["output"]),
];

pub(super) fn is_true(test: &Test, element: &Element) -> bool {
    match test {
        Test::Name(name) => element.name.eq_ignore_ascii_case(name),
        Test::Id(id) => element.attribute("id").unwrap_or_default() == id,
        Test::Class(class) => {
            text::split(element.attribute("class").unwrap_or_default()).any(|own| own == class)
        }
        Test::Attribute(attribute) => attribute_is_true(attribute, element),
        _ => false,
    }
}

fn attribute_is_true(test: &AttributeTest, element: &Element) -> bool {
    let found = element.attributes.iter().find(|(name, _)| name.eq_ignore_ascii_case(&test.name));
    let differs = matches!(test.comparison, Some((Comparison::Differs, _)));
    let Some((name, value)) = found else { return differs };
    let Some((comparison, wanted)) = &test.comparison else { return true };
    let mut value = if is_list(element, name) {
        text::split(value).collect::<Vec<_>>().join(" ")
    } else {
        value.clone()
    };
    if test.ignore_case {
        value.make_ascii_lowercase();
    }
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{c}');
    match comparison {
        Comparison::Equals => value == *wanted,
        Comparison::Differs => value != *wanted,
        Comparison::DashWord => value
            .strip_prefix(wanted.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
        _ if wanted.is_empty() => false,
        Comparison::Begins => value.starts_with(wanted.as_str()),
        Comparison::Ends => value.ends_with(wanted.as_str()),
        Comparison::Contains => value.contains(wanted.as_str()),
        Comparison::Word => value.split(is_space).any(|word| word == wanted),
    }
}

fn is_list(element: &Element, attribute: &str) -> bool {
    let name = element.name.as_str();
    LISTS.iter().any(|(list, on)| *list == attribute && (on.is_empty() || on.contains(&name)))
}
