//! The pages that a suite's own data names.

use std::collections::HashSet;

use scoring::solution::OracleStep;
use serde::{Deserialize, Serialize};
use tasks::{Task, WorldSpec};
use url::Url;

/// A page that is visited in any case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seed {
    /// Its address, without a fragment.
    pub url: String,
    /// The key of the suite that names it.
    #[serde(default = "added")]
    pub from: Reason,
}

/// The key of a suite that names a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The episode begins there.
    Start,
    /// It is in the task's `seed_urls`: the benchmark's gold pages and key nodes.
    Author,
    /// The solution goes there.
    Solution,
    /// A person has added it to the plan.
    Plan,
}

fn added() -> Reason {
    Reason::Plan
}

/// The pages that a task names, each once: where it begins, what its author names, and where
/// its solution goes. Search engines are left out where a search over the
/// recorded pages answers in their place.
pub fn seeds(task: &Task, world: &WorldSpec) -> Vec<Seed> {
    let start = task.start_url.iter().chain(&task.tabs).map(|url| (url, Reason::Start));
    let author = task.seed_urls.iter().map(|url| (url, Reason::Author));
    let solution = task.oracle.iter().filter_map(|step| match step {
        OracleStep::Goto(url) => Some((url, Reason::Solution)),
        _ => None,
    });
    let mut seen = HashSet::new();
    let mut seeds = Vec::new();
    for (url, from) in start.chain(author).chain(solution) {
        let Ok(mut url) = Url::parse(url.trim()) else { continue };
        let is_web = matches!(url.scheme(), "http" | "https");
        if !is_web || world.search_pages && is_search_engine(&url) {
            continue;
        }
        url.set_fragment(None);
        if seen.insert(url.clone()) {
            seeds.push(Seed { url: url.into(), from });
        }
    }
    seeds
}

fn is_search_engine(url: &Url) -> bool {
    url.host_str().is_some_and(|host| search::hosts().any(|engine| engine == host))
}
