//! CSS selectors for form fields by their name, type and value, as [`css=`](crate::Action) takes
//! them.

pub(super) fn name_selector(parse_field: &str) -> String {
    format!("css=[name={}]", css_string(parse_field))
}

pub(super) fn type_selector(kind: &str, parse_field: &str) -> String {
    format!("css=input[type=\"{kind}\"][name={}]", css_string(parse_field))
}

pub(super) fn value_selector(kind: &str, parse_field: &str, value: &str) -> String {
    let which =
        if value == "on" { ON.to_owned() } else { format!("[value={}]", css_string(value)) };
    type_selector(kind, parse_field) + &which
}

/// Matches a box without a value of its own, too.
const ON: &str = ":is([value=\"on\"], :not([value]))";

/// A text as a CSS string.
fn css_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\a "),
            '\r' => out.push_str("\\d "),
            '\u{c}' => out.push_str("\\c "),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A string as [`css_string`] writes it, and the rest of the text.
fn parse_css_string(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?;
    let mut out = String::new();
    loop {
        let mut chars = rest.chars();
        match chars.next()? {
            '"' => return Some((out, chars.as_str())),
            '\\' => {
                let escaped = match chars.next()? {
                    'a' => '\n',
                    'd' => '\r',
                    'c' => '\u{c}',
                    c => {
                        out.push(c);
                        rest = chars.as_str();
                        continue;
                    }
                };
                out.push(escaped);
                rest = chars.as_str().strip_prefix(' ')?;
            }
            c => {
                out.push(c);
                rest = chars.as_str();
            }
        }
    }
}

/// The type, name and value of a field with a selector from here.
pub(super) fn parse_field(bid: &str) -> Option<(Option<&str>, String, Option<String>)> {
    let rest = bid.strip_prefix("css=")?;
    let (kind, rest) = match rest.strip_prefix("input[type=\"") {
        Some(rest) => rest.split_once("\"]").map(|(kind, rest)| (Some(kind), rest))?,
        None => (None, rest),
    };
    let (name, rest) = parse_css_string(rest.strip_prefix("[name=")?)?;
    let rest = rest.strip_prefix(']')?;
    if rest.is_empty() {
        return Some((kind, name, None));
    }
    if rest == ON {
        return Some((kind, name, Some("on".to_owned())));
    }
    let (value, rest) = parse_css_string(rest.strip_prefix("[value=")?)?;
    (rest == "]").then_some((kind, name, Some(value)))
}
