//! The browser state of pages at the time of the recording: cookies, `localStorage` and
//! `sessionStorage`. It is stored as `browserState` in the `datapackage.json` of a WACZ, in the
//! format of WARC-Bench's recorder. It is not part of the WACZ specification.
//!
//! ```json
//! {"cookies": [{"name": "theme", "value": "dark", "domain": "shop.test", "path": "/"}],
//!  "localStorage": {"https://shop.test": {"basket": "2"}},
//!  "sessionStorage": {"https://shop.test": {"tab": "x"}}}
//! ```

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Archive;

/// The key in `datapackage.json`.
pub(crate) const KEY: &str = "browserState";

/// Keys and values by origin, such as `https://shop.test`.
pub type Storage = BTreeMap<String, BTreeMap<String, String>>;

/// Cookies, and the web storage of origins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BrowserState {
    /// The cookies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cookies: Vec<RecordedCookie>,
    /// The contents of `localStorage`.
    #[serde(skip_serializing_if = "Storage::is_empty")]
    pub local_storage: Storage,
    /// The contents of `sessionStorage`.
    #[serde(skip_serializing_if = "Storage::is_empty")]
    pub session_storage: Storage,
}

/// A cookie in the form of Chromium's DevTools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedCookie {
    /// Its name.
    pub name: String,
    /// Its value, as sent.
    pub value: String,
    /// Its host. With a leading dot, the subdomains are included.
    pub domain: String,
    /// The other attributes: `path`, `secure`, `httpOnly`, `sameSite`, `expires`.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl BrowserState {
    /// The state in an archive; empty if it has none. Entries of another form are ignored.
    pub fn of(archive: &Archive) -> BrowserState {
        let description =
            archive.package().and_then(|package| package.description().ok().flatten());
        description
            .map_or_else(BrowserState::default, |description| BrowserState::read(&description))
    }

    /// The state in a `datapackage.json`.
    pub(crate) fn read(description: &Value) -> BrowserState {
        let part = |key: &str| description.get(KEY).and_then(|state| state.get(key));
        let storage = |key: &str| -> Storage {
            let origins = part(key).and_then(Value::as_object).into_iter().flatten();
            origins.map(|(origin, entries)| (origin.clone(), each_of(entries))).collect()
        };
        let mut state = BrowserState {
            cookies: part("cookies")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(one)
                .collect(),
            local_storage: storage("localStorage"),
            session_storage: storage("sessionStorage"),
        };
        for storage in [&mut state.local_storage, &mut state.session_storage] {
            storage.retain(|_, entries| !entries.is_empty());
        }
        state
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty() && self.local_storage.is_empty() && self.session_storage.is_empty()
    }

    /// Merges a later state, which takes precedence.
    pub fn add(&mut self, later: BrowserState) {
        for cookie in later.cookies {
            self.cookies.retain(|earlier| !earlier.is_replaced_by(&cookie));
            self.cookies.push(cookie);
        }
        for (own, later) in [
            (&mut self.local_storage, later.local_storage),
            (&mut self.session_storage, later.session_storage),
        ] {
            for (origin, entries) in later {
                own.entry(origin).or_default().extend(entries);
            }
        }
    }
}

impl RecordedCookie {
    /// Whether a browser would keep only one of the two cookies.
    fn is_replaced_by(&self, other: &RecordedCookie) -> bool {
        let path = |cookie: &RecordedCookie| cookie.rest.get("path").cloned();
        self.name == other.name && self.domain == other.domain && path(self) == path(other)
    }
}

fn one<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

/// The entries whose values are strings.
fn each_of(entries: &Value) -> BTreeMap<String, String> {
    let entries = entries.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_has_another_form_is_left_out() {
        let description = json!({ "browserState": {
            "cookies": [{ "name": "a", "value": "1", "domain": "x.test", "path": "/", "size": 2 }, { "name": "b" }, 5],
            "localStorage": { "https://x.test": { "k": "v", "n": 1 }, "https://y.test": {}, "https://z.test": [] },
            "sessionStorage": "none",
        } });
        let state = BrowserState::read(&description);
        assert_eq!(state.cookies.len(), 1);
        let written = serde_json::to_value(&state).expect("plain data");
        assert_eq!(
            written,
            json!({
                "cookies": [{ "name": "a", "value": "1", "domain": "x.test", "path": "/", "size": 2 }],
                "localStorage": { "https://x.test": { "k": "v" } },
            })
        );
        assert!(BrowserState::read(&json!({ "browserState": [] })).is_empty());
    }

    #[test]
    fn the_later_one_counts() {
        let state = |value: &str, path: &str| {
            BrowserState::read(&json!({ "browserState": {
                "cookies": [{ "name": "a", "value": value, "domain": "x.test", "path": path }],
                "localStorage": { "https://x.test": { "k": value } },
            } }))
        };
        let mut sum = state("1", "/");
        sum.add(state("2", "/"));
        assert_eq!(sum, state("2", "/"));
        sum.add(state("3", "/deep"));
        assert_eq!(sum.cookies.len(), 2);
        assert_eq!(sum.local_storage["https://x.test"]["k"], "3");
    }
}
