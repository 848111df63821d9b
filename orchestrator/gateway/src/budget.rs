//! A shared memory budget. Code that wants to buffer bytes reserves a share first. Without a free
//! share it must choose another way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::body::Bytes;

/// A number of bytes shared by all clones.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    limit: usize,
    taken: Arc<AtomicUsize>,
}

/// A reserved part of a budget, released when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Budget,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Budget {
        Budget { limit, taken: Arc::default() }
    }

    /// An empty share, to be grown.
    pub(crate) fn none(&self) -> Share {
        Share { budget: self.clone(), bytes: 0 }
    }

    /// Reserves a number of bytes, if they are available.
    pub(crate) fn take(&self, bytes: usize) -> Option<Share> {
        let mut share = self.none();
        share.grow(bytes).then_some(share)
    }

    /// Reserves a number of bytes even if they are not available. For buffers that are too small to
    /// justify another way.
    pub(crate) fn overdraw(&self, bytes: usize) -> Share {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        Share { budget: self.clone(), bytes }
    }
}

impl Share {
    /// Enlarges the share, if the bytes are available.
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

    /// Ties the share to its bytes. The share is released with the last handle on them.
    pub(crate) fn of(self, bytes: Vec<u8>) -> Bytes {
        if bytes.is_empty() {
            Bytes::new()
        } else {
            Bytes::from_owner(SharedBytes { bytes, _share: self })
        }
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
