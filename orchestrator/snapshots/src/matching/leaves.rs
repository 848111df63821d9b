//! Splits a request into named values, and measures how many values two requests share.

use sha2::{Digest, Sha256};

use super::body::{Family, MAX_STRUCTURED_BODY, boundary, parts};
use super::rules::Rules;
use super::{Payload, ReplayRequest, json, query};

/// The maximum number of separate values; the rest is combined.
const MAX_LEAVES: usize = 4096;

/// Where in the request a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Query,
    Body,
}

/// One named value of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Leaf {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) value: String,
}

/// The similarity of two requests, from 0 to 1: twice the number of equal values divided by the
/// number of all values, in query and body together. 0 if method, host or path differ. Parameters
/// that the rules ignore do not count.
pub fn score(request: &ReplayRequest<'_>, recorded: &ReplayRequest<'_>) -> f64 {
    let (url_a, url_b) = (super::normalised_url(request.url), super::normalised_url(recorded.url));
    if request.method != recorded.method || query::split(&url_a).0 != query::split(&url_b).0 {
        return 0.0;
    }
    let (mut a, mut b) = (leaves(request), leaves(recorded));
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    a.sort_unstable();
    b.sort_unstable();
    2.0 * common(&a, &b) as f64 / (a.len() + b.len()) as f64
}

/// The size of the intersection of two sorted multisets.
fn common(a: &[Leaf], b: &[Leaf]) -> usize {
    let (mut i, mut j, mut same) = (0, 0, 0);
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        match left.cmp(right) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                same += 1;
                i += 1;
                j += 1;
            }
        }
    }
    same
}

/// The values in a request's query and body, without ignored ones.
pub(super) fn leaves(request: &ReplayRequest<'_>) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let whole = query::whole(request.url);
    if let (_, Some(query)) = query::split(&whole) {
        for piece in query::kept_parameters(query, &mut Rules::default()) {
            push(&mut leaves, Place::Query, query::name(&piece), value(&piece));
        }
    }
    body_leaves(request, &mut leaves);
    leaves
}

fn body_leaves(request: &ReplayRequest<'_>, leaves: &mut Vec<Leaf>) {
    let bytes = match request.body {
        Payload::Bytes([]) => return,
        Payload::Bytes(bytes) if bytes.len() <= MAX_STRUCTURED_BODY => bytes,
        other => return push(leaves, Place::Body, "", &hex::encode(other.sha256())),
    };
    match Family::of(request.content_type) {
        Family::Json | Family::Text => {
            if let Some(document) = json::parse(bytes) {
                document.each_leaf(&mut String::new(), &mut |path, text| {
                    push(leaves, Place::Body, path, &String::from_utf8_lossy(text));
                });
                return;
            }
        }
        Family::Form => {
            if let Ok(text) = std::str::from_utf8(bytes) {
                return text
                    .split('&')
                    .for_each(|field| push(leaves, Place::Body, query::name(field), value(field)));
            }
        }
        Family::Multipart => {
            let parts =
                request.content_type.and_then(boundary).and_then(|boundary| parts(bytes, boundary));
            if let Some(parts) = parts {
                return parts.into_iter().for_each(|part| multipart_leaf(part, leaves));
            }
        }
        Family::None | Family::Other(_) => {}
    }
    // Also for a body that is not what its type says.
    push(leaves, Place::Body, "", &hex::encode(request.body.sha256()));
}

fn multipart_leaf(part: &[u8], leaves: &mut Vec<Leaf>) {
    let text = String::from_utf8_lossy(part);
    let (head, value) = text.split_once("\r\n\r\n").unwrap_or(("", &text));
    let name = head
        .split_once("name=\"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(name, _)| name);
    match value.len() {
        0..=1024 => push(leaves, Place::Body, name, value),
        _ => push(leaves, Place::Body, name, &hex::encode(Sha256::digest(value.as_bytes()))),
    }
}

fn push(leaves: &mut Vec<Leaf>, place: Place, name: &str, value: &str) {
    if leaves.len() < MAX_LEAVES {
        leaves.push(Leaf { place, name: name.to_owned(), value: value.to_owned() });
    }
}

fn value(piece: &str) -> &str {
    piece.split_once('=').map_or("", |(_, value)| value)
}
