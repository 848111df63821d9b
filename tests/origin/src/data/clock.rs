//! Times of day as minutes past midnight.

use std::fmt;

use serde::{Serialize, Serializer};

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u16);

impl Time {
    /// This time some minutes later.
    #[must_use]
    pub fn plus(self, minutes: u16) -> Time {
        Time(self.0 + minutes)
    }

    /// Minutes from another time to this one.
    pub fn since(self, earlier: Time) -> u16 {
        self.0.saturating_sub(earlier.0)
    }

    /// Reads `HH:MM`.
    pub fn parse(text: &str) -> Option<Time> {
        let (hours, minutes) = text.split_once(':')?;
        let (hours, minutes) = (hours.parse::<u16>().ok()?, minutes.parse::<u16>().ok()?);
        (hours < 24 && minutes < 60).then_some(Time(hours * 60 + minutes))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:02}:{:02}", self.0 / 60 % 24, self.0 % 60)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A length of time as `1 h 05 min` or `45 min`.
pub fn duration(minutes: u16) -> String {
    match (minutes / 60, minutes % 60) {
        (0, rest) => format!("{rest} min"),
        (hours, rest) => format!("{hours} h {rest:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_and_print_the_same() {
        assert_eq!(Time::parse("07:05"), Some(Time(425)));
        assert_eq!(Time(425).plus(60).to_string(), "08:05");
        assert_eq!(Time(24 * 60 + 3).to_string(), "00:03");
        for wrong in ["", "7", "24:00", "12:60", "a:b"] {
            assert_eq!(Time::parse(wrong), None, "{wrong}");
        }
        assert_eq!((duration(45), duration(65)), ("45 min".to_owned(), "1 h 05 min".to_owned()));
    }
}
