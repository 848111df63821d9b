//! Dates in recorded headers: kept, or shifted to the present. Cookie lifetimes become relative, so
//! that cookies do not expire with the recording.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The treatment of dates in recorded headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DatePolicy {
    /// As recorded. For episodes, where the browser's clock is at the time of the recording and its
    /// cache is off.
    #[default]
    Recorded,
    /// Shifted by the time since the recording, so that a browser with the current date finds the
    /// responses as fresh as they were.
    ShiftedToNow,
}

/// Shifts the dates of a response recorded at `recorded` (seconds since 1970) according to the
/// policy. `started` is when replay began. `Last-Modified` shifts by an amount that is constant
/// from then on, because it is a validator.
pub(super) fn shift(
    headers: &mut HeaderMap,
    policy: DatePolicy,
    recorded: i64,
    started: SystemTime,
    now: SystemTime,
) {
    if policy == DatePolicy::Recorded {
        return;
    }
    for (name, to) in
        [(header::DATE, now), (header::EXPIRES, now), (header::LAST_MODIFIED, started)]
    {
        move_date(headers, name, seconds(to) - recorded);
    }
}

fn move_date(headers: &mut HeaderMap, name: HeaderName, by: i64) {
    let moved =
        headers.get(&name).and_then(parse).and_then(|date| date.checked_add(by)).and_then(format);
    if let Some(moved) = moved {
        headers.insert(name, moved);
    }
}

/// A header's date in seconds since 1970.
pub(crate) fn parse(value: &HeaderValue) -> Option<i64> {
    httpdate::parse_http_date(value.to_str().ok()?).ok().map(seconds)
}

fn format(date: i64) -> Option<HeaderValue> {
    // The last second of the year 9999, the maximum of the format.
    let date = u64::try_from(date).ok().filter(|date| *date <= 253_402_300_799)?;
    let text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(date));
    HeaderValue::try_from(text).ok()
}

pub(super) fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// Replaces a cookie's expiry date with the age that was left when it was recorded. `None` if
/// nothing changes.
pub(crate) fn relative_cookie(cookie: &HeaderValue, recorded: i64) -> Option<HeaderValue> {
    let text = std::str::from_utf8(cookie.as_bytes()).ok()?;
    let mut expires = None;
    for attribute in text.split(';').skip(1) {
        let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        if name.trim().eq_ignore_ascii_case("max-age") {
            // `Max-Age` has precedence, and is relative already.
            return None;
        }
        if name.trim().eq_ignore_ascii_case("expires") {
            expires = cookie_date(value).or(expires);
        }
    }
    let age = expires?.saturating_sub(recorded).max(0);
    let kept = text.split(';').enumerate().filter(|(at, attribute)| {
        let name = attribute.split('=').next().unwrap_or_default();
        *at == 0 || !name.trim().eq_ignore_ascii_case("expires")
    });
    let mut out = kept.map(|(_, attribute)| attribute).collect::<Vec<_>>().join(";");
    out.push_str(&format!("; Max-Age={age}"));
    HeaderValue::try_from(out).ok()
}

/// Parses a cookie date as browsers do (RFC 6265, 5.1.1): tokens in any order, any separators.
fn cookie_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == ':')).filter(|t| !t.is_empty())
    {
        let number = token.parse::<i16>().ok();
        if time.is_none() && token.contains(':') {
            let mut parts = token.splitn(3, ':').map(|part| part.parse::<i8>().ok());
            time = Some((parts.next()??, parts.next()??, parts.next()??));
        } else if let (None, Some(found), 1..=2) = (day, number, token.len()) {
            day = i8::try_from(found).ok();
        } else if let (None, Some(found)) =
            (month, MONTHS.iter().position(|m| token.to_ascii_lowercase().starts_with(m)))
        {
            month = Some(found as i8 + 1);
        } else if let (None, Some(found)) = (year, number) {
            year = Some(match found {
                70..=99 => 1900 + found,
                0..=69 => 2000 + found,
                other => other,
            });
        }
    }
    let (hour, minute, second) = time?;
    let moment =
        jiff::civil::DateTime::new(year?, month?, day?, hour, minute, second.min(59), 0).ok()?;
    jiff::tz::TimeZone::UTC.to_timestamp(moment).ok().map(|moment| moment.as_second())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Wed, 21 Oct 2015 07:28:00 GMT
    const RECORDED: i64 = 1_445_412_480;

    fn cookie(text: &str) -> Option<String> {
        let value = HeaderValue::from_str(text).unwrap();
        relative_cookie(&value, RECORDED).map(|value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn cookies_get_the_age_they_had() {
        for date in [
            "Wed, 21 Oct 2015 08:28:00 GMT",
            "Wed, 21-Oct-2015 08:28:00 GMT",
            "Wed, 21-Oct-15 08:28:00 GMT",
            "Wednesday, 21-Oct-15 08:28:00 GMT",
            "Wed Oct 21 08:28:00 2015",
        ] {
            let given = format!("sid=a=b; Path=/; expires={date}; HttpOnly");
            assert_eq!(
                cookie(&given).unwrap(),
                "sid=a=b; Path=/; HttpOnly; Max-Age=3600",
                "{date}"
            );
        }
        assert_eq!(cookie("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT").unwrap(), "a=1; Max-Age=0");
        assert_eq!(cookie("a=1; Max-Age=5; Expires=Wed, 21 Oct 2015 08:28:00 GMT"), None);
        assert_eq!(cookie("expires=Wed, 21 Oct 2015 08:28:00 GMT"), None);
        assert_eq!(cookie("a=1; Expires=soon"), None);
        assert_eq!(cookie("a=1; Path=/"), None);
    }

    #[test]
    fn dates_move_together() {
        let recorded = UNIX_EPOCH + Duration::from_secs(RECORDED as u64);
        let (started, now) =
            (recorded + Duration::from_secs(86_400), recorded + Duration::from_secs(86_460));
        let given = || -> HeaderMap {
            let mut headers = HeaderMap::new();
            headers.insert(header::DATE, HeaderValue::from_static("Wed, 21 Oct 2015 07:28:00 GMT"));
            headers.insert(
                header::LAST_MODIFIED,
                HeaderValue::from_static("Wed, 21 Oct 2015 07:00:00 GMT"),
            );
            headers.insert(header::EXPIRES, HeaderValue::from_static("0"));
            headers.insert(header::AGE, HeaderValue::from_static("7"));
            headers
        };
        let mut headers = given();
        shift(&mut headers, DatePolicy::ShiftedToNow, RECORDED, started, now);
        assert_eq!(headers[header::DATE], "Thu, 22 Oct 2015 07:29:00 GMT");
        assert_eq!(headers[header::LAST_MODIFIED], "Thu, 22 Oct 2015 07:00:00 GMT");
        assert_eq!(
            (&headers[header::EXPIRES], &headers[header::AGE]),
            (&"0".parse().unwrap(), &"7".parse().unwrap())
        );
        let mut headers = given();
        shift(&mut headers, DatePolicy::Recorded, RECORDED, started, now);
        assert_eq!(headers, given());
    }

    proptest! {
        #[test]
        fn any_cookie_is_taken(text in "[ -~]{0,80}", date in "[ -~]{0,40}") {
            let _ = cookie(&format!("{text}; expires={date}"));
            let _ = cookie_date(&date);
        }
    }
}
