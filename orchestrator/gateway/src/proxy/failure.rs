//! The only place that turns errors into named responses.
//!
//! The name is in the `sandbox-error` header, so that a script can tell the gateway's 502 from a
//! site's own. The text says what failed. A document gets a page, everything else plain text.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::target::BadTarget;
use crate::complaints::Complaints;
use crate::upstream::UpstreamError;
use crate::{Answer, Reply, body};

/// The header that carries the failure's name.
pub(crate) const SANDBOX_ERROR: HeaderName = HeaderName::from_static("sandbox-error");

/// A failure: its stable name, its status and its message.
#[derive(Debug)]
pub(super) struct Failure {
    name: &'static str,
    status: StatusCode,
    text: String,
    answer: Answer,
}

impl Failure {
    fn failed(name: &'static str, status: StatusCode, text: String) -> Self {
        let answer = Answer::Failed { error: format!("{name}: {text}") };
        Self { name, status, text, answer }
    }

    /// The client does not show the proxy's key.
    pub(super) fn no_key() -> Self {
        let text = "this proxy asks for a key; use the whole address that its command prints, with user name \
                    and password";
        Self {
            name: "no-key",
            status: StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            answer: Answer::Refused { reason: "no key".to_owned() },
            text: text.to_owned(),
        }
    }

    /// No route for the host.
    pub(super) fn no_route(host: &str) -> Self {
        let text = format!("{host} is not in this world; nothing was sent to it");
        Self {
            name: "no-route",
            status: StatusCode::FORBIDDEN,
            answer: Answer::Refused { reason: format!("no route to {host}") },
            text,
        }
    }

    /// The route's target is unavailable at the moment.
    pub(super) fn unavailable(why: &str) -> Self {
        Self::failed("unavailable", StatusCode::SERVICE_UNAVAILABLE, why.to_owned())
    }

    /// A port that no route or recording has.
    pub(super) fn no_port(host: &str, port: u16) -> Self {
        let reason = format!("no way to port {port} of {host}");
        let text = format!(
            "{reason}: tunnels lead to ports 80 and 443 and to those that this world's routes and recorded URLs name, \
             and, where the live web is reached, to those that browsers take in URLs"
        );
        let answer = Answer::Refused { reason };
        Self { name: "no-port", status: StatusCode::FORBIDDEN, text, answer }
    }

    /// The bytes are not a valid request.
    pub(super) fn malformed(reason: &str) -> Self {
        Self::failed(
            "malformed",
            StatusCode::BAD_REQUEST,
            format!("the request is malformed: {reason}"),
        )
    }

    /// The request bodies in flight exceed the memory budget.
    pub(super) fn crowded(limit: usize) -> Self {
        let text = format!(
            "the bodies of all requests under way are larger than {limit} bytes together; send it again when others are done"
        );
        Self::failed("crowded", StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// The request body is too large to be looked up.
    pub(super) fn body_too_large(limit: usize) -> Self {
        let text = format!(
            "the request body is larger than {limit} bytes, the most that can be looked up"
        );
        Self::failed("body-too-large", StatusCode::PAYLOAD_TOO_LARGE, text)
    }

    /// The client stalled in the middle of its request.
    pub(super) fn client_stalled() -> Self {
        let text = "the rest of the request body did not come in time".to_owned();
        Self::failed("client-stalled", StatusCode::REQUEST_TIMEOUT, text)
    }

    /// The client's request body is malformed.
    pub(super) fn client_broken(error: &(dyn std::error::Error + 'static)) -> Self {
        let text = format!("the request body cannot be read: {}", error_text::with_causes(error));
        Self::failed("client-broken", StatusCode::BAD_REQUEST, text)
    }

    /// CONNECT in a place or form that is not supported.
    pub(super) fn bad_connect() -> Self {
        let text = "CONNECT takes host:port, and is not served inside a tunnel".to_owned();
        Self::failed("bad-connect", StatusCode::BAD_REQUEST, text)
    }

    /// Logs failures of servers, once for each server.
    pub(super) fn log(&self, complaints: &Complaints, host: &str) {
        if matches!(self.status, StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT)
            && complaints.first(self.name, host)
        {
            tracing::warn!(
                name = self.name,
                host,
                error = self.text,
                "a request got no answer from its server"
            );
        }
    }

    /// Converts into a reply: a page for a document, text otherwise.
    pub(super) fn into_reply(self, document: bool) -> Reply {
        let mut headers = HeaderMap::new();
        headers.insert(SANDBOX_ERROR, HeaderValue::from_static(self.name));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let (kind, text) = if document {
            ("text/html; charset=utf-8", page(self.status, self.name, &self.text))
        } else {
            ("text/plain; charset=utf-8", format!("{}: {}\n", self.name, self.text))
        };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(text.len()));
        Reply {
            status: self.status,
            headers,
            body: body::full(text),
            answer: self.answer,
            capture: None,
        }
    }
}

impl From<UpstreamError> for Failure {
    fn from(error: UpstreamError) -> Self {
        let status = match &error {
            UpstreamError::ConnectTimeout { .. } | UpstreamError::HeadTimeout { .. } => {
                StatusCode::GATEWAY_TIMEOUT
            }
            UpstreamError::UploadStalled { .. } => StatusCode::REQUEST_TIMEOUT,
            UpstreamError::Guarded { .. } | UpstreamError::Port { .. } => StatusCode::FORBIDDEN,
            UpstreamError::Loop { .. } => StatusCode::LOOP_DETECTED,
            UpstreamError::Request { .. } | UpstreamError::UploadBroken { .. } => {
                StatusCode::BAD_REQUEST
            }
            UpstreamError::Resolve { .. }
            | UpstreamError::Connect { .. }
            | UpstreamError::Tls { .. }
            | UpstreamError::Broken { .. } => StatusCode::BAD_GATEWAY,
        };
        let text = format!("failed to {}; {}", error_text::with_causes(&error), error.advice());
        let mut failure = Self::failed(error.name(), status, text);
        if matches!(error, UpstreamError::Guarded { .. } | UpstreamError::Port { .. }) {
            failure.answer = Answer::Refused { reason: error.to_string() };
        }
        failure
    }
}

impl From<BadTarget> for Failure {
    fn from(error: BadTarget) -> Self {
        let (name, status) = match error {
            BadTarget::NotProxied => ("not-proxied", StatusCode::BAD_REQUEST),
            BadTarget::Scheme => ("bad-scheme", StatusCode::BAD_REQUEST),
            BadTarget::Host | BadTarget::NoHost | BadTarget::Hosts | BadTarget::OtherHost => {
                ("bad-host", StatusCode::BAD_REQUEST)
            }
            BadTarget::Misdirected => ("misdirected", StatusCode::MISDIRECTED_REQUEST),
        };
        Self::failed(name, status, error.to_string())
    }
}

fn page(status: StatusCode, name: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{status}</title>\n<h1>{status}</h1>\n\
         <p>{text}</p>\n<p>sandbox: <code>{name}</code></p>\n</html>\n"
    )
}
