//! What a recording shows of the writes of a site: what changed after each, which states are equal,
//! and which requests that were sent like writes only ask.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::super::effects::{Effect, WriteReason, is_static_type, may_act};
use super::super::{IndexError, IndexHit, ReplaySet, SOCKET, turns};
use super::build::{KnownWrite, SiteTurn, VisitTurns};
use super::{ChangedAddress, SiteHistory, SiteWrite};
use crate::Headers;
use crate::matching::{self, Key, ReplayRequest};

/// Of how many captures of a host it is examined whether states are equal.
const EXAMINED: usize = 1 << 12;
/// The most writes of a visit of which states are compared.
const COMPARED: usize = 128;
/// The longest block whose bytes are compared, where a record names no digest.
const LONGEST: u64 = 1 << 20;
/// How many addresses are named that a write changed.
const NAMED: usize = 64;
/// The fewest bytes of an answer to a query. What was done is confirmed in fewer.
const LEAST_DATA: u64 = 256;
/// What is sent within this time after its document may have been sent by the document itself:
/// nobody acts on a page so soon. Our recorder acts on none before.
pub const AUTOMATIC_WITHIN: Duration = Duration::from_millis(500);
/// Within how many milliseconds a document that is slow sends the same.
const SOON: u64 = 5000;

/// What was captured more than once.
pub(super) struct Contents(pub(super) Vec<SeveralCaptures>);

/// The captures of one address, each with what identifies its content.
#[derive(Clone)]
pub(super) struct SeveralCaptures {
    url: String,
    pub(super) marks: Vec<ContentMark>,
}

/// What identifies the content of a capture, and the number of its visit.
#[derive(Clone)]
pub(super) struct ContentMark {
    pub(super) hit: IndexHit,
    visit: u32,
    pub(super) content: Option<Key>,
}

/// The content of an address in one state.
#[derive(Clone)]
pub(super) struct StateContent {
    /// What identifies it; `None` where it is not always the same.
    pub(super) mark: Option<Key>,
    /// The first capture of it.
    hit: IndexHit,
}

/// The content of an address in each state of a visit.
pub(super) type ByState = BTreeMap<usize, StateContent>;

impl Contents {
    pub(super) fn read(set: &ReplaySet, site: &str) -> Result<Contents, IndexError> {
        let mut all = Vec::new();
        for host in set.hosts()?.into_iter().filter(|host| turns::site_of(host) == site) {
            let mut captures = set.of_host(&host, EXAMINED)?;
            captures.retain(|recorded| {
                recorded.method == SOCKET || recorded.method == "GET" && recorded.hit.status == 200
            });
            captures.sort_by(|a, b| a.url.cmp(&b.url));
            for same in captures.chunk_by(|a, b| a.url == b.url).filter(|same| same.len() > 1) {
                let is_socket = same[0].method == SOCKET;
                if !is_socket && set.is_static(same[0].hit)? {
                    continue;
                }
                let marks = same.iter().map(|recorded| {
                    let hit = recorded.hit;
                    let content =
                        if is_socket { set.greeting(hit)? } else { set.content_mark(hit)? };
                    Ok(ContentMark { hit, visit: set.capture(hit)?.visit, content })
                });
                let marks = marks.collect::<Result<Vec<_>, IndexError>>()?;
                all.push(SeveralCaptures { url: same[0].url.clone(), marks });
            }
        }
        Ok(Contents(all))
    }

    /// The contents of each visit, by address and state.
    pub(super) fn by_visit(&self, history: &SiteHistory) -> Vec<Vec<(&str, ByState)>> {
        let mut visits: Vec<Vec<(&str, ByState)>> = vec![Vec::new(); history.visits.len()];
        for same in &self.0 {
            for ContentMark { hit, visit, content } in &same.marks {
                let Some((number, state)) = history.place_of(*hit, *visit) else { continue };
                let visit = &mut visits[number];
                if visit.last().is_none_or(|(url, _)| *url != same.url) {
                    visit.push((&same.url, ByState::new()));
                }
                let Some((_, states)) = visit.last_mut() else { continue };
                // What differs in one state says nothing about others.
                let known =
                    states.entry(state).or_insert(StateContent { mark: *content, hit: *hit });
                if known.mark != *content {
                    known.mark = None;
                }
            }
        }
        visits
    }

    /// Finds what each write changed, and which states of each visit are equal.
    pub(super) fn compare(&self, history: &mut SiteHistory) {
        for (number, all) in self.by_visit(history).into_iter().enumerate() {
            let visit = &history.visits[number];
            let changed = (0..visit.writes.len()).map(|write| {
                let change = |(url, states): &(&str, ByState)| {
                    let (before, after) = (states.get(&write)?, states.get(&(write + 1))?);
                    let differ = before.mark? != after.mark?;
                    let (url, before, after) = ((*url).to_owned(), before.hit, after.hit);
                    differ.then_some(ChangedAddress { url, before, after })
                };
                all.iter().filter_map(change).take(NAMED).collect()
            });
            let changed: Vec<Vec<ChangedAddress>> = changed.collect();
            let all_states = 0..=visit.writes.len();
            let captured = all_states
                .map(|state| all.iter().filter(|(_, states)| states.contains_key(&state)).count());
            let captured = captured.collect();
            // The pairs grow with the square of the writes.
            let states = 0..=visit.writes.len().min(COMPARED);
            let pairs =
                states.clone().flat_map(|first| states.clone().map(move |second| (first, second)));
            let is_undone = |(first, second): &(usize, usize)| {
                first < second
                    && are_equal(&all, *first, *second)
                    && !history.hide(&visit.writes[*first..*second])
            };
            let equal = pairs.filter(is_undone).collect();
            let visit = &mut history.visits[number];
            (visit.changed, visit.equal) = (changed, equal);
            (visit.captured, visit.addresses) = (captured, all.len());
        }
    }
}

/// Whether everything that was captured in two states is equal, and something that differed between
/// them is as it was.
fn are_equal(all: &[(&str, ByState)], first: usize, second: usize) -> bool {
    let mut has_come_back = false;
    for (_, states) in all {
        let (Some(before), Some(after)) = (states.get(&first), states.get(&second)) else {
            continue;
        };
        if before.mark.is_none() || before.mark != after.mark {
            return false;
        }
        has_come_back |=
            states.range(first..second).any(|(_, content)| content.mark != before.mark);
    }
    has_come_back
}

/// How often something was captured on both sides of a write, and differed or not.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) changed: usize,
    pub(super) kept: usize,
}

/// The addresses of the writes of one reason, with what was captured on both sides of each. Several
/// of them in a row count as one if between them nothing was captured.
pub(super) fn tally(
    history: &SiteHistory,
    contents: &Contents,
    reason: WriteReason,
) -> BTreeMap<String, Tally> {
    let is_one = |write: &SiteWrite| write.effect == Effect::Write(reason);
    let is_one_of: Vec<bool> = history.writes.iter().map(is_one).collect();
    let all = history.writes.iter().filter(|write| is_one(write));
    let mut tallies: BTreeMap<String, Tally> =
        all.map(|write| (write.endpoint(), Tally::default())).collect();
    if tallies.is_empty() {
        return tallies;
    }
    for (visit, mut addresses) in history.visits.iter().zip(contents.by_visit(history)) {
        if reason == WriteReason::Action {
            // What differs in one state changes by itself.
            addresses.retain(|(_, states)| states.values().all(|content| content.mark.is_some()));
        }
        let mut from = 0;
        for same in visit.writes.chunk_by(|a, b| is_one_of[*a as usize] == is_one_of[*b as usize]) {
            let (first, last) = (from, from + same.len());
            from = last;
            if !is_one_of[same[0] as usize] {
                continue;
            }
            for (at, number) in (first..).zip(same) {
                let (mut differs, mut is_same) = (false, false);
                for (_, states) in &addresses {
                    let known = |(_, content): (&usize, &StateContent)| content.mark;
                    let before = states.range(first..=at).rev().find_map(known);
                    let after = states.range(at + 1..=last).find_map(known);
                    if let Some((before, after)) = before.zip(after) {
                        (differs, is_same) =
                            (differs || before != after, is_same || before == after);
                    }
                }
                let endpoint = history.writes[*number as usize].endpoint();
                let tally = tallies.entry(endpoint).or_default();
                tally.changed += usize::from(differs);
                tally.kept += usize::from(is_same && !differs);
            }
        }
    }
    tallies
}

/// The addresses of which the recording shows that they only ask. Each request there was sent by a
/// script, and nothing that was captured on both sides of one of them differs. Beyond that, pages
/// have sent them by themselves; or there are several, they got data, the same one got the same,
/// and something was captured on both sides of one of them.
pub(super) fn queries(
    set: &ReplaySet,
    history: &SiteHistory,
    all: &[VisitTurns],
    contents: &Contents,
) -> Result<Vec<String>, IndexError> {
    let mut endpoints: BTreeMap<String, Vec<(IndexHit, &KnownWrite)>> = BTreeMap::new();
    for turn in all.iter().flat_map(|visit| &visit.turns) {
        if let SiteTurn::Write(hit, write) = turn {
            endpoints.entry(write.endpoint()).or_default().push((*hit, write));
        }
    }
    // One request that may not be a query speaks against its whole address.
    endpoints.retain(|_, writes| writes.iter().all(|(_, write)| write.may_query));
    if endpoints.is_empty() {
        return Ok(Vec::new());
    }
    let visits = contents.by_visit(history);
    let mut found = Vec::new();
    for (endpoint, writes) in endpoints {
        let (mut kept, mut differs) = (BTreeSet::new(), false);
        for (hit, _) in &writes {
            let number = set.visit_number(history, *hit)?;
            let Some((visit, state)) = history.place_of(*hit, number) else { continue };
            for (url, states) in &visits[visit] {
                match (states.get(&state), states.get(&(state + 1))) {
                    (Some(before), Some(after))
                        if before.mark == after.mark && before.mark.is_some() =>
                    {
                        kept.insert(*url);
                    }
                    (Some(_), Some(_)) => differs = true,
                    _ => {}
                }
            }
        }
        let is_automatic = !differs && are_automatic(set, history, &writes)?;
        let has_data = writes.len() > 1 && writes.iter().all(|(_, write)| write.has_data);
        let is_shown = has_data && !kept.is_empty() && answers_agree(set, history, &writes)?;
        if !differs && (is_automatic || is_shown) {
            found.push(endpoint);
        }
    }
    Ok(found)
}

/// Whether documents have sent these by themselves: one was sent at once, there was one after each
/// load of its document, and there was no other later than that. Where there was one load alone,
/// the address must not say that it does something.
fn are_automatic(
    set: &ReplaySet,
    history: &SiteHistory,
    writes: &[(IndexHit, &KnownWrite)],
) -> Result<bool, IndexError> {
    let mut sent: BTreeMap<(u32, u32, &str), Vec<IndexHit>> = BTreeMap::new();
    for (hit, write) in writes {
        let referer = write.parts.as_ref().and_then(|parts| parts.headers.get_str("Referer"));
        let visit = set.visit_number(history, *hit)?;
        sent.entry((hit.member, visit, referer.unwrap_or_default())).or_default().push(*hit);
    }
    let (mut all_loads, mut automatic, mut late) = (0, BTreeSet::new(), BTreeSet::new());
    let mut is_at_once = false;
    for ((member, visit, document), sent) in sent {
        let mut loads = Vec::new();
        for hit in set.exact(&matching::exact(&ReplayRequest::bare("GET", document)))? {
            if hit.member == member && (200..300).contains(&hit.status) {
                let is_load =
                    visit == set.visit_number(history, hit)? && !set.capture(hit)?.asked_again;
                loads.extend(is_load.then_some(hit.at_millis));
            }
        }
        let mut followed = vec![false; loads.len()];
        for hit in sent {
            let load = loads.partition_point(|load| *load <= hit.at_millis).checked_sub(1);
            let after = load.map(|load| hit.at_millis - loads[load]);
            let number = history.write_of(hit);
            match load.zip(after.filter(|after| *after < SOON)) {
                Some((load, after)) => {
                    followed[load] = true;
                    is_at_once |= after < AUTOMATIC_WITHIN.as_millis() as u64;
                    automatic.insert(number);
                }
                None => drop(late.insert(number)),
            }
        }
        // A load that it did not follow shows that something else sends it.
        if followed.contains(&false) {
            return Ok(false);
        }
        all_loads += loads.len();
    }
    let says_nothing = || writes.iter().all(|(_, write)| !may_act(&write.url));
    Ok(is_at_once && late.is_subset(&automatic) && (all_loads > 1 || says_nothing()))
}

/// Whether the same request always got the same answer.
fn answers_agree(
    set: &ReplaySet,
    history: &SiteHistory,
    writes: &[(IndexHit, &KnownWrite)],
) -> Result<bool, IndexError> {
    let mut known = BTreeMap::new();
    for (hit, _) in writes {
        let content = set.content_mark(*hit)?;
        let first = known.entry(history.write_of(*hit)).or_insert(content);
        if content.is_none() || *first != content {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a request was sent by a script, not by a form.
pub(super) fn is_sent_by_script(headers: &Headers, content_type: Option<&str>) -> bool {
    match headers.get_str("Sec-Fetch-Dest") {
        Some(destination) => destination == "empty",
        None => content_type.is_some_and(|kind| kind.contains("json")),
    }
}

/// Whether an answer of this length is data, not a confirmation.
pub(super) fn is_data(headers: &Headers, length: u64) -> bool {
    headers.get_str("Content-Type").is_some_and(|kind| kind.contains("json"))
        && length >= LEAST_DATA
}

impl ReplaySet {
    /// Whether a capture is the same in every state. One whose head cannot be read is not known to
    /// be.
    fn is_static(&self, hit: IndexHit) -> Result<bool, IndexError> {
        let capture = self.capture(hit)?;
        let Ok(head) = self.read(hit.member, capture.response)?.response_head() else {
            return Ok(false);
        };
        Ok(head.headers.get_str("Content-Type").is_some_and(is_static_type))
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
