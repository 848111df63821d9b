//! Volatile request parts: time stamps, random tokens and counters that differ each time a page is
//! loaded. A recording lists them in rules that people can read and edit:
//!
//! ```yaml
//! rules:
//! - url: https://shop.test/api/stock.json
//!   query: [t]
//! - url: https://shop.test/session/*/events
//!   method: POST
//!   body: [nonce, "events[*].at"]
//! ```
//!
//! Requests that differ only in these parts count as the same. They are answered in recorded order.
//!
//! Two more lists correct what is held for a write of a site, which leads to another state of it:
//!
//! ```yaml
//! writes:
//! - url: https://shop.test/basket/add/*
//!   method: GET
//! not_writes:
//! - url: https://shop.test/api/prices
//! ```

use serde::{Deserialize, Serialize};

use super::leaves::{Leaf, Place, leaves};
use super::{Key, ReplayRequest, query};

/// A request with more values than this matches no rule.
const MAX_VALUES: usize = 4000;

/// The volatile request parts of one snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangingParts {
    /// The rules. If several apply to a request, the first one is used.
    #[serde(default)]
    pub rules: Vec<ChangingPart>,
    /// Requests that are writes, whatever is thought of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<RequestPattern>,
    /// Requests that are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_writes: Vec<RequestPattern>,
}

/// Requests by their address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestPattern {
    /// The URL without query and fragment. `*` as a path segment matches any one.
    pub url: String,
    /// The method; each when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
}

/// The volatile parts of the requests to one URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangingPart {
    /// The URL without query and fragment. `*` as a path segment matches a volatile segment.
    pub url: String,
    /// The method; default `GET`.
    #[serde(default = "get", skip_serializing_if = "is_get")]
    pub method: String,
    /// Names of query parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<String>,
    /// Fields of the body: names in forms, paths in JSON (`user.at`; `[*]` is any index of a list).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<String>,
}

fn get() -> String {
    "GET".to_owned()
}

fn is_get(method: &str) -> bool {
    method == "GET"
}

/// Why a text is not a valid list of rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRules {
    /// It cannot be parsed.
    #[error("read the rules: {0}")]
    Format(String),
    /// A rule that could match nothing, or everything.
    #[error(
        "read rule {number} ({url}): {reason}; a rule names `url: https://host/path`, and a changing part in `query`, \
         `body`, or as `*` in its path"
    )]
    Rule {
        /// Its number, from 1.
        number: usize,
        /// Its URL.
        url: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A request that is none.
    #[error("read `{list}`, number {number} ({url}): {reason}; write `url: https://host/path`")]
    Pattern {
        /// The list.
        list: &'static str,
        /// Its number there, from 1.
        number: usize,
        /// Its URL.
        url: String,
        /// What is wrong.
        reason: &'static str,
    },
}

impl ChangingParts {
    /// Parses rules in the format of a snapshot.
    pub fn from_yaml(text: &str) -> Result<ChangingParts, BadRules> {
        yaml::check_nesting(text).map_err(BadRules::Format)?;
        // An empty file, or one with comments only, has no rules.
        let read: Option<ChangingParts> =
            serde_yaml::from_str(text).map_err(|error| BadRules::Format(error.to_string()))?;
        let mut parts = read.unwrap_or_default();
        for (at, rule) in parts.rules.iter_mut().enumerate() {
            if let Some(reason) = rule.fault() {
                return Err(BadRules::Rule { number: at + 1, url: rule.url.clone(), reason });
            }
            rule.url = super::normalised_url(&rule.url);
        }
        for (list, patterns) in
            [("writes", &mut parts.writes), ("not_writes", &mut parts.not_writes)]
        {
            for (at, pattern) in patterns.iter_mut().enumerate() {
                if let Some(reason) = fault_of_url(&pattern.url) {
                    return Err(BadRules::Pattern {
                        list,
                        number: at + 1,
                        url: pattern.url.clone(),
                        reason,
                    });
                }
                pattern.url = super::normalised_url(&pattern.url);
            }
        }
        Ok(parts)
    }

    /// The text that [`ChangingParts::from_yaml`] reads.
    pub fn to_yaml(&self) -> String {
        let rules = serde_yaml::to_string(self).unwrap_or_default();
        format!(
            "# What changes by itself in requests, and is passed over when they are matched; and which are writes.\n{rules}"
        )
    }

    /// Appends the rules of another snapshot.
    pub fn join(&mut self, other: ChangingParts) {
        for rule in other.rules {
            let same = |own: &&mut ChangingPart| own.url == rule.url && own.method == rule.method;
            match self.rules.iter_mut().find(same) {
                Some(own) => {
                    for (names, more) in [(&mut own.query, rule.query), (&mut own.body, rule.body)]
                    {
                        names.extend(more);
                        names.sort();
                        names.dedup();
                    }
                }
                None => self.rules.push(rule),
            }
        }
        for (own, more) in
            [(&mut self.writes, other.writes), (&mut self.not_writes, other.not_writes)]
        {
            for pattern in more {
                if !own.contains(&pattern) {
                    own.push(pattern);
                }
            }
        }
    }

    /// How many rules there are, with those about writes.
    pub fn len(&self) -> usize {
        self.rules.len() + self.writes.len() + self.not_writes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps the rules for such URLs alone.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.rules.retain(|rule| is_kept(&rule.url));
        for list in [&mut self.writes, &mut self.not_writes] {
            list.retain(|pattern| is_kept(&pattern.url));
        }
    }

    /// Whether a request is a write by these lists; `None` where they do not say.
    pub fn is_write(&self, method: &str, url: &str) -> Option<bool> {
        let is_in = |list: &[RequestPattern]| list.iter().any(|pattern| pattern.fits(method, url));
        match () {
            () if is_in(&self.not_writes) => Some(false),
            () if is_in(&self.writes) => Some(true),
            () => None,
        }
    }
}

impl RequestPattern {
    /// Whether this is one of the requests.
    pub fn fits(&self, method: &str, url: &str) -> bool {
        self.method.as_deref().is_none_or(|own| own.eq_ignore_ascii_case(method))
            && fits_url(&self.url, &super::normalised_url(url))
    }

    /// The host of the requests.
    pub fn host(&self) -> Option<String> {
        url::Url::parse(&self.url).ok()?.host_str().map(str::to_owned)
    }
}

impl ChangingPart {
    fn fault(&self) -> Option<&'static str> {
        if let Some(reason) = fault_of_url(&self.url) {
            return Some(reason);
        }
        let nothing = self.query.is_empty() && self.body.is_empty() && !self.path().contains(&"*");
        nothing.then_some("it names nothing that changes")
    }

    /// The host to which the rule applies.
    pub fn host(&self) -> Option<String> {
        url::Url::parse(&self.url).ok()?.host_str().map(str::to_owned)
    }

    fn path(&self) -> Vec<&str> {
        self.url.split('/').collect()
    }

    /// The key shared by requests that differ only in the parts that this rule names; `None` for
    /// requests to which it does not apply.
    pub fn key(&self, request: &ReplayRequest<'_>) -> Option<Key> {
        if request.method != self.method {
            return None;
        }
        let url = super::normalised_url(request.url);
        if !fits_url(&self.url, &url) {
            return None;
        }
        let mut values: Vec<Leaf> = leaves(request);
        if values.len() > MAX_VALUES {
            return None;
        }
        values.retain(|leaf| !self.names(leaf));
        values.sort();
        let mut parts: Vec<&[u8]> = vec![self.method.as_bytes(), self.url.as_bytes()];
        for leaf in &values {
            let place: &[u8] = if leaf.place == Place::Query { b"query" } else { b"body" };
            parts.extend([place, leaf.name.as_bytes(), leaf.value.as_bytes()]);
        }
        Some(Key::of("changing", &parts))
    }

    fn names(&self, leaf: &Leaf) -> bool {
        match leaf.place {
            Place::Query => self.query.contains(&leaf.name),
            Place::Body => {
                self.body.contains(&leaf.name) || self.body.contains(&anywhere(&leaf.name))
            }
        }
    }

    /// The labels for the ledger, one for each volatile part.
    pub fn labels(&self) -> Vec<String> {
        let path = self.path().contains(&"*").then(|| "changing path".to_owned());
        let query = self.query.iter().map(|name| format!("changing query {name}"));
        let body = self.body.iter().map(|name| format!("changing body {name}"));
        path.into_iter().chain(query).chain(body).collect()
    }
}

/// What is wrong with the URL of a rule.
fn fault_of_url(text: &str) -> Option<&'static str> {
    let Ok(url) = url::Url::parse(text) else { return Some("its URL is none") };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Some("its URL is not of the web");
    }
    let is_longer = url.query().is_some() || url.fragment().is_some();
    is_longer.then_some("its URL has a query or a fragment")
}

/// Whether a URL is that of a pattern, where `*` is any one segment of the path.
fn fits_url(pattern: &str, url: &str) -> bool {
    let segments: Vec<&str> = query::split(url).0.split('/').collect();
    let pattern: Vec<&str> = pattern.split('/').collect();
    // The host is the third element; it is never any one.
    let fits =
        |(at, (own, other)): (usize, (&&str, &&str))| own == other || (at > 2 && *own == "*");
    segments.len() == pattern.len() && pattern.iter().zip(&segments).enumerate().all(fits)
}

/// A JSON path with `[*]` for every list index.
pub(super) fn anywhere(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        match after[digits..].strip_prefix(']') {
            Some(behind) if digits > 0 => {
                out.push_str("[*]");
                rest = behind;
            }
            _ => {
                out.push('[');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::Payload;
    use super::*;

    fn json<'a>(url: &'a str, body: &'a str) -> ReplayRequest<'a> {
        let body = Payload::Bytes(body.as_bytes());
        ReplayRequest { method: "POST", url, content_type: Some("application/json"), body }
    }

    #[test]
    fn requests_meet_that_differ_only_in_what_changes() {
        let text = "rules:\n- url: https://a.test/x.json\n  query: [t]\n\
                    - url: https://a.test/s/*/log\n  method: POST\n  body: [nonce, 'e[*].at']\n";
        let parts = ChangingParts::from_yaml(text).unwrap();
        let [get, post] = &parts.rules[..] else { panic!("{parts:?}") };
        let bare = |url| get.key(&ReplayRequest::bare("GET", url));
        let one = bare("https://a.test/x.json?t=1&q=a");
        assert!(one.is_some());
        assert_eq!(one, bare("https://a.test/x.json?q=a&t=2"));
        assert_ne!(one, bare("https://a.test/x.json?q=b&t=1"));
        assert_eq!(bare("https://b.test/x.json?t=1"), None);
        let posted = |url, body| post.key(&json(url, body));
        let one = posted("https://a.test/s/17/log", r#"{"nonce":"x","e":[{"at":1,"what":"a"}]}"#);
        assert!(one.is_some());
        assert_eq!(
            one,
            posted("https://a.test/s/18/log", r#"{"e":[{"at":2,"what":"a"}],"nonce":"y"}"#)
        );
        assert_ne!(
            one,
            posted("https://a.test/s/18/log", r#"{"e":[{"at":2,"what":"b"}],"nonce":"y"}"#)
        );
        assert_eq!(posted("https://a.test/s/18/log/more", "{}"), None);
        assert_eq!(
            post.labels(),
            ["changing path", "changing body nonce", "changing body e[*].at"]
        );
        assert_eq!(ChangingParts::from_yaml(&parts.to_yaml()).unwrap(), parts);
    }

    #[test]
    fn rules_that_match_nothing_or_anything_are_refused() {
        assert_eq!(ChangingParts::from_yaml("# none\n").unwrap(), ChangingParts::default());
        for text in [
            "rules: [{url: 'https://a.test/x'}]",
            "rules: [{url: 'x', query: [t]}]",
            "rules: [{url: 'https://a.test/x?y', query: [t]}]",
            "rules: [{url: 'https://a.test/x', parameters: [t]}]",
            "changing: []",
            "writes: [{url: 'https://a.test/x?y'}]",
            "not_writes: [{url: 'x', method: POST}]",
        ] {
            assert!(ChangingParts::from_yaml(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_a_write_can_be_said() {
        let text = "writes:\n- url: https://a.test/add/*\n  method: GET\nnot_writes:\n- url: https://A.test/add/none\n";
        let parts = ChangingParts::from_yaml(text).unwrap();
        for (method, url, expected) in [
            ("GET", "https://a.test/add/7?n=2", Some(true)),
            ("POST", "https://a.test/add/7", None),
            ("GET", "https://a.test/add/none", Some(false)),
            ("GET", "https://a.test/add/7/more", None),
        ] {
            assert_eq!(parts.is_write(method, url), expected, "{method} {url}");
        }
        let mut joined = parts.clone();
        joined.join(ChangingParts::from_yaml(&parts.to_yaml()).unwrap());
        assert_eq!(joined, parts);
    }

    #[test]
    fn places_in_lists_are_any_place() {
        assert_eq!(anywhere("a[0].b[12]"), "a[*].b[*]");
        assert_eq!(anywhere("a[].b[x] ["), "a[].b[x] [");
    }
}
