//! `Duration`: a time span in words or by the clock, in microseconds.

use std::sync::LazyLock;

use python_compat::pattern::{Flags, Pattern};
use python_compat::{Value, float};

use super::Normal;
use crate::webarena_verified::PythonException;
use crate::webarena_verified::node::is_truthy;

const SECOND: i128 = 1_000_000;
/// `timedelta` holds less than a milliard days.
const LIMIT: i128 = 1_000_000_000 * 86_400 * SECOND;

/// The unit of a format's group, in microseconds.
#[derive(Debug, Clone, Copy)]
struct Unit {
    micros: i128,
    /// Whether it goes through `timedelta`'s own arguments, or is multiplied in seconds first.
    native: bool,
}

const YEARS: Unit = Unit { micros: 365 * 86_400 * SECOND, native: false };
const MONTHS: Unit = Unit { micros: 30 * 86_400 * SECOND, native: false };
const WEEKS: Unit = Unit { micros: 7 * 86_400 * SECOND, native: false };
const DAYS: Unit = Unit { micros: 86_400 * SECOND, native: true };
const HOURS: Unit = Unit { micros: 3_600 * SECOND, native: true };
const MINUTES: Unit = Unit { micros: 60 * SECOND, native: true };
const SECONDS: Unit = Unit { micros: SECOND, native: false };
const MILLISECONDS: Unit = Unit { micros: 1_000, native: true };

/// The formats of `pytimeparse2` in their order, each with the units of its groups.
static FORMATS: LazyLock<Vec<(Pattern, Vec<Unit>)>> = LazyLock::new(|| {
    let years = r"([\d.]+)\s*(?:ys?|yrs?.?|years?)";
    let months = r"([\d.]+)\s*(?:mos?.?|mths?.?|months?)";
    let weeks = r"([\d.]+)\s*(?:w|wks?|weeks?)";
    let days = r"([\d.]+)\s*(?:d|dys?|days?)";
    let hours = r"([\d.]+)\s*(?:h|hrs?|hours?)";
    let minutes = r"([\d.]+)\s*(?:m|(?:mins?)|(?:minutes?))";
    let seconds = r"([\d.]+)\s*(?:s|secs?|seconds?)";
    let millis = r"([\d.]+)\s*(?:ms|msecs?|millis|milliseconds?)";
    let maybe = |part: &str| format!(r"(?:{part}\s*(?:[,/]\s*)?)?");
    let (w, d, h, m) = (maybe(weeks), maybe(days), maybe(hours), maybe(minutes));
    let short = format!(r"{w}\s*{d}\s*{h}\s*{m}\s*(?:{seconds})?\s*(?:{millis})?");
    let long = format!(r"{}\s*{}\s*{short}", maybe(years), maybe(months));
    let clock = r"(\d{2}(?:\.\d+)?)";
    let hour_clock = format!(r"(\d+):(\d{{2}}):{clock}");
    let formats = [
        (long, vec![YEARS, MONTHS, WEEKS, DAYS, HOURS, MINUTES, SECONDS, MILLISECONDS]),
        (short, vec![WEEKS, DAYS, HOURS, MINUTES, SECONDS, MILLISECONDS]),
        (format!(r"(\d{{1,2}}):{clock}"), vec![MINUTES, SECONDS]),
        (format!(r"{w}\s*{d}\s*{hour_clock}"), vec![WEEKS, DAYS, HOURS, MINUTES, SECONDS]),
        (format!(r"(\d+):(\d{{2}}):(\d{{2}}):{clock}"), vec![DAYS, HOURS, MINUTES, SECONDS]),
        (format!(":{clock}"), vec![SECONDS]),
        (years.to_owned(), vec![YEARS]),
        (months.to_owned(), vec![MONTHS]),
    ];
    let flags = Flags { ignore_case: true, ..Flags::default() };
    formats
        .into_iter()
        .map(|(format, units)| (Pattern::ours(&format!(r"\A\s*{format}\s*$"), flags), units))
        .collect()
});

static CLOCK_HOURS: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::ours(r"(\d+):(\d+)\s*hours?", Flags::default()));

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    if !is_truthy(value) {
        return Err(PythonException::new("Duration value is empty or None"));
    }
    let text = match value {
        Value::Str(text) => CLOCK_HOURS.replace_all(text, "${1}h${2}m"),
        other => other.to_text(),
    };
    if float::parse(&text).is_some() {
        return Err(PythonException::new(
            "Duration must include a unit or time format (e.g., '5m', '2 hours', '4:13')",
        ));
    }
    let micros =
        parse(&text).ok_or_else(|| PythonException(format!("Unable to parse duration: {text}")))?;
    Ok(Normal::Duration(micros))
}

fn parse(text: &str) -> Option<i128> {
    let digits = text.replacen('.', "", 1).replacen('-', "", 1).replacen('+', "", 1);
    // It is no number, as is known already.
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let text = text.trim_start();
    let (sign, text) = match text.strip_prefix(['+', '|', '-']) {
        Some(rest) => (if text.starts_with('-') { -1 } else { 1 }, rest.trim_start()),
        None => (1, text),
    };
    if text.contains('\n') {
        return None;
    }
    for (format, units) in &*FORMATS {
        let Some(groups) = format.captures(text) else { continue };
        if groups.first().copied().flatten().is_some_and(|all| !all.trim().is_empty()) {
            return within_limit(sign * total(groups.get(1..)?, units)?);
        }
    }
    within_limit(rounded(float::parse(text)?, SECOND)? * sign)
}

fn within_limit(micros: i128) -> Option<i128> {
    (-LIMIT < micros && micros < LIMIT).then_some(micros)
}

fn total(groups: &[Option<&str>], units: &[Unit]) -> Option<i128> {
    let given = || groups.iter().zip(units).filter_map(|(group, unit)| Some(((*group)?, *unit)));
    // `timedelta` adds what is left of its arguments before it rounds.
    let (mut sum, mut rest) = (0i128, 0.0);
    for (text, unit) in given().filter(|(_, unit)| unit.native) {
        let (whole, fraction) = parts(float::parse(text)?, unit.micros)?;
        sum += whole;
        rest += fraction;
    }
    sum += f64::round_ties_even(rest) as i128;
    for (text, unit) in given().filter(|(_, unit)| !unit.native) {
        let seconds = unit.micros / SECOND;
        if text.bytes().all(|b| b.is_ascii_digit()) {
            sum += text.parse::<i128>().ok()?.checked_mul(unit.micros)?;
        } else if text.matches('.').count() == 1 && text.len() > 1 {
            sum += rounded(seconds as f64 * float::parse(text)?, SECOND)?;
        }
        sum = within_limit(sum)?;
    }
    within_limit(sum)
}

/// `number` of a unit: whole microseconds, and what is left of one.
fn parts(number: f64, unit: i128) -> Option<(i128, f64)> {
    if !number.is_finite() || number.abs() > 1e18 {
        return None;
    }
    let whole = number.trunc();
    let micros = (number - whole) * unit as f64;
    Some(((whole as i128).checked_mul(unit)? + micros.trunc() as i128, micros.fract()))
}

fn rounded(number: f64, unit: i128) -> Option<i128> {
    let (whole, rest) = parts(number, unit)?;
    // Halves go to the even side of the sum.
    let near = f64::round_ties_even(rest) as i128;
    let odd = whole.rem_euclid(2) == 1;
    Some(
        whole
            + if odd && (rest.abs() - 0.5).abs() < f64::EPSILON {
                rest.signum() as i128
            } else {
                near
            },
    )
}

/// Within three minutes or 10 % of the longer one.
pub(super) fn similar(one: &Normal, other: &Normal) -> bool {
    let (Normal::Duration(one), Normal::Duration(other)) = (one, other) else { return false };
    let seconds = |micros: &i128| *micros as f64 / 1e6;
    let (one, other) = (seconds(one), seconds(other));
    (one - other).abs() <= f64::max(180.0, one.max(other) * 0.1)
}

/// Days, seconds and microseconds as `timedelta` keeps them.
fn fields(micros: i128) -> (i128, i128, i128) {
    let (seconds, micros) = (micros.div_euclid(SECOND), micros.rem_euclid(SECOND));
    (seconds.div_euclid(86_400), seconds.rem_euclid(86_400), micros)
}

/// `str(timedelta)`.
pub(super) fn to_text(micros: i128) -> String {
    let (days, seconds, micros) = fields(micros);
    let plural = if days.abs() == 1 { "" } else { "s" };
    let days = if days == 0 { String::new() } else { format!("{days} day{plural}, ") };
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    format!("{days}{hours}:{minutes:02}:{seconds:02}{fraction}")
}

/// `repr(timedelta)`.
pub(super) fn to_repr(micros: i128) -> String {
    let (days, seconds, micros) = fields(micros);
    let parts = [("days", days), ("seconds", seconds), ("microseconds", micros)];
    let parts = parts
        .iter()
        .filter(|(_, count)| *count != 0)
        .map(|(name, count)| format!("{name}={count}"));
    let parts: Vec<String> = parts.collect();
    format!(
        "datetime.timedelta({})",
        if parts.is_empty() { "0".to_owned() } else { parts.join(", ") }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read() {
        for (text, expect) in [
            ("1h 35min", Some("1:35:00")),
            ("01:33:00", Some("1:33:00")),
            ("4:13", Some("0:04:13")),
            ("1:35 hours", Some("1:35:00")),
            ("2 days, 3 hours", Some("2 days, 3:00:00")),
            ("-1.5 minutes", Some("-1 day, 23:58:30")),
            ("90", None),
            ("soon", None),
        ] {
            let read = normalise(&Value::Str(text.to_owned())).ok();
            assert_eq!(read.map(|normal| normal.to_text()).as_deref(), expect, "{text}");
        }
    }
}
