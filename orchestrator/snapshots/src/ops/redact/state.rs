//! Redacts the browser state: cookies by name, storage entries by key and by JSON fields inside
//! them, and values wherever they occur.

use std::collections::BTreeSet;

use super::hidden::bare;
use super::message::{Cleaner, keep};
use super::{fields, json};
use crate::BrowserState;

impl Cleaner {
    /// Adds the values under the given names to `found`.
    pub(super) fn find_in_state(&self, state: &BrowserState, found: &mut BTreeSet<Vec<u8>>) {
        for cookie in &state.cookies {
            if self.named.cookies.has(cookie.name.as_bytes()) {
                found.insert(cookie.value.clone().into_bytes());
            }
        }
        let storages = state.local_storage.values().chain(state.session_storage.values());
        for (key, value) in storages.flatten() {
            if self.named.json.has(key.as_bytes()) {
                found.insert(value.clone().into_bytes());
            }
            keep(json::in_json(value.as_bytes(), &self.named.json), found);
        }
    }

    /// The redacted state, and the number of replacements.
    pub(in crate::ops) fn state(&self, mut state: BrowserState) -> (BrowserState, u64) {
        let mut count = 0;
        for cookie in &mut state.cookies {
            let hidden = self.hidden.cookies.has(cookie.name.as_bytes());
            cookie.value = self.kept(&cookie.value, hidden, &mut count);
        }
        for storage in [&mut state.local_storage, &mut state.session_storage] {
            for (key, value) in storage.values_mut().flatten() {
                let hidden = self.hidden.sent_json.has(key.as_bytes());
                *value = self.kept(value, hidden, &mut count);
            }
        }
        (state, count)
    }

    /// What [`Self::state`] hides in an entry of a storage.
    pub(in crate::ops) fn hidden_in_storage(&self, key: &str, value: &str) -> Vec<Vec<u8>> {
        bare(self.in_kept(value, self.hidden.sent_json.has(key.as_bytes())))
    }

    /// The values to be hidden in a stored value, which may be one as a whole.
    fn in_kept(&self, value: &str, whole: bool) -> Vec<fields::Value> {
        let bytes = value.as_bytes();
        if whole && !bytes.is_empty() {
            return vec![fields::Value { range: 0..bytes.len(), value: bytes.to_vec(), quote: "" }];
        }
        json::in_json(bytes, &self.hidden.sent_json)
    }

    /// A stored value without secrets.
    fn kept(&self, value: &str, hidden: bool, count: &mut u64) -> String {
        let clean = self.values(value.as_bytes(), self.in_kept(value, hidden), count);
        String::from_utf8_lossy(&self.literals(&clean, count)).into_owned()
    }
}
