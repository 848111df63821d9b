//! Finds the recorded responses for a request, and determines their match level.

use std::ops::RangeInclusive;

use http::HeaderMap;
use snapshots::index::{
    ChangingMatch, IndexError, IndexHit, RecordedRequest, ReplaySet, RequestParts, body_mark,
};
use snapshots::matching::{self, Issued, IssuedTokens, Key, ReplayRequest, Rules};

use super::MatchLevel;
use crate::Answer;

/// How many recorded requests are scored for a fuzzy match.
const CANDIDATES: usize = 64;
/// Of how many recorded requests the pages that sent them are read.
const MOST_PAGES: usize = 8;

/// Recorded responses to one request in recorded order, grouped by their use.
#[derive(Clone, Debug)]
pub(super) struct MatchedCaptures {
    /// The key of the request's cursor in the episode.
    pub(super) key: Key,
    level: Level,
    /// Complete responses.
    pub(super) whole: Vec<IndexHit>,
    /// Recorded ranges.
    pub(super) parts: Vec<IndexHit>,
    /// Recorded 304 responses, which match only conditional requests.
    pub(super) unmodified: Vec<IndexHit>,
}

#[derive(Clone, Debug)]
enum Level {
    Exact,
    Normalised(Rules),
    /// By volatile request parts: learned rules, or a guess.
    Changing(Vec<String>),
    Fuzzy {
        score: f64,
        url: String,
    },
}

/// Finds the responses at the best match level that has any usable for `headers`, the header fields
/// of the request.
pub(super) fn find(
    set: &ReplaySet,
    request: &ReplayRequest<'_>,
    headers: &HeaderMap,
    level: MatchLevel,
) -> Result<Option<MatchedCaptures>, IndexError> {
    let exact = matching::exact(request);
    let found = sorted(set, exact, Level::Exact, set.exact(&exact)?)?;
    if found.serves(headers) {
        return Ok(Some(found));
    }
    if level == MatchLevel::Exact {
        return Ok(None);
    }
    let (key, rules) = matching::normalised(request);
    let found = sorted(set, key, Level::Normalised(rules), set.normalised(&key)?)?;
    if found.serves(headers) {
        return Ok(Some(found));
    }
    if let Some(ChangingMatch { key, labels, hits }) = set.changing(request)? {
        let found = sorted(set, key, Level::Changing(labels), hits)?;
        if found.serves(headers) {
            return Ok(Some(found));
        }
    }
    match level {
        MatchLevel::Fuzzy { threshold } => fuzzy(set, request, headers, threshold),
        _ => Ok(None),
    }
}

/// Finds the frame records of a WebSocket. All of them are in [`MatchedCaptures::whole`].
pub(super) fn sockets(
    set: &ReplaySet,
    request: &ReplayRequest<'_>,
    level: MatchLevel,
) -> Result<Option<MatchedCaptures>, IndexError> {
    let found = |key, level, whole: Vec<IndexHit>| {
        (!whole.is_empty()).then_some(MatchedCaptures {
            key,
            level,
            whole,
            parts: Vec::new(),
            unmodified: Vec::new(),
        })
    };
    let exact = matching::exact(request);
    let whole = set.exact(&exact)?;
    if level == MatchLevel::Exact || !whole.is_empty() {
        return Ok(found(exact, Level::Exact, whole));
    }
    let (key, rules) = matching::normalised(request);
    Ok(found(key, Level::Normalised(rules), set.normalised(&key)?))
}

/// The responses to the one recorded request that differs only in time stamps or random tokens. It
/// may have been recorded many times, each with other ones. Forms that differ from each other in
/// nothing else are the same request, in recorded order; so are requests with other time stamps.
pub(super) fn guessed(
    set: &ReplaySet,
    request: &ReplayRequest<'_>,
    headers: &HeaderMap,
    page: impl FnOnce() -> Result<IssuedTokens, IndexError>,
    now_millis: RangeInclusive<i64>,
) -> Result<Option<MatchedCaptures>, IndexError> {
    if !matching::may_guess(request) {
        return Ok(None);
    }
    let (mut page, mut own) = (Some(page), IssuedTokens::default());
    let mut pages_left = MOST_PAGES;
    let mut found: Option<Guessed> = None;
    for recorded in same_method(set, request)? {
        let parts = request_of(set, recorded.hit)?;
        let other =
            parts.as_ref().map_or(ReplayRequest::bare(&recorded.method, &recorded.url), |p| {
                p.request_at(&recorded.url)
            });
        let at = recorded.hit.at_millis as i64;
        let guess = |is_issued: Issued<'_>| {
            matching::guess((request, &now_millis), (&other, at), is_issued)
        };
        let (mut rules, mut issued) = (guess(&may_be_tokens), IssuedTokens::default());
        // Only now is it worth to read the pages.
        if rules.as_ref().is_some_and(|rules| rules.contains(&matching::ISSUED_TOKEN)) {
            if let Some(page) = page.take() {
                own = page()?;
            }
            if pages_left > 0 {
                pages_left -= 1;
                issued = set.issued_to(recorded.hit)?;
            }
            rules = guess(&|value, of_other| own.agree(&issued, value, of_other));
        }
        let Some(rules) = rules.filter(|rules| !rules.is_empty()) else { continue };
        let key = matching::exact(&other);
        match &mut found {
            None => {
                let (url, hits) = (recorded.url.clone(), vec![recorded.hit]);
                found = Some(Guessed { url, parts, rules, hits, key, issued });
            }
            Some(known) => {
                let first = known.request(&recorded.method);
                let first_at = known.hits[0].at_millis as i64;
                let agree =
                    |value: &str, of_other: &str| issued.agree(&known.issued, value, of_other);
                let is_same =
                    || matching::guess((&other, &(at..=at)), (&first, first_at), &agree).is_some();
                // What is sent with a token changes something, and the token lets it. What is asked
                // for with one may be another thing.
                let is_sent = request.method != "GET" || rules == [matching::TIME_STAMP];
                if known.key != key && !(is_sent && is_same()) {
                    // Two candidates are ambiguous.
                    return Ok(None);
                }
                known.hits.push(recorded.hit);
                known.key = known.key.min(key);
            }
        }
    }
    let Some(Guessed { rules, mut hits, key, .. }) = found else { return Ok(None) };
    hits.sort_by_key(|hit| (hit.at_millis, hit.member, hit.capture));
    let labels = rules.into_iter().map(str::to_owned).collect();
    let found = sorted(set, key, Level::Changing(labels), hits)?;
    Ok(found.serves(headers).then_some(found))
}

fn may_be_tokens(value: &str, of_other: &str) -> bool {
    matching::may_be_token(value) && matching::may_be_token(of_other)
}

/// What a request may be.
struct Guessed {
    /// The first of the recorded requests.
    url: String,
    parts: Option<RequestParts>,
    rules: Vec<&'static str>,
    /// The tokens of the page that sent the first of them.
    issued: IssuedTokens,
    hits: Vec<IndexHit>,
    key: Key,
}

impl Guessed {
    fn request<'a>(&'a self, method: &'a str) -> ReplayRequest<'a> {
        self.parts
            .as_ref()
            .map_or(ReplayRequest::bare(method, &self.url), |p| p.request_at(&self.url))
    }
}

/// Nearby recorded requests with the same method.
fn same_method(
    set: &ReplaySet,
    request: &ReplayRequest<'_>,
) -> Result<impl Iterator<Item = RecordedRequest> + use<>, IndexError> {
    let method = request.method.to_owned();
    let near = set.neighbours(request.method, request.url, CANDIDATES)?;
    Ok(near.into_iter().filter(move |recorded| recorded.method == method))
}

fn request_of(set: &ReplaySet, hit: IndexHit) -> Result<Option<RequestParts>, IndexError> {
    set.request(hit, &set.capture(hit)?)
}

/// The responses to the most similar recorded request of the same method, host and path.
fn fuzzy(
    set: &ReplaySet,
    request: &ReplayRequest<'_>,
    headers: &HeaderMap,
    threshold: f64,
) -> Result<Option<MatchedCaptures>, IndexError> {
    let mut best: Option<(f64, String, Key)> = None;
    for recorded in same_method(set, request)? {
        let parts = request_of(set, recorded.hit)?;
        let other =
            parts.as_ref().map_or(ReplayRequest::bare(&recorded.method, &recorded.url), |p| {
                p.request_at(&recorded.url)
            });
        let score = matching::score(request, &other);
        // The URL decides a tie, so that every run chooses the same response.
        let better = best.as_ref().is_none_or(|(highest, url, _)| {
            score > *highest || (score == *highest && recorded.url < *url)
        });
        if score >= threshold && score > 0.0 && better {
            best = Some((score, recorded.url.clone(), matching::exact(&other)));
        }
    }
    let Some((score, url, key)) = best else { return Ok(None) };
    let found = sorted(set, key, Level::Fuzzy { score, url }, set.exact(&key)?)?;
    Ok(found.serves(headers).then_some(found))
}

fn sorted(
    set: &ReplaySet,
    key: Key,
    level: Level,
    hits: Vec<IndexHit>,
) -> Result<MatchedCaptures, IndexError> {
    let mut found = MatchedCaptures {
        key,
        level,
        whole: Vec::new(),
        parts: Vec::new(),
        unmodified: Vec::new(),
    };
    for hit in hits {
        let status = if hit.status == 0 { set.capture(hit)?.status } else { hit.status };
        match status {
            206 => found.parts.push(hit),
            304 => found.unmodified.push(hit),
            // An unsatisfiable range says nothing about another range.
            416 => {}
            200..=999 => found.whole.push(hit),
            _ => {}
        }
    }
    Ok(found)
}

impl MatchedCaptures {
    fn serves(&self, headers: &HeaderMap) -> bool {
        let conditional = || {
            headers.contains_key(http::header::IF_NONE_MATCH)
                || headers.contains_key(http::header::IF_MODIFIED_SINCE)
        };
        !self.whole.is_empty()
            || !self.parts.is_empty()
            || (!self.unmodified.is_empty() && conditional())
    }

    /// The ledger entry for a response from `hit`.
    pub(super) fn answer(
        &self,
        set: &ReplaySet,
        request: &ReplayRequest<'_>,
        hit: IndexHit,
    ) -> Result<Answer, IndexError> {
        match &self.level {
            Level::Exact => Ok(Answer::Exact),
            Level::Changing(labels) => Ok(Answer::Normalised { rules: labels.clone() }),
            Level::Fuzzy { score, url } => Ok(Answer::Fuzzy { score: *score, url: url.clone() }),
            Level::Normalised(rules) => {
                let capture = set.capture(hit)?;
                let (_, url) = set.request_line(hit, &capture)?;
                let mut between = matching::url_rules_between(request.url, &url);
                if capture.request_body != body_mark(&request.body) {
                    between = between.or(rules.or(capture.rules).and(Rules::OF_THE_BODY));
                }
                Ok(Answer::Normalised { rules: between.names() })
            }
        }
    }
}
