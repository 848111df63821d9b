//! The cookies by which pages keep settings, such as a currency or a language.
//!
//! A script of the page sets such a cookie, and the server shows something else by it, without any
//! write. So it is state of the browser: the captures of a request are told apart by it. Cookies
//! that answers set are state of the site, and follow from its writes.

use std::collections::BTreeSet;

use snapshots::Headers;
use snapshots::index::{IndexError, IndexHit, ReplaySet};
use snapshots::matching::Key;

/// How many captures are read to learn whether an answer has set a cookie, at most. Beyond these,
/// it counts as set by one.
const READ: usize = 128;
/// Of how many captures of a host these are chosen.
const OF_HOST: usize = 4096;
/// The longest value of a setting.
const LONGEST: usize = 64;
/// What has so many digits in a row is a time or chance, and so is what mixes letters and digits
/// and is so long.
const DIGITS: usize = 6;
const MIXED: usize = 12;

/// A cookie, and its value in the request of each capture.
struct SentCookie<'a> {
    name: &'a str,
    values: Vec<Option<String>>,
}

impl SentCookie<'_> {
    fn differs(&self) -> bool {
        self.values.iter().any(|value| *value != self.values[0])
    }
}

/// The value of a cookie in the lines of `Cookie`.
pub(super) fn value_of(cookies: &str, name: &str) -> Option<String> {
    let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
}

/// The names of the cookies by which these captures are told apart.
pub(super) fn names(
    set: &ReplaySet,
    hits: &[IndexHit],
    requests: &[Option<&Headers>],
) -> Result<Vec<String>, IndexError> {
    let sent: Vec<(IndexHit, String)> = hits
        .iter()
        .zip(requests)
        .filter_map(|(hit, headers)| {
            Some((*hit, (*headers)?.get_str("Cookie").unwrap_or_default().to_owned()))
        })
        .collect();
    let all =
        sent.iter().flat_map(|(_, line)| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let all: BTreeSet<&str> = all.map(|(name, _)| name).collect();
    let of_each = all.into_iter().map(|name| {
        let values = sent.iter().map(|(_, line)| value_of(line, name));
        SentCookie { name, values: values.collect() }
    });
    let settings: Vec<SentCookie<'_>> =
        of_each.filter(|cookie| cookie.values.iter().flatten().all(|value| is_setting(value))).collect();
    let mut found = Vec::new();
    for (place, cookie) in settings.iter().enumerate() {
        if cookie.differs() && shows(set, &sent, &settings, place)? && !is_set_by_answer(set, &sent, cookie)?
        {
            found.push(cookie.name.to_owned());
        }
    }
    Ok(found)
}

/// Whether a value is one that somebody chose, not a time or chance.
fn is_setting(value: &str) -> bool {
    let longest =
        value.split(|letter: char| !letter.is_ascii_digit()).map(str::len).max().unwrap_or_default();
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && value.len() >= MIXED;
    value.len() <= LONGEST && longest < DIGITS && !is_mixed
}

/// Whether two captures differ of which the requests differ in nothing but this setting.
fn shows(
    set: &ReplaySet,
    sent: &[(IndexHit, String)],
    settings: &[SentCookie<'_>],
    place: usize,
) -> Result<bool, IndexError> {
    let marks: Vec<Option<Key>> =
        sent.iter().map(|(hit, _)| set.content_mark(*hit)).collect::<Result<_, _>>()?;
    let differ =
        |cookie: &SentCookie<'_>, (one, other): (usize, usize)| cookie.values[one] != cookie.values[other];
    let alone = |pair| {
        let mut others = settings.iter().enumerate().filter(|(at, _)| *at != place);
        differ(&settings[place], pair) && others.all(|(_, cookie)| !differ(cookie, pair))
    };
    let mut pairs = (0..sent.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    Ok(pairs.any(|(one, other)| alone((one, other)) && marks[one].is_some() && marks[one] != marks[other]))
}

/// Whether an answer of the host set the cookie between two captures with different values of it.
fn is_set_by_answer(
    set: &ReplaySet,
    sent: &[(IndexHit, String)],
    cookie: &SentCookie<'_>,
) -> Result<bool, IndexError> {
    let mut windows = Vec::new();
    for (pair, values) in sent.windows(2).zip(cookie.values.windows(2)) {
        let [(before, _), (after, _)] = pair else { continue };
        if values[0] != values[1] {
            windows.push(before.at_millis..=after.at_millis);
        }
    }
    let Some((first, _)) = sent.first() else { return Ok(false) };
    let (_, url) = set.request_line(*first, &set.capture(*first)?)?;
    let host = url::Url::parse(&url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let all = set.of_host(&host.unwrap_or_default(), OF_HOST)?;
    let between = |hit: &IndexHit| windows.iter().any(|window| window.contains(&hit.at_millis));
    let near: Vec<IndexHit> = all.iter().map(|recorded| recorded.hit).filter(between).collect();
    if near.len() > READ || all.len() >= OF_HOST {
        return Ok(true);
    }
    for hit in near {
        let Ok(head) = set.read(hit.member, set.capture(hit)?.response)?.response_head() else { continue };
        let lines = head.headers.get_all("Set-Cookie").filter_map(|line| std::str::from_utf8(line).ok());
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
