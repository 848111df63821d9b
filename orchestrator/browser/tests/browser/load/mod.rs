//! Threads that keep the machine busy, so that a browser gets its answers late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The threads run until this is dropped.
pub(crate) struct Load(Arc<AtomicBool>);

impl Load {
    pub(crate) fn begin(threads: usize) -> Self {
        let busy = Arc::new(AtomicBool::new(true));
        for _ in 0..threads {
            let busy = Arc::clone(&busy);
            thread::spawn(move || while busy.load(Ordering::Relaxed) {});
        }
        Self(busy)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
