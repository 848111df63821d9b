//! The states of a site in a recording.
//!
//! A recording of a site is one or more *visits*, each from a state without writes on. Our recorder
//! names the visit of each request. Elsewhere, one begins where a page was asked for without
//! cookies that were there before. A capture is of the state after the writes before it in its
//! visit:
//!
//! ```text
//! visit   GET /   POST /add   GET /cart   POST /remove   GET /cart
//! state   []      []          [add]       [add]          [add, remove]
//! ```
//!
//! Two states of a visit count as equal if what was captured in both is equal, and something that
//! differed between them is again as it was: the recording shows that the writes between them undo
//! each other.

mod account;
mod actions;
mod build;
mod evidence;
mod messages;

use std::collections::HashMap;

pub use account::{Account, SessionChange};
pub use evidence::AUTOMATIC_WITHIN;

use super::effects::{Effect, WriteReason, action_of};
use super::{IndexError, IndexHit, ReplaySet};

/// A write of a site. Requests that differ only in what rules ignore, or in tokens and time stamps,
/// are the same write.
#[derive(Clone, Debug)]
pub struct SiteWrite {
    /// Its method.
    pub method: String,
    /// Its URL.
    pub url: String,
    /// Why it counts as a write.
    pub effect: Effect,
    /// What it does to who is logged in.
    pub session_change: SessionChange,
}

impl SiteWrite {
    /// Whether it is a `GET` that does something.
    fn is_action(&self) -> bool {
        self.effect == Effect::Write(WriteReason::Action)
    }

    /// Method and address without what differs from one such write to the next.
    fn endpoint(&self) -> String {
        endpoint(&self.method, &self.url, self.effect)
    }
}

/// Method and address without the query. Of a `GET`, what it does.
fn endpoint(method: &str, url: &str, effect: Effect) -> String {
    match effect {
        Effect::Write(WriteReason::Action) => format!("{method} {}", action_of(url)),
        _ => format!("{method} {}", url.split('?').next().unwrap_or_default()),
    }
}

/// The writes of a site, and the visits in which they were recorded.
#[derive(Debug, Default)]
pub struct SiteHistory {
    writes: Vec<SiteWrite>,
    /// For each, which of how many it is that were sent to its address.
    bodies: Vec<(usize, usize)>,
    queries: Vec<String>,
    numbers: HashMap<(u32, u32), u32>,
    /// By archive, capture and line: the messages of WebSockets that are writes.
    messages: HashMap<(u32, u32, u32), u32>,
    visits: Vec<Visit>,
    /// The places of the visits of an archive with one number.
    places: HashMap<(u32, u32), Vec<usize>>,
    is_numbered: bool,
}

/// One recording of a site, from a state without writes on.
#[derive(Debug, Default)]
pub struct Visit {
    member: u32,
    /// Its number in that archive; 0 if it has none.
    number: u32,
    /// When it begins, and with which capture.
    from: (u64, u32),
    /// Its writes by time and capture, and the number of each among those of the site.
    places: Vec<(u64, u32)>,
    writes: Vec<u32>,
    /// Pairs of equal states, each as how many writes were made.
    equal: Vec<(usize, usize)>,
    /// For each write, the addresses of which the content was another one after it.
    changed: Vec<Vec<ChangedAddress>>,
    /// For each state, how many of these addresses were captured in it.
    captured: Vec<usize>,
    /// The addresses of the visit that were captured more than once.
    addresses: usize,
}

/// An address that was captured before and after a write, with another content after it.
#[derive(Clone, Debug)]
pub struct ChangedAddress {
    /// Its URL.
    pub url: String,
    /// A capture before the write.
    pub before: IndexHit,
    /// A capture after it.
    pub after: IndexHit,
}

impl Visit {
    /// Its writes in order, as numbers of [`SiteHistory::writes`].
    pub fn writes(&self) -> &[u32] {
        &self.writes
    }

    /// When each of them was recorded, in milliseconds since 1970.
    pub fn times(&self) -> impl Iterator<Item = u64> {
        self.places.iter().map(|(at, _)| *at)
    }

    /// For each of them, the addresses that it changed.
    pub fn changed(&self) -> &[Vec<ChangedAddress>] {
        &self.changed
    }

    /// How many addresses were captured more than once.
    pub fn addresses(&self) -> usize {
        self.addresses
    }

    /// How many of these were captured in each state: before the first write, after it, and so on.
    pub fn captured(&self) -> &[usize] {
        &self.captured
    }

    /// Pairs of equal states, each as how many of the writes were made.
    pub fn equal(&self) -> &[(usize, usize)] {
        &self.equal
    }
}

impl SiteHistory {
    /// The different writes.
    pub fn writes(&self) -> &[SiteWrite] {
        &self.writes
    }

    /// The name of a write, for people: its method and URL, and the number of its body where
    /// several were sent to this address. `None` for a number that no write has.
    pub fn name_of(&self, number: u32) -> Option<String> {
        let write = self.writes.get(number as usize)?;
        let name = format!("{} {}", write.method, write.url);
        Some(match self.bodies.get(number as usize) {
            Some((place, all)) if *all > 1 => format!("{name} (body {place} of {all})"),
            _ => name,
        })
    }

    /// The addresses of requests that were sent like writes, of which the recording shows that
    /// they only ask.
    pub fn queries(&self) -> &[String] {
        &self.queries
    }

    /// The visits, in no particular order.
    pub fn visits(&self) -> &[Visit] {
        &self.visits
    }

    /// Whether a `GET` of this address does what others have done that are writes.
    pub fn acts(&self, url: &str) -> bool {
        let action = action_of(url);
        let mut known = self.writes.iter().filter(|write| write.is_action());
        known.any(|write| action_of(&write.url) == action)
    }

    /// Whether no write of the site was recorded.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Prepares what finds the visit of a capture.
    fn index(&mut self) {
        let mut all: HashMap<(&str, &str), usize> = HashMap::new();
        let mut bodies: Vec<(usize, usize)> = Vec::new();
        for write in &self.writes {
            let count = all.entry((&write.method, &write.url)).or_default();
            *count += 1;
            bodies.push((*count, 0));
        }
        for (write, (_, of)) in self.writes.iter().zip(&mut bodies) {
            *of = all.get(&(write.method.as_str(), write.url.as_str())).copied().unwrap_or(1);
        }
        self.bodies = bodies;
        self.is_numbered = self.visits.iter().any(|visit| visit.number != 0);
        for (place, visit) in self.visits.iter().enumerate() {
            self.places.entry((visit.member, visit.number)).or_default().push(place);
        }
    }

    /// The number of the write that a capture is; `None` if it is none.
    pub fn write_of(&self, hit: IndexHit) -> Option<u32> {
        self.numbers.get(&(hit.member, hit.capture)).copied()
    }

    /// The number of the write that a message of a WebSocket is; `None` if it is none. `line` is
    /// its line in the capture.
    pub fn message_of(&self, hit: IndexHit, line: u32) -> Option<u32> {
        self.messages.get(&(hit.member, hit.capture, line)).copied()
    }

    /// The writes before a capture in its visit, which has this number.
    fn before(&self, hit: IndexHit, number: u32) -> &[u32] {
        self.place_of(hit, number).map_or(&[], |(visit, count)| &self.visits[visit].writes[..count])
    }

    /// Whether what is shown may be as it was before these writes without their being undone: one
    /// of them is a log-out, and more was done than a log-in before it.
    pub fn hide(&self, writes: &[u32]) -> bool {
        let hides = |write: &u32| {
            self.writes
                .get(*write as usize)
                .is_some_and(|write| write.session_change == SessionChange::LogOut)
        };
        writes.len() > 2 && writes.iter().any(hides)
    }

    /// The states equal to one, itself the first. `more` has pairs of others that are equal.
    pub fn equal_to<'a>(
        &'a self,
        state: &'a [u32],
        more: &[(&'a [u32], &'a [u32])],
    ) -> Vec<&'a [u32]> {
        let mut found = vec![state];
        let mut at = 0;
        // Equality carries over: what is equal to one that was found is equal to the first.
        while let Some(known) = found.get(at).copied() {
            let pairs = self.visits.iter().flat_map(|visit| {
                visit
                    .equal
                    .iter()
                    .map(|(first, second)| (&visit.writes[..*first], &visit.writes[..*second]))
            });
            for (first, second) in pairs.chain(more.iter().copied()) {
                for (one, other) in [(first, second), (second, first)] {
                    if one == known && !found.contains(&other) {
                        found.push(other);
                    }
                }
            }
            at += 1;
        }
        found
    }

    /// The state that writes lead to, one after the other, as far as it was recorded: a recorded
    /// write leads on from the state in which it was recorded, and from those equal to it.
    pub fn after(&self, from: &[u32], made: &[u32], more: &[(&[u32], &[u32])]) -> Vec<u32> {
        made.iter().fold(from.to_vec(), |state, write| {
            let leads_on = |known: &&[u32]| {
                self.visits.iter().any(|visit| {
                    visit.writes.get(known.len()) == Some(write) && visit.writes.starts_with(known)
                })
            };
            let known = self.equal_to(&state, more).into_iter().find(leads_on);
            [known.unwrap_or(&state), &[*write]].concat()
        })
    }
}

impl SiteHistory {
    /// The place of a capture's visit, which has this number, and how many writes were before it.
    fn place_of(&self, hit: IndexHit, number: u32) -> Option<(usize, usize)> {
        let at = (hit.at_millis, hit.capture);
        let own = self.places.get(&(hit.member, number)).into_iter().flatten();
        let own =
            own.map(|place| (*place, &self.visits[*place])).filter(|(_, visit)| visit.from <= at);
        let (place, visit) = own.max_by_key(|(_, visit)| visit.from)?;
        Some((place, visit.places.partition_point(|place| *place < at)))
    }
}

impl ReplaySet {
    /// The writes before a capture in its visit.
    ///
    /// # Errors
    /// When the disk does not give it.
    pub fn writes_before<'a>(
        &self,
        history: &'a SiteHistory,
        hit: IndexHit,
    ) -> Result<&'a [u32], IndexError> {
        Ok(history.before(hit, self.visit_number(history, hit)?))
    }

    /// The number of the visit of a capture; 0 where nothing has one.
    fn visit_number(&self, history: &SiteHistory, hit: IndexHit) -> Result<u32, IndexError> {
        // Without numbers it is not needed.
        if history.is_numbered { Ok(self.capture(hit)?.visit) } else { Ok(0) }
    }
}

#[cfg(test)]
mod tests;
