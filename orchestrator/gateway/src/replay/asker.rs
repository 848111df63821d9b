//! Chooses among captures of one state by the document that asks: a page of one day gets the data
//! of that day.
//!
//! ```text
//! who asks                           which captures, the n-th for the n-th request
//! a document of the recording        those that this capture of it asked for
//!   that asked for none of them      those after it, as long as they follow each other closely
//!   with none close after it         the nearest one
//! nobody: an address was entered     those that follow on the last document, or the nearest one
//!   and nothing was given before     the first of the day that the page's clock shows
//! a client that says nothing         all, in recorded order
//! ```
//!
//! A redirect is followed by the capture that followed it when it was recorded: a message that is
//! shown once is on that one alone.
//!
//! Behind the last one of them, it is repeated; if it led elsewhere, the last one that did not.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use http::header;
use snapshots::index::{IndexError, IndexHit, ReplaySet};
use snapshots::matching::Key;

use super::bounded_cache::BoundedCache;
use super::negotiation;
use crate::{Episode, RequestHead};

/// Captures that are further apart are of different visits, in milliseconds.
pub(super) const GAP: u64 = 30 * 60 * 1000;
/// Of how many captures of a request it is known who asked.
const KNOWN: usize = 128;
/// How many documents of an episode are known by their addresses.
const MOST: usize = 4096;
/// How many redirects wait for being followed, and within how many milliseconds one is.
const MOST_REDIRECTS: usize = 64;
const FOLLOWED: u64 = 15 * 1000;
/// Of how many captures of a redirect it is known what followed them.
pub(super) const SAME_REDIRECT: usize = 16;

/// A capture that an episode was given, from which it may ask for more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Given {
    pub(super) hit: IndexHit,
    /// How many were given before. Turns are counted within one.
    load: u64,
}

/// The documents, scripts and styles that an episode was given.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    by_url: HashMap<String, Given>,
    by_origin: HashMap<String, Given>,
    last: Option<Given>,
    loads: u64,
    /// The redirects that were given and not yet followed, by where they lead and who is led.
    redirects: HashMap<Key, Vec<IndexHit>>,
    /// The captures that were given to requests that followed a redirect, by archive and number.
    followed: HashSet<(u32, u32)>,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Asker {
    /// Something that the episode was given.
    Given(Given),
    /// Nobody, after the last document that was given, if there was one.
    Nobody(Option<Given>),
    /// A client that does not say it.
    Unknown,
}

impl Documents {
    /// Who sends this request.
    pub(super) fn asker(&self, head: &RequestHead) -> Asker {
        // The handshake of a socket names nothing but the origin.
        let origin = || head.header(header::ORIGIN).filter(|_| head.url.starts_with("ws"));
        if let Some(url) = head.header(header::REFERER).or_else(origin) {
            let named = self.by_url.get(without_fragment(url));
            let of_origin = || self.by_origin.get(origin_of(url));
            return named
                .or_else(of_origin)
                .map_or(Asker::Nobody(self.last), |given| Asker::Given(*given));
        }
        // The second is what a browser sends over plain HTTP, where it does not send the first.
        let is_browser = ["sec-fetch-site", "upgrade-insecure-requests"];
        match is_browser.iter().any(|name| head.headers.contains_key(*name)) {
            true => Asker::Nobody(self.last),
            false => Asker::Unknown,
        }
    }

    /// A redirect to this address was given to a request: the first of these captures. The others
    /// are of the same request.
    pub(super) fn redirect(&mut self, head: &RequestHead, target: &str, hits: Vec<IndexHit>) {
        if self.redirects.len() >= MOST_REDIRECTS {
            self.redirects.clear();
        }
        self.redirects.insert(redirect_key(head, target), hits);
    }

    /// The redirect that this request follows. It is followed once.
    pub(super) fn follow(&mut self, head: &RequestHead) -> Vec<IndexHit> {
        if self.redirects.is_empty() {
            return Vec::new();
        }
        self.redirects.remove(&redirect_key(head, &head.url)).unwrap_or_default()
    }

    /// A capture is given to a request that follows a redirect.
    pub(super) fn note_followed(&mut self, hit: IndexHit) {
        if self.followed.len() >= MOST {
            self.followed.clear();
        }
        self.followed.insert((hit.member, hit.capture));
    }

    /// Those of `members`, places in `hits`, that were not given in this way; `None` if all or none
    /// of them were.
    pub(super) fn without_followed(
        &self,
        hits: &[IndexHit],
        members: &[usize],
    ) -> Option<Vec<usize>> {
        if self.followed.is_empty() || members.len() < 2 {
            return None;
        }
        let is_new = |place: &&usize| {
            let hit = hits[**place];
            !self.followed.contains(&(hit.member, hit.capture))
        };
        let new: Vec<usize> = members.iter().filter(is_new).copied().collect();
        (!new.is_empty() && new.len() < members.len()).then_some(new)
    }

    /// Something was given from which more may be asked for.
    pub(super) fn give(&mut self, url: &str, hit: IndexHit, is_document: bool) {
        let given = Given { hit, load: self.loads };
        self.loads += 1;
        if self.by_url.len() >= MOST {
            self.by_url.clear();
        }
        self.by_url.insert(without_fragment(url).to_owned(), given);
        if is_document {
            self.by_origin.insert(origin_of(url).to_owned(), given);
            self.last = Some(given);
        }
    }
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

/// What identifies the request that follows a redirect: a browser keeps who asks, and what for.
fn redirect_key(head: &RequestHead, url: &str) -> Key {
    let value =
        |name: &str| head.headers.get(name).map(|value| value.as_bytes()).unwrap_or_default();
    let url = without_fragment(url).as_bytes();
    Key::of("led", &[url, value("referer"), value("sec-fetch-dest")])
}

fn origin_of(url: &str) -> &str {
    let end = url.match_indices('/').nth(2).map_or(url.len(), |(at, _)| at);
    &url[..end]
}

/// Who asked for captures when they were recorded, by the captures.
pub(super) type RecordedAskers = BoundedCache<Key, Arc<Vec<Option<IndexHit>>>>;

/// The place of the capture that a request gets: one of `members`, which are places in `hits`.
/// `advances` is false for requests that only look at it.
pub(super) fn pick(
    set: &ReplaySet,
    known: &RecordedAskers,
    (hits, members): (&[IndexHit], &[usize]),
    (key, asker, advances): (&Key, Asker, bool),
    episode: &Episode,
) -> Result<usize, IndexError> {
    let (group, load) = match asker {
        _ if members.len() < 2 => (members.to_vec(), 0),
        Asker::Unknown => (members.to_vec(), 0),
        Asker::Nobody(None) => {
            (first_of_day(set, hits, members, *episode.page_clock().now().start())?, 0)
        }
        Asker::Nobody(Some(last)) => {
            let members = of_visit(set, hits, members, last.hit)?;
            (following(hits, &members, last.hit.at_millis + 1), last.load)
        }
        Asker::Given(given) => {
            let askers = recorded(set, known, hits)?;
            let is_own = |member: &&usize| {
                askers.get(**member).is_some_and(|asked| {
                    asked.is_some_and(|hit| {
                        (hit.member, hit.capture) == (given.hit.member, given.hit.capture)
                    })
                })
            };
            let own: Vec<usize> = members.iter().filter(is_own).copied().collect();
            let group = match own.is_empty() {
                true => behind(hits, &of_visit(set, hits, members, given.hit)?, given.hit),
                false => own,
            };
            (group, given.load)
        }
    };
    // Turns are counted for each group: another document begins with its own first capture.
    let bytes: Vec<u8> = group.iter().flat_map(|member| member.to_le_bytes()).collect();
    let key = match (asker, members.len() == hits.len()) {
        (Asker::Unknown, true) => *key,
        _ => Key::of("turns", &[&key.0, &bytes, &load.to_le_bytes()]),
    };
    let turn = if advances { episode.next(&key) } else { episode.present(&key) };
    let leads_on = |member: &usize| (300..400).contains(&hits[*member].status);
    let stays = |members: &[usize]| members.iter().rfind(|member| !leads_on(member)).copied();
    let last = || stays(&group).or_else(|| stays(members)).or(group.last().copied());
    Ok(group.get(turn).copied().or_else(last).unwrap_or_default())
}

/// The place of the capture that followed a redirect when it was recorded: the first one after it.
pub(super) fn followed(
    set: &ReplaySet,
    hits: &[IndexHit],
    redirect: IndexHit,
) -> Result<Option<usize>, IndexError> {
    let visit = set.capture(redirect)?.visit;
    let place = |hit: &IndexHit| (hit.at_millis, hit.capture);
    let mut behind: Vec<usize> = (0..hits.len())
        .filter(|at| hits[*at].member == redirect.member && place(&hits[*at]) > place(&redirect))
        .collect();
    behind.sort_unstable_by_key(|at| place(&hits[*at]));
    for at in behind {
        let capture = set.capture(hits[at])?;
        if hits[at].at_millis - redirect.at_millis > FOLLOWED {
            return Ok(None);
        }
        if capture.visit == visit && !capture.asked_again {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// The captures behind the one that asks, which may be one of them: a page that is asked for from
/// itself is the next one.
fn behind(hits: &[IndexHit], members: &[usize], given: IndexHit) -> Vec<usize> {
    let found = following(hits, members, given.at_millis);
    let is_given = |member: &usize| {
        (hits[*member].member, hits[*member].capture) == (given.member, given.capture)
    };
    match found.iter().position(is_given) {
        Some(at) if at + 1 < found.len() => found[at + 1..].to_vec(),
        _ => found,
    }
}

/// The captures of the visit of one, where that has a name and there are some; else all of them.
fn of_visit(
    set: &ReplaySet,
    hits: &[IndexHit],
    members: &[usize],
    given: IndexHit,
) -> Result<Vec<usize>, IndexError> {
    let visit = set.capture(given)?.visit;
    if visit == 0 || members.len() > KNOWN {
        return Ok(members.to_vec());
    }
    let mut own = Vec::new();
    for member in members {
        let hit = hits[*member];
        if hit.member == given.member && set.capture(hit)?.visit == visit {
            own.push(*member);
        }
    }
    Ok(if own.is_empty() { members.to_vec() } else { own })
}

/// The captures from a time on, as long as they follow each other closely; else the nearest one.
fn following(hits: &[IndexHit], members: &[usize], from: u64) -> Vec<usize> {
    let mut last = from;
    let close = |member: &&usize| {
        let at = hits[**member].at_millis;
        let is_close = at >= last && at - last <= GAP;
        if is_close {
            last = at;
        }
        is_close
    };
    let later = members.iter().skip_while(|member| hits[**member].at_millis < from);
    let found: Vec<usize> = later.take_while(close).copied().collect();
    if !found.is_empty() {
        return found;
    }
    members
        .iter()
        .min_by_key(|member| hits[**member].at_millis.abs_diff(from))
        .copied()
        .into_iter()
        .collect()
}

/// The captures of the visit that is nearest to a time, from the first on. Those that have names
/// are told apart by these, others by the time between them.
fn first_of_day(
    set: &ReplaySet,
    hits: &[IndexHit],
    members: &[usize],
    now: i64,
) -> Result<Vec<usize>, IndexError> {
    let now = now.max(0) as u64;
    let at = |member: &usize| hits[*member].at_millis;
    let Some(nearest) = (0..members.len()).min_by_key(|place| at(&members[*place]).abs_diff(now))
    else {
        return Ok(Vec::new());
    };
    let visit_of = |place: usize| -> Result<Option<(u32, u32)>, IndexError> {
        let hit = hits[members[place]];
        let visit = set.capture(hit)?.visit;
        Ok((visit != 0).then_some((hit.member, visit)))
    };
    let (mut first, visit) = (nearest, visit_of(nearest)?);
    while first > 0
        && at(&members[first]) - at(&members[first - 1]) <= GAP
        && visit_of(first - 1)? == visit
    {
        first -= 1;
    }
    Ok(following(hits, &members[first..], at(&members[first])))
}

/// For each capture, the capture of the document that asked for it; as far as it is known.
fn recorded(
    set: &ReplaySet,
    known: &RecordedAskers,
    hits: &[IndexHit],
) -> Result<Arc<Vec<Option<IndexHit>>>, IndexError> {
    let key = negotiation::key(hits);
    if let Some(known) = known.get(&key) {
        return Ok(known);
    }
    let found =
        hits.iter().take(KNOWN).map(|hit| set.asked_by(*hit)).collect::<Result<Vec<_>, _>>()?;
    let found = Arc::new(found);
    known.put(key, Arc::clone(&found));
    Ok(found)
}
