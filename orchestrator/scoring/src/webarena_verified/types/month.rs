//! `Month`: its number, or a text with its name.

use jiff::civil::{Date as Day, date};
use python_compat::Value;
use python_compat::int::Int;
use python_compat::text::strip;

use super::Normal;
use super::date::parse;
use crate::webarena_verified::PythonException;

const NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) fn normalise(value: &Value, today: Day) -> Result<Normal, PythonException> {
    let number = match value {
        Value::Bool(truth) => Some(i64::from(*truth)),
        Value::Int(digits) => digits.parse().ok(),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e9 => Some(*number as i64),
        Value::None | Value::Float(_) => None,
        other => of_text(strip(&other.to_text()), today),
    };
    let name = number.and_then(|number| NAMES.get(usize::try_from(number).ok()?.checked_sub(1)?));
    let name =
        name.ok_or_else(|| PythonException(format!("Unable to parse month: {}", value.to_repr())))?;
    Ok(Normal::Text((*name).to_owned()))
}

fn of_text(text: &str, today: Day) -> Option<i64> {
    match Int::parse(text) {
        Some(number) => number.to_text().parse().ok(),
        None => parse(text, date(2000, 1, 1), today).map(|day| i64::from(day.month())),
    }
}

#[cfg(test)]
mod tests {
    use python_compat::json;

    use super::*;

    #[test]
    fn months_are_read() {
        for (text, expect) in [
            ("5", Some("May")),
            ("\"05\"", Some("May")),
            ("\"sep\"", Some("September")),
            ("\"march 2022\"", Some("March")),
            ("2.0", Some("February")),
            ("13", None),
            ("\"13\"", None),
            ("\"smarch\"", None),
            ("null", None),
        ] {
            let read = normalise(&json::parse(text).expect(text), date(2026, 1, 1)).ok();
            assert_eq!(read.map(|normal| normal.to_text()).as_deref(), expect, "{text}");
        }
    }
}
