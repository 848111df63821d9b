//! Chooses among the captures of one URL by the headers of the request.
//!
//! One URL may be a page for the address bar and data for its scripts, and an API may give each
//! origin an answer of its own. The recorded requests tell which capture is which. They fall into
//! classes by the headers that count, the first ones most:
//!
//! 1. whether `Authorization` was sent. A challenge that the recording answered is not repeated;
//! 2. the headers by which scripts ask for another form, such as `X-Requested-With`;
//! 3. the headers that `Vary` names, but for cookies, codings and what the browser says of itself;
//! 4. the destination (a page, an image, the data of a script) and the first type in `Accept`,
//!    where the captures are of different types, or `Vary` names them.
//!
//! A request gets the captures of the class that is most like it, in recorded order.

use http::HeaderMap;
use snapshots::{
    Headers,
    index::{CaptureKind, IndexError, IndexHit, ReplaySet},
    matching::Key,
};

/// The ledger label of a response that was recorded with a user and a password, and requested
/// without.
const CREDENTIALS: &str = "credentials";
/// The ledger label of a response that the server gave to other headers than those of the request.
const OTHER_HEADERS: &str = "other-headers";

/// Headers by which scripts ask for another form of what a URL shows.
const FORMS: [&str; 8] = [
    "hx-boosted",
    "hx-request",
    "next-router-prefetch",
    "rsc",
    "turbo-frame",
    "x-inertia",
    "x-pjax",
    "x-requested-with",
];
/// What `Vary` may name without saying what was asked for.
const ASIDE: [&str; 4] = ["*", "accept-encoding", "cookie", "user-agent"];
const AUTHORIZATION: &str = "authorization";
const DESTINATION: &str = "sec-fetch-dest";
const ACCEPT: &str = "accept";
/// The most captures of a URL that are told apart. Later ones are like those without a request.
const MOST: usize = 256;

/// What headers say, by the names that count.
type Values = Vec<Option<String>>;

/// The classes of the captures of one key.
#[derive(Debug)]
pub(super) struct Negotiation {
    /// The headers that count, the most important ones first.
    names: Vec<String>,
    classes: Vec<Class>,
}

#[derive(Debug)]
struct Class {
    /// `None` if the requests were not recorded.
    values: Option<Values>,
    /// The captures, by their places in recorded order.
    members: Vec<usize>,
}

/// The captures that a request may get.
#[derive(Debug)]
pub(super) struct Choice {
    /// Their places in recorded order.
    pub(super) members: Vec<usize>,
    /// The ledger label if the request differs in something that counts.
    pub(super) rule: Option<&'static str>,
}

impl Choice {
    /// The key of the cursor over these captures.
    pub(super) fn key(&self, key: &Key) -> Key {
        let first = self.members.first().copied().unwrap_or_default() as u64;
        Key::of("negotiated", &[&key.0, &first.to_le_bytes()])
    }
}

/// How like the request of a class is to another one. The greatest is the most like it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Likeness {
    /// Whether the server may have given this answer: nothing differs of what it looks at.
    is_possible: bool,
    /// For each header that counts: 2 if it is the same, 1 if that is not known, 0 if it differs.
    of_each: Vec<u8>,
}

/// One recorded exchange, as far as it counts.
struct Exchange {
    request: Option<Headers>,
    varies_by: Vec<String>,
    content_type: Option<String>,
    is_challenge: bool,
}

impl Negotiation {
    /// Reads the classes of these captures; `None` if there is only one.
    pub(super) fn read(set: &ReplaySet, hits: &[IndexHit]) -> Result<Option<Negotiation>, IndexError> {
        let read: Vec<Exchange> =
            hits.iter().take(MOST).map(|hit| Exchange::read(set, *hit)).collect::<Result<_, _>>()?;
        let names = names(&read);
        let is_answered = read.iter().any(|exchange| !exchange.is_challenge && exchange.is_authorized());
        let mut classes: Vec<Class> = Vec::new();
        for at in 0..hits.len() {
            let exchange = read.get(at);
            if is_answered && exchange.is_some_and(|exchange| exchange.is_challenge) {
                continue;
            }
            let request = exchange.and_then(|exchange| exchange.request.as_ref());
            let values =
                request.map(|headers| values(&names, &|name| headers.get_str(name).map(str::to_owned)));
            match classes.iter_mut().find(|class| class.values == values) {
                Some(class) => class.members.push(at),
                None => classes.push(Class { values, members: vec![at] }),
            }
        }
        let is_one = classes.len() == 1 && classes[0].members.len() == hits.len();
        Ok((!is_one).then_some(Negotiation { names, classes }))
    }

    /// The captures that were recorded for the requests most like one with these headers.
    pub(super) fn choose(&self, headers: &HeaderMap) -> Choice {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let asked = values(&self.names, &header);
        let all: Vec<Likeness> = self.classes.iter().map(|class| self.likeness(&asked, class)).collect();
        let Some(best) = all.iter().max() else { return Choice { members: Vec::new(), rule: None } };
        let chosen = self.classes.iter().zip(&all).filter(|(_, likeness)| *likeness == best);
        let mut members: Vec<usize> = chosen.flat_map(|(class, _)| class.members.iter().copied()).collect();
        members.sort_unstable();
        let rule = match best.of_each.first() {
            Some(0) => Some(CREDENTIALS),
            _ => (!best.is_possible).then_some(OTHER_HEADERS),
        };
        Choice { members, rule }
    }

    fn likeness(&self, asked: &Values, class: &Class) -> Likeness {
        let of_one = |(at, name): (usize, &String)| {
            let Some(recorded) = &class.values else { return 1 };
            let is_unknown = name == DESTINATION && (asked[at].is_none() || recorded[at].is_none());
            if asked[at] == recorded[at] { 2 } else { u8::from(is_unknown) }
        };
        let of_each: Vec<u8> = self.names.iter().enumerate().map(of_one).collect();
        let differs = |(name, alike): (&String, &u8)| *alike == 0 && name != DESTINATION && name != ACCEPT;
        let is_possible = !self.names.iter().zip(&of_each).any(differs);
        Likeness { is_possible, of_each }
    }
}

impl Exchange {
    fn read(set: &ReplaySet, hit: IndexHit) -> Result<Exchange, IndexError> {
        let capture = set.capture(hit)?;
        // A damaged request says as little as none.
        let request = set.request_headers(hit, &capture).ok().flatten();
        let mut exchange =
            Exchange { request, varies_by: Vec::new(), content_type: None, is_challenge: false };
        if capture.kind == CaptureKind::Resource {
            return Ok(exchange);
        }
        if let Ok(head) = set.read(hit.member, capture.response)?.response_head() {
            let varies_by = head.headers.get_all("Vary").filter_map(|names| std::str::from_utf8(names).ok());
            let names = varies_by.flat_map(|names| names.split(','));
            exchange.varies_by = names.map(|name| name.trim().to_ascii_lowercase()).collect();
            exchange.content_type = head.headers.get_str("Content-Type").map(first_type);
            exchange.is_challenge = head.status == 401 && head.headers.contains("WWW-Authenticate");
        }
        Ok(exchange)
    }

    fn is_authorized(&self) -> bool {
        self.request.as_ref().is_some_and(|headers| headers.contains(AUTHORIZATION))
    }
}

/// The headers that count for these exchanges, the most important ones first.
fn names(exchanges: &[Exchange]) -> Vec<String> {
    let mut named: Vec<&str> =
        exchanges.iter().flat_map(|exchange| exchange.varies_by.iter().map(String::as_str)).collect();
    named.sort_unstable();
    named.dedup();
    let mut types: Vec<&String> =
        exchanges.iter().filter_map(|exchange| exchange.content_type.as_ref()).collect();
    types.dedup();
    let last = [DESTINATION, ACCEPT].into_iter().filter(|name| types.len() > 1 || named.contains(name));
    let is_other =
        |name: &&str| ![AUTHORIZATION, DESTINATION, ACCEPT].contains(name) && !FORMS.contains(name);
    let counts = |name: &&str| is_other(name) && !ASIDE.contains(name) && !name.starts_with("sec-ch-");
    let others = named.iter().copied().filter(counts);
    let all = [AUTHORIZATION].into_iter().chain(FORMS).chain(others).chain(last);
    all.map(str::to_owned).collect()
}

fn values(names: &[String], header: &dyn Fn(&str) -> Option<String>) -> Values {
    let value = |name: &String| match name.as_str() {
        AUTHORIZATION => header(name).map(|_| String::new()),
        DESTINATION => destination(header),
        ACCEPT => header(name).map(|types| first_type(&types)),
        _ => header(name).map(|value| value.trim().to_ascii_lowercase()),
    };
    names.iter().map(value).collect()
}

/// What a response is for. Requests of other recorders say it by the types that they accept.
fn destination(header: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let page = || "page".to_owned();
    match header(DESTINATION) {
        Some(name) if ["document", "frame", "iframe", "embed", "object"].contains(&&*name) => Some(page()),
        Some(name) => Some(name),
        None => header(ACCEPT).filter(|types| first_type(types) == "text/html").map(|_| page()),
    }
}

fn first_type(types: &str) -> String {
    types.split([',', ';']).next().unwrap_or_default().trim().to_ascii_lowercase()
}
