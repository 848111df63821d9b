//! Timestamps in the notations of snapshots.

use std::fmt;

use jiff::civil;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;

/// A time in UTC. Written as RFC 3339 (`WARC-Date`, pages) or as 14 or 17 digits (CDXJ).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The current time, with millisecond precision.
    pub fn now() -> Timestamp {
        let now = jiff::Timestamp::now();
        jiff::Timestamp::from_millisecond(now.as_millisecond()).map_or(Timestamp(now), Timestamp)
    }

    /// Converts from milliseconds since 1970-01-01, clamped to the years -9999 to 9999.
    pub fn from_millis(millis: i64) -> Timestamp {
        let bound = if millis < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        Timestamp(jiff::Timestamp::from_millisecond(millis).unwrap_or(bound))
    }

    /// Milliseconds since 1970-01-01.
    pub fn as_millis(self) -> i64 {
        self.0.as_millisecond()
    }

    /// Parses any notation that occurs in snapshots: RFC 3339 with or without fraction and offset,
    /// a date alone, or the digits of a CDX line. There may be 4 to 17 digits; the rest defaults to
    /// the start of the period.
    pub fn parse(text: &str) -> Result<Timestamp, Error> {
        let text = text.trim();
        let found = if text.len() >= 4 && text.bytes().all(|b| b.is_ascii_digit()) {
            from_digits(text)
        } else {
            from_iso(text)
        };
        found.map(Timestamp).ok_or_else(|| Error::Date { text: text.chars().take(64).collect() })
    }

    /// The 14 digit form, `YYYYMMDDhhmmss`.
    pub fn cdx14(self) -> String {
        let t = self.civil();
        format!(
            "{:04}{:02}{:02}{:02}{:02}{:02}",
            t.year(),
            t.month(),
            t.day(),
            t.hour(),
            t.minute(),
            t.second()
        )
    }

    /// The 17 digit form, with milliseconds.
    pub fn cdx17(self) -> String {
        format!("{}{:03}", self.cdx14(), self.civil().millisecond())
    }

    /// The same time, without the fraction of its second.
    pub fn to_seconds(self) -> Timestamp {
        jiff::Timestamp::from_second(self.0.as_second()).map_or(self, Timestamp)
    }

    /// The time as a `jiff` value.
    pub fn inner(self) -> jiff::Timestamp {
        self.0
    }

    fn civil(self) -> civil::DateTime {
        TimeZone::UTC.to_datetime(self.0)
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(inner: jiff::Timestamp) -> Timestamp {
        Timestamp(inner)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = self.civil();
        let (date, time) = (t.date(), t.time());
        write!(f, "{:04}-{:02}-{:02}T", date.year(), date.month(), date.day())?;
        write!(f, "{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second())?;
        match time.subsec_nanosecond() {
            0 => write!(f, "Z"),
            n if n % 1_000_000 == 0 => write!(f, ".{:03}Z", n / 1_000_000),
            n if n % 1_000 == 0 => write!(f, ".{:06}Z", n / 1_000),
            n => write!(f, ".{n:09}Z"),
        }
    }
}

impl std::str::FromStr for Timestamp {
    type Err = Error;
    fn from_str(text: &str) -> Result<Timestamp, Error> {
        Timestamp::parse(text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::parse(&text).map_err(serde::de::Error::custom)
    }
}

fn from_digits(text: &str) -> Option<jiff::Timestamp> {
    let part = |from: usize, to: usize, missing: i16| match text.get(from..to.min(text.len())) {
        Some(digits) if digits.len() == to - from => digits.parse::<i16>().ok(),
        Some("") | None => Some(missing),
        Some(_) => None,
    };
    let nanos = match text.len() {
        15..=17 => {
            let digits = &text[14..];
            digits.parse::<i32>().ok()? * 10_i32.pow(9 - digits.len() as u32)
        }
        4..=14 => 0,
        _ => return None,
    };
    civil_utc(
        [
            part(0, 4, 0)?,
            part(4, 6, 1)?,
            part(6, 8, 1)?,
            part(8, 10, 0)?,
            part(10, 12, 0)?,
            part(12, 14, 0)?,
        ],
        nanos,
    )
}

fn from_iso(text: &str) -> Option<jiff::Timestamp> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(moment);
    }
    // Shorter W3C forms, and times without an offset, are read as UTC.
    let text = text.trim_end_matches(['Z', 'z']);
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, ""));
    let mut fields = [0_i16, 1, 1, 0, 0, 0];
    let mut nanos = 0;
    for (slot, part) in fields[..3].iter_mut().zip(date.splitn(3, '-')) {
        *slot = digits(part)?;
    }
    if !time.is_empty() {
        for (slot, part) in fields[3..].iter_mut().zip(time.splitn(3, ':')) {
            let (whole, fraction) = part.split_once('.').unwrap_or((part, ""));
            *slot = digits(whole)?;
            if !fraction.is_empty() {
                let fraction = fraction.get(..fraction.len().min(9))?;
                nanos = digits32(fraction)? * 10_i32.checked_pow(9 - fraction.len() as u32)?;
            }
        }
    }
    civil_utc(fields, nanos)
}

fn digits(text: &str) -> Option<i16> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

fn digits32(text: &str) -> Option<i32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

fn civil_utc(
    [year, month, day, hour, minute, second]: [i16; 6],
    nanos: i32,
) -> Option<jiff::Timestamp> {
    let small = |n: i16| i8::try_from(n).ok();
    // Some servers write leap seconds; this calendar has none.
    let second = small(second)?.min(59);
    let moment = civil::DateTime::new(
        year,
        small(month)?,
        small(day)?,
        small(hour)?,
        small(minute)?,
        second,
        nanos,
    )
    .ok()?;
    TimeZone::UTC.to_timestamp(moment).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_every_spelling() {
        for (text, expect) in [
            ("2026-11-20T10:11:12Z", "2026-11-20T10:11:12Z"),
            ("2026-11-20T10:11:12.5Z", "2026-11-20T10:11:12.500Z"),
            ("2026-11-20T10:11:12.123456Z", "2026-11-20T10:11:12.123456Z"),
            ("2026-11-20T10:11:12+02:00", "2026-11-20T08:11:12Z"),
            ("2026-11-20T10:11:12", "2026-11-20T10:11:12Z"),
            ("2026-11-20T10:11Z", "2026-11-20T10:11:00Z"),
            ("2026-11", "2026-11-01T00:00:00Z"),
            ("2026", "2026-01-01T00:00:00Z"),
            ("20261120101112", "2026-11-20T10:11:12Z"),
            ("20261120101112345", "2026-11-20T10:11:12.345Z"),
            ("202611", "2026-11-01T00:00:00Z"),
        ] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), expect, "{text}");
        }
        for wrong in [
            "",
            "abc",
            "2026-13-01T00:00:00Z",
            "20261",
            "2026-11-20T25:00:00Z",
            "999999999999999999",
        ] {
            assert!(Timestamp::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn writes_digits() {
        let t = Timestamp::parse("2026-11-20T10:11:12.034Z").unwrap();
        assert_eq!(
            (t.cdx14().as_str(), t.cdx17().as_str()),
            ("20261120101112", "20261120101112034")
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            let _ = Timestamp::parse(&text);
        }

        #[test]
        fn text_comes_back(millis in -62_000_000_000_000_i64..253_000_000_000_000) {
            let t = Timestamp::from_millis(millis);
            prop_assert_eq!(Timestamp::parse(&t.to_string()).unwrap(), t);
            prop_assert_eq!(Timestamp::parse(&t.cdx17()).unwrap(), t);
        }
    }
}
