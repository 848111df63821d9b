//! The HTTP side of the door for WebDriver: each request is answered in WebDriver's JSON.

use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use doors::Kept;
use fantoccini::error::{ErrorStatus, WebDriver};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::endpoints::{self, Request as Asked};
use super::session::{Command, Sessions, status};
use crate::attach::door::{HttpResponse, Place};

/// The longest body of a request: a script with its arguments.
const MAX_BODY: usize = 16 << 20;
/// How long a client may take for the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// Answers one request.
pub(super) async fn answer(
    place: Arc<Place>,
    sessions: Arc<Sessions>,
    request: Request<Kept<Incoming>>,
) -> HttpResponse {
    let path = match place.admit(&request) {
        Ok(path) => path,
        Err((code, why)) => return refusal(code, &WebDriver::new(ErrorStatus::UnknownError, why)),
    };
    match carry_out(&sessions, request, &path).await {
        Ok(value) => response(StatusCode::OK, &json!({ "value": value })),
        Err(error) => refusal(status(&error), &error),
    }
}

async fn carry_out(
    sessions: &Sessions,
    request: Request<Kept<Incoming>>,
    path: &str,
) -> Result<Value, WebDriver> {
    let method = request.method().clone();
    match endpoints::parse(&method, path) {
        Asked::Status => {
            let (ready, message) = match sessions.is_free().await {
                true => (true, "the browser of the episode can be driven"),
                false => (false, "a client has the session"),
            };
            Ok(json!({ "ready": ready, "message": message }))
        }
        Asked::NewSession => {
            let body = body(request).await?.unwrap_or_default();
            sessions.take(&body).await
        }
        Asked::DeleteSession { session } => sessions.end(session).await,
        Asked::Command { session, command } => {
            // Other methods have no parameters.
            let body = if method == Method::POST { body(request).await? } else { None };
            sessions.carry_out(session, Command { method, path: command.to_owned(), body }).await
        }
        // Clients that have an own way for what is no command of WebDriver know it by these words.
        Asked::Unknown => Err(WebDriver::new(
            ErrorStatus::UnknownCommand,
            format!(
                "Command not found: {method} {path}: only the commands of the W3C's WebDriver are allowed in an episode"
            ),
        )),
        Asked::OtherMethod => Err(WebDriver::new(
            ErrorStatus::UnknownMethod,
            format!("{path} has no method {method}"),
        )),
    }
}

/// The JSON object of a request.
async fn body(request: Request<Kept<Incoming>>) -> Result<Option<Value>, WebDriver> {
    let invalid = |why: String| WebDriver::new(ErrorStatus::InvalidArgument, why);
    let reading =
        timeout(BODY_TIMEOUT, Limited::new(request.into_body(), MAX_BODY).collect()).await;
    let read =
        reading.map_err(|_| invalid(format!("the body has not come within {BODY_TIMEOUT:?}")))?;
    let bytes = match read {
        Ok(read) => read.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            return Err(invalid(format!("the body is longer than {MAX_BODY} bytes")));
        }
        Err(error) => return Err(invalid(format!("the body cannot be read: {error}"))),
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice(&bytes) {
        Ok(body @ Value::Object(_)) => Ok(Some(body)),
        _ => Err(invalid("the body is not a JSON object".to_owned())),
    }
}

fn refusal(code: StatusCode, error: &WebDriver) -> HttpResponse {
    response(code, &json!({ "value": error }))
}

fn response(code: StatusCode, body: &Value) -> HttpResponse {
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
