//! Chooses among the captures of one URL by the headers of the request.
//!
//! One URL may be a page for the address bar and data for its scripts, and an API may give each
//! origin an answer of its own. The recorded requests tell which capture is which. They fall into
//! classes by the headers that count, the first ones most:
//!
//! 1. whether `Authorization` was sent. A browser's own prompt for a user and a password that the
//!    recording answered is not repeated;
//! 2. the headers by which scripts ask for another form, such as `X-Requested-With`;
//! 3. the headers that `Vary` names, but for cookies, codings, and what a browser says of itself
//!    and of how it came there;
//! 4. the cookies by which a page keeps settings;
//! 5. the page that asks, where the captures lead back to the page that had asked for them;
//! 6. the destination (a page, an image, the data of a script) and the first type in `Accept`,
//!    where the captures are of different types, or `Vary` names them.
//!
//! A request gets the captures of the class that is most like it, and those of which no request is
//! known, in recorded order. Where the server was told something else by a header that counts, the
//! answer is a guess, also if there is one capture only.

use http::{HeaderMap, header};
use snapshots::Headers;
use snapshots::index::{CaptureKind, IndexError, IndexHit, ReplaySet, is_log_in};
use snapshots::matching::Key;
use url::Url;

use super::LAST_EVENT_ID;
use super::settings::{self, CaptureState};

/// The ledger label of a response that was recorded with a user and a password, and requested
/// without.
const CREDENTIALS: &str = "credentials";
/// The ledger label of a response that the server gave to other headers than those of the request.
pub(crate) const OTHER_HEADERS: &str = "other-headers";
/// The ledger label of one that was given to another origin. Who asks is no other question.
const OTHER_ORIGIN: &str = "other-origin";

/// Headers by which scripts ask for another form of what a URL shows.
const FORMS: [&str; 9] = [
    "hx-boosted",
    "hx-request",
    "last-event-id",
    "next-router-prefetch",
    "rsc",
    "turbo-frame",
    "x-inertia",
    "x-pjax",
    "x-requested-with",
];
/// What `Vary` may name without saying what was asked for, and how such names begin.
const ASIDE: [&str; 13] = [
    "*",
    "accept-encoding",
    "cookie",
    "device-memory",
    "downlink",
    "dpr",
    "ect",
    "range",
    "referer",
    "rtt",
    "save-data",
    "user-agent",
    "viewport-width",
];
const ASIDE_PREFIXES: [&str; 2] = ["if-", "sec-"];
const AUTHORIZATION: &str = "authorization";
const COOKIE: &str = "cookie";
/// Begins the name of a cookie that counts, among the names of headers.
const SETTING: &str = "cookie:";
const ORIGIN: &str = "origin";
const REFERER: &str = "referer";
const DESTINATION: &str = "sec-fetch-dest";
const ACCEPT: &str = "accept";
/// The schemes of authentication for which a browser itself asks for a user and a password.
const PROMPTS: [&str; 4] = ["basic", "digest", "negotiate", "ntlm"];
/// The most captures of a URL that are told apart. Later ones are like those without a request.
const MOST: usize = 128;
/// The most names of `Vary` that count, and the most characters of a value.
const MOST_NAMES: usize = 32;
const MOST_CHARACTERS: usize = 256;

/// What headers say, by the names that count.
type Values = Vec<Option<String>>;

/// The classes of the captures of one request.
#[derive(Debug)]
pub(super) struct Negotiation {
    /// The headers that count, the most important ones first.
    names: Vec<String>,
    classes: Vec<Class>,
    /// The captures of which no request is known.
    others: Vec<usize>,
}

/// Captures are named by their places in recorded order.
#[derive(Debug)]
struct Class {
    values: Values,
    members: Vec<usize>,
}

/// The captures that a request may get.
#[derive(Debug)]
pub(super) struct Choice {
    /// Their places in recorded order. There is at least one.
    pub(super) members: Vec<usize>,
    /// The ledger label if the request differs in something that counts.
    pub(super) rule: Option<&'static str>,
}

/// The key of a list of captures.
pub(super) fn key(hits: &[IndexHit]) -> Key {
    let bytes = |hit: &IndexHit| [hit.member.to_le_bytes(), hit.capture.to_le_bytes()].concat();
    Key::of("captures", &[&hits.iter().flat_map(bytes).collect::<Vec<u8>>()])
}

impl Negotiation {
    /// Reads the classes of these captures; `None` if a request may get all of them.
    ///
    /// # Errors
    /// When the disk or the server does not give them. A damaged record says as little as one that
    /// was not recorded.
    pub(super) fn read(
        set: &ReplaySet,
        hits: &[IndexHit],
        state_of: &dyn Fn(IndexHit) -> Result<CaptureState, IndexError>,
    ) -> Result<Option<Negotiation>, IndexError> {
        // The set counts failures of disk and server, to tell them from damage.
        let failures = set.failures();
        let mut read: Vec<Exchange> = Vec::new();
        for hit in hits.iter().take(MOST) {
            match Exchange::read(set, *hit) {
                Err(error) if set.failures() != failures => return Err(error),
                exchange => read.push(exchange.unwrap_or_default()),
            }
        }
        let requests: Vec<Option<&Headers>> =
            read.iter().map(|exchange| exchange.request.as_ref()).collect();
        let settings = match settings::names(set, hits, &requests, state_of) {
            Err(error) if set.failures() != failures => return Err(error),
            settings => settings.unwrap_or_default(),
        };
        let names = names(&read, &settings);
        let is_answered =
            read.iter().any(|exchange| exchange.is_success && exchange.is_authorized());
        let (mut classes, mut others): (Vec<Class>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut is_one_left_out = false;
        for at in 0..hits.len() {
            match read.get(at) {
                Some(exchange) if exchange.is_challenge && is_answered => is_one_left_out = true,
                Some(Exchange { request: Some(headers), .. }) => {
                    let values = values(&names, &|name| headers.get_str(name).map(str::to_owned));
                    match classes.iter_mut().find(|class| class.values == values) {
                        Some(class) => class.members.push(at),
                        None => classes.push(Class { values, members: vec![at] }),
                    }
                }
                _ => others.push(at),
            }
        }
        let chooses = !classes.is_empty() || is_one_left_out;
        Ok(chooses.then_some(Negotiation { names, classes, others }))
    }

    /// The captures that were recorded for the requests most like one with these headers.
    pub(super) fn choose(&self, headers: &HeaderMap) -> Choice {
        let header = |name: &str| {
            let lines = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
            // A browser may send its cookies in several headers.
            let lines: Vec<&str> =
                if name == COOKIE { lines.collect() } else { lines.take(1).collect() };
            (!lines.is_empty()).then(|| lines.join("; "))
        };
        let asked = values(&self.names, &header);
        let all: Vec<Likeness> =
            self.classes.iter().map(|class| likeness(&self.names, &asked, &class.values)).collect();
        let Some(best) = all.iter().max() else {
            return Choice { members: self.others.clone(), rule: None };
        };
        let chosen = self.classes.iter().zip(&all).filter(|(_, likeness)| *likeness == best);
        let known = chosen.flat_map(|(class, _)| &class.members);
        let mut members: Vec<usize> = known.chain(&self.others).copied().collect();
        members.sort_unstable();
        let is_authorized = asked.first().is_some_and(Option::is_some);
        let rule = match best.of_each.first() {
            Some(0) if !is_authorized => Some(CREDENTIALS),
            _ if best.is_possible => None,
            _ => Some(if best.is_of_other_origin { OTHER_ORIGIN } else { OTHER_HEADERS }),
        };
        Choice { members, rule }
    }
}

/// How like the request of a class is to another one. The greatest is the most like it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Likeness {
    /// Whether the server may have given this answer: nothing differs of what it looks at.
    is_possible: bool,
    /// For each header that counts: 2 if it is the same, 1 if that is not known, 0 if it differs.
    of_each: Vec<u8>,
    /// Whether nothing that the server looks at differs but the origin.
    is_of_other_origin: bool,
}

fn likeness(names: &[String], asked: &Values, recorded: &Values) -> Likeness {
    let of_one = |(at, name): (usize, &String)| {
        let is_unknown = name == DESTINATION && (asked[at].is_none() || recorded[at].is_none());
        if asked[at] == recorded[at] { 2 } else { u8::from(is_unknown) }
    };
    let of_each: Vec<u8> = names.iter().enumerate().map(of_one).collect();
    let differs = |(name, alike): (&String, &u8)| {
        *alike == 0 && ![DESTINATION, ACCEPT, LAST_EVENT_ID].contains(&name.as_str())
    };
    let is_possible = !names.iter().zip(&of_each).any(differs);
    let is_of_other_origin = !names.iter().zip(&of_each).any(|of| differs(of) && of.0 != ORIGIN);
    Likeness { is_possible, of_each, is_of_other_origin }
}

/// One recorded exchange, as far as it counts.
#[derive(Default)]
struct Exchange {
    request: Option<Headers>,
    varies_by: Vec<String>,
    content_type: Option<String>,
    /// A browser that gets it asks for a user and a password.
    is_challenge: bool,
    is_success: bool,
    /// Of one that leads elsewhere, whether it leads to the page that asked for it.
    leads_back: Option<bool>,
}

impl Exchange {
    fn read(set: &ReplaySet, hit: IndexHit) -> Result<Exchange, IndexError> {
        let capture = set.capture(hit)?;
        let failures = set.failures();
        let request = match set.request_headers(hit, &capture) {
            Err(error) if set.failures() != failures => return Err(error),
            request => request.ok().flatten(),
        };
        let mut exchange = Exchange { request, ..Exchange::default() };
        if capture.kind == CaptureKind::Resource {
            return Ok(exchange);
        }
        if let Ok(head) = set.read(hit.member, capture.response)?.response_head() {
            let texts =
                |name| head.headers.get_all(name).filter_map(|text| std::str::from_utf8(text).ok());
            let varies_by = texts("Vary").flat_map(|names| names.split(','));
            exchange.varies_by = varies_by.map(|name| name.trim().to_ascii_lowercase()).collect();
            exchange.content_type = head.headers.get_str("Content-Type").map(first_type);
            let is_prompt = texts("WWW-Authenticate").any(|challenge| {
                let scheme = challenge.trim_start().split([' ', ',']).next().unwrap_or_default();
                PROMPTS.iter().any(|prompt| scheme.eq_ignore_ascii_case(prompt))
            });
            exchange.is_challenge = head.status == 401 && is_prompt && !exchange.is_authorized();
            exchange.is_success = head.status < 400;
            let location =
                head.headers.get_str("Location").filter(|_| (300..400).contains(&head.status));
            if let (Some(location), Some(request)) = (location, &exchange.request) {
                let (_, url) = set.request_line(hit, &capture)?;
                exchange.leads_back = is_back(&url, location, request);
            }
        }
        Ok(exchange)
    }

    fn is_authorized(&self) -> bool {
        self.request.as_ref().is_some_and(|headers| headers.contains(AUTHORIZATION))
    }
}

/// Whether a redirect leads to the page that asked for it. One to a log-in says nothing of that.
fn is_back(url: &str, location: &str, request: &Headers) -> Option<bool> {
    let mut target = Url::parse(url).and_then(|url| url.join(location)).ok()?;
    let mut page = Url::parse(request.get_str("Referer")?).ok()?;
    target.set_fragment(None);
    page.set_fragment(None);
    (!is_log_in(target.as_str())).then(|| target == page)
}

/// Whether the headers of a request, or those that its only capture names in `Vary`, may tell
/// something else than what was recorded, so that the recorded request has to be read.
pub(super) fn may_differ(asked: &HeaderMap, stored: &HeaderMap) -> bool {
    let names = stored.get_all(header::VARY).iter().filter_map(|names| names.to_str().ok());
    let names =
        names.flat_map(|names| names.split(',')).map(|name| name.trim().to_ascii_lowercase());
    let has = |name: &&str| asked.contains_key(*name);
    let is_told = |name: &str| counts(name) || FORMS.contains(&name) || name == AUTHORIZATION;
    let may_lead_back = stored.contains_key(header::LOCATION);
    may_lead_back
        || has(&AUTHORIZATION)
        || FORMS.iter().any(has)
        || names.into_iter().any(|name| is_told(&name))
}

/// Whether a header that `Vary` names says what was asked for.
fn counts(name: &str) -> bool {
    let is_known =
        [AUTHORIZATION, ACCEPT].contains(&name) || FORMS.contains(&name) || ASIDE.contains(&name);
    !is_known && !ASIDE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The headers that count for these exchanges, the most important ones first.
fn names(exchanges: &[Exchange], settings: &[String]) -> Vec<String> {
    let mut named: Vec<&str> = exchanges
        .iter()
        .flat_map(|exchange| exchange.varies_by.iter().map(String::as_str))
        .collect();
    named.sort_unstable();
    named.dedup();
    let mut types: Vec<&String> =
        exchanges.iter().filter_map(|exchange| exchange.content_type.as_ref()).collect();
    types.dedup();
    let last =
        [DESTINATION, ACCEPT].into_iter().filter(|name| types.len() > 1 || named.contains(name));
    let others = named.iter().copied().filter(|name| counts(name)).take(MOST_NAMES);
    let mut back = exchanges.iter().filter_map(|exchange| exchange.leads_back).peekable();
    let leads_back = back.peek().is_some() && back.all(|is_back| is_back);
    let last = leads_back.then_some(REFERER).into_iter().chain(last);
    let settings = settings.iter().map(|name| format!("{SETTING}{name}"));
    let first = [AUTHORIZATION].into_iter().chain(FORMS).chain(others).map(str::to_owned);
    first.chain(settings).chain(last.map(str::to_owned)).collect()
}

fn values(names: &[String], header: &dyn Fn(&str) -> Option<String>) -> Values {
    let value = |name: &String| -> Option<String> {
        if name == DESTINATION {
            return destination(header);
        }
        if let Some(name) = name.strip_prefix(SETTING) {
            return settings::value_of(&header(COOKIE)?, name);
        }
        let value = header(name)?.trim().to_ascii_lowercase();
        Some(match name.as_str() {
            AUTHORIZATION => String::new(),
            ACCEPT => first_type(&value),
            // Whichever variant of a language.
            "accept-language" => value.split(['-', ',', ';']).next().unwrap_or_default().to_owned(),
            // A page under another scheme is the same page.
            ORIGIN => value.split_once("://").map_or(value.clone(), |(_, host)| host.to_owned()),
            _ => value.chars().take(MOST_CHARACTERS).collect(),
        })
    };
    names.iter().map(value).collect()
}

/// What a response is for. Requests of other recorders say it by the types that they accept.
fn destination(header: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let page = || "page".to_owned();
    match header(DESTINATION) {
        Some(name) if ["document", "frame", "iframe", "embed", "object"].contains(&&*name) => {
            Some(page())
        }
        Some(name) => Some(name),
        None => header(ACCEPT).filter(|types| first_type(types) == "text/html").map(|_| page()),
    }
}

fn first_type(types: &str) -> String {
    types.split([',', ';']).next().unwrap_or_default().trim().to_ascii_lowercase()
}
