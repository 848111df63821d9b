//! Converts axum requests to [`Visit`]s, and [`Reply`]s to axum responses.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderValue, Method, Response, StatusCode, header, request};
use axum::routing::MethodRouter;
use minijinja::value::merge_maps;
use minijinja::{Environment, Value, context};
use rusqlite::TransactionBehavior;

use super::session::COOKIE;
use super::{Failure, Fields, Keys, Reply, Visit};
use crate::Clock;
use crate::live::Live;

/// Maximum size of a form. No form of ours needs more.
const LARGEST_FORM: usize = 256 * 1024;

/// The handler of a page or form.
pub(crate) type Handler = fn(&Visit<'_>) -> Result<Reply, Failure>;

/// Everything needed to serve one instance.
pub(crate) struct Server {
    pub(crate) live: Arc<Live>,
    pub(crate) clock: Clock,
    pub(crate) keys: Keys,
    pub(crate) templates: Environment<'static>,
    /// The context of every page: the visitor and the navigation.
    pub(crate) frame: fn(&Visit<'_>) -> Result<Value, Failure>,
}

pub(crate) fn get(server: &Arc<Server>, handler: Handler) -> MethodRouter {
    axum::routing::get(endpoint(server, handler))
}

pub(crate) fn post(server: &Arc<Server>, handler: Handler) -> MethodRouter {
    axum::routing::post(endpoint(server, handler))
}

pub(crate) fn get_and_post(server: &Arc<Server>, handler: Handler) -> MethodRouter {
    axum::routing::get(endpoint(server, handler)).post(endpoint(server, handler))
}

type Answering = std::pin::Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

fn endpoint(
    server: &Arc<Server>,
    handler: Handler,
) -> impl Fn(RawPathParams, Request) -> Answering + Clone + Send + Sync + 'static {
    let server = Arc::clone(server);
    move |path, request| {
        let server = Arc::clone(&server);
        Box::pin(async move {
            let path =
                Fields::of(path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
            let (head, body) = request.into_parts();
            let form = to_bytes(body, LARGEST_FORM).await.ok();
            let live = Arc::clone(&server.live);
            let answered = live.in_turn(move || {
                let form = form.as_deref();
                answer(&server, handler, &head, path, form)
            });
            answered.await.unwrap_or_else(|error| {
                tracing::error!(%error, "a page of an embedded site panicked");
                plain(StatusCode::INTERNAL_SERVER_ERROR, "500 Internal Server Error")
            })
        })
    }
}

/// Runs the handler in a transaction and renders its reply.
fn answer(
    server: &Server,
    handler: Handler,
    head: &request::Parts,
    path: Fields,
    form: Option<&[u8]>,
) -> Response<Body> {
    let mut db = server.live.lock();
    // Requests that may write start an immediate transaction: it waits for another process's
    // transaction instead of failing later.
    let sent = head.method == Method::POST;
    let kind = if sent { TransactionBehavior::Immediate } else { TransactionBehavior::Deferred };
    let transaction = match db.transaction_with_behavior(kind) {
        Ok(transaction) => transaction,
        Err(error) => return plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("500 {error}")),
    };
    let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    let session = text("cookie").and_then(|cookies| server.keys.visitor(cookies));
    let visit = Visit {
        db: &transaction,
        now: server.clock.now().as_second(),
        address: head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
        path,
        query: Fields::parse(head.uri.query().unwrap_or("").as_bytes()),
        form: Fields::parse(form.unwrap_or(b"")),
        token: server.keys.token(session.as_deref().unwrap_or("")),
        session,
        auto_login: text("x-postmill-auto-login").map(str::to_owned),
        scripted: text("x-requested-with").is_some(),
        sent,
    };
    let done = if form.is_none() {
        Err(Failure::TooLarge)
    } else if visit.sent && visit.form.text("token") != visit.token {
        Err(Failure::Token)
    } else {
        handler(&visit)
    };
    let rendered = done.and_then(|reply| respond(server, &visit, reply));
    let failed = rendered.is_err();
    let response = rendered.unwrap_or_else(|failure| sorry(server, &visit, &failure));
    let date = http_date(visit.now);
    drop(visit);
    // A read has nothing to commit, and a failed write must leave nothing behind.
    let ended = if failed { transaction.rollback() } else { transaction.commit() };
    let mut response = match ended {
        Ok(()) => response,
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("500 {error}")),
    };
    // Otherwise the server would add the system's time.
    if let Some(date) = date {
        response.headers_mut().insert(header::DATE, date);
    }
    response
}

/// A time in the format of HTTP header fields.
pub(crate) fn http_date(seconds: i64) -> Option<HeaderValue> {
    let time = jiff::Timestamp::from_second(seconds).ok()?;
    HeaderValue::from_str(&time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()).ok()
}

fn respond(server: &Server, visit: &Visit<'_>, reply: Reply) -> Result<Response<Body>, Failure> {
    let response = Response::builder();
    let built = match reply {
        Reply::Page { status, template, shows } => {
            let html = render(server, visit, template, shows)?;
            response
                .status(status)
                .header(header::CONTENT_TYPE, "text/html; charset=UTF-8")
                .header(header::CACHE_CONTROL, "no-store")
                .body(Body::from(html))
        }
        Reply::Redirect(to) => response
            .status(StatusCode::FOUND)
            .header(header::LOCATION, local(&to))
            .body(Body::empty()),
        Reply::Session { name, to } => {
            let value = if name.is_empty() { String::new() } else { server.keys.cookie(&name) };
            let age = if name.is_empty() { "; Max-Age=0" } else { "" };
            response
                .status(StatusCode::FOUND)
                .header(
                    header::SET_COOKIE,
                    format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Lax{age}"),
                )
                .header(header::LOCATION, local(&to))
                .body(Body::empty())
        }
        Reply::File { kind, bytes } => response
            .header(header::CONTENT_TYPE, kind)
            .header(header::CACHE_CONTROL, "max-age=3600")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(Body::from(bytes)),
        Reply::Json(value) => response
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(value.to_string())),
    };
    Ok(built
        .unwrap_or_else(|error| plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("500 {error}"))))
}

/// Restricts redirects to URLs of this site that fit into a header.
fn local(to: &str) -> String {
    let own = to.starts_with('/') && !to.starts_with("//") && !to.starts_with("/\\");
    if own && to.bytes().all(|byte| (0x21..0x7f).contains(&byte)) {
        to.to_owned()
    } else {
        "/".to_owned()
    }
}

fn render(
    server: &Server,
    visit: &Visit<'_>,
    template: &str,
    shows: Value,
) -> Result<String, Failure> {
    let frame = (server.frame)(visit)?;
    let base = context! { now => visit.now, token => &visit.token, address => &visit.address };
    Ok(server.templates.get_template(template)?.render(merge_maps([base, frame, shows]))?)
}

fn sorry(server: &Server, visit: &Visit<'_>, failure: &Failure) -> Response<Body> {
    let status = failure.status();
    if matches!(failure, Failure::Anonymous) {
        return Response::builder()
            .status(StatusCode::FOUND)
            .header(header::LOCATION, "/login")
            .body(Body::empty())
            .unwrap_or_else(|_| plain(StatusCode::FORBIDDEN, "403"));
    }
    if status.is_server_error() {
        tracing::error!(%failure, address = %visit.address, "an embedded site failed to answer");
    }
    let shows = context! {
        code => status.as_u16(),
        reason => status.canonical_reason().unwrap_or(""),
        text => failure.to_string(),
    };
    match render(server, visit, "error.html", shows) {
        Ok(html) => Response::builder()
            .status(status)
            .header(header::CONTENT_TYPE, "text/html; charset=UTF-8")
            .body(Body::from(html))
            .unwrap_or_else(|_| plain(status, &failure.to_string())),
        Err(_) => plain(status, &format!("{} {failure}", status.as_u16())),
    }
}

/// A response with a line of text.
pub(crate) fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(text.to_owned()));
    *response.status_mut() = status;
    response
}
