//! Equivalent URLs of the same resource: `http` for `https`, with or without a trailing slash or
//! `www.`.
//!
//! Browsers change URLs before the gateway sees them: they request hosts on their HSTS preload list
//! over https only. If nothing was recorded under the requested URL, its variants are looked up in
//! the order of the constants below. The ledger shows the name of the variant.
//!
//! No variant responds with a redirect to the requested URL, because that would be an endless loop.

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use snapshots::index::RecordedRequest;
use snapshots::matching::{ReplayRequest, whole_url};
use url::{Position, Url};

use super::preflight::allow_origin;
use super::{MatchLevel, Replay, StoredError, find};
use crate::{Answer, Episode, Reply, RequestHead, body, miss};

/// Recorded under `http` and requested over `https`, or vice versa.
pub(super) const SCHEME: &str = "scheme";
/// Recorded with a trailing slash and requested without, or vice versa.
const SLASH: &str = "slash";
/// Recorded with `www.` and requested without, or vice versa, if the recording redirects between
/// the two.
const WWW: &str = "www";

/// How many captures of a host are searched for a redirect to its other name.
const SEARCHED: usize = 4096;
/// How many redirects of a host are read in search of one to its other name.
const READ: usize = 64;

impl Replay {
    /// The response that was recorded under an equivalent URL.
    pub(super) fn variant(
        &self,
        head: &RequestHead,
        request: &ReplayRequest<'_>,
        level: MatchLevel,
        episode: &Episode,
    ) -> Result<Option<Reply>, StoredError> {
        let Ok(url) = Url::parse(&head.url) else { return Ok(None) };
        if let Some(reply) = self.other_scheme(head, &url, request, level, episode)? {
            return Ok(Some(reply));
        }
        if !matches!(head.method, Method::GET | Method::HEAD) {
            return Ok(None);
        }
        let slashed = other_slash(&url);
        if let Some(reply) = self.moved(head, &url, slashed.clone(), &[SLASH], level)? {
            return Ok(Some(reply));
        }
        // Both names are one site only if the recording has a redirect between them.
        let Some(twin) = other_name(&url) else { return Ok(None) };
        if !self.redirects_between(&url, &twin)? {
            return Ok(None);
        }
        let twin_slashed = other_slash(&twin);
        if let Some(reply) = self.moved(head, &url, Some(twin), &[WWW], level)? {
            return Ok(Some(reply));
        }
        self.moved(head, &url, twin_slashed, &[WWW, SLASH], level)
    }

    /// The response that was recorded under the other scheme. For a page recorded over https it is
    /// a redirect, because the page needs its secure context. In the other direction there is no
    /// redirect, because the browser would not follow it.
    fn other_scheme(
        &self,
        head: &RequestHead,
        url: &Url,
        request: &ReplayRequest<'_>,
        level: MatchLevel,
        episode: &Episode,
    ) -> Result<Option<Reply>, StoredError> {
        let Some(other) = other_scheme(url) else { return Ok(None) };
        if other.scheme() == "https" && head.method == Method::GET && miss::is_navigation(head) {
            return self.moved(head, url, Some(other), &[SCHEME], level);
        }
        let there = ReplayRequest { url: other.as_str(), ..*request };
        let reply = match self.at(head, &there, level, episode) {
            Err(StoredError::BodyElsewhere { .. }) => return Ok(None),
            reply => reply?,
        };
        Ok(reply.filter(|reply| !leads_back(url, reply.status, &reply.headers)).map(|mut reply| {
            if url.scheme() == "https" && is_html(&reply.headers) {
                // The page's http subresources are loaded over https. Otherwise the browser blocks
                // them as mixed content.
                let upgrade = HeaderValue::from_static("upgrade-insecure-requests");
                reply.headers.append(header::CONTENT_SECURITY_POLICY, upgrade);
            }
            Reply { answer: reply.answer.by_rule(SCHEME), ..reply }
        }))
    }

    /// A redirect to `place`, if that was recorded and does not lead back.
    fn moved(
        &self,
        head: &RequestHead,
        url: &Url,
        place: Option<Url>,
        rules: &[&str],
        level: MatchLevel,
    ) -> Result<Option<Reply>, StoredError> {
        let Some(place) = place else { return Ok(None) };
        let other = other_scheme(&place);
        let found = if self.shows(head, url, &place, level)? {
            place
        } else if let Some(other) = other
            && self.shows(head, url, &other, level)?
        {
            // Over https, a resource recorded over http is found by the scheme variant.
            if place.scheme() == "https" { place } else { other }
        } else {
            return Ok(None);
        };
        let Ok(location) = HeaderValue::from_str(found.as_str()) else { return Ok(None) };
        let mut headers = HeaderMap::new();
        headers.insert(header::LOCATION, location);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(0));
        allow_origin(&head.headers, &mut headers);
        let answer = Answer::Normalised { rules: rules.iter().map(ToString::to_string).collect() };
        Ok(Some(Reply {
            status: StatusCode::TEMPORARY_REDIRECT,
            headers,
            body: body::empty(),
            answer,
            capture: None,
        }))
    }

    /// Whether `place` was recorded with a useful response: no error, and no redirect back to
    /// `url`.
    fn shows(
        &self,
        head: &RequestHead,
        url: &Url,
        place: &Url,
        level: MatchLevel,
    ) -> Result<bool, StoredError> {
        let request = ReplayRequest::bare("GET", place.as_str());
        let Some(found) = find::find(&self.set, &request, &head.headers, level)? else {
            return Ok(false);
        };
        let Some(hit) = found.whole.first().or(found.parts.first()) else { return Ok(false) };
        match self.stored(*hit) {
            Ok(stored) => {
                Ok(stored.status.as_u16() < 400 && !leads_back(url, stored.status, &stored.headers))
            }
            Err(StoredError::BodyElsewhere { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the recording holds a redirect from one of two hosts to the other.
    fn redirects_between(&self, url: &Url, twin: &Url) -> Result<bool, StoredError> {
        let (Some(own), Some(other)) = (url.host_str(), twin.host_str()) else { return Ok(false) };
        let hosts = if own < other { (own, other) } else { (other, own) };
        let key = (hosts.0.to_owned(), hosts.1.to_owned());
        if let Some(known) = self.redirect_pairs.get(&key) {
            return Ok(known);
        }
        let found = self.redirects(own, other)? || self.redirects(other, own)?;
        self.redirect_pairs.put(key, found);
        Ok(found)
    }

    fn redirects(&self, from: &str, to: &str) -> Result<bool, StoredError> {
        let captures = self.set.of_host(from, SEARCHED)?;
        let redirect = |recorded: &&RecordedRequest| (300..400).contains(&recorded.hit.status);
        for recorded in captures.iter().filter(redirect).take(READ) {
            let stored = match self.stored(recorded.hit) {
                Err(StoredError::BodyElsewhere { .. }) => continue,
                stored => stored?,
            };
            let base = Url::parse(&recorded.url).ok();
            let target = base.and_then(|base| location(&base, stored.status, &stored.headers));
            if target.is_some_and(|target| target.host_str() == Some(to)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Lets a page that is served under a different scheme than recorded read what it could read then.
pub(super) fn allow_other_scheme(head: &RequestHead, headers: &mut HeaderMap) {
    let Some(origin) = head.headers.get(header::ORIGIN) else { return };
    let parsed = origin.to_str().ok().and_then(|origin| Url::parse(origin).ok());
    let Some(other) = parsed.and_then(|origin| other_scheme(&origin)) else { return };
    let granted = headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    if granted.is_some_and(|granted| granted.as_bytes() == other[..Position::BeforePath].as_bytes())
    {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
}

/// The URL under the other scheme; `None` if it names a port, because a port serves one scheme.
pub(super) fn other_scheme(url: &Url) -> Option<Url> {
    let other = match url.scheme() {
        "http" => "https",
        "https" => "http",
        "ws" => "wss",
        "wss" => "ws",
        _ => return None,
    };
    let mut there = url.clone();
    (url.port().is_none() && there.set_scheme(other).is_ok()).then_some(there)
}

/// The URL with its trailing slash added or removed.
fn other_slash(url: &Url) -> Option<Url> {
    let path = match url.path().strip_suffix('/') {
        Some("") => return None,
        Some(shorter) => shorter.to_owned(),
        None => format!("{}/", url.path()),
    };
    let mut there = url.clone();
    there.set_path(&path);
    Some(there)
}

/// The URL with `www.` added or removed.
fn other_name(url: &Url) -> Option<Url> {
    let host = url.domain()?;
    let name = host.strip_prefix("www.").map_or_else(|| format!("www.{host}"), str::to_owned);
    let mut there = url.clone();
    (name.contains('.') && there.set_host(Some(&name)).is_ok()).then_some(there)
}

/// Whether a response redirects to the URL just requested, under either scheme.
fn leads_back(requested: &Url, status: StatusCode, headers: &HeaderMap) -> bool {
    let name = |url: &Url| whole_url(&url[Position::BeforeHost..Position::AfterQuery]);
    location(requested, status, headers).is_some_and(|target| name(&target) == name(requested))
}

/// The target of a redirect.
fn location(base: &Url, status: StatusCode, headers: &HeaderMap) -> Option<Url> {
    let location = headers.get(header::LOCATION).filter(|_| status.is_redirection())?;
    base.join(location.to_str().ok()?).ok()
}

fn is_html(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}
