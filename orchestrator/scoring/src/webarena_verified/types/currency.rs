//! `Currency`: the first amount in a text, as the package's price parser finds it.

use std::sync::LazyLock;

use python_compat::Value;
use python_compat::pattern::{Flags, Pattern};
use python_compat::text::strip;

use super::Normal;
use super::decimal::{Decimal, within};
use crate::webarena_verified::PythonException;
use crate::webarena_verified::node::{is_number, is_truthy};

/// 0.1, in units of 1e-20.
const TOLERANCE: i128 = 10_000_000_000_000_000_000;

static SPACE: LazyLock<Pattern> = LazyLock::new(|| Pattern::ours(r"\s+", Flags::default()));
static EURO_AS_POINT: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::ours(r"[\d\s.,']*?\d\s*?€(?:\d\d*?|\s*?\d\d)(?:$|[^\d])", Flags::default())
});
static AMOUNT: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::ours(r"([.]?\d[\d\s.,']*)\s*?(?:[^%\d]|$)", Flags::default()));

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    if !is_truthy(value) && !is_number(value) {
        return Err(PythonException::new("Currency value is empty or None"));
    }
    let text = value.to_text();
    let negative = text.starts_with('-');
    let text = if negative { text.replace('-', "") } else { text };
    let point_is_last = text.rfind('.') > text.rfind(',');
    let amount = amount_text(&text).and_then(|amount| parse(&amount, point_is_last));
    let amount =
        amount.ok_or_else(|| PythonException(format!("Unable to parse currency: {text}")))?;
    Ok(Normal::Decimal(if negative { amount.negated() } else { amount }))
}

fn amount_text(price: &str) -> Option<String> {
    let price = SPACE.replace_all(price, " ");
    if price.matches('€').count() == 1
        && let Some([Some(found), ..]) = EURO_AS_POINT.captures(&price).as_deref()
    {
        return Some(found.replace(' ', ""));
    }
    if let Some([_, Some(found)]) = AMOUNT.captures(&price).as_deref() {
        let amount = found.trim_end_matches([',', '.']).replace('\'', "");
        let amount = if amount.matches('.').count() == 1 {
            &amount
        } else {
            amount.trim_start_matches([',', '.'])
        };
        return Some(strip(amount).to_owned());
    }
    price.to_lowercase().contains("free").then(|| "0".to_owned())
}

/// `parse_number` with a separator that is given: the amount as a float's decimal digits.
fn parse(amount: &str, point_is_last: bool) -> Option<Decimal> {
    let plain = strip(amount).replace(' ', "");
    let plain = if point_is_last {
        plain.replace(',', "")
    } else {
        plain.replace('.', "").replace(',', ".")
    };
    Some(Decimal::of_float(Decimal::parse(&plain)?.to_float()))
}

pub(super) fn close(one: &Normal, other: &Normal) -> bool {
    matches!((one, other), (Normal::Decimal(one), Normal::Decimal(other)) if within(one, other, TOLERANCE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_found() {
        for (text, expect) in [
            ("$1,234.50", Some("1234.5")),
            ("1.234,50 eur", Some("1234.5")),
            ("1,234", Some("1.234")),
            ("-$50", Some("-50.0")),
            ("about 12 or 13", Some("12.0")),
            ("50% off", None),
            ("Free", Some("0.0")),
            (".75", Some("0.75")),
            ("none", None),
        ] {
            let read = normalise(&Value::Str(text.to_owned())).ok();
            assert_eq!(read.map(|normal| normal.to_text()).as_deref(), expect, "{text}");
        }
    }
}
