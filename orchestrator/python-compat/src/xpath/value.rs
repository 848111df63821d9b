//! Values of expressions, and the conversions between them.

use super::node::{Node, Page};

/// The value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// In the order of the document, each once.
    Nodes(Vec<Node>),
    Text(String),
    Number(f64),
    /// A truth value.
    Truth(bool),
}

impl Value {
    pub(super) fn truth(&self) -> bool {
        match self {
            Value::Nodes(nodes) => !nodes.is_empty(),
            Value::Text(text) => !text.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Truth(truth) => *truth,
        }
    }

    pub(super) fn text(&self, page: &Page) -> String {
        match self {
            Value::Nodes(nodes) => nodes.first().map(|node| page.text(*node)).unwrap_or_default(),
            Value::Text(text) => text.clone(),
            Value::Number(number) => spell(*number),
            Value::Truth(truth) => truth.to_string(),
        }
    }

    pub(super) fn number(&self, page: &Page) -> f64 {
        match self {
            Value::Nodes(_) => read(&self.text(page)),
            Value::Text(text) => read(text),
            Value::Number(number) => *number,
            Value::Truth(truth) => f64::from(u8::from(*truth)),
        }
    }
}

/// White space, a minus sign, digits with a point somewhere, and an exponent, which XPath does not
/// have.
pub(super) fn read(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let is_number = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if is_number { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// `xmlXPathFormatNumber`: fifteen digits, with an exponent for what is very large or very small.
pub(super) fn spell(number: f64) -> String {
    const DIGITS: i32 = 15;
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let size = number.abs();
    if number.fract() == 0.0 && size < f64::from(i32::MAX) {
        return format!("{number:.0}");
    }
    let trim = |digits: &str| {
        if digits.contains('.') {
            digits.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            digits.to_owned()
        }
    };
    if !(1e-5..=1e9).contains(&size) {
        let written = format!("{number:.*e}", DIGITS as usize - 1);
        let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.abs());
    }
    let places = size.log10().floor() as i32;
    let fraction = if places > 0 { DIGITS - places - 1 } else { DIGITS - places };
    trim(&format!("{number:.*}", fraction.max(0) as usize))
}
