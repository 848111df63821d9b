//! WebSocket handshakes: forwarded to the live web, or answered from a snapshot.

use std::sync::Arc;

use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use http::{Extensions, HeaderMap, HeaderValue, Response, StatusCode};
use hyper::body::Bytes;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::failure::Failure;
use super::live::{self, Outgoing};
use super::service::deliver;
use super::site;
use super::track::Pending;
use super::wire::Wire;
use crate::gateway::Shared;
use crate::miss::{self, is_navigation};
use crate::record::{AskedIn, Asker, Draft, RequestCopy, SocketLog};
use crate::routes::Target;
use crate::socket::{PlaybackContext, SocketScript, play, relay};
use crate::upstream::{UpgradeOutcome, UpstreamHead, end_to_end};
use crate::{
    Answer, Body, Episode, GivenCapture, Recorder, Reply, RequestHead, Visit, blocking, body,
};

/// A handshake as the client sent it, with access to its connection after the response.
pub(super) struct Handshake {
    pub(super) head: RequestHead,
    pub(super) extensions: Extensions,
    pub(super) upgrade: OnUpgrade,
    /// The client's connection, which stops being HTTP when the handshake succeeds.
    pub(super) wire: Arc<Wire>,
}

/// The outcome of a handshake.
enum Outcome {
    Plain(Outgoing),
    Live { head: Box<UpstreamHead>, server: Upgraded, log: Option<SocketLog>, answer: Answer },
    Recorded { accept: HeaderValue, script: SocketScript, answer: Answer },
}

/// Answers a handshake. The connection continues in its own task.
pub(super) async fn serve(
    shared: Arc<Shared>,
    episode: Arc<Episode>,
    target: &Target,
    handshake: Handshake,
    pending: Pending,
) -> Response<Body> {
    let Handshake { head, extensions, upgrade, wire } = handshake;
    let document = is_navigation(&head);
    let outcome = match target {
        Target::Refuse => Err(Failure::no_route(&head.host)),
        Target::Unavailable(why) => Err(Failure::unavailable(why)),
        Target::Forward => live_socket(&shared, (None, None), &head, extensions).await,
        Target::Site(site) => match site::open_socket(&shared, site, &head, extensions).await {
            Ok(UpgradeOutcome::Socket(head, server)) => {
                Ok(Outcome::Live { head, server, log: None, answer: Answer::Site })
            }
            Ok(UpgradeOutcome::Answer(arrived)) => {
                Ok(Outcome::Plain(live::forwarded(*arrived, Answer::Site)))
            }
            Err(failure) => Err(failure),
        },
        Target::Record(recorder) => {
            live_socket(&shared, (Some(recorder), episode.visit()), &head, extensions).await
        }
        Target::Replay(replay) if replay.is_remote() => {
            let (replay, episode, asked) = (Arc::clone(replay), Arc::clone(&episode), head.clone());
            let found = blocking::run(move || replay.socket(&asked, &episode)).await;
            // A failed task has already reported its panic.
            let lost =
                |_| Err(Box::new(miss::failed(&head, "failed to read the snapshots".to_owned())));
            recorded(&head, || found.unwrap_or_else(lost))
        }
        Target::Replay(replay) => recorded(&head, || replay.socket(&head, &episode)),
        Target::Fill(fill) if fill.is_live(episode.visit(), &head, &Bytes::new()) => {
            live_socket(&shared, (Some(fill.recorder()), episode.visit()), &head, extensions).await
        }
        Target::Fill(fill) => match recorded(&head, || fill.socket(&head, &episode)) {
            Ok(Outcome::Plain(Outgoing { reply, .. }))
                if matches!(reply.answer, Answer::Miss { .. }) =>
            {
                live_socket(&shared, (Some(fill.recorder()), episode.visit()), &head, extensions)
                    .await
            }
            other => other,
        },
    };
    let outcome = outcome.unwrap_or_else(|failure| {
        failure.log(&shared.complaints, &head.host);
        Outcome::Plain(failure.into_reply(document).into())
    });
    shared.in_flight.answer_socket(head.url.to_string());
    match outcome {
        Outcome::Plain(outgoing) => deliver(outgoing, pending),
        Outcome::Live { head: arrived, server, log, answer } => {
            wire.becomes_opaque();
            let headers = end_to_end(arrived.parts.headers);
            let pending = entered(pending, answer, None);
            shared.in_flight.socket_opened();
            shared.tasks.clone().spawn(async move {
                if let Some(client) = client_side(&shared, upgrade, &head.url).await {
                    let (most, in_flight) = (shared.limits.socket_message, &shared.in_flight);
                    relay(client, server, most, in_flight, log.as_ref(), &shared.cut).await;
                }
                drop(pending);
            });
            switching(headers, arrived.parts.extensions)
        }
        Outcome::Recorded { accept, mut script, answer } => {
            wire.becomes_opaque();
            let mut headers = end_to_end(std::mem::take(&mut script.headers));
            headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
            let pending = entered(pending, answer, script.capture.take());
            shared.in_flight.socket_opened();
            shared.tasks.clone().spawn(async move {
                if let Some(client) = client_side(&shared, upgrade, &head.url).await {
                    let context = PlaybackContext {
                        in_flight: &shared.in_flight,
                        episode: &episode,
                        url: &head.url,
                    };
                    play(
                        TokioIo::new(client),
                        &script,
                        shared.limits.socket_message,
                        context,
                        &shared.cut,
                    )
                    .await;
                }
                drop(pending);
            });
            switching(headers, Extensions::new())
        }
    }
}

/// Enters the handshake in the ledger now, because the connection may outlive the episode.
fn entered(mut pending: Pending, answer: Answer, capture: Option<GivenCapture>) -> Pending {
    pending.note(|entry| {
        entry.status = StatusCode::SWITCHING_PROTOCOLS.as_u16();
        entry.answer = answer;
        entry.capture = capture;
    });
    pending.enter();
    pending.into_stream()
}

async fn live_socket(
    shared: &Shared,
    (recorder, visit): (Option<&Arc<Recorder>>, Option<&Arc<Visit>>),
    head: &RequestHead,
    extensions: Extensions,
) -> Result<Outcome, Failure> {
    let draft = recorder.map(|recorder| {
        let asked = visit.map(|visit| AskedIn::new(visit, head, Asker::Browser));
        Draft::begin(recorder, asked, head, RequestCopy::whole(&Bytes::new()))
    });
    match (shared.upstream.open_socket(&head.server(), head, extensions).await, draft) {
        (Ok(UpgradeOutcome::Socket(head, server)), None) => {
            Ok(Outcome::Live { head, server, log: None, answer: Answer::Live })
        }
        (Ok(UpgradeOutcome::Socket(head, server)), Some(mut draft)) => {
            draft.answered(&head);
            Ok(Outcome::Live { head, server, log: SocketLog::open(draft), answer: Answer::Live })
        }
        (Ok(UpgradeOutcome::Answer(arrived)), None) => {
            Ok(Outcome::Plain(live::forwarded(*arrived, Answer::Live)))
        }
        (Ok(UpgradeOutcome::Answer(arrived)), Some(draft)) => {
            Ok(Outcome::Plain(live::record_response(draft, *arrived).await))
        }
        (Err(error), draft) => {
            if let Some(draft) = draft {
                draft.unanswered(&error);
            }
            Err(error.into())
        }
    }
}

/// The playback for a handshake, if one was found.
fn recorded(
    head: &RequestHead,
    found: impl FnOnce() -> Result<(SocketScript, Answer), Box<Reply>>,
) -> Result<Outcome, Failure> {
    let accept = head
        .headers
        .get(SEC_WEBSOCKET_KEY)
        .and_then(|key| HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok())
        .ok_or_else(|| {
            Failure::malformed("it is a WebSocket handshake without Sec-WebSocket-Key")
        })?;
    Ok(match found() {
        Ok((script, answer)) => Outcome::Recorded { accept, script, answer },
        Err(reply) => Outcome::Plain((*reply).into()),
    })
}

fn switching(mut headers: HeaderMap, extensions: Extensions) -> Response<Body> {
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    let mut response = Response::new(body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    *response.headers_mut() = headers;
    *response.extensions_mut() = extensions;
    response
}

async fn client_side(shared: &Shared, upgrade: OnUpgrade, url: &str) -> Option<Upgraded> {
    match timeout(shared.limits.client_head, upgrade).await {
        Ok(Ok(upgraded)) => Some(upgraded),
        Ok(Err(error)) => {
            tracing::debug!(%url, %error, "a client left during its WebSocket handshake");
            None
        }
        Err(_) => None,
    }
}
