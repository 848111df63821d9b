//! Amounts as people write them on the command line: `30s`, `512MiB`.
//!
//! A bare number has the unit that the option had before units could be written.

use std::time::Duration;

/// How amounts are written, for `--help`.
pub(crate) const HELP: &str = "\
TIME is a number with ms, s, m or h, such as 30s. A bare number is seconds, unless the option says otherwise.
SIZE is a number with KiB, MiB or GiB, such as 512MiB.";

const TIMES: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
/// In powers of 1024, whether or not the `i` is written.
const SIZES: [(&str, u64); 7] =
    [("KiB", 10), ("MiB", 20), ("GiB", 30), ("K", 10), ("M", 20), ("G", 30), ("B", 0)];

/// A length of time; a bare number is seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    time(text, 1000)
}

/// The same, longer than nothing.
pub(crate) fn some_seconds(text: &str) -> Result<Duration, String> {
    seconds(text).and_then(|time| {
        if time.is_zero() { Err("it has to be longer than 0".to_owned()) } else { Ok(time) }
    })
}

/// A length of time; a bare number is milliseconds.
pub(crate) fn milliseconds(text: &str) -> Result<Duration, String> {
    time(text, 1)
}

/// A number of bytes; a bare number is bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    size(text, 0)
}

/// A number of bytes; a bare number is MiB.
pub(crate) fn mebibytes(text: &str) -> Result<u64, String> {
    size(text, 20)
}

fn time(text: &str, bare: u64) -> Result<Duration, String> {
    amount(text, &TIMES, bare)
        .map(Duration::from_millis)
        .ok_or_else(|| "it is no length of time, such as 500ms, 30s or 5m".to_owned())
}

fn size(text: &str, bare: u64) -> Result<u64, String> {
    amount(text, &SIZES.map(|(unit, shift)| (unit, 1 << shift)), 1 << bare)
        .ok_or_else(|| "it is no number of bytes, such as 512MiB or 2GiB".to_owned())
}

/// The number before a unit, times what the unit is worth.
fn amount(text: &str, units: &[(&str, u64)], bare: u64) -> Option<u64> {
    let whole = |text: &str| text.trim_end().parse::<u64>().ok();
    let mut read =
        units.iter().filter_map(|(unit, worth)| Some((whole(text.strip_suffix(unit)?)?, *worth)));
    let (number, worth) = read.next().or_else(|| Some((whole(text)?, bare)))?;
    number.checked_mul(worth)
}

/// A share, from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("it is a number from 0 to 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_or_that_of_their_option() {
        for (text, expected) in
            [("30", 30_000), ("30s", 30_000), ("500ms", 500), ("2m", 120_000), ("1h", 3_600_000)]
        {
            assert_eq!(seconds(text), Ok(Duration::from_millis(expected)), "{text}");
        }
        assert_eq!(milliseconds("1000"), Ok(Duration::from_secs(1)));
        assert_eq!(milliseconds("1s"), milliseconds("1000"));
        for wrong in ["", "s", "-1", "1.5", "1 day", "99999999999999999999"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
        assert!(some_seconds("0").is_err() && some_seconds("1").is_ok());
    }

    #[test]
    fn sizes_have_units_or_that_of_their_option() {
        for (text, expected) in
            [("512", 512 << 20), ("512MiB", 512 << 20), ("512M", 512 << 20), ("2GiB", 2 << 30)]
        {
            assert_eq!(mebibytes(text), Ok(expected), "{text}");
        }
        assert_eq!((bytes("64"), bytes("1 KiB"), bytes("7B")), (Ok(64), Ok(1024), Ok(7)));
        assert!(bytes("lots").is_err() && bytes("99999999999999G").is_err());
    }
}
