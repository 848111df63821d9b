//! Values that are written as people write them.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

/// A number of bytes: `64M`, `2G`, `512K` or a plain number, in powers of 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// A length of time: `200ms`, `60s`, `15m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period(pub Duration);

pub(super) fn a_minute() -> Period {
    Period(Duration::from_secs(60))
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Bytes, D::Error> {
        yaml::text(input, |text| {
            let units = [("K", 10), ("M", 20), ("G", 30), ("", 0)];
            units
                .iter()
                .find_map(|(unit, shift)| {
                    text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(1_u64 << shift)
                })
                .map(Bytes)
                .ok_or_else(|| format!("`{text}` is not a number of bytes, such as 512M"))
        })
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Period, D::Error> {
        yaml::text(input, |text| {
            let units = [("ms", 1), ("s", 1000), ("m", 60_000)];
            units
                .iter()
                .find_map(|(unit, ms)| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*ms))
                .map(|ms| Period(Duration::from_millis(ms)))
                .ok_or_else(|| format!("`{text}` is not a length of time, such as 60s"))
        })
    }
}

pub(super) fn clock<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Timestamp>, D::Error> {
    yaml::text(input, |text| {
        text.parse()
            .map(Some)
            .map_err(|_| format!("`{text}` is not a time with its offset, such as 2026-03-14T09:00:00Z"))
    })
}
