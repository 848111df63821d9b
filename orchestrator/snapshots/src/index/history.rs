//! The states of a site in a recording.
//!
//! A recording of a site is one or more *visits*, each from a state without writes on. A capture is
//! of the state after the writes before it:
//!
//! ```text
//! visit   GET /   POST /add   GET /cart   POST /remove   GET /cart
//! state   []      []          [add]       [add]          [add, remove]
//! ```
//!
//! Two states of a visit count as equal if what was captured in both is equal, and something that
//! differed between them is again as it was: the recording shows that the writes between them undo
//! each other.

use std::collections::{BTreeMap, HashMap};

use super::effects::{self, Effect, RequestSigns, ResponseSigns, SentBody};
use super::row::Entry;
use super::turns::{self, Turn};
use super::{CaptureKind, IndexError, IndexHit, ReplaySet};
use crate::matching::{self, Key};

/// Of how many captures of a host it is examined whether states are equal.
const EXAMINED: usize = 1 << 12;
/// The most writes of a visit of which states are compared.
const COMPARED: usize = 128;
/// The longest block whose bytes are compared, where a record names no digest.
const LONGEST: u64 = 1 << 20;

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
    /// Whether its answer takes away a cookie of a log-in: it hides what was done before.
    pub hides: bool,
}

/// The writes of a site, and the visits in which they were recorded.
#[derive(Debug, Default)]
pub struct SiteHistory {
    writes: Vec<SiteWrite>,
    numbers: HashMap<(u32, u32), u32>,
    visits: Vec<Visit>,
}

/// One recording of a site, from a state without writes on.
#[derive(Debug, Default)]
pub struct Visit {
    member: u32,
    /// When it begins, and with which capture.
    from: (u64, u32),
    /// Its writes by time and capture, and the number of each among those of the site.
    places: Vec<(u64, u32)>,
    writes: Vec<u32>,
    /// Pairs of equal states, each as how many writes were made.
    equal: Vec<(usize, usize)>,
}

impl Visit {
    /// Its writes in order, as numbers of [`SiteHistory::writes`].
    pub fn writes(&self) -> &[u32] {
        &self.writes
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

    /// The visits, in no particular order.
    pub fn visits(&self) -> &[Visit] {
        &self.visits
    }

    /// Whether no write of the site was recorded.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// The number of the write that a capture is; `None` if it is none.
    pub fn write_of(&self, hit: IndexHit) -> Option<u32> {
        self.numbers.get(&(hit.member, hit.capture)).copied()
    }

    /// The writes before a capture in its visit.
    pub fn before(&self, hit: IndexHit) -> &[u32] {
        let at = (hit.at_millis, hit.capture);
        let own = self.visits.iter().filter(|visit| visit.member == hit.member && visit.from <= at);
        own.max_by_key(|visit| visit.from).map_or(&[], |visit| {
            let count = visit.places.partition_point(|place| *place < at);
            &visit.writes[..count]
        })
    }

    /// Whether what is shown may be as it was before these writes without their being undone: one of
    /// them is a log-out, and more was done than a log-in before it.
    pub fn hide(&self, writes: &[u32]) -> bool {
        let hides = |write: &u32| self.writes.get(*write as usize).is_some_and(|write| write.hides);
        writes.len() > 2 && writes.iter().any(hides)
    }

    /// The states equal to one, itself the first. `more` has pairs of others that are equal.
    pub fn equal_to<'a>(&'a self, state: &'a [u32], more: &[(&'a [u32], &'a [u32])]) -> Vec<&'a [u32]> {
        let mut found = vec![state];
        let mut at = 0;
        while let Some(known) = found.get(at).copied() {
            let pairs = self.visits.iter().flat_map(|visit| {
                visit.equal.iter().map(|(first, second)| (&visit.writes[..*first], &visit.writes[..*second]))
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

impl ReplaySet {
    /// The writes of a site, with the states that they make. Reads each of them.
    ///
    /// # Errors
    /// When the disk or the server does not give them.
    pub fn history(&self, site: &str) -> Result<SiteHistory, IndexError> {
        let mut history = SiteHistory::default();
        let mut known = Vec::new();
        for (member, own) in self.numbered() {
            let turns = own.index.turns(&turns::key_of_site(site))?;
            if turns.len() > turns::MOST {
                tracing::warn!(site, "a site with too many writes to tell its states apart");
                return Ok(SiteHistory::default());
            }
            self.add_turns(member, &turns, &mut known, &mut history)?;
        }
        if history.visits.iter().any(|visit| visit.writes.len() > 1) {
            self.compare_states(site, &mut history)?;
        }
        Ok(history)
    }

    fn add_turns(
        &self,
        member: u32,
        turns: &[Entry],
        known: &mut Vec<KnownWrite>,
        history: &mut SiteHistory,
    ) -> Result<(), IndexError> {
        let mut visit = Visit { member, ..Visit::default() };
        let (mut had_cookies, mut was_cleared) = (false, false);
        for entry in turns {
            let place = (entry.at_millis, entry.capture);
            if Turn::of(entry) == Some(Turn::Start) {
                // Without cookies after a log-out, a visit goes on.
                if std::mem::take(&mut had_cookies) && !was_cleared {
                    let next = Visit { member, from: place, ..Visit::default() };
                    history.visits.push(std::mem::replace(&mut visit, next));
                }
                continue;
            }
            let hit = IndexHit { member, capture: entry.capture, at_millis: entry.at_millis, status: 0 };
            let write = self.read_write(hit)?;
            had_cookies |= write.has_cookies;
            was_cleared = write.clears;
            let number = match known.iter().position(|other| write.is_same(other)) {
                Some(number) => number,
                None => {
                    let KnownWrite { method, url, effect, clears, .. } = &write;
                    let (method, url, effect, hides) = (method.clone(), url.clone(), *effect, *clears);
                    history.writes.push(SiteWrite { method, url, effect, hides });
                    known.push(write);
                    known.len() - 1
                }
            };
            history.numbers.insert((member, entry.capture), number as u32);
            visit.places.push(place);
            visit.writes.push(number as u32);
        }
        history.visits.push(visit);
        Ok(())
    }

    fn read_write(&self, hit: IndexHit) -> Result<KnownWrite, IndexError> {
        let capture = self.capture(hit)?;
        let (method, url) = self.request_line(hit, &capture)?;
        let parts = self.request(hit, &capture)?;
        let response = match capture.kind {
            CaptureKind::Resource | CaptureKind::Socket => None,
            _ => self.read(hit.member, capture.response)?.response_head().ok(),
        };
        let signs = response.as_ref().map(|head| ResponseSigns::of(&head.headers)).unwrap_or_default();
        let Some(parts) = parts else {
            let (key, effect) = (Key::of("write", &[method.as_bytes(), url.as_bytes()]), Effect::None);
            return Ok(KnownWrite {
                key,
                method,
                url,
                effect,
                parts: None,
                has_cookies: false,
                clears: false,
                at: 0,
            });
        };
        let request = parts.request_at(&url);
        let rule = self.changing_parts().rules.iter().find_map(|rule| rule.key(&request));
        let key = rule.unwrap_or_else(|| matching::normalised(&request).0);
        let sent = SentBody { content_type: parts.content_type.as_deref(), bytes: parts.body.as_deref() };
        let asked = RequestSigns::of(&method, &url, &parts.headers, &sent);
        let effect = effects::judge(&asked, capture.status, &signs);
        let set = response.is_some_and(|head| head.headers.contains("Set-Cookie"));
        let has_cookies = set || parts.headers.contains("Cookie");
        let (clears, at) = (signs.clears(), capture.at_millis);
        Ok(KnownWrite { key, method, url, effect, parts: Some(parts), has_cookies, clears, at })
    }

    /// Finds the equal states of each visit.
    fn compare_states(&self, site: &str, history: &mut SiteHistory) -> Result<(), IndexError> {
        // What was captured more than once: by visit and address, the contents in each state.
        let mut contents: BTreeMap<(usize, String), BTreeMap<usize, Option<Key>>> = BTreeMap::new();
        for host in self.hosts()?.into_iter().filter(|host| turns::site_of(host) == site) {
            let mut captures = self.of_host(&host, EXAMINED)?;
            captures.retain(|recorded| recorded.method == "GET" && recorded.hit.status == 200);
            captures.sort_by(|a, b| a.url.cmp(&b.url));
            for same in captures.chunk_by(|a, b| a.url == b.url).filter(|same| same.len() > 1) {
                for recorded in same {
                    let Some((visit, state)) = history.place_of(recorded.hit) else { continue };
                    let content = self.content_mark(recorded.hit)?;
                    let of_url = contents.entry((visit, recorded.url.clone())).or_default();
                    // What differs in one state says nothing about others.
                    let known = of_url.entry(state).or_insert(content);
                    if *known != content {
                        *known = None;
                    }
                }
            }
        }
        let mut equal = Vec::new();
        for (number, visit) in history.visits.iter().enumerate() {
            let all: Vec<&BTreeMap<usize, Option<Key>>> =
                contents.iter().filter(|((of, _), _)| *of == number).map(|(_, states)| states).collect();
            let states = 0..=visit.writes.len().min(COMPARED);
            let pairs = states.clone().flat_map(|first| states.clone().map(move |second| (first, second)));
            let is_undone = |(first, second): &(usize, usize)| {
                first < second
                    && are_equal(&all, *first, *second)
                    && !history.hide(&visit.writes[*first..*second])
            };
            equal.push(pairs.filter(is_undone).collect::<Vec<_>>());
        }
        history.visits.iter_mut().zip(equal).for_each(|(visit, equal)| visit.equal = equal);
        Ok(())
    }

    /// What identifies the content of a capture; `None` if it cannot be told.
    ///
    /// # Errors
    /// When the disk or the server does not give it.
    pub fn content_mark(&self, hit: IndexHit) -> Result<Option<Key>, IndexError> {
        let capture = self.capture(hit)?;
        let mut record = self.read(hit.member, capture.response)?;
        if let Some(digest) = record.headers.get_str("WARC-Payload-Digest") {
            return Ok(Some(Key::of("content", &[digest.trim().to_ascii_lowercase().as_bytes()])));
        }
        if record.response_head().is_err() || record.block.remaining() > LONGEST {
            return Ok(None);
        }
        Ok(Some(Key::of("content", &[&record.read_block(LONGEST)?])))
    }
}

impl SiteHistory {
    /// The number of the visit of a capture, and how many writes were before it.
    fn place_of(&self, hit: IndexHit) -> Option<(usize, usize)> {
        let at = (hit.at_millis, hit.capture);
        let own = self.visits.iter().enumerate();
        let own = own.filter(|(_, visit)| visit.member == hit.member && visit.from <= at);
        let (number, visit) = own.max_by_key(|(_, visit)| visit.from)?;
        Some((number, visit.places.partition_point(|place| *place < at)))
    }
}

/// Whether everything that was captured in two states is equal, and something that differed between
/// them is as it was.
fn are_equal(all: &[&BTreeMap<usize, Option<Key>>], first: usize, second: usize) -> bool {
    let mut has_come_back = false;
    for states in all {
        let (Some(before), Some(after)) = (states.get(&first), states.get(&second)) else { continue };
        if before.is_none() || before != after {
            return false;
        }
        has_come_back |= states.range(first..second).any(|(_, content)| content != before);
    }
    has_come_back
}

/// A write as it was recorded.
struct KnownWrite {
    key: Key,
    method: String,
    url: String,
    effect: Effect,
    parts: Option<super::RequestParts>,
    has_cookies: bool,
    /// Whether its answer takes away a cookie of a log-in.
    clears: bool,
    at: i64,
}

impl KnownWrite {
    fn is_same(&self, other: &KnownWrite) -> bool {
        if self.key == other.key {
            return true;
        }
        let (Some(own), Some(parts)) = (&self.parts, &other.parts) else { return false };
        let (own, parts) = (own.request_at(&self.url), parts.request_at(&other.url));
        matching::guess(&own, &parts, &(self.at..=self.at), other.at).is_some()
    }
}

#[cfg(test)]
mod tests;
