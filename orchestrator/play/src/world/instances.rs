//! How many instances of each site a run has.
//!
//! A site has as many instances as can be busy at once: one for each worker, but no more than it
//! has episodes. Where that is more than the machine's memory holds, the sites that take most have
//! fewer, and one at least.

use std::collections::BTreeMap;

use sites::Site;
use tasks::Task;

use super::memory;

/// The memory of a worker's browser and gateway, in bytes.
const WORKER: u64 = 700 << 20;

/// Returns the number of instances of each site, by name, for so many workers in so much memory.
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
        // Each site keeps one instance, and sites without containers have no memory to save.
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
}
