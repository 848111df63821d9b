//! The cookies by which pages keep settings, such as a currency or a language.
//!
//! A script of the page sets such a cookie, and the server shows something else by it, without any
//! write. So it is state of the browser: the captures of a request are told apart by it. Cookies
//! that answers set are state of the site, and follow from its writes.

use std::collections::{BTreeMap, BTreeSet};

use snapshots::Headers;
use snapshots::index::{IndexError, IndexHit, ReplaySet};
use snapshots::matching::Key;

/// How many captures are read to learn whether an answer has set a cookie, at most. Beyond these,
/// it counts as set by one.
const READ: usize = 128;
/// Of how many captures of a host these are chosen.
const OF_HOST: usize = 4096;
/// The most cookies of a request that count, and the longest line of them, in bytes.
const MOST: usize = 64;
const LONGEST_LINE: usize = 16 << 10;
/// The longest value of a setting.
const LONGEST: usize = 64;
/// What has so many digits in a row is a time or chance, and so is what mixes letters and digits
/// and is so long.
const DIGITS: usize = 6;
const MIXED: usize = 12;

/// The value of a cookie in the lines of `Cookie`.
pub(super) fn value_of(cookies: &str, name: &str) -> Option<String> {
    pairs(cookies).find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
}

/// The names and values in the lines of `Cookie`.
fn pairs(cookies: &str) -> impl Iterator<Item = (&str, &str)> {
    cookies.split(';').filter_map(|pair| pair.trim().split_once('=')).take(MOST)
}

/// The names of the cookies by which these captures are told apart. `state_of` is the state of the
/// site in which one was recorded: its archive, its visit and the writes before it.
pub(super) fn names(
    set: &ReplaySet,
    hits: &[IndexHit],
    requests: &[Option<&Headers>],
    state_of: &dyn Fn(IndexHit) -> Result<CaptureState, IndexError>,
) -> Result<Vec<String>, IndexError> {
    let sent: Vec<(IndexHit, BTreeMap<&str, &str>)> = hits
        .iter()
        .zip(requests)
        .filter_map(|(hit, headers)| {
            let line = (*headers)?.get_str("Cookie").unwrap_or_default();
            Some((
                *hit,
                if line.len() <= LONGEST_LINE { pairs(line).collect() } else { BTreeMap::new() },
            ))
        })
        .collect();
    let all: BTreeSet<&str> =
        sent.iter().flat_map(|(_, cookies)| cookies.keys().copied()).collect();
    let of_each = all.into_iter().take(MOST).map(|name| {
        let values = sent.iter().map(|(_, cookies)| cookies.get(name).copied());
        SentCookie { name, values: values.collect() }
    });
    let settings: Vec<SentCookie<'_>> = of_each.filter(SentCookie::may_be_setting).collect();
    // Before the contents are read, which may need the disk or a server.
    if !settings.iter().any(SentCookie::differs) {
        return Ok(Vec::new());
    }
    let mut shown: Vec<Shown> = Vec::new();
    for (hit, _) in &sent {
        shown.push(Shown { state: state_of(*hit)?, mark: set.content_mark(*hit)? });
    }
    let hits: Vec<IndexHit> = sent.iter().map(|(hit, _)| *hit).collect();
    let mut found = Vec::new();
    for (place, cookie) in settings.iter().enumerate() {
        let is_shown = cookie.differs() && shows(&shown, &settings, place);
        if is_shown && !is_set_by_answer(set, &hits, cookie)? {
            found.push(cookie.name.to_owned());
        }
    }
    Ok(found)
}

/// The state of its site in which a capture was recorded: archive, visit, and the writes before it.
pub(super) type CaptureState = (u32, u32, Vec<u32>);

/// What a capture shows.
struct Shown {
    state: CaptureState,
    mark: Option<Key>,
}

/// A cookie, and its value in the request of each capture.
struct SentCookie<'a> {
    name: &'a str,
    values: Vec<Option<&'a str>>,
}

impl SentCookie<'_> {
    fn differs(&self) -> bool {
        self.values.iter().any(|value| *value != self.values[0])
    }

    fn may_be_setting(&self) -> bool {
        self.values.iter().flatten().all(|value| is_setting(value))
    }
}

/// Whether a value is one that somebody chose, not a time or chance.
fn is_setting(value: &str) -> bool {
    let longest = value
        .split(|letter: char| !letter.is_ascii_digit())
        .map(str::len)
        .max()
        .unwrap_or_default();
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && value.len() >= MIXED;
    value.len() <= LONGEST && longest < DIGITS && !is_mixed
}

/// Whether the setting is what captures differ by: in one state of the site, two of which the
/// requests differ in nothing but this are different, and those that differ in nothing are not.
fn shows(shown: &[Shown], settings: &[SentCookie<'_>], place: usize) -> bool {
    let mut is_shown = false;
    for one in 0..shown.len() {
        for other in (0..one).filter(|other| shown[*other].state == shown[one].state) {
            let differ = |cookie: &SentCookie<'_>| cookie.values[one] != cookie.values[other];
            let mut others = settings.iter().enumerate().filter(|(at, _)| *at != place);
            if others.any(|(_, cookie)| differ(cookie)) {
                continue;
            }
            let (Some(mark), Some(mark_of_other)) = (shown[one].mark, shown[other].mark) else {
                return false;
            };
            match (differ(&settings[place]), mark != mark_of_other) {
                (true, differs) => is_shown |= differs,
                (false, true) => return false,
                (false, false) => {}
            }
        }
    }
    is_shown
}

/// Whether an answer of the host set the cookie between two captures with different values of it.
/// What cannot be read has set none.
fn is_set_by_answer(
    set: &ReplaySet,
    hits: &[IndexHit],
    cookie: &SentCookie<'_>,
) -> Result<bool, IndexError> {
    let mut windows = Vec::new();
    for (pair, values) in hits.windows(2).zip(cookie.values.windows(2)) {
        if values[0] != values[1] {
            windows.push(pair[0].at_millis..=pair[1].at_millis);
        }
    }
    let Some(first) = hits.first() else { return Ok(false) };
    let (_, url) = set.request_line(*first, &set.capture(*first)?)?;
    let host = url::Url::parse(&url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let all = set.of_host(&host.unwrap_or_default(), OF_HOST)?;
    let between = |hit: &IndexHit| windows.iter().any(|window| window.contains(&hit.at_millis));
    let near: Vec<IndexHit> = all.iter().map(|recorded| recorded.hit).filter(between).collect();
    if near.len() > READ || all.len() >= OF_HOST {
        return Ok(true);
    }
    for hit in near {
        let failures = set.failures();
        let head = set.capture(hit).and_then(|capture| set.read(hit.member, capture.response));
        let head = match head {
            Err(error) if set.failures() != failures => return Err(error),
            head => head.ok().and_then(|mut record| record.response_head().ok()),
        };
        let Some(head) = head else { continue };
        let lines =
            head.headers.get_all("Set-Cookie").filter_map(|line| std::str::from_utf8(line).ok());
        // A header of an archive may hold several, one a line.
        let mut pairs = lines.flat_map(str::lines).filter_map(|line| line.trim().split_once('='));
        if pairs.any(|(known, _)| known.trim() == cookie.name) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_what_somebody_chose() {
        for value in ["eur", "en-GB", "dark", "1", "2026", "list%3Agrid", "page=2"] {
            assert!(is_setting(value), "{value}");
        }
        for value in ["1767225600", "GA1.2.1234567.17", "a8f3c09b12de", "{\"t\":1767225600123}"] {
            assert!(!is_setting(value), "{value}");
        }
        assert_eq!(value_of("a=1; currency=eur", "currency").as_deref(), Some("eur"));
        assert_eq!(value_of("a=1", "currency"), None);
    }
}
