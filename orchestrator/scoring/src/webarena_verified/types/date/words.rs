//! The words `dateutil` knows.

const MONTHS: [&[&str]; 12] = [
    &["jan", "january"],
    &["feb", "february"],
    &["mar", "march"],
    &["apr", "april"],
    &["may"],
    &["jun", "june"],
    &["jul", "july"],
    &["aug", "august"],
    &["sep", "sept", "september"],
    &["oct", "october"],
    &["nov", "november"],
    &["dec", "december"],
];
const WEEKDAYS: [&[&str]; 7] = [
    &["mon", "monday"],
    &["tue", "tuesday"],
    &["wed", "wednesday"],
    &["thu", "thursday"],
    &["fri", "friday"],
    &["sat", "saturday"],
    &["sun", "sunday"],
];
const CLOCK: [&[&str]; 3] =
    [&["h", "hour", "hours"], &["m", "minute", "minutes"], &["s", "second", "seconds"]];
const HALVES: [&[&str]; 2] = [&["am", "a"], &["pm", "p"]];
const JUMPS: [&str; 18] = [
    " ", ".", ",", ";", "-", "/", "'", "at", "on", "and", "ad", "m", "t", "of", "st", "nd", "rd",
    "th",
];

fn find(words: &[&[&str]], token: &str) -> Option<usize> {
    let token = token.to_lowercase();
    words.iter().position(|names| names.contains(&token.as_str()))
}

/// 1 to 12.
pub(super) fn month(token: &str) -> Option<i64> {
    find(&MONTHS, token).and_then(|at| i64::try_from(at + 1).ok())
}

/// From Monday, counted from 0.
pub(super) fn weekday(token: &str) -> Option<usize> {
    find(&WEEKDAYS, token)
}

/// 0 for hours, 1 for minutes, 2 for seconds.
pub(super) fn clock(token: &str) -> Option<usize> {
    find(&CLOCK, token)
}

/// 0 before noon, 1 after.
pub(super) fn half(token: &str) -> Option<usize> {
    find(&HALVES, token)
}

/// Words and signs that mean nothing.
pub(super) fn is_jump(token: &str) -> bool {
    JUMPS.contains(&token.to_lowercase().as_str())
}

pub(super) fn is_utc(token: &str) -> bool {
    matches!(token.to_lowercase().as_str(), "utc" | "gmt" | "z")
}

/// Letters that may name a time zone once there is an hour.
pub(super) fn may_name_zone(token: &str) -> bool {
    token.len() <= 5
        && (token.bytes().all(|b| b.is_ascii_uppercase())
            || matches!(token, "UTC" | "GMT" | "Z" | "z"))
}
