//! The ledger: a log of an episode's requests and of how each was answered.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use snapshots::Timestamp;
use snapshots::matching::{ISSUED_TOKEN, RANDOM_TOKEN, TIME_STAMP};

use crate::replay::OTHER_HEADERS;
use crate::socket::BY_COUNT;

/// One request in the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Position in the order of arrival, from 0.
    pub seq: u64,
    /// The method.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// The status sent, or 0 if the client left before there was one.
    pub status: u16,
    /// How it was answered.
    pub answer: Answer,
    /// The capture that the response is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<GivenCapture>,
    /// Body bytes sent to the client, as encoded.
    pub bytes: u64,
    /// The request destination, as far as the client reveals it: `document`, `image`, ... as in
    /// `Sec-Fetch-Dest`, and `beacon` for requests whose response the page cannot read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// Milliseconds from the request's arrival until its response was delivered or given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
}

/// A capture that a request was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenCapture {
    /// When it was recorded.
    pub at: Timestamp,
    /// The number of its archive among the snapshots of the world, from 0.
    pub archive: u32,
    /// Its number in the archive.
    pub number: u32,
    /// The writes of its site that were recorded before it; absent where the site has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<SiteState>,
}

/// The state in which a site was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteState {
    /// How many writes were made before.
    pub writes: usize,
    /// The last of them, as `METHOD URL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

impl GivenCapture {
    /// When it was recorded and in which state, in words.
    pub fn words(&self) -> String {
        let state = match &self.state {
            None => return format!("recorded {}", self.at),
            Some(SiteState { writes: 0, .. }) | Some(SiteState { last: None, .. }) => {
                "before any write".to_owned()
            }
            Some(SiteState { writes: 1, last: Some(last) }) => format!("after 1 write: {last}"),
            Some(SiteState { writes, last: Some(last) }) => {
                format!("after {writes} writes, the last {last}")
            }
        };
        format!("recorded {}, {state}", self.at)
    }
}

/// How a request was answered. Inexact matches are never silent: every variant but `Exact` says
/// what was relaxed or derived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "level")]
pub enum Answer {
    /// Recorded under exactly this method, URL and body.
    Exact,
    /// Recorded under a request that differs only in what the named rules declare insignificant.
    Normalised {
        /// The rules that were needed.
        rules: Vec<String>,
    },
    /// The most similar recorded request above the configured threshold.
    Fuzzy {
        /// Similarity, 0 to 1.
        score: f64,
        /// The URL that was recorded.
        url: String,
    },
    /// Derived from a recorded response: preflight, 304, HEAD from GET, a range.
    Synthesised {
        /// What was derived: `preflight`, `not modified`, `head`, `range`, ...
        what: String,
        /// The match level of the recorded response, if one was used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<Box<Answer>>,
    },
    /// Recorded when the site was in another state than this episode has it: after other writes.
    OtherState {
        /// Writes that were recorded before it and not made in this episode, as `METHOD URL`.
        missing: Vec<String>,
        /// Writes that were made in this episode, and not before it. If both are empty, the writes
        /// came in another order.
        extra: Vec<String>,
        /// How the request itself was found.
        of: Box<Answer>,
    },
    /// Results of a search over the recorded pages, in place of a search engine's.
    Search {
        /// How many pages were found; 0 if the search form was requested.
        found: u64,
        /// Whether they stand for a site's search of its own pages, which would have had others.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        of_site: bool,
    },
    /// From the live web.
    Live,
    /// From an instance of a site.
    Site,
    /// Not in the snapshot.
    Miss {
        /// The nearest recorded requests.
        near: Vec<NearestRequest>,
    },
    /// No route leads there, or the address guard forbids it.
    Refused {
        /// The reason.
        reason: String,
    },
    /// The live web or the snapshot failed.
    Failed {
        /// What failed.
        error: String,
    },
}

/// A recorded request that is similar to a missed one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NearestRequest {
    /// Its method.
    pub method: String,
    /// Its URL.
    pub url: String,
    /// The difference, as text for people.
    pub differs: String,
}

impl Answer {
    /// The level as one word, as used in counts and in the response header.
    pub fn level(&self) -> &'static str {
        match self {
            Answer::Exact => "exact",
            Answer::Normalised { .. } => "normalised",
            Answer::Fuzzy { .. } => "fuzzy",
            Answer::Synthesised { .. } => "synthesised",
            Answer::OtherState { .. } => "other_state",
            Answer::Search { .. } => "search",
            Answer::Live => "live",
            Answer::Site => "site",
            Answer::Miss { .. } => "miss",
            Answer::Refused { .. } => "refused",
            Answer::Failed { .. } => "failed",
        }
    }

    /// Details besides the level.
    fn why(&self) -> Option<String> {
        match self {
            Answer::Normalised { rules } => Some(rules.join(", ")),
            Answer::Fuzzy { url, .. } => Some(url.clone()),
            Answer::Synthesised { what, .. } => Some(what.clone()),
            Answer::OtherState { missing, extra, .. } => Some(state_words(missing, extra)),
            Answer::Miss { near } => {
                near.first().map(|near| format!("nearest: {} ({})", near.url, near.differs))
            }
            Answer::Refused { reason } => Some(reason.clone()),
            Answer::Failed { error } => Some(error.clone()),
            Answer::Search { of_site: true, .. } => {
                Some("in place of the site's own search".to_owned())
            }
            Answer::Exact | Answer::Search { .. } | Answer::Live | Answer::Site => None,
        }
    }

    /// The same answer, with one more rule that was used to find it.
    pub(crate) fn by_rule(self, rule: &str) -> Answer {
        match self {
            Answer::Exact => Answer::Normalised { rules: vec![rule.to_owned()] },
            Answer::Normalised { mut rules } => {
                rules.push(rule.to_owned());
                Answer::Normalised { rules }
            }
            Answer::Synthesised { what, of: Some(of) } => {
                Answer::Synthesised { what, of: Some(Box::new(of.by_rule(rule))) }
            }
            Answer::OtherState { missing, extra, of } => {
                Answer::OtherState { missing, extra, of: Box::new(of.by_rule(rule)) }
            }
            other => other,
        }
    }

    /// Whether it rests on a guess: that a value is a time stamp or a random token, or that the
    /// server would have given the same to other headers, or to another message.
    pub fn is_guess(&self) -> bool {
        match self {
            Answer::Normalised { rules } => {
                let guesses = [TIME_STAMP, RANDOM_TOKEN, ISSUED_TOKEN, OTHER_HEADERS, BY_COUNT];
                rules.iter().any(|rule| guesses.contains(&rule.as_str()))
            }
            Answer::OtherState { of, .. } | Answer::Synthesised { of: Some(of), .. } => {
                of.is_guess()
            }
            _ => false,
        }
    }

    /// What a derived answer was derived from.
    fn source(&self) -> &Answer {
        match self {
            Answer::Synthesised { of: Some(of), .. } => of.source(),
            answer => answer,
        }
    }

    /// The same answer, with a derivation applied to it.
    pub(crate) fn derived(self, what: &str) -> Answer {
        Answer::Synthesised { what: what.to_owned(), of: Some(Box::new(self)) }
    }
}

/// How a state differs, in words.
pub fn state_words(missing: &[String], extra: &[String]) -> String {
    let list = |writes: &[String], words: &str| {
        (!writes.is_empty()).then(|| format!("{words} {}", writes.join(", ")))
    };
    let parts: Vec<String> =
        [list(missing, "recorded after"), list(extra, "without")].into_iter().flatten().collect();
    if parts.is_empty() { "its writes came in another order".to_owned() } else { parts.join("; ") }
}

/// How many requests were answered at each level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Levels {
    /// Recorded under exactly this request.
    pub exact: u64,
    /// Recorded, apart from what the rules declare insignificant.
    pub normalised: u64,
    /// The most similar recorded request.
    pub fuzzy: u64,
    /// Derived from a recorded response.
    pub synthesised: u64,
    /// Recorded in another state of the site.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_state: u64,
    /// Results of a search over the recorded pages.
    #[serde(default)]
    pub search: u64,
    /// From the live web.
    pub live: u64,
    /// From an instance of a site.
    #[serde(default)]
    pub site: u64,
    /// Not in the snapshot.
    pub miss: u64,
    /// Refused: no route, or a forbidden address.
    pub refused: u64,
    /// Failed.
    pub failed: u64,
    /// How many of all these rest on a guess.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub guessed: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Levels {
    /// Counts one answer.
    pub fn count(&mut self, answer: &Answer) {
        self.guessed += u64::from(answer.is_guess());
        match answer.source() {
            Answer::OtherState { .. } => self.other_state += 1,
            _ => *self.of(answer) += 1,
        }
    }

    fn of(&mut self, answer: &Answer) -> &mut u64 {
        match answer {
            Answer::Exact => &mut self.exact,
            Answer::Normalised { .. } => &mut self.normalised,
            Answer::Fuzzy { .. } => &mut self.fuzzy,
            Answer::Synthesised { .. } => &mut self.synthesised,
            Answer::OtherState { .. } => &mut self.other_state,
            Answer::Search { .. } => &mut self.search,
            Answer::Live => &mut self.live,
            Answer::Site => &mut self.site,
            Answer::Miss { .. } => &mut self.miss,
            Answer::Refused { .. } => &mut self.refused,
            Answer::Failed { .. } => &mut self.failed,
        }
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Levels) {
        // Without `..`, so that a new level does not compile until it is added, too.
        let Levels {
            exact,
            normalised,
            fuzzy,
            synthesised,
            other_state,
            search,
            live,
            site,
            miss,
            refused,
            failed,
            guessed,
        } = *other;
        self.other_state += other_state;
        self.guessed += guessed;
        self.exact += exact;
        self.normalised += normalised;
        self.fuzzy += fuzzy;
        self.synthesised += synthesised;
        self.search += search;
        self.live += live;
        self.site += site;
        self.miss += miss;
        self.refused += refused;
        self.failed += failed;
    }

    /// The total of all counts.
    pub fn total(&self) -> u64 {
        let found = self.exact + self.normalised + self.fuzzy + self.synthesised + self.other_state;
        found + self.search + self.live + self.site + self.miss + self.refused + self.failed
    }
}

/// The default limit of entries. Many times what an episode produces, and little memory if an
/// episode never ends.
const LIMIT: usize = 50_000;

/// All requests of one episode. Entries are only ever added. Beyond a limit they are counted but
/// not kept.
#[derive(Debug)]
pub struct Ledger {
    next: AtomicU64,
    limit: usize,
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    entries: Vec<Entry>,
    levels: Levels,
}

impl Default for Ledger {
    fn default() -> Self {
        Ledger::with_limit(LIMIT)
    }
}

impl Ledger {
    /// A ledger that keeps the first `limit` entries and counts the rest.
    pub fn with_limit(limit: usize) -> Self {
        Ledger { next: AtomicU64::new(0), limit, pages: Mutex::default() }
    }

    /// Reserves the next position in the order of arrival.
    pub fn next_seq(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds an entry and logs it.
    pub fn push(&self, entry: Entry) {
        let Entry { method, url, status, answer, bytes, .. } = &entry;
        tracing::debug!(
            %method,
            %url,
            status,
            answer = answer.level(),
            why = answer.why(),
            bytes,
            "a request"
        );
        let mut pages = self.lock();
        pages.levels.count(&entry.answer);
        // The counts go on when the list is full.
        if pages.entries.len() < self.limit {
            pages.entries.push(entry);
        }
    }

    /// The entries so far, in order of arrival. Requests in flight are not included.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = self.lock().entries.clone();
        entries.sort_by_key(|entry| entry.seq);
        entries
    }

    /// How many requests were answered at each level, including those that were not kept.
    pub fn levels(&self) -> Levels {
        self.lock().levels
    }

    /// How many entries were counted but not kept.
    pub fn omitted(&self) -> u64 {
        let pages = self.lock();
        pages.levels.total() - pages.entries.len() as u64
    }

    /// Writes the entries as JSON Lines, in order of arrival.
    pub fn write_jsonl(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        for entry in self.entries() {
            serde_json::to_writer(&mut *out, &entry)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn entry(seq: u64, answer: Answer) -> Entry {
        let (method, url) = ("GET".to_owned(), format!("https://a.test/{seq}"));
        Entry {
            seq,
            method,
            url,
            status: 200,
            answer,
            capture: None,
            bytes: 3,
            destination: None,
            took_ms: None,
        }
    }

    #[test]
    fn entries_come_in_order_of_arrival_and_levels_are_counted() {
        let ledger = Ledger::with_limit(3);
        let near = vec![NearestRequest {
            method: "GET".into(),
            url: "https://a.test/1".into(),
            differs: "path".into(),
        }];
        let answers = [
            Answer::Exact,
            Answer::Normalised { rules: vec!["query-order".into()] }.derived("range"),
            Answer::Miss { near },
            Answer::Exact,
        ];
        for (seq, answer) in answers.into_iter().enumerate().rev() {
            ledger.push(entry(seq as u64, answer));
        }
        assert_eq!(
            ledger.levels(),
            Levels { exact: 2, synthesised: 1, miss: 1, ..Levels::default() }
        );
        assert_eq!((ledger.entries().len(), ledger.omitted()), (3, 1));
        assert!(ledger.entries().is_sorted_by_key(|entry| entry.seq));
        let mut lines = Vec::new();
        ledger.write_jsonl(&mut lines).unwrap();
        let read: Vec<Entry> = lines
            .split(|byte| *byte == b'\n')
            .filter(|l| !l.is_empty())
            .map(|l| serde_json::from_slice(l).unwrap())
            .collect();
        assert_eq!(read, ledger.entries());
        let first = serde_json::to_value(&read[0].answer).unwrap();
        assert_eq!(first["level"], "synthesised");
        assert_eq!(first["of"]["rules"][0], "query-order");
    }
}
