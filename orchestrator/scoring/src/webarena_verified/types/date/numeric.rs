//! The numbers in a date, which are part of the day or of the time.

use super::parser::State;
use super::words;
use super::ymd::Label;

/// A number token: its whole part, and whether something follows the point.
struct Number {
    whole: i64,
    has_fraction: bool,
}

impl Number {
    fn parse(token: &str) -> Option<Number> {
        let (whole, fraction) = token.split_once('.').unwrap_or((token, ""));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        let whole = if whole.is_empty() { 0 } else { whole.parse().unwrap_or(i64::MAX) };
        Some(Number { whole, has_fraction: fraction.bytes().any(|b| b != b'0') })
    }
}

/// `int(text)` of digits alone.
fn digits(text: &str) -> Option<i64> {
    let valid = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    valid.then(|| text.parse().unwrap_or(i64::MAX))
}

/// Seconds with perhaps a fraction.
fn seconds(text: &str) -> Option<i64> {
    match text.split_once('.') {
        Some((whole, fraction)) => {
            if !fraction.is_empty() {
                digits(fraction)?;
            }
            digits(whole)
        }
        None => digits(text),
    }
}

/// Reads the number at `at`. Gives the place of the last token that was read; nothing where the
/// text is no date.
pub(super) fn read(tokens: &[String], at: usize, state: &mut State) -> Option<usize> {
    let token = tokens.get(at)?.as_str();
    let value = Number::parse(token)?;
    let next = |ahead: usize| tokens.get(at + ahead).map(String::as_str);
    let length = token.len();

    if state.ymd.len() == 3
        && matches!(length, 2 | 4)
        && state.hour.is_none()
        && next(1).is_none_or(|next| next != ":" && words::clock(next).is_none())
    {
        state.hour = Some(digits(&token[..2])?);
        if length == 4 {
            state.minute = Some(digits(&token[2..])?);
        }
        return Some(at);
    }
    if length == 6 || (length > 6 && token.find('.') == Some(6)) {
        if state.ymd.len() == 0 && !token.contains('.') {
            for part in [&token[..2], &token[2..4], &token[4..]] {
                state.ymd.push_text(part, Label::Unknown)?;
            }
        } else {
            state.hour = Some(digits(&token[..2])?);
            state.minute = Some(digits(&token[2..4])?);
            state.second = Some(seconds(&token[4..])?);
        }
        return Some(at);
    }
    if matches!(length, 8 | 12 | 14) {
        state.ymd.push_text(&token[..4], Label::Year)?;
        state.ymd.push_text(&token[4..6], Label::Unknown)?;
        state.ymd.push_text(&token[6..8], Label::Unknown)?;
        if length > 8 {
            state.hour = Some(digits(&token[8..10])?);
            state.minute = Some(digits(&token[10..12])?);
        }
        if length > 12 {
            state.second = Some(digits(&token[12..])?);
        }
        return Some(at);
    }
    if let Some(label) = clock_label(tokens, at) {
        return with_label(tokens, at, label, &value, state);
    }
    if next(1) == Some(":") && next(2).is_some() {
        state.hour = Some(value.whole);
        let minutes = Number::parse(next(2)?)?;
        state.minute = Some(minutes.whole);
        // Of a fraction of a minute, below 60 seconds.
        state.second = minutes.has_fraction.then_some(0);
        if next(3) == Some(":") && next(4).is_some() {
            state.second = Some(seconds(next(4)?)?);
            return Some(at + 4);
        }
        return Some(at + 2);
    }
    if let Some(separator @ ("-" | "/" | ".")) = next(1) {
        return separated(tokens, at, separator, state);
    }
    if next(1).is_none_or(words::is_jump) {
        match next(2).and_then(words::half) {
            Some(half) => {
                state.hour = Some(with_half(value.whole, half));
                return Some(at + 2);
            }
            None => state.ymd.push(value.whole, value.has_fraction, Label::Unknown)?,
        }
        return Some(at + 1);
    }
    if let Some(half) = next(1).and_then(words::half).filter(|_| value.whole < 24) {
        state.hour = Some(with_half(value.whole, half));
        return Some(at + 1);
    }
    if state.ymd.could_be_day(value.whole, value.has_fraction) {
        state.ymd.push(value.whole, value.has_fraction, Label::Unknown)?;
        return Some(at);
    }
    None
}

/// `_adjust_ampm`.
pub(super) fn with_half(hour: i64, half: usize) -> i64 {
    match (hour, half) {
        (hour, 1) if hour < 12 => hour + 12,
        (12, 0) => 0,
        (hour, _) => hour,
    }
}

/// Numbers and month names between signs that are all the same.
fn separated(tokens: &[String], at: usize, separator: &str, state: &mut State) -> Option<usize> {
    let next = |ahead: usize| tokens.get(at + ahead).map(String::as_str);
    state.ymd.push_text(tokens.get(at)?, Label::Unknown)?;
    let Some(second) = next(2).filter(|second| !words::is_jump(second)) else {
        return Some(at + 1);
    };
    if second.bytes().all(|b| b.is_ascii_digit()) {
        state.ymd.push_text(second, Label::Unknown)?;
    } else {
        state.ymd.push(words::month(second)?, false, Label::Month)?;
    }
    if next(3) != Some(separator) {
        return Some(at + 2);
    }
    let third = next(4)?;
    match words::month(third) {
        Some(month) => state.ymd.push(month, false, Label::Month)?,
        None => state.ymd.push_text(third, Label::Unknown)?,
    }
    Some(at + 4)
}

/// Returns the index of the word that names the unit of the number at `at`, such as "hours".
fn clock_label(tokens: &[String], at: usize) -> Option<usize> {
    let is_label =
        |place: usize| tokens.get(place).is_some_and(|token| words::clock(token).is_some());
    let is_space = |place: usize| tokens.get(place).is_some_and(|token| token == " ");
    if is_label(at + 1) {
        return Some(at + 1);
    }
    if is_space(at + 1) && is_label(at + 2) {
        return Some(at + 2);
    }
    if at > 0 && is_label(at - 1) {
        return Some(at - 1);
    }
    (at > 1 && at + 1 == tokens.len() && is_space(at - 1) && is_label(at - 2)).then(|| at - 2)
}

fn with_label(
    tokens: &[String],
    at: usize,
    label: usize,
    value: &Number,
    state: &mut State,
) -> Option<usize> {
    let unit = words::clock(tokens.get(label)?)?;
    let (end, unit) = if label > at { (label, unit) } else { (at, unit + 1) };
    match unit {
        0 => {
            state.hour = Some(value.whole);
            if value.has_fraction {
                state.minute = Some(0);
            }
        }
        1 => {
            state.minute = Some(value.whole);
            state.second = value.has_fraction.then_some(0);
        }
        2 => state.second = Some(seconds(tokens.get(at)?)?),
        _ => {}
    }
    Some(end)
}
