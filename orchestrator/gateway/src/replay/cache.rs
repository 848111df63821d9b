//! A cache of recently read recorded responses.
//!
//! Inflating a record costs far more than sending it, and pages share their files. The cache is
//! limited by bytes and split into shards to reduce lock contention. Eviction is second chance: an
//! entry that was used since its last inspection survives once more.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::stored::{Content, StoredResponse};

const SHARDS: usize = 16;
/// Overhead in bytes of a response besides its body and headers, and of a header besides its value.
const ANSWER: usize = 512;
const HEADER: usize = 160;

/// The number of the archive in its set, and of the capture in the archive.
pub(super) type Place = (u32, u32);

#[derive(Debug)]
pub(super) struct Cache {
    shards: Vec<Mutex<Shard>>,
    /// The limit of one shard, in bytes.
    limit: usize,
}

#[derive(Debug, Default)]
struct Shard {
    held: HashMap<Place, CacheEntry>,
    /// All keys of `held`; the one inspected longest ago comes first.
    order: VecDeque<Place>,
    bytes: usize,
}

#[derive(Debug)]
struct CacheEntry {
    stored: Arc<StoredResponse>,
    used: AtomicBool,
}

impl Cache {
    /// A cache of about `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Cache {
        Cache { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), limit: bytes / SHARDS }
    }

    pub(super) fn get(&self, place: Place) -> Option<Arc<StoredResponse>> {
        let shard = self.shard(place).lock();
        let held = shard.held.get(&place)?;
        held.used.store(true, Ordering::Relaxed);
        Some(Arc::clone(&held.stored))
    }

    /// Caches a response, unless it would take a large part of a shard.
    pub(super) fn put(&self, place: Place, stored: &Arc<StoredResponse>) {
        let cost = cost(stored);
        if cost > self.limit / 4 {
            return;
        }
        let mut shard = self.shard(place).lock();
        let held = CacheEntry { stored: Arc::clone(stored), used: AtomicBool::new(false) };
        if let Some(before) = shard.held.insert(place, held) {
            shard.bytes -= self::cost(&before.stored);
        } else {
            shard.order.push_back(place);
        }
        shard.bytes += cost;
        // An entry that was used since its last turn gets another one, so that the cache needs no
        // order of uses.
        while shard.bytes > self.limit {
            let Some(oldest) = shard.order.pop_front() else { break };
            match shard.held.get(&oldest) {
                Some(held) if held.used.swap(false, Ordering::Relaxed) => {
                    shard.order.push_back(oldest)
                }
                _ => {
                    if let Some(gone) = shard.held.remove(&oldest) {
                        shard.bytes -= self::cost(&gone.stored);
                    }
                }
            }
        }
    }

    fn shard(&self, (member, capture): Place) -> &Mutex<Shard> {
        // Captures that are requested together often have regular distances.
        let mixed = (capture ^ member.rotate_left(16)).wrapping_mul(0x9e37_79b1);
        &self.shards[(mixed >> 16) as usize % SHARDS]
    }
}

fn cost(stored: &StoredResponse) -> usize {
    let headers: usize = stored.headers.values().map(|value| value.len() + HEADER).sum();
    let body = match &stored.content {
        Content::Held(bytes) => bytes.len(),
        Content::Streamed(_) => 0,
    };
    ANSWER + headers + body
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use http::{HeaderMap, StatusCode};
    use hyper::body::Bytes;

    use super::*;

    fn stored(length: usize) -> Arc<StoredResponse> {
        let content = Content::Held(Bytes::from(vec![0; length]));
        Arc::new(StoredResponse {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            recorded: 0,
            claimed_length: None,
            content,
            is_left: false,
        })
    }

    #[test]
    fn it_stays_within_its_bound_and_keeps_what_is_asked_for() {
        let cache = Cache::new(SHARDS * 100 * (10_000 + ANSWER));
        let places: Vec<Place> = (0..20_000).map(|n| (n % 3, n * 8)).collect();
        for place in &places {
            cache.put(*place, &stored(10_000));
            assert!(cache.get(places[0]).is_some(), "what is asked for all the time stays");
        }
        for shard in &cache.shards {
            let shard = shard.lock();
            assert_eq!(
                (shard.held.len(), shard.order.len(), shard.bytes),
                (100, 100, 100 * (10_000 + ANSWER))
            );
        }
    }

    #[test]
    fn what_is_large_is_not_kept_and_what_is_put_twice_counts_once() {
        let cache = Cache::new(SHARDS * 100_000);
        cache.put((0, 1), &stored(50_000));
        assert!(cache.get((0, 1)).is_none());
        cache.put((0, 2), &stored(1_000));
        cache.put((0, 2), &stored(2_000));
        assert_eq!(cache.shard((0, 2)).lock().bytes, 2_000 + ANSWER);
    }
}
