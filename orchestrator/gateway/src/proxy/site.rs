//! Forwards requests to a site. One of our instances is reached in plain HTTP at its address, under
//! the host name that the client uses. An external site is reached where its URL points.

use http::{Extensions, HeaderMap, HeaderName, HeaderValue, header};

use super::failure::Failure;
use super::live::{self, Outgoing};
use super::service::ProxyRequest;
use crate::gateway::Shared;
use crate::replay::dates;
use crate::site::SiteAddress;
use crate::upstream::{Server, UpgradeOutcome, UpstreamError};
use crate::{Answer, RequestHead, Scheme, Site};

const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Forwards a request and returns its response.
pub(super) async fn forward(
    shared: &Shared,
    site: &Site,
    mut request: ProxyRequest,
) -> Result<Outgoing, Failure> {
    let server = server(site, &mut request.head, false);
    let sent = shared.upstream.send_over(
        site.connections(),
        server,
        &request.head,
        request.extensions,
        request.body,
    );
    let mut arrived = while_there(site, sent).await?;
    if !matches!(site.way(), SiteAddress::Instance(_)) {
        return Ok(live::forwarded(arrived, Answer::Live));
    }
    keep_cookies(&mut arrived.head.parts.headers);
    Ok(live::forwarded(arrived, Answer::Site))
}

/// Forwards a WebSocket handshake.
pub(super) async fn open_socket(
    shared: &Shared,
    site: &Site,
    head: &RequestHead,
    extensions: Extensions,
) -> Result<UpgradeOutcome, Failure> {
    let mut head = head.clone();
    let server = server(site, &mut head, true);
    while_there(site, shared.upstream.open_socket(&server, &head, extensions)).await
}

/// Waits for a response as long as the site exists. Once it is gone, nothing else reports that its
/// address is unused.
async fn while_there<T>(
    site: &Site,
    sending: impl Future<Output = Result<T, UpstreamError>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        // Checked first, so that nothing is sent to an address that the site no longer owns.
        why = site.gone() => Err(Failure::unavailable(&why)),
        answer = sending => Ok(answer?),
    }
}

/// The server for the request. Also sets the header that tells an application under the client's
/// host name which scheme the client used.
fn server(site: &Site, head: &mut RequestHead, socket: bool) -> Server {
    site.count_request(&head.method, socket);
    for (name, value) in site.headers() {
        head.headers.insert(name, value.clone());
    }
    if !matches!(site.way(), SiteAddress::Named(_)) {
        head.headers.insert(FORWARDED_PROTO, HeaderValue::from_static(head.scheme.as_str()));
    }
    match site.way() {
        SiteAddress::Instance(place) => Server {
            scheme: Scheme::Http,
            host: head.host.clone(),
            port: head.port,
            place: place.clone(),
        },
        SiteAddress::Address(server) => server.clone(),
        SiteAddress::Named(server) => {
            head.url = under(&head.url, server, socket);
            // Rebuilt from the URL.
            head.headers.remove(header::HOST);
            server.clone()
        }
    }
}

/// Rewrites a URL for its server. Path and query stay byte for byte the same.
fn under(url: &str, server: &Server, socket: bool) -> String {
    let behind = url.split_once("://").map_or("", |(_, behind)| behind);
    let path = behind.find(['/', '?']).map_or("/", |at| &behind[at..]);
    let scheme = match (server.scheme, socket) {
        (Scheme::Http, false) => "http",
        (Scheme::Https, false) => "https",
        (Scheme::Http, true) => "ws",
        (Scheme::Https, true) => "wss",
    };
    if server.port == server.scheme.default_port() {
        format!("{scheme}://{}{path}", server.host)
    } else {
        format!("{scheme}://{}:{}{path}", server.host, server.port)
    }
}

/// Converts cookie expiry dates to ages. A site has its own clock, but the browser's cookie store
/// uses real time.
fn keep_cookies(headers: &mut HeaderMap) {
    let Some(now) = headers.get(header::DATE).and_then(dates::parse) else { return };
    if let header::Entry::Occupied(mut cookies) = headers.entry(header::SET_COOKIE) {
        for cookie in cookies.iter_mut() {
            if let Some(relative) = dates::relative_cookie(cookie, now) {
                *cookie = relative;
            }
        }
    }
}
