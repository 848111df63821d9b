//! Request matching: decides which recorded request corresponds to a replay request.
//!
//! Two requests are equal at the `exact` level if method, URL (without fragment), content type
//! family and body bytes are equal. They are equal at the `normalised` level if they become equal
//! under the rules of [`Rule::ALL`]; the ledger shows the names of the rules. Any weaker relation
//! is a [`score`], and a score alone never selects a response.
//!
//! Keys are sixteen bytes of SHA-256 over length-delimited parts, so that concatenation cannot make
//! different requests collide. Nothing is truncated: two bodies that differ in their last byte have
//! different keys.

mod body;
mod changing;
mod differences;
mod guess;
mod issued;
pub(crate) mod json;
mod learn;
mod leaves;
mod query;
mod rules;

use std::fmt;

pub use body::{Family, MAX_STRUCTURED_BODY};
pub use changing::{BadRules, ChangingPart, ChangingParts, RequestPattern};
pub use differences::{Difference, differences};
pub use guess::{ISSUED_TOKEN, Issued, RANDOM_TOKEN, TIME_STAMP, guess, issued_by_none, may_guess};
pub use issued::{IssuedTokens, may_be_token};
pub use learn::learn;
pub use leaves::score;
pub use rules::{Rule, Rules};
use sha2::{Digest, Sha256};

/// The parts of a request that matter for matching.
#[derive(Clone, Copy, Debug)]
pub struct ReplayRequest<'a> {
    /// The method, upper case as sent.
    pub method: &'a str,
    /// The absolute URL; a fragment is ignored.
    pub url: &'a str,
    /// The request's `Content-Type`, if it has one.
    pub content_type: Option<&'a str>,
    /// The request's body.
    pub body: Payload<'a>,
}

impl<'a> ReplayRequest<'a> {
    /// A request without a body.
    pub fn bare(method: &'a str, url: &'a str) -> Self {
        ReplayRequest { method, url, content_type: None, body: Payload::Bytes(&[]) }
    }
}

/// A request body: its bytes, or only its digest if it is too large to hold.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// The bytes.
    Bytes(&'a [u8]),
    /// The SHA-256 of a spooled body. Such a body can only match exactly.
    Hashed([u8; 32]),
}

impl Payload<'_> {
    /// The SHA-256 of the bytes.
    pub fn sha256(&self) -> [u8; 32] {
        match self {
            Payload::Bytes(bytes) => Sha256::digest(bytes).into(),
            Payload::Hashed(digest) => *digest,
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Payload::Bytes([]))
    }
}

/// Sixteen bytes that identify a request, a URL or a digest in the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; 16]);

impl Key {
    /// The key of `parts` in the name space `domain`. Keys of different domains never collide.
    pub fn of(domain: &str, parts: &[&[u8]]) -> Key {
        let mut hasher = Sha256::new();
        for part in std::iter::once(&domain.as_bytes()).chain(parts) {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let digest = hasher.finalize();
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        Key(key)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// The key of exactly this request.
pub fn exact(request: &ReplayRequest<'_>) -> Key {
    let url = query::whole(request.url);
    // Without a body, its type means nothing.
    let family =
        if request.body.is_empty() { Family::None } else { Family::of(request.content_type) };
    Key::of(
        "exact",
        &[
            request.method.as_bytes(),
            url.as_bytes(),
            family.name().as_bytes(),
            &body_digest(request),
        ],
    )
}

/// The key shared by requests that differ only in what the rules ignore, and the rules that changed
/// this request.
pub fn normalised(request: &ReplayRequest<'_>) -> (Key, Rules) {
    let mut rules = Rules::default();
    let url = query::normalised(request.url, &mut rules);
    // Without a body, its type means nothing.
    let family =
        if request.body.is_empty() { Family::None } else { Family::of(request.content_type) };
    let method = request.method.as_bytes();
    let key = match body::canonical(request, &mut rules) {
        Some(body) => Key::of(
            "normalised-structured",
            &[method, url.as_bytes(), family.name().as_bytes(), &body],
        ),
        None => Key::of(
            "normalised",
            &[method, url.as_bytes(), family.name().as_bytes(), &body_digest(request)],
        ),
    };
    (key, rules)
}

/// The rules by which `request` and `recorded` differ, given that their normalised keys are equal.
/// Empty if the two are exactly the same.
pub fn rules_between(request: &ReplayRequest<'_>, recorded: &ReplayRequest<'_>) -> Rules {
    let mut between = query::rules_between(request.url, recorded.url);
    if request.body.sha256() != recorded.body.sha256() {
        for side in [request, recorded] {
            let _ = body::canonical(side, &mut between);
        }
    }
    between
}

/// The URL at the level of [`exact`]: parsed and serialised, without fragment.
pub fn whole_url(url: &str) -> String {
    query::whole(url).into_owned()
}

/// The URL at the level of [`normalised`].
pub fn normalised_url(url: &str) -> String {
    query::normalised(url, &mut Rules::default())
}

/// The rules by which two URLs of the same normalised form differ.
pub fn url_rules_between(requested: &str, recorded: &str) -> Rules {
    query::rules_between(requested, recorded)
}

fn body_digest(request: &ReplayRequest<'_>) -> [u8; 32] {
    if request.body.is_empty() { [0; 32] } else { request.body.sha256() }
}

#[cfg(test)]
mod tests;
