//! Reads the turns of a site, and makes its history of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::effects::{self, Effect, RequestSigns, ResponseSigns, SentBody, WriteReason};
use super::super::row::Entry;
use super::super::turns::{self, Turn};
use super::super::{CaptureKind, IndexError, IndexHit, ReplaySet, RequestParts, SOCKET};
use super::evidence::{self, Contents};
use super::{SessionChange, SiteHistory, SiteWrite, Visit, messages};
use crate::matching::{self, ChangingParts, IssuedTokens, Key, RequestPattern};

/// With how many writes at its address a write is compared, beyond those of its key.
const COMPARED: usize = 64;
/// Of how many `GET`s of a site it is examined whether they do something.
const MOST_ACTIONS: usize = 1 << 12;
/// Of how many log-ins of a site the pages are read.
const MOST_LOG_INS: usize = 64;
/// Of how many captures of a host it is examined whether rules call them writes.
const MOST_EXAMINED: usize = 1 << 16;

/// The turns of a site in one visit of which the number is known, or in all others of an archive.
pub(super) struct VisitTurns {
    member: u32,
    /// The number of the visit; 0 for the others.
    number: u32,
    pub(super) turns: Vec<SiteTurn>,
}

/// A turn of a site, read.
pub(super) enum SiteTurn {
    Start(IndexHit),
    Write(IndexHit, Box<KnownWrite>),
}

/// A write as it was recorded.
pub(super) struct KnownWrite {
    pub(super) key: Key,
    pub(super) method: String,
    pub(super) url: String,
    pub(super) effect: Effect,
    pub(super) parts: Option<RequestParts>,
    /// Of a log-in, the tokens of the page that sent it.
    pub(super) tokens: Option<IssuedTokens>,
    pub(super) has_cookies: bool,
    /// What it does to who is logged in.
    pub(super) session_change: SessionChange,
    pub(super) at: i64,
    /// Whether it may be a query for all that it says itself: a script sent it, and nothing is
    /// kept.
    pub(super) may_query: bool,
    /// Whether its answer is data, not a confirmation.
    pub(super) has_data: bool,
    /// Of a message, whether its page sent it by itself: nobody acts on a page so soon.
    pub(super) is_automatic: bool,
    /// Of a message over a WebSocket, its line in the capture.
    pub(super) line: Option<u32>,
}

impl SiteTurn {
    fn hit(&self) -> IndexHit {
        match self {
            SiteTurn::Start(hit) | SiteTurn::Write(hit, _) => *hit,
        }
    }

    /// What orders the turns of an archive.
    fn place(&self) -> (u64, u32) {
        (self.hit().at_millis, self.hit().capture)
    }

    /// Whether the rules of the snapshot say that it is no write.
    fn is_excluded(&self, rules: &ChangingParts) -> bool {
        match self {
            SiteTurn::Start(_) => false,
            SiteTurn::Write(_, write) => rules.is_write(&write.method, &write.url) == Some(false),
        }
    }
}

impl KnownWrite {
    /// A request of which nothing is known but its address.
    pub(super) fn bare(key: Key, method: String, url: String, at: i64) -> KnownWrite {
        KnownWrite {
            key,
            method,
            url,
            effect: Effect::None,
            parts: None,
            tokens: None,
            has_cookies: false,
            session_change: SessionChange::Unchanged,
            at,
            may_query: false,
            has_data: false,
            is_automatic: false,
            line: None,
        }
    }

    /// Whether it is a `GET` that may do something.
    fn is_action(&self) -> bool {
        self.effect == Effect::Write(WriteReason::Action)
    }

    /// Method and address without what differs from one such write to the next.
    pub(super) fn endpoint(&self) -> String {
        super::endpoint(&self.method, &self.url, self.effect)
    }

    /// Whether it differs from another write in tokens and time stamps alone.
    fn differs_in_chance(&self, other: &KnownWrite) -> bool {
        let (Some(own), Some(parts)) = (&self.parts, &other.parts) else { return false };
        let (own, parts) = (own.request_at(&self.url), parts.request_at(&other.url));
        let is_issued = |value: &str, of_other: &str| {
            let tokens = self.tokens.as_ref().zip(other.tokens.as_ref());
            tokens.is_some_and(|(own, theirs)| own.agree(theirs, value, of_other))
        };
        matching::guess((&own, &(self.at..=self.at)), (&parts, other.at), &is_issued).is_some()
    }
}

impl ReplaySet {
    /// The writes of a site, with the states that they make. Reads each of them, and what was
    /// captured more than once.
    ///
    /// # Errors
    /// When the disk or the server does not give them.
    pub fn history(&self, site: &str) -> Result<SiteHistory, IndexError> {
        let mut read = Vec::new();
        for (member, own) in self.numbered() {
            read.push((member, own.index.turns(&turns::key_of_site(site))?));
        }
        let is = |entry: &Entry, wanted: Turn| Turn::of(entry) == Some(wanted);
        let number = |read: &[(u32, Vec<Entry>)], counts: &dyn Fn(&Entry) -> bool| -> usize {
            read.iter().map(|(_, own)| own.iter().filter(|entry| counts(entry)).count()).sum()
        };
        let all = number(&read, &|entry| !is(entry, Turn::Socket));
        if number(&read, &|entry| is(entry, Turn::Action)) > MOST_ACTIONS || all > turns::MOST {
            read.iter_mut().for_each(|(_, own)| turns::leave_out_actions(own));
        }
        if number(&read, &|entry| !is(entry, Turn::Socket)) > turns::MOST {
            tracing::warn!(site, "a site with too many writes to tell its states apart");
            return Ok(SiteHistory::default());
        }
        let mut all: Vec<VisitTurns> = Vec::new();
        for (member, entries) in read {
            let mut sockets = entries.iter().filter(|entry| is(entry, Turn::Socket)).count();
            let mut by_number: BTreeMap<u32, Vec<SiteTurn>> = BTreeMap::new();
            for entry in entries {
                let hit = IndexHit {
                    member,
                    capture: entry.capture,
                    at_millis: entry.at_millis,
                    status: 0,
                };
                let turns = match Turn::of(&entry) {
                    Some(Turn::Start) => vec![SiteTurn::Start(hit)],
                    Some(Turn::Socket) if sockets > messages::MOST_CONNECTIONS => {
                        sockets -= 1;
                        continue;
                    }
                    Some(Turn::Socket) => self.messages(hit)?,
                    _ => vec![SiteTurn::Write(hit, Box::new(self.read_write(hit)?))],
                };
                let visit = by_number.entry(self.capture(hit)?.visit).or_default();
                visit.extend(
                    turns.into_iter().filter(|turn| !turn.is_excluded(self.changing_parts())),
                );
            }
            // The messages of a connection come among what was asked meanwhile.
            for turns in by_number.values_mut() {
                turns.sort_by_key(SiteTurn::place);
            }
            for (hit, write) in self.writes_by_rule(site, member)? {
                let turns = by_number.entry(self.capture(hit)?.visit).or_default();
                turns.retain(|turn| turn.hit() != hit);
                turns.push(SiteTurn::Write(hit, Box::new(write)));
                turns.sort_by_key(SiteTurn::place);
            }
            all.extend(by_number.into_iter().map(|(number, turns)| VisitTurns {
                member,
                number,
                turns,
            }));
        }
        messages::leave_out_automatic(&mut all);
        self.read_tokens(&mut all)?;
        let has_write =
            |visit: &VisitTurns| visit.turns.iter().any(|turn| matches!(turn, SiteTurn::Write(..)));
        if !all.iter().any(has_write) {
            return Ok(SiteHistory::default());
        }
        let contents = Contents::read(self, site)?;
        let silent = self.without_effect(&all, &contents);
        let mut history = of_turns(&all, &silent);
        let queries = evidence::queries(self, &history, &all, &contents)?;
        if !queries.is_empty() {
            history = of_turns(&all, &silent.into_iter().chain(queries.iter().cloned()).collect());
            history.queries = queries;
        }
        contents.compare(&mut history);
        Ok(history)
    }

    /// The addresses of messages and actions of which nothing shows that they do something.
    fn without_effect(&self, all: &[VisitTurns], contents: &Contents) -> BTreeSet<String> {
        let turns = all.iter().flat_map(|visit| &visit.turns);
        let actions = turns.filter_map(|turn| match turn {
            SiteTurn::Write(_, write) if write.is_action() => Some(write.endpoint()),
            _ => None,
        });
        let actions: BTreeSet<String> = actions.collect();
        let history = of_turns(all, &actions);
        let messages = evidence::tally(&history, contents, WriteReason::Message).into_iter();
        let messages = messages.filter(|(_, tally)| tally.changed == 0);
        let mut silent: BTreeSet<String> = messages.map(|(endpoint, _)| endpoint).collect();
        if !actions.is_empty() {
            let history = of_turns(all, &silent);
            let tallies = evidence::tally(&history, &contents.constant(self), WriteReason::Action);
            // What is shown once, such as a message, is gone with any request.
            let does_nothing = |endpoint: &String| {
                tallies
                    .get(endpoint)
                    .is_none_or(|tally| tally.changed == 0 || tally.changed < tally.kept)
            };
            silent.extend(actions.into_iter().filter(does_nothing));
        }
        silent
    }

    /// Reads the tokens of the pages that sent log-ins. Which thing a form is about may be in such
    /// a token as well, but nobody logs in to a thing.
    fn read_tokens(&self, all: &mut [VisitTurns]) -> Result<(), IndexError> {
        let mut left = MOST_LOG_INS;
        for turn in all.iter_mut().flat_map(|visit| &mut visit.turns) {
            if let SiteTurn::Write(hit, write) = turn
                && write.session_change == SessionChange::LogIn
                && left > 0
            {
                left -= 1;
                write.tokens = Some(self.issued_to(*hit)?);
            }
        }
        Ok(())
    }

    /// The captures of an archive that are writes by the rules of the snapshot.
    fn writes_by_rule(
        &self,
        site: &str,
        member: u32,
    ) -> Result<Vec<(IndexHit, KnownWrite)>, IndexError> {
        let rules = self.changing_parts();
        let hosts = rules.writes.iter().filter_map(RequestPattern::host);
        let hosts: BTreeSet<String> = hosts.filter(|host| turns::site_of(host) == site).collect();
        let mut found = Vec::new();
        for host in hosts {
            let all = self.of_host(&host, MOST_EXAMINED)?;
            if all.len() >= MOST_EXAMINED {
                tracing::warn!(
                    host,
                    "a host with too many captures to find all that rules call writes"
                );
            }
            for recorded in all {
                let is_write = recorded.method != SOCKET
                    && rules.is_write(&recorded.method, &recorded.url) == Some(true);
                if is_write && recorded.hit.member == member {
                    // As those that were found by the index.
                    let hit = IndexHit { status: 0, ..recorded.hit };
                    let effect = Effect::Write(WriteReason::Rule);
                    found.push((
                        hit,
                        KnownWrite { effect, may_query: false, ..self.read_write(hit)? },
                    ));
                }
            }
        }
        Ok(found)
    }

    fn read_write(&self, hit: IndexHit) -> Result<KnownWrite, IndexError> {
        let capture = self.capture(hit)?;
        let (method, url) = self.request_line(hit, &capture)?;
        let parts = self.request(hit, &capture)?;
        let (mut response, mut length) = (None, 0);
        if !matches!(capture.kind, CaptureKind::Resource | CaptureKind::Socket) {
            let mut record = self.read(hit.member, capture.response)?;
            response = record.response_head().ok();
            length = record.block.remaining();
        }
        let Some(parts) = parts else {
            let key = Key::of("write", &[method.as_bytes(), url.as_bytes()]);
            return Ok(KnownWrite::bare(key, method, url, capture.at_millis));
        };
        let request = parts.request_at(&url);
        // A rule leaves out parts that change with each load, so that the same write has the same
        // key.
        let rule = self.changing_parts().rules.iter().find_map(|rule| rule.key(&request));
        let key = rule.unwrap_or_else(|| matching::normalised(&request).0);
        let sent =
            SentBody { content_type: parts.content_type.as_deref(), bytes: parts.body.as_deref() };
        let asked = RequestSigns::of(&method, &url, &parts.headers, &sent);
        let signs =
            response.as_ref().map(|head| ResponseSigns::of(&head.headers)).unwrap_or_default();
        let effect = match effects::judge(&asked, capture.status, &signs) {
            Effect::Action => Effect::Write(WriteReason::Action),
            known => known,
        };
        let headers = response.map(|head| head.headers).unwrap_or_default();
        let sets = headers.contains("Set-Cookie");
        // Scripts often send searches as POST. What sets a cookie or names a mutation is none.
        let may_query = method == "POST"
            && !effects::body::says_mutation(&sent)
            && (200..300).contains(&capture.status)
            && !sets
            && evidence::is_sent_by_script(&parts.headers, parts.content_type.as_deref());
        let has_data = evidence::is_data(&headers, length);
        let (session_change, at) =
            (effects::session_change(&asked, capture.status, &signs), capture.at_millis);
        let has_cookies = sets || parts.headers.contains("Cookie");
        Ok(KnownWrite {
            key,
            method,
            url,
            effect,
            parts: Some(parts),
            tokens: None,
            has_cookies,
            session_change,
            at,
            may_query,
            has_data,
            is_automatic: false,
            line: None,
        })
    }
}

/// The history of turns, without the writes at these addresses.
fn of_turns(all: &[VisitTurns], silent: &BTreeSet<String>) -> SiteHistory {
    let mut history = SiteHistory::default();
    let mut known: Vec<&KnownWrite> = Vec::new();
    let mut by_key: HashMap<Key, usize> = HashMap::new();
    let mut by_endpoint: HashMap<String, Vec<usize>> = HashMap::new();
    for VisitTurns { member, number, turns } in all {
        let (member, number) = (*member, *number);
        let mut visit = Visit { member, number, ..Visit::default() };
        let (mut had_cookies, mut was_cleared) = (false, false);
        for turn in turns {
            let (hit, write) = match turn {
                SiteTurn::Start(hit) => {
                    // One that has a number is known whole. Without cookies after a log-out, one
                    // goes on.
                    if number == 0 && std::mem::take(&mut had_cookies) && !was_cleared {
                        let from = (hit.at_millis, hit.capture);
                        let next = Visit { member, from, ..Visit::default() };
                        history.visits.push(std::mem::replace(&mut visit, next));
                    }
                    continue;
                }
                SiteTurn::Write(hit, write) => (hit, write),
            };
            let endpoint = write.endpoint();
            let is_silent = silent.contains(&endpoint);
            // A message carries no cookies, and takes none.
            if write.line.is_none() && !(is_silent && write.is_action()) {
                had_cookies |= write.has_cookies;
                was_cleared = write.session_change == SessionChange::LogOut;
            }
            if is_silent {
                continue;
            }
            let same_key = by_key.get(&write.key).copied();
            let beside = by_endpoint.entry(endpoint).or_default();
            let differs_in_chance = || {
                let mut near = beside.iter().take(COMPARED);
                near.find(|other| write.differs_in_chance(known[**other])).copied()
            };
            let write_number = same_key.or_else(differs_in_chance).unwrap_or_else(|| {
                let (method, url) = (write.method.clone(), write.url.clone());
                history.writes.push(SiteWrite {
                    method,
                    url,
                    effect: write.effect,
                    session_change: write.session_change,
                });
                known.push(write);
                by_key.insert(write.key, known.len() - 1);
                beside.push(known.len() - 1);
                known.len() - 1
            });
            let place = (hit.member, hit.capture);
            match write.line {
                Some(line) => {
                    history.messages.insert((place.0, place.1, line), write_number as u32)
                }
                None => history.numbers.insert(place, write_number as u32),
            };
            visit.places.push((hit.at_millis, hit.capture));
            visit.writes.push(write_number as u32);
        }
        history.visits.push(visit);
    }
    history.index();
    history
}
