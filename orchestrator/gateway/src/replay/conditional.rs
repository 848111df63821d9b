//! Conditional requests: whether the client already has the current response.

use http::{HeaderMap, HeaderValue, header};

use super::dates::{self, DatePolicy};

/// Whether to respond with 304 (RFC 9110, 13.2.2): `If-None-Match` by weak comparison;
/// `If-Modified-Since` only without it. `response` has the dates as they are sent.
pub(super) fn not_modified(request: &HeaderMap, response: &HeaderMap, policy: DatePolicy) -> bool {
    if request.contains_key(header::IF_NONE_MATCH) {
        let own = response.get(header::ETAG).and_then(|tag| tag.to_str().ok());
        return tags(request)
            .any(|tag| tag == "*" || own.is_some_and(|own| opaque(own) == opaque(tag)));
    }
    let date = |headers: &HeaderMap, name| headers.get(name).and_then(dates::parse);
    let (since, modified) =
        (date(request, header::IF_MODIFIED_SINCE), date(response, header::LAST_MODIFIED));
    match (since, modified, policy) {
        (Some(since), Some(modified), DatePolicy::Recorded) => modified <= since,
        // Each capture's dates are shifted by a different amount, so the order of the dates of two
        // captures has no meaning.
        (Some(since), Some(modified), DatePolicy::ShiftedToNow) => modified == since,
        _ => false,
    }
}

/// Whether a range may be served: no `If-Range`, or one that matches by strong comparison.
pub(super) fn range_holds(request: &HeaderMap, response: &HeaderMap) -> bool {
    let Some(wanted) = request.get(header::IF_RANGE) else { return true };
    match wanted.to_str() {
        Ok(tag) if tag.starts_with('"') => response.get(header::ETAG) == Some(wanted),
        Ok(tag) if tag.starts_with("W/") => false,
        Ok(_) => {
            let modified = response.get(header::LAST_MODIFIED).and_then(dates::parse);
            modified.is_some() && dates::parse(wanted) == modified
        }
        Err(_) => false,
    }
}

/// Removes the headers that describe a body, for a response without one.
pub(super) fn without_content(headers: &mut HeaderMap) {
    for name in [
        header::CONTENT_LENGTH,
        header::CONTENT_TYPE,
        header::CONTENT_ENCODING,
        header::CONTENT_LANGUAGE,
        header::CONTENT_RANGE,
    ] {
        headers.remove(name);
    }
}

/// The entity tags of `If-None-Match`. A comma within a tag's quotes is part of it.
fn tags(request: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = request
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value: &HeaderValue| value.to_str().ok());
    values
        .flat_map(|value| {
            let mut quoted = false;
            value.split(move |c: char| {
                quoted ^= c == '"';
                c == ',' && !quoted
            })
        })
        .map(str::trim)
        .filter(|tag| !tag.is_empty())
}

fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &str)]) -> HeaderMap {
        fields.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    const OLD: &str = "Wed, 21 Oct 2015 07:00:00 GMT";
    const NEW: &str = "Wed, 21 Oct 2015 08:00:00 GMT";

    #[test]
    fn validators_are_compared_as_the_standard_says() {
        let check = |request: &[(&'static str, &str)], policy, expect| {
            let response = headers(&[("etag", "\"a,b\""), ("last-modified", OLD)]);
            assert_eq!(not_modified(&headers(request), &response, policy), expect, "{request:?}");
        };
        let recorded = DatePolicy::Recorded;
        check(&[], recorded, false);
        check(&[("if-none-match", "\"a,b\"")], recorded, true);
        check(&[("if-none-match", "\"x\", W/\"a,b\"")], recorded, true);
        check(&[("if-none-match", "*")], recorded, true);
        check(&[("if-none-match", "\"a\"")], recorded, false);
        check(&[("if-none-match", "\"x\""), ("if-modified-since", NEW)], recorded, false);
        check(&[("if-modified-since", OLD)], recorded, true);
        check(&[("if-modified-since", NEW)], recorded, true);
        check(&[("if-modified-since", NEW)], DatePolicy::ShiftedToNow, false);
        check(&[("if-modified-since", OLD)], DatePolicy::ShiftedToNow, true);
        check(&[("if-modified-since", "Wed, 21 Oct 2015 06:59:59 GMT")], recorded, false);
    }

    #[test]
    fn a_range_needs_the_strong_validator_it_names() {
        let response = headers(&[("etag", "\"a\""), ("last-modified", OLD)]);
        for (value, expect) in
            [("\"a\"", true), ("\"b\"", false), ("W/\"a\"", false), (OLD, true), (NEW, false)]
        {
            assert_eq!(range_holds(&headers(&[("if-range", value)]), &response), expect, "{value}");
        }
        assert!(range_holds(&HeaderMap::new(), &response));
        assert!(!range_holds(&headers(&[("if-range", "\"a\"")]), &HeaderMap::new()));
    }
}
