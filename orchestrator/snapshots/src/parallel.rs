//! Does the same to many things, on all cores.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use parking_lot::Mutex;

/// How many threads can run at once.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The results of `work` on every item, in the order of the items. `work` receives the item's
/// number, and a function that reports progress. `told` is called on this thread with the number of
/// an item and its progress.
pub(crate) fn each<T: Sync, R: Send, P: Send>(
    items: &[T],
    work: impl Fn(usize, &T, &dyn Fn(P)) -> R + Sync,
    told: &mut dyn FnMut(usize, P),
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let take = |tell: &dyn Fn(usize, P)| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return };
            let result = work(number, item, &|progress| tell(number, progress));
            done.lock().push((number, result));
        }
    };
    let threads = cores().min(items.len());
    if threads > 1 {
        let (sender, reports) = channel();
        thread::scope(|scope| {
            let take = &take;
            for _ in 0..threads {
                let sender = sender.clone();
                // Without another thread, those that run do its share, in the end this one.
                let report = move |number, progress| drop(sender.send((number, progress)));
                let _ = thread::Builder::new().spawn_scoped(scope, move || take(&report));
            }
            drop(sender);
            reports.iter().for_each(|(number, progress)| told(number, progress));
        });
    }
    let told = RefCell::new(told);
    take(&|number, progress| told.borrow_mut()(number, progress));
    let mut done = done.into_inner();
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The same without progress.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    each(items, |_, item, _: &dyn Fn(())| work(item), &mut |_, ()| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_progress_arrives() {
        for count in [0_usize, 1, 2, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let mut told = 0;
            let results = each(
                &items,
                |number, item, tell: &dyn Fn(usize)| {
                    tell(item * 2);
                    number + item
                },
                &mut |number, progress| {
                    assert_eq!(progress, number * 2);
                    told += 1;
                },
            );
            assert_eq!(results, items.iter().map(|n| n * 2).collect::<Vec<_>>());
            assert_eq!(told, count);
        }
    }
}
