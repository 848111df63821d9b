//! Requests and replies of the desk.
//!
//! ```text
//! request -> body (bounded) -> a turn -> lock the database -> begin -> `pages::answer`
//!         -> commit, or roll back on a failure -> response
//! ```

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, Response, StatusCode, header};
use jiff::Timestamp;
use rusqlite::TransactionBehavior;

use super::golden::Fixed;
use super::pages;
use super::store::Desk;
use crate::live::Live;
use crate::web::{Failure, Fields, Keys, http_date, plain};
use crate::{Clock, Passwords};

/// Maximum size of a body in bytes.
const LARGEST: usize = 1 << 20;

/// What serves one instance.
pub(super) struct Server {
    pub(super) live: Arc<Live>,
    pub(super) fixed: Arc<Fixed>,
    pub(super) clock: Clock,
    pub(super) keys: Keys,
    pub(super) passwords: Passwords,
}

/// One request.
pub(super) struct Asked<'a> {
    pub(super) method: Method,
    /// The path as it came, percent-encoded.
    pub(super) path: String,
    /// What follows the question mark, as it came.
    pub(super) raw_query: Option<String>,
    pub(super) query: Fields,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    pub(super) keys: &'a Keys,
}

impl Asked<'_> {
    pub(super) fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The fields of a form that was sent.
    pub(super) fn form(&self) -> Fields {
        Fields::parse(&self.body)
    }
}

/// A reply.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) kind: &'static str,
    pub(super) body: Vec<u8>,
    pub(super) location: Option<String>,
    pub(super) cookie: Option<String>,
    /// Whether browsers may keep it.
    pub(super) fixed: bool,
    /// The policy for scripts of the page.
    pub(super) policy: Option<&'static str>,
}

impl Reply {
    pub(super) fn new(status: StatusCode, kind: &'static str, body: impl Into<Vec<u8>>) -> Reply {
        Reply {
            status,
            kind,
            body: body.into(),
            location: None,
            cookie: None,
            fixed: false,
            policy: None,
        }
    }

    pub(super) fn html(body: String) -> Reply {
        Reply::new(StatusCode::OK, "text/html; charset=UTF-8", body)
    }

    pub(super) fn json(status: StatusCode, value: &serde_json::Value) -> Reply {
        Reply::new(status, "application/json;charset=UTF-8", value.to_string())
    }

    pub(super) fn redirect(to: impl Into<String>) -> Reply {
        let mut reply = Reply::new(StatusCode::FOUND, "text/html; charset=UTF-8", "");
        reply.location = Some(to.into());
        reply
    }

    fn into_response(self) -> Response<Body> {
        let mut built = Response::builder().status(self.status);
        if self.status != StatusCode::NO_CONTENT {
            built = built.header(header::CONTENT_TYPE, self.kind);
        }
        let cache = if self.fixed { "max-age=3600" } else { "no-store" };
        built = built
            .header(header::CACHE_CONTROL, cache)
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        if let Some(location) = self.location {
            built = built.header(header::LOCATION, location);
        }
        if let Some(policy) = self.policy {
            built = built.header(header::CONTENT_SECURITY_POLICY, policy);
        }
        if let Some(cookie) = self.cookie {
            built = built.header(header::SET_COOKIE, cookie);
        }
        built.body(Body::from(self.body)).unwrap_or_else(|error| {
            plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("500 {error}"))
        })
    }
}

pub(super) fn router(server: Server) -> Router {
    let server = Arc::new(server);
    Router::new().fallback(move |request: Request| {
        let server = Arc::clone(&server);
        async move {
            let (head, body) = request.into_parts();
            let Ok(body) = to_bytes(body, LARGEST).await else {
                return plain(StatusCode::PAYLOAD_TOO_LARGE, "413: the body is larger than 1 MiB");
            };
            let live = Arc::clone(&server.live);
            let answered = live.in_turn(move || {
                let asked = Asked {
                    method: head.method,
                    path: head.uri.path().to_owned(),
                    raw_query: head.uri.query().map(str::to_owned),
                    query: Fields::parse(head.uri.query().unwrap_or_default().as_bytes()),
                    headers: head.headers,
                    body: body.to_vec(),
                    keys: &server.keys,
                };
                answer(&server, &asked)
            });
            answered.await.unwrap_or_else(|error| {
                tracing::error!(%error, "a page of an embedded site panicked");
                plain(StatusCode::INTERNAL_SERVER_ERROR, "500 Internal Server Error")
            })
        }
    })
}

fn answer(server: &Server, asked: &Asked<'_>) -> Response<Body> {
    let now = server.clock.now();
    let mut response = in_transaction(server, asked, now).unwrap_or_else(|error| {
        tracing::error!(%error, path = asked.path, "an embedded site failed to answer");
        plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("500: {error}"))
    });
    // Otherwise the server would add the system's time.
    if let Some(date) = http_date(now.as_second()) {
        response.headers_mut().insert(header::DATE, date);
    }
    response
}

fn in_transaction(
    server: &Server,
    asked: &Asked<'_>,
    now: Timestamp,
) -> Result<Response<Body>, Failure> {
    let mut db = server.live.lock();
    // A read may write, too: a new form takes the id of its record.
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let desk = Desk::new(&transaction, &server.fixed, now, &server.passwords);
    let reply = pages::answer(&desk, asked)?;
    drop(desk);
    match reply.status.is_client_error() || reply.status.is_server_error() {
        true => transaction.rollback()?,
        false => transaction.commit()?,
    }
    Ok(reply.into_response())
}
