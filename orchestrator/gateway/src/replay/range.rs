//! `Range` and `Content-Range`.

use http::{HeaderMap, HeaderValue, header};

/// A requested byte range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestedRange {
    /// From the first to the last position, both inclusive. Without a last position, to the end.
    From(u64, Option<u64>),
    /// The last N bytes.
    Last(u64),
}

/// The requested range. `None` without one, for units other than bytes, for a malformed range, and
/// for several ranges at once; a server may always respond with the whole body.
pub(super) fn wanted(request: &HeaderMap) -> Option<RequestedRange> {
    let value = request.get(header::RANGE)?.to_str().ok()?;
    let (unit, set) = value.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") || set.contains(',') {
        return None;
    }
    let (first, last) = set.trim().split_once('-')?;
    match (first.trim(), last.trim()) {
        ("", last) => number(last).map(RequestedRange::Last),
        (first, "") => Some(RequestedRange::From(number(first)?, None)),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(RequestedRange::From(first, Some(last)))
        }
    }
}

impl RequestedRange {
    /// The positions within a body of `length` bytes, both inclusive; `None` if the range is not
    /// satisfiable.
    pub(super) fn within(self, length: u64) -> Option<(u64, u64)> {
        let end = length.checked_sub(1)?;
        match self {
            RequestedRange::From(first, last) => {
                (first <= end).then(|| (first, last.unwrap_or(end).min(end)))
            }
            RequestedRange::Last(0) => None,
            RequestedRange::Last(count) => Some((length.saturating_sub(count), end)),
        }
    }
}

/// The range of a recorded 206: first position, last position, length of the whole if known.
pub(super) fn held(response: &HeaderMap) -> Option<(u64, u64, Option<u64>)> {
    let value = response.get(header::CONTENT_RANGE)?.to_str().ok()?;
    let (range, total) = value.trim().strip_prefix("bytes")?.trim().split_once('/')?;
    let (first, last) = range.trim().split_once('-')?;
    let (first, last) = (number(first)?, number(last)?);
    let total = match total.trim() {
        "*" => None,
        total => Some(number(total)?),
    };
    (first <= last && total.is_none_or(|total| last < total)).then_some((first, last, total))
}

/// Sets `Content-Range`; positions are inclusive.
pub(super) fn set_content_range(
    response: &mut HeaderMap,
    first: u64,
    last: u64,
    total: Option<u64>,
) {
    let text = match total {
        Some(total) => format!("bytes {first}-{last}/{total}"),
        None => format!("bytes {first}-{last}/*"),
    };
    if let Ok(value) = HeaderValue::try_from(text) {
        response.insert(header::CONTENT_RANGE, value);
    }
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())?
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Option<RequestedRange> {
        wanted(&[(header::RANGE, text.parse().unwrap())].into_iter().collect())
    }

    #[test]
    fn ranges_are_read_or_ignored() {
        for (text, expect) in [
            ("bytes=0-9", Some(RequestedRange::From(0, Some(9)))),
            ("Bytes = 5-", Some(RequestedRange::From(5, None))),
            ("bytes=-7", Some(RequestedRange::Last(7))),
            ("bytes=9-0", None),
            ("bytes=0-1,4-5", None),
            ("bytes=-", None),
            ("bytes=a-b", None),
            ("bytes=+1-2", None),
            ("items=0-9", None),
            ("bytes=0-99999999999999999999999", None),
        ] {
            assert_eq!(of(text), expect, "{text}");
        }
    }

    #[test]
    fn ranges_fall_within_the_body_or_outside() {
        for (text, length, expect) in [
            ("bytes=0-9", 100, Some((0, 9))),
            ("bytes=90-200", 100, Some((90, 99))),
            ("bytes=99-", 100, Some((99, 99))),
            ("bytes=100-", 100, None),
            ("bytes=-7", 100, Some((93, 99))),
            ("bytes=-700", 100, Some((0, 99))),
            ("bytes=-0", 100, None),
            ("bytes=0-", 0, None),
        ] {
            assert_eq!(of(text).unwrap().within(length), expect, "{text} of {length}");
        }
    }

    #[test]
    fn recorded_ranges_are_read() {
        for (text, expect) in [
            ("bytes 0-9/100", Some((0, 9, Some(100)))),
            ("bytes 5-9/*", Some((5, 9, None))),
            ("bytes */100", None),
            ("bytes 9-5/100", None),
            ("bytes 0-100/100", None),
        ] {
            let headers = [(header::CONTENT_RANGE, text.parse().unwrap())].into_iter().collect();
            assert_eq!(held(&headers), expect, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_range_never_leaves_the_body(text in "[0-9]{0,20}-[0-9]{0,20}", length in any::<u64>()) {
            if let Some((first, last)) = of(&format!("bytes={text}")).and_then(|wanted| wanted.within(length)) {
                prop_assert!(first <= last && last < length);
            }
        }
    }
}
