//! `dateutil.parser.parse`, for the day alone: of a time, only whether it can be one.

use jiff::civil::Date as Day;

use super::super::lexer;
use super::ymd::{Label, Ymd, days_in};
use super::{numeric, words};

/// The state of the parser after some tokens.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) ymd: Ymd,
    pub(super) hour: Option<i64>,
    pub(super) minute: Option<i64>,
    pub(super) second: Option<i64>,
    weekday: Option<usize>,
    half: bool,
    zone: Option<String>,
    offset: bool,
}

/// The day that a text says; what it leaves open is that of `default`. Years of two digits are near
/// `today`.
pub(in super::super) fn parse(text: &str, default: Day, today: Day) -> Option<Day> {
    let mut tokens = lexer::split(text);
    let mut state = State::default();
    let mut at = 0;
    while at < tokens.len() {
        at = step(&mut tokens, at, &mut state, today)? + 1;
    }
    build(&state, default, today)
}

/// Reads what begins at `at`, and gives the place of the last token that was read.
fn step(tokens: &mut [String], at: usize, state: &mut State, today: Day) -> Option<usize> {
    let token = tokens.get(at)?.clone();
    let is_number = token.starts_with(|c: char| c.is_ascii_digit());
    if is_number || matches!(token.as_str(), "nan" | "inf" | "infinity") {
        return numeric::read(tokens, at, state);
    }
    if let Some(weekday) = words::weekday(&token) {
        state.weekday = Some(weekday);
        return Some(at);
    }
    if let Some(month) = words::month(&token) {
        state.ymd.push(month, false, Label::Month)?;
        return after_month(tokens, at, state, today);
    }
    if let Some(half) = words::half(&token) {
        let hour = state.hour.filter(|hour| (0..=12).contains(hour))?;
        state.hour = Some(numeric::with_half(hour, half));
        state.half = true;
        return Some(at);
    }
    let may_have_zone = state.hour.is_some() && state.zone.is_none() && !state.offset;
    if may_have_zone && words::may_name_zone(&token) {
        state.offset = matches!(token.as_str(), "UTC" | "GMT" | "Z" | "z") || words::is_utc(&token);
        state.zone = Some(token.clone());
        // `GMT+3` is a zone of its own.
        if let Some(sign @ ("+" | "-")) = tokens.get(at + 1).map(String::as_str) {
            let turned = if sign == "+" { "-" } else { "+" };
            tokens[at + 1] = turned.to_owned();
            state.offset = false;
            if words::is_utc(&token) {
                state.zone = None;
            }
        }
        return Some(at);
    }
    if state.hour.is_some() && matches!(token.as_str(), "+" | "-") {
        return offset(tokens, at, state);
    }
    words::is_jump(&token).then_some(at)
}

fn after_month(tokens: &[String], at: usize, state: &mut State, today: Day) -> Option<usize> {
    let next = |ahead: usize| tokens.get(at + ahead).map(String::as_str);
    if let Some(separator @ ("-" | "/")) = next(1) {
        state.ymd.push_text(next(2)?, Label::Unknown)?;
        if next(3) == Some(separator) {
            state.ymd.push_text(next(4)?, Label::Unknown)?;
            return Some(at + 4);
        }
        return Some(at + 2);
    }
    let pertains = next(1) == Some(" ") && next(3) == Some(" ") && next(2) == Some("of");
    if let Some(year) = next(4).filter(|_| pertains) {
        if year.bytes().all(|b| b.is_ascii_digit()) {
            let year = full_year(year.parse().unwrap_or(i64::MAX), false, today);
            state.ymd.push_text(&year.to_string(), Label::Year)?;
        }
        return Some(at + 4);
    }
    Some(at)
}

/// `-0300`, `-03:00` or `-3`.
fn offset(tokens: &[String], at: usize, state: &mut State) -> Option<usize> {
    let next = |ahead: usize| tokens.get(at + ahead).map(String::as_str);
    let is_int = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let hours = next(1)?;
    let mut end = at;
    if hours.len() == 4 {
        if !is_int(hours) {
            return None;
        }
    } else if next(2) == Some(":") {
        if !is_int(hours) || !is_int(next(3)?) {
            return None;
        }
        end += 2;
    } else if hours.len() > 2 || !is_int(hours) {
        return None;
    }
    state.offset = true;
    // Whether a name in parentheses follows is looked up behind the place that has been reached.
    let ahead = |by: usize| tokens.get(end + by).map(String::as_str);
    if ahead(2).is_some_and(words::is_jump)
        && ahead(3) == Some("(")
        && ahead(5) == Some(")")
        && ahead(4).is_some_and(|name| name.len() >= 3 && words::may_name_zone(name))
        && state.zone.is_none()
    {
        state.zone = ahead(4).map(str::to_owned);
        end += 4;
    }
    Some(end + 1)
}

/// `convertyear`: of two digits, within fifty years of today.
fn full_year(year: i64, century_specified: bool, today: Day) -> i64 {
    if year >= 100 || century_specified {
        return year;
    }
    let this = i64::from(today.year());
    match year + this / 100 * 100 {
        year if year >= this + 50 => year - 100,
        year if year < this - 50 => year + 100,
        year => year,
    }
}

fn build(state: &State, default: Day, today: Day) -> Option<Day> {
    let [year, month, day] = state.ymd.resolve()?;
    let year = year.map(|year| full_year(year, state.ymd.century_specified, today));
    let has_time = state.hour.is_some() || state.minute.is_some() || state.second.is_some();
    let has_day = year.is_some() || month.is_some() || day.is_some() || state.weekday.is_some();
    if !has_time && !has_day && state.zone.is_none() && !state.offset && !state.half {
        return None;
    }
    let in_clock = |part: Option<i64>, limit: i64| part.is_none_or(|part| part < limit);
    if !in_clock(state.hour, 24) || !in_clock(state.minute, 60) || !in_clock(state.second, 60) {
        return None;
    }
    let full = (
        year.unwrap_or_else(|| i64::from(default.year())),
        month.unwrap_or_else(|| i64::from(default.month())),
    );
    // A day that is not said is the last of a month that is too short for it.
    let number = match day {
        Some(day) => day,
        None if (1..=12).contains(&full.1) => i64::from(default.day()).min(days_in(full.0, full.1)),
        None => return None,
    };
    let year = i16::try_from(full.0).ok().filter(|year| (1..=9999).contains(year))?;
    let date = Day::new(year, i8::try_from(full.1).ok()?, i8::try_from(number).ok()?).ok()?;
    match state.weekday {
        Some(weekday) if day.is_none_or(|day| day == 0) => on_weekday(date, weekday),
        _ => Some(date),
    }
}

/// The first such day from `date` on.
fn on_weekday(date: Day, weekday: usize) -> Option<Day> {
    let target = i8::try_from(weekday).ok()?;
    let ahead = (target - date.weekday().to_monday_zero_offset()).rem_euclid(7);
    date.checked_add(jiff::Span::new().days(i64::from(ahead))).ok()
}
