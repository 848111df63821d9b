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

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use parking_lot::Mutex;
use snapshots::{
    Exchange, Headers,
    index::{Effect, effect_of, may_act, shows_state, site_of},
};
use url::Url;

use super::tokens::Tokens;
use crate::{RequestHead, Scheme, replay::ContentKind};

/// The most requests of a site that are remembered, and the most addresses that its links name.
const MOST: usize = 128;
/// How often it is asked again for one site.
const MOST_TIMES: u32 = 50;
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
    /// Held while it is asked again.
    asking: tokio::sync::Mutex<()>,
}

/// Where a request belongs.
#[derive(Debug)]
pub(crate) struct AskedIn {
    /// The visit in which it is made.
    pub(crate) visit: Arc<Visit>,
    /// The request.
    pub(crate) head: RequestHead,
    /// Whether it is made again, and not by the browser.
    pub(crate) by_us: bool,
}

/// What was seen of a site.
#[derive(Debug, Default)]
struct SeenSite {
    /// Pages and data, each once; what was asked for last is last.
    seen: Vec<SeenRequest>,
    /// Addresses that links name, which may show what was done. They are tried once.
    named: Vec<RequestHead>,
    tried: HashSet<String>,
    /// The cookies of each host and scheme, as the browser has them.
    cookies: HashMap<(Scheme, String), Vec<(String, String)>>,
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
    is_page: bool,
}

impl Visit {
    /// A new visit. After a write of a site, at most `again` requests are made again.
    pub fn new(again: usize) -> Visit {
        let name = snapshots::warc::new_record_id();
        Visit { name, again, sites: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    /// What tells it from others in a recording.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether a write of this site was sent to the live web.
    pub(crate) fn has_written(&self, site: &str) -> bool {
        self.sites.lock().get(site).is_some_and(|seen| seen.was_written)
    }

    /// Lets nobody else ask until what is returned is dropped.
    pub(crate) async fn lock(&self) -> impl Drop + use<'_> {
        self.asking.lock().await
    }

    /// The sites that have changed since it was asked again.
    pub(crate) fn changed(&self) -> Vec<String> {
        let sites = self.sites.lock();
        let changed = sites.iter().filter(|(_, seen)| seen.is_changed);
        let mut changed: Vec<String> = changed.map(|(site, _)| site.clone()).collect();
        changed.sort();
        changed
    }

    /// Notes an exchange that is over.
    fn note(&self, head: &RequestHead, exchange: &Exchange, by_us: bool) {
        let is_repeated = self.again > 0 && is_repeatable(head, exchange);
        let page = if is_repeated { PageParts::of(head, exchange) } else { PageParts::default() };
        let mut sites = self.sites.lock();
        let site = sites.entry(site_of(&head.host)).or_default();
        // The browser does not get the cookies of what it has not asked for.
        if !by_us {
            site.take_cookies(head, &exchange.response.headers);
        }
        if !by_us && matches!(effect_of(exchange), Effect::Write(_)) {
            (site.was_written, site.is_changed) = (true, true);
            return;
        }
        if !is_repeated {
            return;
        }
        let is_page = page.is_page;
        site.tokens.note_fields(page.fields);
        for named in page.named {
            if site.tried.len() < MOST && site.tried.insert(named.url.clone()) {
                site.named.push(named);
            }
        }
        site.named.retain(|other| other.url != head.url);
        let place = site.seen.iter().position(|other| other.head.url == head.url);
        match place {
            Some(_) if by_us => return,
            Some(place) => drop(site.seen.remove(place)),
            None if site.seen.len() >= MOST => drop(site.seen.remove(0)),
            None => {}
        }
        site.seen.push(SeenRequest { head: without_conditions(head), is_page });
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
        let seen = site.seen.iter().rev().filter(|seen| is_changed && (with_pages || !seen.is_page));
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

impl AskedIn {
    /// Notes the exchange that has come of it, before anything is left out of that.
    pub(crate) fn note(&self, exchange: &Exchange) {
        self.visit.note(&self.head, exchange, self.by_us);
    }
}

impl SeenSite {
    /// The cookies that the browser has after this.
    fn take_cookies(&mut self, head: &RequestHead, response: &Headers) {
        let own = self.cookies.entry((head.scheme, head.host.clone())).or_default();
        let sent = head.headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let sent: Vec<(String, String)> = sent.flat_map(|line| line.split(';')).filter_map(pair).collect();
        // A request without cookies may be one that sends none to this host.
        if !sent.is_empty() {
            *own = sent;
        }
        let set = response.get_all("set-cookie").filter_map(|line| std::str::from_utf8(line).ok());
        for line in set.take(MOST) {
            let Some((name, value)) = line.split(';').next().and_then(pair) else { continue };
            self.tokens.note_cookie(&name, &value);
            own.retain(|(other, _)| *other != name);
            let mut attributes = line.split(';').skip(1).map(|text| text.trim().to_ascii_lowercase());
            if !value.is_empty() && !attributes.any(|text| text == "max-age=0") {
                own.push((name, value));
            }
        }
    }

    /// A request with the cookies that the browser has now.
    fn with_cookies(&self, head: &RequestHead) -> RequestHead {
        let mut head = head.clone();
        head.headers.remove(header::COOKIE);
        let own = self.cookies.get(&(head.scheme, head.host.clone())).into_iter().flatten();
        let line: Vec<String> = own.map(|(name, value)| format!("{name}={value}")).collect();
        if let Some(line) = HeaderValue::from_str(&line.join("; ")).ok().filter(|line| !line.is_empty()) {
            head.headers.insert(header::COOKIE, line);
        }
        head
    }
}

fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}

/// Whether this may be asked again, and shows something: a page or data.
fn is_repeatable(head: &RequestHead, exchange: &Exchange) -> bool {
    let kind = exchange.response.headers.get_str("content-type").unwrap_or_default();
    let mut headers = HeaderMap::new();
    headers.extend(HeaderValue::from_str(kind).map(|kind| (header::CONTENT_TYPE, kind)));
    head.method == Method::GET
        && exchange.response.status == 200
        && exchange.truncated.is_none()
        && ContentKind::of(&headers) != ContentKind::Static
        && !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
        && !may_act(&head.url)
}

/// What counts of a page.
#[derive(Default)]
struct PageParts {
    is_page: bool,
    /// The requests for addresses of the same site that it links to, and that may show what was
    /// done.
    named: Vec<RequestHead>,
    /// Its hidden fields.
    fields: Vec<(String, String)>,
}

impl PageParts {
    fn of(head: &RequestHead, exchange: &Exchange) -> PageParts {
        let kind = exchange.response.headers.get_str("content-type").unwrap_or_default();
        let (Ok(base), true) = (Url::parse(&head.url), kind.contains("html")) else {
            return PageParts::default();
        };
        // Of one that is too long, no form is known.
        let body = exchange.content(LONGEST).unwrap_or_default();
        let own = site_of(&head.host);
        let is_wanted = |url: &Url| {
            url.host_str().is_some_and(|host| site_of(host) == own)
                && shows_state(url.as_str())
                && !may_act(url.as_str())
        };
        let links = search::links(kind, &body, &base).into_iter();
        let named = links.filter(is_wanted).take(MOST).filter_map(|url| linked(head, url)).collect();
        PageParts { is_page: true, named, fields: search::hidden_fields(kind, &body) }
    }
}

/// The request of a browser that follows a link.
fn linked(from: &RequestHead, mut url: Url) -> Option<RequestHead> {
    url.set_fragment(None);
    let scheme = match url.scheme() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return None,
    };
    let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
    let port = url.port().unwrap_or(scheme.default_port());
    let mut head = RequestHead { url: url.into(), scheme, host, port, ..without_conditions(from) };
    if head.headers.contains_key(header::HOST) && (&head.host, head.port) != (&from.host, from.port) {
        let authority = head.url.split('/').nth(2).unwrap_or_default();
        head.headers.insert(header::HOST, HeaderValue::from_str(authority).ok()?);
    }
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
