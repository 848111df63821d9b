//! `:in-range` and `:out-of-range`: numbers and dates of inputs against their bounds.

use std::cmp::Ordering;

use crate::tree::Element;

/// The latest value that browsers take: 275760-09-13, and the month and week of that day.
const LATEST: [(&str, &[f64]); 4] = [
    ("date", &[275_760.0, 9.0, 13.0]),
    ("month", &[275_760.0, 9.0]),
    ("week", &[275_760.0, 37.0]),
    ("datetime-local", &[275_760.0, 9.0, 13.0, 0.0, 0.0, 0.0]),
];

/// Whether an input's value lies within its bounds; nothing when it has no bounds.
pub(super) fn is_in_range(input: &Element) -> Option<bool> {
    let kind = input.attribute("type").unwrap_or_default().to_ascii_lowercase();
    let value = |name: &str| input.attribute(name).and_then(|text| read(&kind, text));
    let (least, most) = (value("min"), value("max"));
    if kind == "range" {
        // Its value is made to fit, unless nothing fits.
        let (least, most) = (least.unwrap_or(vec![0.0]), most.unwrap_or(vec![100.0]));
        return Some(order(&most, &least) != Ordering::Less);
    }
    if least.is_none() && most.is_none() {
        return None;
    }
    let Some(value) = value("value") else { return Some(true) };
    let under = least.as_ref().is_some_and(|least| order(&value, least) == Ordering::Less);
    let over = most.as_ref().is_some_and(|most| order(&value, most) == Ordering::Greater);
    let crosses_midnight = kind == "time"
        && matches!((&least, &most), (Some(least), Some(most)) if order(least, most) == Ordering::Greater);
    Some(if crosses_midnight { !(under && over) } else { !(under || over) })
}

fn order(a: &[f64], b: &[f64]) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

/// A value of an input of some kind, as numbers that compare as it does.
pub(super) fn read(kind: &str, text: &str) -> Option<Vec<f64>> {
    let value = match kind {
        "date" => date(text)?,
        "month" => month(text)?,
        "week" => week(text)?,
        "time" => time(text)?,
        "datetime-local" => {
            let (day, clock) = text.split_once(['T', ' '])?;
            [date(day)?, time(clock)?].concat()
        }
        "number" | "range" => vec![number(text)?],
        _ => return None,
    };
    let latest = LATEST.iter().find(|(known, _)| *known == kind).map(|(_, latest)| *latest);
    let is_too_late = latest.is_some_and(|latest| order(&value, latest) == Ordering::Greater);
    (!is_too_late).then_some(value)
}

/// `-?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?`, finite.
fn number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let valid = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole.is_empty() || is_digits(whole)) && is_digits(fraction),
        None => is_digits(mantissa),
    };
    let exponent_valid = exponent
        .is_none_or(|exponent| is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
    (valid && exponent_valid).then_some(number)
}

fn digits(text: &str, least: usize, most: usize) -> Option<f64> {
    let fits = (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

fn year(text: &str) -> Option<f64> {
    const LONGEST: usize = 4300;
    digits(text, 4, LONGEST).filter(|year| *year >= 1.0)
}

fn month(text: &str) -> Option<Vec<f64>> {
    let (year_text, month) = text.split_once('-')?;
    let month = digits(month, 2, 2).filter(|month| (1.0..=12.0).contains(month))?;
    Some(vec![year(year_text)?, month])
}

fn date(text: &str) -> Option<Vec<f64>> {
    let (year_and_month, day) = text.rsplit_once('-')?;
    let mut date = month(year_and_month)?;
    let day = digits(day, 2, 2)?;
    let year = date[0];
    let is_leap = (year % 4.0 == 0.0 && year % 100.0 != 0.0) || year % 400.0 == 0.0;
    let last = match date[1] as u8 {
        2 if is_leap => 29.0,
        2 => 28.0,
        4 | 6 | 9 | 11 => 30.0,
        _ => 31.0,
    };
    date.push(day);
    (1.0..=last).contains(&day).then_some(date)
}

fn week(text: &str) -> Option<Vec<f64>> {
    let (year_text, week) = text.split_once("-W")?;
    let year = year(year_text)?;
    let week = digits(week, 2, 2)?;
    // A year has 53 weeks when its last day, or the last of the year before, makes it so; it
    // repeats after 400 years.
    let last_day = |year: f64| {
        let year = year.rem_euclid(400.0);
        (year + (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor())
            .rem_euclid(7.0)
    };
    let is_long = last_day(year) == 4.0 || last_day(year - 1.0) == 3.0;
    (1.0..=if is_long { 53.0 } else { 52.0 }).contains(&week).then(|| vec![year, week])
}

fn time(text: &str) -> Option<Vec<f64>> {
    let mut parts = text.split(':');
    let hour = digits(parts.next()?, 2, 2).filter(|hour| *hour <= 23.0)?;
    let minute = digits(parts.next()?, 2, 2).filter(|minute| *minute <= 59.0)?;
    let second = match parts.next() {
        None => 0.0,
        Some(second) => {
            let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
            digits(fraction, 1, 3)?;
            digits(whole, 2, 2).filter(|second| *second <= 59.0)?;
            second.parse().ok()?
        }
    };
    parts.next().is_none().then(|| vec![hour, minute, second])
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn values_of_inputs() {
        for (kind, text, valid) in [
            ("number", "-.5e3", true),
            ("number", "1.", false),
            ("number", "+1", false),
            ("number", "1e999", false),
            ("date", "2024-02-29", true),
            ("date", "2023-02-29", false),
            ("date", "275760-09-14", false),
            ("week", "2020-W53", true),
            ("week", "2021-W53", false),
            ("time", "23:59:59.999", true),
            ("time", "23:59:59.9999", false),
            ("datetime-local", "2024-01-01 00:00", true),
            ("month", "0000-01", false),
        ] {
            assert_eq!(read(kind, text).is_some(), valid, "{kind} {text}");
        }
    }
}
