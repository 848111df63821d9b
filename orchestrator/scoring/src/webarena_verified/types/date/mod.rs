//! `Date`: a day in words or numbers, as `dateutil` reads it. What a text leaves open is taken from
//! today.

mod numeric;
mod parser;
mod words;
mod ymd;

use jiff::civil::Date as Day;
pub(super) use parser::parse;
use python_compat::Value;

use super::Normal;
use crate::webarena_verified::PythonException;

pub(super) fn normalise(value: &Value, today: Day) -> Result<Normal, PythonException> {
    let Value::Str(text) = value else {
        return Err(PythonException::new("expected string or bytes-like object"));
    };
    if text.is_empty() {
        return Err(PythonException::new("Empty date value"));
    }
    let day = parse(&with_spaces(text), today, today)
        .ok_or_else(|| PythonException(format!("Unknown string format: {text}")))?;
    Ok(Normal::Text(day.to_string()))
}

/// A space behind every comma.
fn with_spaces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        out.push(c);
        if c == ',' && rest.peek() != Some(&' ') {
            out.push(' ');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn days_are_read() {
        let today = date(2026, 3, 31);
        for (text, expect) in [
            ("march 2, 2022", Some("2022-03-02")),
            ("03/11/2023", Some("2023-03-11")),
            ("13/01/2023", Some("2023-01-13")),
            ("2nd of may 2021", Some("2021-05-02")),
            ("20220302t101500z", Some("2022-03-02")),
            ("2022-03-02 10:15 pm", Some("2022-03-02")),
            ("feb", Some("2026-02-28")),
            ("may,3,99", Some("1999-05-03")),
            ("friday", Some("2026-04-03")),
            ("02/30/2023", None),
            ("25:00 may 3", None),
            ("soon", None),
            ("12", Some("2026-03-12")),
        ] {
            let read = normalise(&Value::Str(text.to_owned()), today).ok();
            assert_eq!(read.map(|normal| normal.to_text()).as_deref(), expect, "{text}");
        }
    }
}
