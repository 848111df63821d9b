//! `Distance`: a length with its unit, in metres.

use std::sync::LazyLock;

use python_compat::pattern::{Flags, Pattern};
use python_compat::{Value, float};

use super::decimal::Decimal;
use super::{Normal, units};
use crate::webarena_verified::PythonException;
use crate::webarena_verified::node::{is_number, is_truthy};

static THOUSANDS: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ours(r"(\d+(?:\.\d+)?)\s*k(?=\s|$)", Flags { ignore_case: true, ..Flags::default() })
});

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    if !is_truthy(value) && !is_number(value) {
        return Err(PythonException::new("Distance value is empty or None"));
    }
    let text = THOUSANDS.replace_all(&value.to_text(), "${1} km");
    if float::parse(&text).is_some() {
        return Err(PythonException::new(
            "Distance must include a unit (e.g., 'm', 'km', 'mi', 'ft')",
        ));
    }
    let metres = units::metres(&text);
    metres
        .map(Normal::Decimal)
        .ok_or_else(|| PythonException(format!("Invalid or unsupported unit in distance: {text}")))
}

/// Within 10 metres or 2 % of the longer one.
pub(super) fn any_close(one: &[Normal], other: &[Normal]) -> Result<bool, PythonException> {
    for one in one {
        for other in other {
            let (Normal::Decimal(one), Normal::Decimal(other)) = (one, other) else { continue };
            if close(one, other)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn close(one: &Decimal, other: &Decimal) -> Result<bool, PythonException> {
    if let (Some(one), Some(other)) = (one.scaled(), other.scaled()) {
        let difference = (one - other).abs();
        let ten: i128 = 1_000_000_000_000_000_000_000;
        return Ok(difference <= ten
            || difference.checked_mul(50).is_some_and(|difference| difference <= one.max(other)));
    }
    let (one, other) = (one.to_float(), other.to_float());
    let difference = (one - other).abs();
    if difference.is_nan() {
        return Err(PythonException::new("[<class 'decimal.InvalidOperation'>]"));
    }
    Ok(difference <= f64::max(10.0, one.max(other) * 0.02))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Normal> {
        normalise(&Value::Str(text.to_owned())).ok()
    }

    #[test]
    fn lengths_are_read_and_compared() {
        for (text, expect) in [
            ("914km", Some("914000.0")),
            ("748m", Some("748")),
            ("110k", Some("110000.0")),
            ("2 miles", Some("3218.688")),
            ("12", None),
            ("5 minutes", None),
        ] {
            assert_eq!(read(text).map(|normal| normal.to_text()).as_deref(), expect, "{text}");
        }
        for (one, other, expect) in
            [("1 km", "980 m", true), ("1 km", "979 m", false), ("5 m", "15 m", true)]
        {
            let (one, other) = (read(one).expect("a length"), read(other).expect("a length"));
            assert_eq!(any_close(&[one], &[other]), Ok(expect));
        }
    }
}
