//! The time that it is on the forum: what a file says, each time it is asked.

use std::path::{Path, PathBuf};

use embedded_sites::Clock;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use parking_lot::Mutex;

/// A clock that reads `file`, or the system's. While the file cannot be read, time stands still.
pub(crate) fn clock(file: Option<PathBuf>) -> Clock {
    let Some(file) = file else { return Clock::new(Timestamp::now) };
    let last = Mutex::new(Timestamp::now());
    Clock::new(move || {
        let mut last = last.lock();
        *last = read(&file).unwrap_or(*last);
        *last
    })
}

/// One line like `2023-06-15 09:00:00`, in UTC.
fn read(file: &Path) -> Option<Timestamp> {
    let text = std::fs::read_to_string(file).ok()?;
    let time: DateTime = text.trim().parse().ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::clock;

    #[test]
    fn the_clock_is_what_the_file_says_also_when_it_goes_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("now");
        let clock = clock(Some(file.clone()));
        for (text, time) in [
            ("2023-06-15 09:00:00\n", "2023-06-15T09:00:00Z"),
            ("2023-07-02 14:30:00", "2023-07-02T14:30:00Z"),
            ("2023-06-15 09:05:00\n", "2023-06-15T09:05:00Z"),
            ("half a li", "2023-06-15T09:05:00Z"),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(clock.now().to_string(), time, "{text}");
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(clock.now().to_string(), "2023-06-15T09:05:00Z");
    }
}
