//! A bounded cache of facts about the whole recording.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use parking_lot::{Mutex, MutexGuard};

/// The maximum number of cached facts.
const REMEMBERED: usize = 4096;

/// Facts that need a walk through the index; a bounded number of them.
#[derive(Debug)]
pub(super) struct BoundedCache<K, V = bool>(Mutex<HashMap<K, V>>);

impl<K, V> Default for BoundedCache<K, V> {
    fn default() -> Self {
        BoundedCache(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> BoundedCache<K, V> {
    pub(super) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.lock().get(key).cloned()
    }

    pub(super) fn put(&self, key: K, answer: V) {
        let mut known = self.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, answer);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.0.lock()
    }
}
