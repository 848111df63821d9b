//! The coverage of a suite: which of the pages that its tasks need are in its snapshots, without
//! playing anything.
//!
//! Each task names pages: its [`seeds`]. Around them, links one and two steps
//! away say how far an agent that strays gets.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use serde::Serialize;
use snapshots::index::{IndexError, IndexHit, ReplaySet, site_of};
use snapshots::matching::{ReplayRequest, exact, normalised};
use tasks::{Suite, Task};
use url::Url;

use crate::plan::{Seed, seeds};

/// The largest document whose links are read, in bytes.
const LARGEST: u64 = 16 << 20;
/// How many redirects are followed to a document.
const MAX_REDIRECTS: usize = 5;

/// The coverage of a suite, task by task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    /// The mean over tasks with seeds of the share of their seeds that are recorded; 0 without such
    /// tasks.
    pub seeds: f64,
    /// The share of the links one step around, over all tasks.
    pub one_step: LinkCoverage,
    /// The same two steps around.
    pub two_steps: LinkCoverage,
    /// The tasks, in the order of the suite.
    pub tasks: Vec<TaskCoverage>,
}

/// The coverage of one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskCoverage {
    pub id: String,
    pub seeds: Vec<SeedCoverage>,
    /// The links of its seeds, on the seeds' hosts.
    pub one_step: LinkCoverage,
    /// The links of those pages that are recorded, without the ones before.
    pub two_steps: LinkCoverage,
    /// The states of the sites of its seeds, where something was written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<SiteStates>,
}

/// The recorded states of a site: before its writes, and after each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SiteStates {
    pub site: String,
    /// How many states are recorded.
    pub states: usize,
    /// Those of them in which not all was captured that was captured in others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<LackingState>,
}

/// A state of a site that is recorded in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LackingState {
    /// The last write before it; absent for the state before all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many addresses were captured in it.
    pub captured: usize,
    /// How many were captured in some state.
    pub of: usize,
}

/// Whether a seed is recorded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeedCoverage {
    #[serde(flatten)]
    pub seed: Seed,
    /// Whether a document is recorded for it.
    pub recorded: bool,
}

/// Links at one distance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LinkCoverage {
    /// All of them, each once.
    pub links: usize,
    /// Those that are recorded.
    pub recorded: usize,
}

impl LinkCoverage {
    /// The share that is recorded; `None` without links.
    pub fn share(self) -> Option<f64> {
        (self.links > 0).then(|| self.recorded as f64 / self.links as f64)
    }
}

impl TaskCoverage {
    /// The share of its seeds that are recorded; `None` without seeds.
    pub fn share(&self) -> Option<f64> {
        let recorded = self.seeds.iter().filter(|seed| seed.recorded).count();
        (!self.seeds.is_empty()).then(|| recorded as f64 / self.seeds.len() as f64)
    }
}

/// Computes the coverage of these tasks.
///
/// # Errors
/// When a snapshot cannot be read.
pub fn coverage(suite: &Suite, tasks: &[&Task], set: &ReplaySet) -> Result<Coverage, IndexError> {
    let mut recorded = Recorded { set, links: HashMap::new(), states: HashMap::new() };
    let tasks =
        tasks.iter().map(|task| recorded.task(suite, task)).collect::<Result<Vec<_>, _>>()?;
    let shares: Vec<f64> = tasks.iter().filter_map(TaskCoverage::share).collect();
    let sum = |ring: fn(&TaskCoverage) -> LinkCoverage| {
        tasks.iter().map(ring).fold(LinkCoverage::default(), |all, one| LinkCoverage {
            links: all.links + one.links,
            recorded: all.recorded + one.recorded,
        })
    };
    Ok(Coverage {
        seeds: if shares.is_empty() {
            0.0
        } else {
            shares.iter().sum::<f64>() / shares.len() as f64
        },
        one_step: sum(|task| task.one_step),
        two_steps: sum(|task| task.two_steps),
        tasks,
    })
}

/// The recorded documents, and their links as far as they have been read.
struct Recorded<'a> {
    set: &'a ReplaySet,
    links: HashMap<Url, Option<Rc<Links>>>,
    states: HashMap<String, Option<SiteStates>>,
}

/// The links of a document.
struct Links {
    /// Its address, where redirects end.
    address: Url,
    urls: Vec<Url>,
}

impl Recorded<'_> {
    fn task(&mut self, suite: &Suite, task: &Task) -> Result<TaskCoverage, IndexError> {
        let mut coverage = TaskCoverage {
            id: task.id.clone(),
            seeds: Vec::new(),
            one_step: LinkCoverage::default(),
            two_steps: LinkCoverage::default(),
            states: Vec::new(),
        };
        let (mut pages, mut seen, mut hosts) = (Vec::new(), HashSet::new(), HashSet::new());
        for seed in seeds(task, &suite.world) {
            let Ok(url) = Url::parse(&seed.url) else { continue };
            let links = self.links(&url)?;
            coverage.seeds.push(SeedCoverage { seed, recorded: links.is_some() });
            // A seed may redirect to another host, whose links are near as well.
            for url in
                [Some(&url), links.as_ref().map(|links| &links.address)].into_iter().flatten()
            {
                hosts.extend(url.host_str().map(str::to_owned));
            }
            pages.extend(links);
            seen.insert(url);
        }
        let sites: BTreeSet<String> = hosts.iter().map(|host| site_of(host)).collect();
        for site in sites {
            coverage.states.extend(self.states(site)?);
        }
        for ring in [&mut coverage.one_step, &mut coverage.two_steps] {
            let mut next = Vec::new();
            for link in pages.iter().flat_map(|links| &links.urls) {
                // An agent that leaves the task's hosts has strayed too far.
                let is_near = link.host_str().is_some_and(|host| hosts.contains(host));
                if !is_near || !seen.insert(link.clone()) {
                    continue;
                }
                ring.links += 1;
                if let Some(links) = self.links(link)? {
                    ring.recorded += 1;
                    next.push(links);
                }
            }
            pages = next;
        }
        Ok(coverage)
    }

    /// The states of a site; `None` where nothing was written.
    fn states(&mut self, site: String) -> Result<Option<SiteStates>, IndexError> {
        if let Some(known) = self.states.get(&site) {
            return Ok(known.clone());
        }
        let history = self.set.history(&site)?;
        // A state that was recorded more than once is there as its best recording has it.
        let mut states: BTreeMap<&[u32], (usize, usize)> = BTreeMap::new();
        for visit in history.visits().iter().filter(|visit| !visit.writes().is_empty()) {
            for (made, captured) in visit.captured().iter().enumerate() {
                let best = states.entry(&visit.writes()[..made]).or_insert((0, usize::MAX));
                let lacks = visit.addresses() - captured;
                if lacks < best.1.saturating_sub(best.0) {
                    *best = (*captured, visit.addresses());
                }
            }
        }
        let lacking = states.iter().filter(|(_, (captured, of))| captured < of);
        let lacking = lacking.map(|(writes, (captured, of))| {
            let after = writes.last().and_then(|last| history.name_of(*last));
            LackingState { after, captured: *captured, of: *of }
        });
        let found = (!states.is_empty()).then(|| SiteStates {
            site: site.clone(),
            states: states.len(),
            lacking: lacking.collect(),
        });
        self.states.insert(site, found.clone());
        Ok(found)
    }

    /// The links of the document at this address; `None` if none is recorded.
    fn links(&mut self, url: &Url) -> Result<Option<Rc<Links>>, IndexError> {
        if let Some(known) = self.links.get(url) {
            return Ok(known.clone());
        }
        let links = match self.document(url)? {
            None => None,
            Some((address, hit)) => {
                // What is too large or damaged has no links, but it is there.
                let document = self.set.document(hit, LARGEST).ok().flatten();
                let urls = document
                    .map(|document| {
                        html_scan::links(&document.media_type, &document.bytes, &address)
                    })
                    .unwrap_or_default();
                Some(Rc::new(Links { address, urls }))
            }
        };
        self.links.insert(url.clone(), links.clone());
        Ok(links)
    }

    /// The capture that a browser ends at, and its address.
    fn document(&self, url: &Url) -> Result<Option<(Url, IndexHit)>, IndexError> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let Some(hit) = self.hit(&url)? else { return Ok(None) };
            match hit.status {
                200..=299 => return Ok(Some((url, hit))),
                300..=399 => {
                    let capture = self.set.capture(hit)?;
                    let head = self.set.read(hit.member, capture.response)?.response_head();
                    let location = head.ok().and_then(|head| {
                        let location = head.headers.get_str("location")?.to_owned();
                        url.join(&location).ok()
                    });
                    match location {
                        Some(location) => url = location,
                        None => return Ok(None),
                    }
                }
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The capture of an address, by the rules of replay that need no request around it: as it is,
    /// without what does not matter, and under the other scheme.
    fn hit(&self, url: &Url) -> Result<Option<IndexHit>, IndexError> {
        let mut twin = url.clone();
        // Fails only for schemes that are neither.
        let _ = twin.set_scheme(if url.scheme() == "http" { "https" } else { "http" });
        for url in [url, &twin] {
            let mut bare = url.clone();
            bare.set_fragment(None);
            let request = ReplayRequest::bare("GET", bare.as_str());
            for hits in
                [self.set.exact(&exact(&request))?, self.set.normalised(&normalised(&request).0)?]
            {
                let best =
                    hits.iter().find(|hit| (200..300).contains(&hit.status)).or(hits.first());
                if let Some(hit) = best {
                    return Ok(Some(*hit));
                }
            }
        }
        Ok(None)
    }
}
