//! How many instances of each site a run has, and which episode is played next so that none waits
//! for one.
//!
//! A site has as many instances as can be busy at once: one for each worker, but no more than it
//! has episodes. Where that is more than the machine's memory holds, the sites that take most have
//! fewer, and one at least. A worker then takes the first episode whose sites are all free; the
//! order in which episodes are played has no part in what they come to.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;
use results::EpisodeId;
use sites::Site;
use tasks::Task;
use tokio::sync::Notify;

use super::memory;

/// What a worker's browser and gateway take, in bytes.
const WORKER: u64 = 700 << 20;

/// Copies of each site, by name, for so many workers in so much memory.
pub(crate) fn plan_instances(
    sites: &[Site],
    tasks: &[Task],
    repeat: u32,
    workers: usize,
    memory: Option<u64>,
) -> BTreeMap<String, usize> {
    let episodes = |site: &Site| {
        tasks.iter().filter(|task| task.sites.contains(&site.name)).count() * repeat.max(1) as usize
    };
    let mut instances: BTreeMap<String, usize> =
        sites.iter().map(|site| (site.name.clone(), workers.min(episodes(site)).max(1))).collect();
    let Some(memory) = memory.or_else(memory::free) else { return instances };
    loop {
        let taken: u64 = sites.iter().map(|site| site.memory(instances[&site.name])).sum();
        let all = taken.saturating_add(WORKER * workers as u64);
        if all <= memory {
            return instances;
        }
        let largest = sites.iter().filter(|site| instances[&site.name] > 1 && site.memory(1) > 0);
        let Some(largest) = largest.max_by_key(|site| site.memory(instances[&site.name])) else {
            tracing::warn!(
                needed_mb = all >> 20,
                free_mb = memory >> 20,
                "sites and browsers may need more memory than there is; fewer --workers need less"
            );
            return instances;
        };
        if let Some(count) = instances.get_mut(&largest.name) {
            *count -= 1;
        }
    }
}

/// Episodes that are still to be played.
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    /// An episode has ended.
    freed: Notify,
    /// How many episodes may have a site at once; those that are not there, any number.
    instances: BTreeMap<String, usize>,
    workers: usize,
}

struct Inner {
    waiting: VecDeque<EpisodeId>,
    /// How many episodes have each site now.
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

    /// The first episode whose sites are free, which it has until the job is dropped; nothing when
    /// none is left. `sites` says what a task needs.
    pub(crate) async fn next<'a>(
        &'a self,
        sites: impl Fn(&EpisodeId) -> &'a [String],
    ) -> Option<Job<'a>> {
        loop {
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

/// An episode that is played now, and has its sites for itself.
pub(crate) struct Job<'a> {
    queue: &'a Queue,
    pub(crate) id: EpisodeId,
    sites: &'a [String],
}

impl Job<'_> {
    /// Whether somebody may wait for one of its sites, so that they have to be handed back as soon
    /// as they are not needed.
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
    use camino::Utf8Path;
    use scoring::Scorer;
    use tasks::GoalText;

    use super::*;

    fn site(name: &str, memory: &str) -> Site {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join(name);
        std::fs::create_dir(&path).unwrap();
        let text = format!(
            "title: A\nabout: A site.\ndriver: docker\nimage: {name}:1\nport: 80\nhosts: [{name}.test]\nlimits: {{memory: {memory}}}\n\
             ready:\n  home: {{get: /, status: 200}}\nreset: recreate\n"
        );
        std::fs::write(path.join("site.yaml"), text).unwrap();
        Site::load_all(Utf8Path::from_path(folder.path()).unwrap()).unwrap().remove(0)
    }

    fn task(id: &str, sites: &[&str]) -> Task {
        let sites = sites.iter().map(|&site| site.to_owned()).collect();
        Task {
            sites,
            ..Task::new(
                id.to_owned(),
                GoalText::Words("go".to_owned()),
                Scorer::Infeasible(scoring::Infeasible {}),
            )
        }
    }

    #[test]
    fn the_largest_sites_have_fewer_copies_where_memory_is_short() {
        let sites = [site("large", "2G"), site("small", "256M")];
        let tasks = [task("a", &["large", "small"]), task("b", &["large"]), task("c", &["small"])];
        let planned = |workers, memory: u64| -> Vec<usize> {
            plan_instances(&sites, &tasks, 3, workers, Some(memory << 30)).into_values().collect()
        };
        assert_eq!(planned(4, 64), [4, 4]);
        assert_eq!(planned(9, 64), [6, 6]);
        assert_eq!(planned(4, 8), [2, 4]);
        assert_eq!(planned(2, 1), [1, 1]);
    }

    #[tokio::test]
    async fn an_episode_whose_site_is_busy_lets_others_go_first() {
        let tasks = [task("a", &["large"]), task("b", &["large"]), task("c", &["small"])];
        let ids = tasks.iter().map(|task| EpisodeId { task: task.id.clone(), repeat: 1 }).collect();
        let queue = Queue::new(ids, BTreeMap::from([("large".to_owned(), 1)]), 2);
        let of =
            |id: &EpisodeId| tasks.iter().find(|task| task.id == id.task).unwrap().sites.as_slice();
        let (a, c) = (queue.next(of).await.unwrap(), queue.next(of).await.unwrap());
        assert_eq!((a.id.task.as_str(), c.id.task.as_str()), ("a", "c"));
        assert!(a.is_waited_for() && !c.is_waited_for());
        let (b, ()) = tokio::join!(queue.next(of), async { drop(a) });
        assert_eq!(b.unwrap().id.task, "b");
        assert!(queue.next(of).await.is_none());
    }
}
