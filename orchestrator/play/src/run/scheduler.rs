//! Chooses the episode that is played next, so that none waits for an instance of a site.
//!
//! A worker takes the first episode whose sites are all free; the order in which episodes are
//! played has no part in what they come to.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;
use results::EpisodeId;
use tokio::sync::Notify;

/// Episodes that are still to be played.
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    /// An episode has ended.
    freed: Notify,
    /// The number of episodes that may use a site at once. Sites without a number are not limited.
    instances: BTreeMap<String, usize>,
    workers: usize,
}

struct Inner {
    waiting: VecDeque<EpisodeId>,
    /// The number of episodes that use each site now.
    busy: BTreeMap<String, usize>,
}

impl Queue {
    pub(crate) fn new(
        waiting: VecDeque<EpisodeId>,
        instances: BTreeMap<String, usize>,
        workers: usize,
    ) -> Queue {
        let inner = Mutex::new(Inner { waiting, busy: BTreeMap::new() });
        Queue { inner, freed: Notify::new(), instances, workers }
    }

    /// Returns the first episode whose sites are free. They are taken until the job is dropped.
    /// None when no episode is left. `sites` returns the sites of a task.
    pub(crate) async fn next<'a>(
        &'a self,
        sites: impl Fn(&EpisodeId) -> &'a [String],
    ) -> Option<Job<'a>> {
        loop {
            // Made before the look at the queue, so that a job that ends in between still wakes
            // this one.
            let freed = self.freed.notified();
            {
                let mut inner = self.inner.lock();
                if inner.waiting.is_empty() {
                    return None;
                }
                let Inner { waiting, busy } = &mut *inner;
                let is_free = |site: &String| {
                    self.instances
                        .get(site)
                        .is_none_or(|most| busy.get(site).is_none_or(|count| count < most))
                };
                if let Some(place) = waiting.iter().position(|id| sites(id).iter().all(is_free)) {
                    let id = waiting.remove(place)?;
                    let sites = sites(&id);
                    for site in sites {
                        *busy.entry(site.clone()).or_default() += 1;
                    }
                    return Some(Job { queue: self, id, sites });
                }
            }
            freed.await;
        }
    }

    fn ended(&self, sites: &[String]) {
        let mut inner = self.inner.lock();
        for site in sites {
            if let Some(count) = inner.busy.get_mut(site) {
                *count = count.saturating_sub(1);
            }
        }
        drop(inner);
        self.freed.notify_waiters();
    }
}

/// An episode under way, which holds its sites.
pub(crate) struct Job<'a> {
    queue: &'a Queue,
    pub(crate) id: EpisodeId,
    sites: &'a [String],
}

impl Job<'_> {
    /// Returns whether somebody may wait for one of its sites, so that they have to be handed back
    /// as soon as they are not needed.
    pub(crate) fn is_waited_for(&self) -> bool {
        let Queue { instances, workers, .. } = self.queue;
        self.sites
            .iter()
            .any(|site| instances.get(site).is_some_and(|instances| instances < workers))
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        self.queue.ended(self.sites);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_episode_whose_site_is_busy_lets_others_go_first() {
        let tasks = [("a", "large"), ("b", "large"), ("c", "small")]
            .map(|(task, site)| (task.to_owned(), [site.to_owned()]));
        let ids = tasks.iter().map(|(task, _)| EpisodeId { task: task.clone(), repeat: 1 });
        let queue = Queue::new(ids.collect(), BTreeMap::from([("large".to_owned(), 1)]), 2);
        let of =
            |id: &EpisodeId| tasks.iter().find(|(task, _)| *task == id.task).unwrap().1.as_slice();
        let (a, c) = (queue.next(of).await.unwrap(), queue.next(of).await.unwrap());
        assert_eq!((a.id.task.as_str(), c.id.task.as_str()), ("a", "c"));
        assert!(a.is_waited_for() && !c.is_waited_for());
        let (b, ()) = tokio::join!(queue.next(of), async { drop(a) });
        assert_eq!(b.unwrap().id.task, "b");
        assert!(queue.next(of).await.is_none());
    }
}
