//! Content negotiation: whether a client accepts a body's content coding.

use http::{HeaderMap, HeaderValue, header};

/// Whether the client accepts every coding in `encodings` (a `Content-Encoding` value). A client
/// without `Accept-Encoding` is assumed to accept none, because such clients cannot decode.
pub(super) fn accepted(request: &HeaderMap, encodings: &str) -> bool {
    let accept: Vec<&str> = request
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let names = encodings.split(',').map(str::trim).filter(|name| !name.is_empty());
    names
        .map(plain_name)
        .all(|name| name == "identity" || weight(&accept, name).unwrap_or(0.0) > 0.0)
}

/// The weight of a coding: by its name, else by `*`.
fn weight(accept: &[&str], name: &str) -> Option<f32> {
    let items = || accept.iter().flat_map(|value| value.split(','));
    let of = |wanted: &str| {
        items().find_map(|item| {
            let (coding, parameters) = item.split_once(';').unwrap_or((item, ""));
            let quality =
                parameters.trim().strip_prefix("q=").map_or(Some(1.0), |q| q.trim().parse().ok());
            plain_name(coding.trim()).eq_ignore_ascii_case(wanted).then_some(quality.unwrap_or(0.0))
        })
    };
    of(name).or_else(|| of("*"))
}

fn plain_name(coding: &str) -> &str {
    match coding {
        "x-gzip" | "X-GZIP" => "gzip",
        other => other,
    }
}

/// Removes a `Content-Encoding` that the body clearly does not have. Some recorders keep the header
/// but store the decoded body.
pub(super) fn drop_false_claim(headers: &mut HeaderMap, start: &[u8]) {
    let claimed = headers
        .get(header::CONTENT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let magic: &[u8] = match claimed.trim().to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => &[0x1f, 0x8b],
        "zstd" => &[0x28, 0xb5, 0x2f, 0xfd],
        // Other codings have no first bytes of their own.
        _ => return,
    };
    if !start.is_empty() && !start.starts_with(magic) {
        headers.remove(header::CONTENT_ENCODING);
    }
}

/// The codings of a body, or `None`.
pub(super) fn of(headers: &HeaderMap) -> Option<String> {
    let values: Vec<&str> = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    let joined = values.join(",");
    let plain = |name: &str| name.trim().is_empty() || name.trim().eq_ignore_ascii_case("identity");
    (!joined.split(',').all(plain)).then_some(joined)
}

/// Adds `Accept-Encoding` to `Vary`, as required when the response depends on it.
pub(super) fn vary(headers: &mut HeaderMap) {
    let named = headers.get_all(header::VARY).iter().any(|value| {
        value.to_str().is_ok_and(|names| {
            names.split(',').any(|name| {
                name.trim() == "*" || name.trim().eq_ignore_ascii_case("accept-encoding")
            })
        })
    });
    if !named {
        headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn codings_are_taken_by_name_or_star_and_not_at_weight_zero() {
        for (accept, encodings, expect) in [
            (Some("gzip, deflate, br, zstd"), "zstd", true),
            (Some("gzip, deflate"), "br", false),
            (Some("gzip, deflate"), "gzip, deflate", true),
            (Some("identity;q=1, *;q=0"), "gzip", false),
            (Some("*"), "br", true),
            (Some("gzip;q=0, *"), "gzip", false),
            (Some("GZIP"), "x-gzip", true),
            (Some("gzip;q=oops"), "gzip", false),
            (None, "gzip", false),
            (None, "identity", true),
            (Some(""), "", true),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(header::ACCEPT_ENCODING, accept.parse().unwrap());
            }
            assert_eq!(accepted(&headers, encodings), expect, "{accept:?} {encodings}");
        }
    }

    #[test]
    fn a_false_claim_is_dropped() {
        for (claim, start, left) in [
            ("gzip", &b"<html>"[..], false),
            ("gzip", b"\x1f\x8b\x08", true),
            ("br", b"<html>", true),
            ("zstd", b"x", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_ENCODING, claim.parse().unwrap());
            drop_false_claim(&mut headers, start);
            assert_eq!(headers.contains_key(header::CONTENT_ENCODING), left, "{claim}");
        }
    }
}
