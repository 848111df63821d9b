//! What one browser has seen of each site while it is recorded, and what is asked again for the
//! sake of the recording.
//!
//! A recording knows what a site shows before and after a write only if somebody asked on both
//! sides. So what the browser has asked for is asked again:
//!
//! ```text
//! browser     GET /   GET /cart    POST /add   GET /cart            POST /remove ...
//! asked again                 GET /account                   GET /  ^ waits for them
//! ```
//!
//! This is done when it disturbs nobody: right before the next write of the site, and at the end of
//! the visit. What a write leads to is seen by the browser first, such as a message that is shown
//! once. Only pages and data are asked for, and nothing whose address says that it does something.
//! Pages are left alone where the form that is open could not be sent any more, see `tokens`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header, response};
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use snapshots::Exchange;
use snapshots::index::{
    AUTOMATIC_WITHIN, Effect, effect_of, is_log_in, is_once, may_act, only_shows_state,
    shows_state, site_of,
};
use snapshots::matching::{self, Key, ReplayRequest};
use url::Url;

use super::tokens::Tokens;
use crate::replay::ContentKind;
use crate::{RequestHead, Scheme};

/// The most requests of a site that are remembered, and the most addresses that its links name.
const MOST: usize = 128;
/// How often it is asked again for one site.
const MOST_TIMES: u32 = 50;
/// An answer that takes longer is one that waits for news.
const SLOW: Duration = Duration::from_secs(3);
/// The longest body in which links are looked for, in bytes.
const LONGEST: u64 = 1 << 20;
/// Headers that make an answer a part, or none.
const CONDITIONS: [HeaderName; 6] = [
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_MATCH,
    header::IF_UNMODIFIED_SINCE,
    header::IF_RANGE,
    header::RANGE,
];

/// A visit: what one browser does from a state without cookies on.
#[derive(Debug)]
pub struct Visit {
    name: String,
    /// The most requests that are made again at once.
    again: usize,
    sites: Mutex<HashMap<String, SeenSite>>,
    /// By site: held while it is asked again.
    asking: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// When the browser was last given a document.
    document: Mutex<Option<Instant>>,
}

/// Where a request belongs.
#[derive(Debug)]
pub(crate) struct AskedIn {
    /// The visit in which it is made.
    pub(crate) visit: Arc<Visit>,
    /// The request.
    pub(crate) head: RequestHead,
    /// Who makes it.
    pub(crate) asker: Asker,
}

/// Who makes a request that is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    Browser,
    /// It is made again for the recording. The browser knows nothing of it.
    Recorder,
    /// As the one before, which led there.
    RecorderRedirect,
}

impl Asker {
    /// Whether the browser knows nothing of it.
    pub(crate) fn is_recorder(self) -> bool {
        self != Asker::Browser
    }
}

/// What was seen of a site.
#[derive(Debug, Default)]
struct SeenSite {
    /// Pages and data, each once; what was asked for last is last.
    seen: Vec<SeenRequest>,
    /// Addresses that links name, which may show what was done. They are tried once.
    named: Vec<RequestHead>,
    tried: HashSet<String>,
    /// The last value of each cookie, by scheme and host.
    cookies: HashMap<(Scheme, String), HashMap<String, String>>,
    /// Cookies that were set, with the paths that they are for.
    set: HashMap<(Scheme, String), Vec<(String, String)>>,
    tokens: Tokens,
    /// Whether there was a write at all, and since it was asked again.
    was_written: bool,
    is_changed: bool,
    /// How often it was asked again.
    times: u32,
}

/// A request that may be made again.
#[derive(Debug)]
struct SeenRequest {
    head: RequestHead,
    /// Its normalised key: cache busters do not count.
    key: Key,
    is_page: bool,
}

impl Visit {
    /// A new visit. After a write of a site, at most `again` requests are made again.
    pub fn new(again: usize) -> Visit {
        let name = snapshots::warc::new_record_id();
        Visit {
            name,
            again,
            sites: Mutex::default(),
            asking: Mutex::default(),
            document: Mutex::default(),
        }
    }

    /// What tells it from others in a recording.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether a write of this site was sent to the live web.
    pub(crate) fn has_written(&self, site: &str) -> bool {
        self.sites.lock().get(site).is_some_and(|seen| seen.was_written)
    }

    /// The earliest time of an action on the newest document. What is sent before counts as sent by
    /// the document itself.
    pub(crate) fn earliest_action(&self) -> Option<Instant> {
        Some((*self.document.lock())? + AUTOMATIC_WITHIN)
    }

    /// Whether anything is asked again at all.
    pub(crate) fn asks_again(&self) -> bool {
        self.again > 0
    }

    /// What is held while a site is asked again.
    pub(crate) fn lock_of(&self, site: &str) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(self.asking.lock().entry(site.to_owned()).or_default())
    }

    /// The sites that have changed since it was asked again.
    pub(crate) fn changed(&self) -> Vec<String> {
        let sites = self.sites.lock();
        let changed = sites.iter().filter(|(_, seen)| seen.is_changed);
        let mut changed: Vec<String> = changed.map(|(site, _)| site.clone()).collect();
        changed.sort();
        changed
    }

    fn of_site(&self, head: &RequestHead) -> MappedMutexGuard<'_, SeenSite> {
        let site = site_of(&head.host);
        MutexGuard::map(self.sites.lock(), |sites| sites.entry(site).or_default())
    }

    /// Notes an exchange that is over.
    fn note(&self, head: &RequestHead, exchange: &Exchange, asker: Asker, took: Duration) {
        let is_repeated = self.again > 0 && took < SLOW && is_repeatable(head, exchange);
        let page = if is_repeated { PageParts::of(head, exchange) } else { PageParts::default() };
        let mut sites = self.sites.lock();
        let site = sites.entry(site_of(&head.host)).or_default();
        // What leads to another page has mostly done nothing, unless its address says so.
        let changes = match effect_of(exchange) {
            Effect::Write(_) => true,
            Effect::Action => may_act(&head.url),
            _ => false,
        };
        if asker == Asker::Browser && changes {
            (site.was_written, site.is_changed) = (true, true);
            return;
        }
        if !is_repeated {
            return;
        }
        let is_page = page.is_page || exchange.response.status != 200;
        match page.fields {
            Some(fields) => site.tokens.note_fields(fields),
            None => site.tokens.note_unknown(),
        }
        for named in page.named {
            if site.tried.len() < MOST && site.tried.insert(named.url.clone()) {
                site.named.push(named);
            }
        }
        site.named.retain(|other| other.url != head.url);
        let key = matching::normalised(&ReplayRequest::bare("GET", &head.url)).0;
        let place = site.seen.iter().position(|other| other.key == key);
        match place {
            Some(_) if asker.is_recorder() => return,
            // The browser gets there by what was asked for.
            None if asker == Asker::RecorderRedirect => return,
            Some(place) => drop(site.seen.remove(place)),
            None if site.seen.len() >= MOST => drop(site.seen.remove(0)),
            None => {}
        }
        site.seen.push(SeenRequest { head: without_conditions(head), key, is_page });
    }

    /// What to ask now, before a write of this site or at the end: what it may show of what was
    /// done, and after a write all that was seen.
    pub(crate) fn to_ask(&self, site: &str) -> Vec<RequestHead> {
        let mut sites = self.sites.lock();
        let Some(site) = sites.get_mut(site).filter(|site| site.times < MOST_TIMES) else {
            return Vec::new();
        };
        let (is_changed, with_pages) = (std::mem::take(&mut site.is_changed), site.tokens.allow());
        let named = if with_pages { std::mem::take(&mut site.named) } else { Vec::new() };
        let is_known = |head: &RequestHead| site.seen.iter().any(|seen| seen.head.url == head.url);
        let named: Vec<RequestHead> = named.into_iter().filter(|head| !is_known(head)).collect();
        let seen =
            site.seen.iter().rev().filter(|seen| is_changed && (with_pages || !seen.is_page));
        let seen = seen.map(|seen| &seen.head);
        // What shows what was done comes first, then the page that is open.
        let (shows, others): (Vec<_>, Vec<_>) =
            named.iter().chain(seen).partition(|head| shows_state(&head.url));
        let asked = shows.into_iter().chain(others).take(self.again);
        let asked: Vec<RequestHead> = asked.map(|head| site.with_cookies(head)).collect();
        site.times += u32::from(!asked.is_empty());
        asked
    }
}

impl Visit {
    /// The request to make where one that was made again leads to another address of its origin.
    pub(crate) fn redirect_request(&self, from: &RequestHead, url: Url) -> Option<RequestHead> {
        let is_safe = !may_act(url.as_str()) || is_log_in(url.as_str()) && !is_once(url.as_str());
        let site = self.of_site(from);
        let head = RequestHead { url: url.into(), ..from.clone() };
        (is_safe && site.tokens.allow()).then(|| site.with_cookies(&head))
    }
}

impl AskedIn {
    pub(crate) fn new(visit: &Arc<Visit>, head: &RequestHead, asker: Asker) -> AskedIn {
        AskedIn { visit: Arc::clone(visit), head: head.clone(), asker }
    }

    /// Notes that it is sent. Only the browser's own requests have its cookies.
    pub(crate) fn sent(&self) {
        if self.asker == Asker::Browser {
            self.visit.of_site(&self.head).take_sent(&self.head);
        }
    }

    /// Notes that the head of its response has arrived: what was sent to change something, and
    /// leads elsewhere, has changed it.
    pub(crate) fn answered(&self, parts: &response::Parts) {
        if self.asker == Asker::Browser {
            if ContentKind::of(&self.head, &parts.headers) == ContentKind::Document {
                *self.visit.document.lock() = Some(Instant::now());
            }
            let mut site = self.visit.of_site(&self.head);
            site.take_set(&self.head, &parts.headers);
            let is_sent = !self.head.method.is_safe() || parts.status.is_redirection();
            if is_sent
                && is_log_in(&self.head.url)
                && parts.headers.contains_key(header::SET_COOKIE)
            {
                site.tokens.begin_session();
            }
            if !self.head.method.is_safe() && parts.status.is_redirection() {
                (site.was_written, site.is_changed) = (true, true);
            }
        }
    }

    /// Notes the exchange that has come of it, and how long it took, before anything is left out of
    /// it.
    pub(crate) fn note(&self, exchange: &Exchange, took: Duration) {
        self.visit.note(&self.head, exchange, self.asker, took);
    }
}

impl SeenSite {
    /// The values of the cookies that the browser sends.
    fn take_sent(&mut self, head: &RequestHead) {
        let own = self.cookies.entry((head.scheme, head.host.clone())).or_default();
        for (name, value) in sent(&head.headers) {
            if own.len() < MOST || own.contains_key(&name) {
                own.insert(name, value);
            }
        }
    }

    /// The cookies that a response sets and takes away.
    fn take_set(&mut self, head: &RequestHead, response: &HeaderMap) {
        let place = (head.scheme, head.host.clone());
        let own = self.cookies.entry(place.clone()).or_default();
        let paths = self.set.entry(place).or_default();
        let lines =
            response.get_all(header::SET_COOKIE).iter().filter_map(|line| line.to_str().ok());
        for line in lines.take(MOST) {
            let Some((name, value)) = line.split(';').next().and_then(pair) else { continue };
            self.tokens.note_cookie(&name, &value);
            paths.retain(|(other, _)| *other != name);
            let attributes = || line.split(';').skip(1).filter_map(pair);
            let has = |wanted: &str, is: &dyn Fn(&str) -> bool| {
                attributes().any(|(name, value)| name.eq_ignore_ascii_case(wanted) && is(&value))
            };
            if value.is_empty()
                || has("max-age", &|text| text.parse::<i64>().is_ok_and(|age| age <= 0))
            {
                own.remove(&name);
            } else if paths.len() < MOST {
                let path = attributes().find(|(name, _)| name.eq_ignore_ascii_case("path"));
                paths.push((name.clone(), path.map_or_else(|| "/".to_owned(), |(_, path)| path)));
                own.insert(name, value);
            }
        }
    }

    /// A request with the cookies that it had, and those that were set for its path, as the browser
    /// has them now.
    fn with_cookies(&self, head: &RequestHead) -> RequestHead {
        let mut head = head.clone();
        let place = (head.scheme, head.host.clone());
        let path =
            Url::parse(&head.url).map_or_else(|_| String::new(), |url| url.path().to_owned());
        let set = self.set.get(&place).into_iter().flatten();
        let set = set
            .filter(|(_, of)| path.starts_with(of.trim_end_matches('/')))
            .map(|(name, _)| name.clone());
        let mut names: Vec<String> = sent(&head.headers).map(|(name, _)| name).chain(set).collect();
        let mut known = HashSet::new();
        names.retain(|name| known.insert(name.clone()));
        let values = self.cookies.get(&place);
        let pairs = names.iter().filter_map(|name| Some(format!("{name}={}", values?.get(name)?)));
        let line = pairs.collect::<Vec<_>>().join("; ");
        head.headers.remove(header::COOKIE);
        if let Some(line) = HeaderValue::from_str(&line).ok().filter(|line| !line.is_empty()) {
            head.headers.insert(header::COOKIE, line);
        }
        head
    }
}

/// The cookies of a request.
fn sent(headers: &HeaderMap) -> impl Iterator<Item = (String, String)> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(';')).filter_map(pair)
}

fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}

/// Whether this may be asked again, and shows something: a page or data, or what leads to a page.
fn is_repeatable(head: &RequestHead, exchange: &Exchange) -> bool {
    let kind = exchange.response.headers.get_str("content-type").unwrap_or_default();
    let mut headers = HeaderMap::new();
    headers.extend(HeaderValue::from_str(kind).map(|kind| (header::CONTENT_TYPE, kind)));
    let leads_on = || {
        let is_page = head.headers.get("sec-fetch-dest").is_some_and(|name| name == "document");
        let location = exchange.response.headers.get_str("location");
        let target = location.and_then(|text| Url::parse(&head.url).ok()?.join(text).ok());
        // What is sent to the log-in was refused, so that it has done nothing.
        let does_nothing = |target: Url| is_log_in(target.as_str()) || only_shows_state(&head.url);
        is_page
            && (300..400).contains(&exchange.response.status)
            && target.is_some_and(does_nothing)
    };
    head.method == Method::GET
        && (exchange.response.status == 200 || leads_on())
        && exchange.truncated.is_none()
        && ContentKind::of(head, &headers) != ContentKind::Static
        && !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
        && !may_act(&head.url)
        // Another poll of the same connection would end it.
        && !head.url.contains("transport=polling")
}

/// What counts of a page.
#[derive(Default)]
struct PageParts {
    is_page: bool,
    /// The requests for addresses of the same site that it links to, and that may show what was
    /// done.
    named: Vec<RequestHead>,
    /// Its hidden fields; `None` where they are not known.
    fields: Option<Vec<(String, String)>>,
}

impl PageParts {
    fn of(head: &RequestHead, exchange: &Exchange) -> PageParts {
        let kind = exchange.response.headers.get_str("content-type").unwrap_or_default();
        let (Ok(base), true) = (Url::parse(&head.url), kind.contains("html")) else {
            return PageParts { fields: Some(Vec::new()), ..PageParts::default() };
        };
        let Ok(body) = exchange.content(LONGEST) else {
            return PageParts { is_page: true, ..PageParts::default() };
        };
        // Nobody has followed the link: it has to be plain what it leads to.
        let is_wanted = |url: &Url| url.origin() == base.origin() && only_shows_state(url.as_str());
        let links = html_scan::links(kind, &body, &base).into_iter();
        let named =
            links.filter(is_wanted).take(MOST).filter_map(|url| linked(head, url)).collect();
        PageParts { is_page: true, named, fields: Some(html_scan::hidden_fields(kind, &body)) }
    }
}

/// The request of a browser that follows a link to another page of the same origin.
fn linked(from: &RequestHead, mut url: Url) -> Option<RequestHead> {
    url.set_fragment(None);
    let mut head = RequestHead { url: url.into(), ..without_conditions(from) };
    head.headers.insert(header::REFERER, HeaderValue::from_str(&from.url).ok()?);
    if head.headers.contains_key("sec-fetch-site") {
        head.headers.insert("sec-fetch-site", HeaderValue::from_static("same-origin"));
    }
    Some(head)
}

fn without_conditions(head: &RequestHead) -> RequestHead {
    let mut head = head.clone();
    CONDITIONS.iter().for_each(|name| drop(head.headers.remove(name)));
    head
}
