//! What was found out about the whole recording, remembered.

use std::{collections::HashMap, hash::Hash};

use parking_lot::{Mutex, MutexGuard};

/// Answers to questions about the whole recording that are remembered.
const REMEMBERED: usize = 256;

/// Answers to questions that take a walk through the index; a bounded number of them.
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
