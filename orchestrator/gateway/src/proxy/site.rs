//! Requests to a site: a copy in plain HTTP at its address, under the name that the client knows it
//! by; one that is not ours where its URL leads.

use http::{Extensions, HeaderMap, HeaderName, HeaderValue, header};

use super::{
    failure::Failure,
    live::{self, Outgoing},
    service::ProxyRequest,
};
use crate::{
    Answer, RequestHead, Scheme, Site,
    gateway::Shared,
    replay::dates,
    site::SiteAddress,
    upstream::{Place, Server, UpgradeOutcome, UpstreamError},
};

const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Passes a request on and its answer back.
pub(super) async fn forward(
    shared: &Shared,
    site: &Site,
    mut asked: ProxyRequest,
) -> Result<Outgoing, Failure> {
    let server = server(site, &mut asked.head, false);
    let sent =
        shared.upstream.send_over(site.connections(), server, &asked.head, asked.extensions, asked.body);
    let mut arrived = while_there(site, sent).await?;
    if !matches!(site.way(), SiteAddress::Copy(_)) {
        return Ok(live::forwarded(arrived, Answer::Live));
    }
    keep_cookies(&mut arrived.head.parts.headers);
    Ok(live::forwarded(arrived, Answer::Site))
}

/// Passes a WebSocket's handshake on.
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

/// Waits for an answer as long as there is somebody to give it: nobody says that an address leads
/// nowhere any more.
async fn while_there<T>(
    site: &Site,
    asked: impl Future<Output = Result<T, UpstreamError>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        // First, so that nothing is sent to where it was.
        why = site.gone() => Err(Failure::unavailable(&why)),
        answer = asked => Ok(answer?),
    }
}

/// Where the request goes; tells an application that is asked by the client's name by which scheme
/// the client came.
fn server(site: &Site, head: &mut RequestHead, socket: bool) -> Server {
    site.asked(&head.method, socket);
    for (name, value) in site.headers() {
        head.headers.insert(name, value.clone());
    }
    if !matches!(site.way(), SiteAddress::Named(_)) {
        head.headers.insert(FORWARDED_PROTO, HeaderValue::from_static(head.scheme.as_str()));
    }
    match site.way() {
        SiteAddress::Copy(address) => Server {
            scheme: Scheme::Http,
            host: head.host.clone(),
            port: head.port,
            place: Place::At(*address),
        },
        SiteAddress::Address(server) => server.clone(),
        SiteAddress::Named(server) => {
            head.url = under(&head.url, server, socket);
            // Made anew from the URL.
            head.headers.remove(header::HOST);
            server.clone()
        }
    }
}

/// A URL as its server knows it, the path and what follows byte for byte the same.
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

/// A site lives at a time of its own, by which its cookies expire; the browser's cookies go by real
/// time. So they are given their age instead.
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
