//! Memory that many share: who wants to hold bytes takes a share first, and goes another way when
//! there is none left.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hyper::body::Bytes;

/// So many bytes, for all together. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    limit: usize,
    taken: Arc<AtomicUsize>,
}

/// A part of a budget, given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Budget,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Budget {
        Budget { limit, taken: Arc::default() }
    }

    /// A share of nothing, to grow.
    pub(crate) fn none(&self) -> Share {
        Share { budget: self.clone(), bytes: 0 }
    }

    /// A share of so many bytes, if they are left.
    pub(crate) fn take(&self, bytes: usize) -> Option<Share> {
        let mut share = self.none();
        share.grow(bytes).then_some(share)
    }

    /// A share of so many bytes, whether they are left or not: for what is too small to be worth
    /// another way.
    pub(crate) fn overdraw(&self, bytes: usize) -> Share {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        Share { budget: self.clone(), bytes }
    }
}

impl Share {
    /// Takes more, if it is left.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let Budget { limit, taken } = &self.budget;
        let before = taken.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > *limit {
            taken.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.bytes += bytes;
        true
    }

    /// The bytes that the share is for; it is given back with the last handle on them.
    pub(crate) fn of(self, bytes: Vec<u8>) -> Bytes {
        if bytes.is_empty() { Bytes::new() } else { Bytes::from_owner(SharedBytes { bytes, _share: self }) }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

struct SharedBytes {
    bytes: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_can_be_taken_again() {
        let budget = Budget::new(10);
        let mut share = budget.take(6).unwrap();
        assert!(share.grow(4) && !share.grow(1) && budget.take(1).is_none());
        let bytes = share.of(vec![1; 10]);
        let part = bytes.slice(2..4);
        drop(bytes);
        assert!(budget.take(1).is_none(), "a part of the bytes holds them all");
        assert_eq!(part, [1, 1][..]);
        drop(part);
        let over = (budget.overdraw(20), budget.take(1).is_none());
        assert!(over.1);
        drop(over);
        assert!(budget.take(10).is_some());
    }
}
