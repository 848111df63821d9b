//! Chooses the captures that are of the state in which an episode has a site: those whose writes
//! before them are the ones that the episode has made. See [`snapshots::index::SiteHistory`].

use std::collections::HashMap;
use std::sync::Arc;

use snapshots::index::{Account, IndexError, IndexHit, ReplaySet, SiteHistory, site_of};
use snapshots::matching::Key;

use super::bounded_cache::BoundedCache;
use super::negotiation;

/// Of how many captures of a request the contents are compared.
const COMPARED: usize = 128;
/// How many writes are named.
const NAMED: usize = 8;

/// What the recording knows of the states of sites.
#[derive(Debug, Default)]
pub(super) struct States {
    histories: BoundedCache<String, Arc<SiteHistory>>,
    by_host: BoundedCache<String, Site>,
    /// By the captures that are compared.
    contents: BoundedCache<Key, Arc<Vec<Option<Key>>>>,
}

/// The site of a host, and what the recording knows of its states.
#[derive(Debug, Clone)]
pub(super) struct Site {
    pub(super) name: Arc<str>,
    pub(super) history: Arc<SiteHistory>,
}

/// Where an episode has a site.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing {
    /// The writes before the first capture that it was given.
    pub(super) from: Vec<u32>,
    /// The writes that it has made since.
    pub(super) made: Vec<u32>,
    /// Those of them that were not recorded. Their numbers are counted down from the greatest.
    unknown: Vec<String>,
}

impl Standing {
    /// Where an episode has a site that was given a capture of this state first.
    pub(crate) fn at(state: &[u32]) -> Standing {
        Standing { from: state.to_vec(), ..Standing::default() }
    }

    /// A recorded write was made.
    pub(crate) fn make(&mut self, number: u32) {
        self.made.push(number);
    }

    /// A write was made that was not recorded. What it does is not known.
    pub(crate) fn make_unknown(&mut self, name: String) {
        let number = self.unknown.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.unknown.push(name);
            self.unknown.len() - 1
        });
        let number = u32::MAX - number as u32;
        // No state is known from then on, however often it is made.
        if !self.made.contains(&number) {
            self.made.push(number);
        }
    }

    fn unknown_name(&self, number: u32) -> Option<&String> {
        self.unknown.get((u32::MAX - number) as usize)
    }
}

/// The captures that an episode may be given.
#[derive(Debug)]
pub(super) struct StateChoice {
    /// Their places in recorded order. There is at least one.
    pub(super) members: Vec<usize>,
    /// How their state differs from that of the episode, if it does.
    pub(super) differs: Option<Differs>,
}

/// How the state of a capture differs from that of an episode: by the writes that were recorded
/// before it and not made, and by those that were made. If there are none, by their order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Differs {
    pub(super) missing: Vec<String>,
    pub(super) extra: Vec<String>,
}

impl States {
    /// The site of a host.
    pub(super) fn site(&self, set: &ReplaySet, host: &str) -> Result<Site, IndexError> {
        if let Some(known) = self.by_host.get(host) {
            return Ok(known);
        }
        let name = site_of(host);
        let history = self.history(set, &name)?;
        let site = Site { name: name.into(), history };
        self.by_host.put(host.to_owned(), site.clone());
        Ok(site)
    }

    /// The writes of a site.
    fn history(&self, set: &ReplaySet, site: &str) -> Result<Arc<SiteHistory>, IndexError> {
        if let Some(known) = self.histories.get(site) {
            return Ok(known);
        }
        let history = Arc::new(set.history(site)?);
        self.histories.put(site.to_owned(), Arc::clone(&history));
        Ok(history)
    }

    /// Chooses among captures by the state of their site; `hits` are the captures at `members`.
    pub(super) fn choose(
        &self,
        set: &ReplaySet,
        history: &SiteHistory,
        standing: &Standing,
        (members, hits): (Vec<usize>, Vec<IndexHit>),
    ) -> Result<StateChoice, IndexError> {
        let states = hits.iter().map(|hit| set.writes_before(history, *hit));
        let states: Vec<&[u32]> = states.collect::<Result<_, _>>()?;
        let pairs = match hits.len() > 2 && !standing.made.is_empty() {
            true => {
                let mut pairs = equal_pairs(&states, &self.contents(set, &hits)?);
                pairs.retain(|(first, second)| !history.hide(&second[first.len()..]));
                pairs
            }
            false => Vec::new(),
        };
        let present = history.after(&standing.from, &standing.made, &pairs);
        let right = history.equal_to(&present, &pairs);
        let of = |wanted: &dyn Fn(&[u32]) -> bool| -> Vec<usize> {
            let own = members.iter().zip(&states).filter(|(_, state)| wanted(state));
            own.map(|(member, _)| *member).collect()
        };
        let found = of(&|state| right.contains(&state));
        if !found.is_empty() {
            return Ok(StateChoice { members: found, differs: None });
        }
        let own = history.account(&present);
        let near = |state: &&&[u32]| distance((&present, &own), (state, &history.account(state)));
        let Some(nearest) = states.iter().min_by_key(near).copied() else {
            return Ok(StateChoice { members, differs: None });
        };
        // What is named is what the episode has done, not what is equal to it.
        let done = [standing.from.as_slice(), &standing.made].concat();
        let (missing, extra) = difference(&done, nearest);
        let name = |numbers: Vec<u32>| -> Vec<String> {
            let name = |number: &u32| {
                history.name_of(*number).or_else(|| standing.unknown_name(*number).cloned())
            };
            numbers.iter().take(NAMED).filter_map(name).collect()
        };
        let differs = Differs { missing: name(missing), extra: name(extra) };
        Ok(StateChoice { members: of(&|state| state == nearest), differs: Some(differs) })
    }

    fn contents(
        &self,
        set: &ReplaySet,
        hits: &[IndexHit],
    ) -> Result<Arc<Vec<Option<Key>>>, IndexError> {
        let key = negotiation::key(hits);
        if let Some(known) = self.contents.get(&key) {
            return Ok(known);
        }
        let marks = hits.iter().take(COMPARED).map(|hit| set.content_mark(*hit));
        let marks = Arc::new(marks.collect::<Result<Vec<_>, _>>()?);
        self.contents.put(key, Arc::clone(&marks));
        Ok(marks)
    }
}

/// The pairs of states of which the captures of one request show that they are equal: what differed
/// between them is again as it was. None if the contents change without a write.
fn equal_pairs<'a>(states: &[&'a [u32]], contents: &[Option<Key>]) -> Vec<(&'a [u32], &'a [u32])> {
    let mut of_state: HashMap<&[u32], Option<Key>> = HashMap::new();
    let mut pairs = Vec::new();
    let all: Vec<(&'a [u32], Option<Key>)> =
        states.iter().copied().zip(contents.iter().copied()).collect();
    for (state, content) in &all {
        if content.is_none()
            || of_state.insert(state, *content).is_some_and(|known| known != *content)
        {
            return Vec::new();
        }
    }
    for (at, (first, content)) in all.iter().enumerate() {
        let mut has_differed = false;
        for (second, other) in all.iter().skip(at + 1).filter(|(state, _)| state.starts_with(first))
        {
            match content == other {
                true if has_differed => pairs.push((*first, *second)),
                true => {}
                false => has_differed = true,
            }
        }
    }
    pairs
}

/// How far the state of a capture is from the present one: whether somebody else is logged in, then
/// by how much of what was done it differs. Of two as far, one with the last write is nearer: what
/// that did is what is looked for.
fn distance(
    (present, own): (&[u32], &Account),
    (state, account): (&[u32], &Account),
) -> (bool, usize, bool, usize, usize) {
    let (missing, extra) = difference(&own.writes, &account.writes);
    let lacks_last = present.last().is_some_and(|last| !state.contains(last));
    let common = present.iter().zip(state).take_while(|(a, b)| a == b).count();
    let more = present.len().abs_diff(state.len());
    (own.login != account.login, missing.len() + extra.len(), lacks_last, more, usize::MAX - common)
}

/// What a state has besides the present one, and what it lacks.
fn difference<T: Copy + PartialEq>(present: &[T], state: &[T]) -> (Vec<T>, Vec<T>) {
    // Recordings are long, and most of what was done is the same.
    let common = present.iter().zip(state).take_while(|(a, b)| a == b).count();
    let mut extra = present[common..].to_vec();
    let mut missing = Vec::new();
    for write in &state[common..] {
        match extra.iter().position(|made| made == write) {
            Some(at) => drop(extra.remove(at)),
            None => missing.push(*write),
        }
    }
    (missing, extra)
}
