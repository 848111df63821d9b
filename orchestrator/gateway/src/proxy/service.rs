//! Handles one request: URL, route, response.

use std::sync::Arc;

use doors::{Kept, Rest};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Version, header};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::upgrade::OnUpgrade;
use tokio::time::timeout;

use super::connect::{self, Tunnel};
use super::failure::Failure;
use super::listener::Connection;
use super::live::{self, Outgoing};
use super::site;
use super::socket::{self, Handshake};
use super::target::{self, BadTarget, Via};
use super::track::Pending;
use crate::gateway::Shared;
use crate::routes::Target;
use crate::traffic_capture::CapturedRequest;
use crate::{
    Answer, Body, Episode, Fill, Recorder, Replay, Reply, RequestHead, Visit, blocking, body,
    destination, miss,
};

/// The longest body that is read before it is sent on, in bytes.
const LONGEST_READ: u64 = 1 << 20;

/// Serves one request. Every error becomes a response, which is sent when the request's body has
/// come or goes on to its target.
pub(super) async fn serve(
    shared: Arc<Shared>,
    own: &Connection,
    request: Request<Incoming>,
) -> Response<Body> {
    let malformed = own.next_request();
    let (request, mut rest) = doors::kept(request);
    let response = respond(shared, own, malformed, request, &mut rest).await;
    // Of a malformed request nobody knows where its body ends.
    if malformed.is_none() {
        rest.read().await;
    }
    response
}

async fn respond(
    shared: Arc<Shared>,
    own: &Connection,
    malformed: Option<&'static str>,
    mut request: Request<Kept<Incoming>>,
    rest: &mut Rest<Incoming>,
) -> Response<Body> {
    if let Via::Proxy(admission) = &own.via
        && !admission.admits(request.headers())
    {
        return without_key();
    }
    if malformed.is_none() && request.method() == Method::CONNECT {
        return tunnel(shared, own, request);
    }
    let episode = shared.episode();
    let mut pending = Pending::begin(&shared, &episode, own.client.busy());
    if let Some(reason) = malformed {
        return refuse(
            Failure::malformed(reason),
            pending,
            (request.method(), request.version()),
            request.uri().to_string(),
        );
    }
    let socket = is_websocket(request.headers()).then(|| hyper::upgrade::on(&mut request));
    let (mut parts, incoming) = request.into_parts();
    let mut extensions = std::mem::take(&mut parts.extensions);
    extensions.remove::<OnUpgrade>();
    let (method, version, uri) = (parts.method.clone(), parts.version, parts.uri.clone());
    let head = match target::head(&own.via, parts, socket.is_some()) {
        Ok(head) => head,
        Err(error) => return refuse(error.into(), pending, (&method, version), uri.to_string()),
    };
    pending.note(|entry| {
        entry.method = head.method.to_string();
        entry.url = head.url.clone();
        entry.destination = destination::of(&head, shared.in_flight.queues_responses());
    });
    let routes = shared.routes();
    let target = routes.target(&head.host, head.port);
    if let Some(upgrade) = socket {
        let handshake = Handshake { head, extensions, upgrade, wire: own.wire.clone() };
        return socket::serve(shared, episode, target, handshake, pending).await;
    }
    let (method, url) = (head.method.clone(), head.url.clone());
    let wire = own.wire.clone();
    let body = incoming.map_err(move |error| wire.broken_body(error)).boxed_unsync();
    let (body, captured) = match episode.capture() {
        None => (body, None),
        Some(capture) => {
            let (body, captured) = CapturedRequest::begin(capture, pending.seq(), &head, body);
            (body, Some(captured))
        }
    };
    let request = ProxyRequest { head, extensions, body };
    let mut outgoing = answer(&shared, &episode, target, request).await;
    if let Some(captured) = captured {
        outgoing.reply = captured.with_response(outgoing.reply);
    }
    // Its turn among the responses begins when it can be sent at once.
    rest.read().await;
    shared.in_flight.wait_for_release(method.as_str(), &url).await;
    deliver(outgoing, pending)
}

/// A request on its way to its target.
pub(super) struct ProxyRequest {
    pub(super) head: RequestHead,
    pub(super) extensions: http::Extensions,
    pub(super) body: Body,
}

async fn answer(
    shared: &Arc<Shared>,
    episode: &Arc<Episode>,
    target: &Target,
    request: ProxyRequest,
) -> Outgoing {
    let document = miss::is_navigation(&request.head);
    let host = request.head.host.clone();
    let answered = match target {
        Target::Refuse => Ok(miss::refused(&request.head).into()),
        Target::Unavailable(why) => Err(Failure::unavailable(why)),
        Target::Forward => live::forward(shared, request).await,
        Target::Site(site) => site::forward(shared, site, request).await,
        Target::Record(recorder) => recorded(shared, recorder, episode.visit(), request).await,
        Target::Replay(replay) => match whole_body(shared, request.body).await {
            Ok(body) if replay.takes_time(&request.head) => {
                Ok(replayed(episode, replay, request.head, body).await.into())
            }
            Ok(body) => Ok(replay.answer(&request.head, &body, episode).into()),
            Err(failure) => Err(failure),
        },
        Target::Fill(fill) => filled(shared, episode, fill, request).await,
    };
    answered.unwrap_or_else(|failure| {
        failure.log(&shared.complaints, &host);
        failure.into_reply(document).into()
    })
}

/// Answers from the snapshots on a thread that may wait, for the indexing of their pages or for the
/// server that they are on.
async fn replayed(
    episode: &Arc<Episode>,
    replay: &Arc<Replay>,
    head: RequestHead,
    body: Bytes,
) -> Reply {
    let (replay, episode, request_head) = (Arc::clone(replay), Arc::clone(episode), head.clone());
    let answered = blocking::run(move || replay.answer(&request_head, &body, &episode)).await;
    // A failed task has already reported its panic.
    answered.unwrap_or_else(|_| miss::failed(&head, "failed to read the snapshots".to_owned()))
}

/// Forwards a request and records it. Where it is asked again before writes, a short body is read
/// first, as it may say that the request is none.
async fn recorded(
    shared: &Shared,
    recorder: &Arc<Recorder>,
    visit: Option<&Arc<Visit>>,
    request: ProxyRequest,
) -> Result<Outgoing, Failure> {
    let is_short = request.body.size_hint().upper().is_some_and(|length| length <= LONGEST_READ);
    match visit.filter(|visit| visit.asks_again() && is_short && !request.head.method.is_safe()) {
        Some(visit) => {
            let body = whole_body(shared, request.body).await?;
            live::fill(shared, recorder, Some(visit), (request.head, request.extensions), body)
                .await
        }
        None => live::record(shared, recorder, visit, request).await,
    }
}

/// Answers from the snapshots, else from earlier fetches, else from the live web.
async fn filled(
    shared: &Shared,
    episode: &Arc<Episode>,
    fill: &Arc<Fill>,
    request: ProxyRequest,
) -> Result<Outgoing, Failure> {
    let body = whole_body(shared, request.body).await?;
    let visit = episode.visit();
    let live = (request.head.clone(), request.extensions);
    if fill.is_live(visit, &request.head, &body) {
        return live::fill(shared, fill.recorder(), visit, live, body).await;
    }
    let look_up = {
        let (fill, episode) = (Arc::clone(fill), Arc::clone(episode));
        let (head, body) = (request.head.clone(), body.clone());
        move || fill.answer(&head, &body, &episode)
    };
    match blocking::run(look_up).await {
        Ok(reply) if !matches!(reply.answer, Answer::Miss { .. }) => Ok(reply.into()),
        // A failed task has already reported its panic. The live web is still available.
        _ => live::fill(shared, fill.recorder(), visit, live, body).await,
    }
}

/// The request body in memory, as needed for the look-up.
async fn whole_body(shared: &Shared, body: Body) -> Result<Bytes, Failure> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    match timeout(shared.limits.client_stall, collect(body, shared)).await {
        Ok(collected) => collected,
        Err(_) => Err(Failure::client_stalled()),
    }
}

/// Collects the body. Its memory is released with the last handle on the bytes.
async fn collect(mut body: Body, shared: &Shared) -> Result<Bytes, Failure> {
    let limit = shared.limits.replayed_body;
    let mut whole = Vec::new();
    let mut share = shared.uploads.none();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| Failure::client_broken(error.as_ref()))?;
        let data = frame.data_ref().map_or(&[] as &[u8], Bytes::as_ref);
        if whole.len() + data.len() > limit {
            return Err(Failure::body_too_large(limit));
        }
        if !share.grow(data.len()) {
            return Err(Failure::crowded(shared.limits.uploads));
        }
        whole.extend_from_slice(data);
    }
    Ok(share.of(whole))
}

/// The response for the client. The request's ledger entry is tied to its body.
pub(super) fn deliver(outgoing: Outgoing, mut pending: Pending) -> Response<Body> {
    let Outgoing { reply, extensions, stream } = outgoing;
    pending.note(|entry| {
        entry.status = reply.status.as_u16();
        entry.answer = reply.answer;
        entry.capture = reply.capture;
    });
    if stream {
        pending = pending.into_stream();
    }
    let mut response = Response::new(pending.until_delivered(reply.body));
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    *response.extensions_mut() = extensions;
    response
}

/// Rejects an invalid request. The connection closes after the response, because the framing of the
/// following bytes is unknown.
fn refuse(
    failure: Failure,
    mut pending: Pending,
    (method, version): (&Method, Version),
    url: String,
) -> Response<Body> {
    pending.note(|entry| {
        entry.method = method.to_string();
        entry.url = url;
    });
    let mut response = deliver(failure.into_reply(false).into(), pending);
    if version != Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Asks for the key. The request belongs to no episode, so no ledger has it.
fn without_key() -> Response<Body> {
    let reply = Failure::no_key().into_reply(false);
    let mut response = Response::new(reply.body);
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    let challenge = HeaderValue::from_static("Basic realm=\"sandbox\", charset=\"UTF-8\"");
    response.headers_mut().insert(header::PROXY_AUTHENTICATE, challenge);
    response
}

/// Accepts a tunnel and serves it in its own task. A rejected tunnel is entered in the ledger under
/// the URL that the client wanted, as far as it is known.
fn tunnel(
    shared: Arc<Shared>,
    own: &Connection,
    mut request: Request<Kept<Incoming>>,
) -> Response<Body> {
    let upgrade: OnUpgrade = hyper::upgrade::on(&mut request);
    let (parts, _) = request.into_parts();
    let server = match &own.via {
        Via::Proxy(_) => target::tunnel(&parts),
        Via::Tunnel { .. } => Err(BadTarget::Host),
    };
    let failure = match server {
        Ok((host, port)) if shared.routes().takes(&host, port) => {
            let tunnel = Tunnel { host, port, upgrade, opening: shared.in_flight.opening_tunnel() };
            shared.tasks.clone().spawn(connect::serve_tunnel(shared, own.client.clone(), tunnel));
            let mut response = Response::new(body::empty());
            *response.status_mut() = StatusCode::OK;
            return response;
        }
        Ok((host, port)) => Failure::no_port(&host, port),
        Err(BadTarget::Host) => Failure::bad_connect(),
        Err(error) => error.into(),
    };
    let pending = Pending::begin(&shared, &shared.episode(), own.client.busy());
    shared.in_flight.answer_socket(parts.uri.to_string());
    refuse(failure, pending, (&Method::CONNECT, parts.version), format!("https://{}/", parts.uri))
}

fn is_websocket(headers: &HeaderMap) -> bool {
    let lists = |name, token: &str| {
        headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .any(|value| value.split(',').any(|item| item.trim().eq_ignore_ascii_case(token)))
    };
    lists(header::UPGRADE, "websocket") && lists(header::CONNECTION, "upgrade")
}
