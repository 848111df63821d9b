//! A bounded cache of facts about the whole recording.

use std::{collections::HashMap, hash::Hash};

use parking_lot::{Mutex, MutexGuard};

/// The maximum number of cached facts.
const REMEMBERED: usize = 256;

/// Yes/no facts that need a walk through the index; a bounded number of them.
#[derive(Debug)]
pub(super) struct Remembered<K>(Mutex<HashMap<K, bool>>);

impl<K> Default for Remembered<K> {
    fn default() -> Self {
        Remembered(Mutex::default())
    }
}

impl<K: Eq + Hash> Remembered<K> {
    pub(super) fn get(&self, key: &K) -> Option<bool> {
        self.lock().get(key).copied()
    }

    pub(super) fn put(&self, key: K, answer: bool) {
        let mut known = self.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, answer);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, bool>> {
        self.0.lock()
    }
}
