//! OpenAI's chat completions over HTTP, as many servers speak them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use tokio::time;

use crate::error::Attempt;
use crate::pace::Turns;
use crate::{Chat, Error, Pace, Reply, Usage};

/// What a reply may weigh.
const MAX_REPLY: usize = 8 << 20;
/// Times that a request is sent before it is given up.
const ATTEMPTS: u32 = 5;
/// Pause before the second attempt; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest pause, also where a server asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How much of an error of the server's is told.
const EXCERPT: usize = 300;

/// Where a server is, and how it is asked.
#[derive(Clone)]
pub struct Settings {
    /// As `https://api.openai.com/v1`; the rest of the path is added.
    pub base_url: String,
    /// Sent as a bearer token.
    pub key: Option<String>,
    /// How long one attempt may take.
    pub within: Duration,
    /// How fast it is asked.
    pub pace: Pace,
}

/// A server that can be asked. Clones share connections and pace.
#[derive(Clone)]
pub struct Client {
    http: legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    uri: Uri,
    host: String,
    authorization: Option<HeaderValue>,
    within: Duration,
    turns: Arc<Turns>,
}

/// Without the key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("uri", &self.uri).field("within", &self.within).finish_non_exhaustive()
    }
}

impl Client {
    /// Nothing is sent yet.
    ///
    /// # Errors
    /// When the address is none or the key cannot stand in a header.
    pub fn new(settings: &Settings) -> Result<Client, Error> {
        let address = |reason: String| Error::Address { text: settings.base_url.clone(), reason };
        let base = url::Url::parse(&settings.base_url).map_err(|error| address(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(address("it begins with neither http:// nor https://".to_owned()));
        }
        let host = base.host_str().unwrap_or_default().to_owned();
        let text = format!("{}/chat/completions", base.as_str().trim_end_matches('/'));
        let uri = text.parse().map_err(|error: http::uri::InvalidUri| address(error.to_string()))?;
        let authorization = match &settings.key {
            None => None,
            Some(key) => {
                let mut value = HeaderValue::try_from(format!("Bearer {key}"))
                    .map_err(|_| Error::Key { host: host.clone() })?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let tls =
            rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
                .with_safe_default_protocol_versions()
                .expect("ring has what TLS 1.2 and 1.3 need")
                .with_root_certificates(roots)
                .with_no_client_auth();
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().build();
        let http = legacy::Client::builder(TokioExecutor::new()).build(connector);
        let turns = Arc::new(Turns::new(settings.pace));
        Ok(Client { http, uri, host, authorization, within: settings.within, turns })
    }

    /// Asks until there is a reply: what a server may get over, such as too many requests, is tried again.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses.
    pub async fn ask(&self, model: &str, chat: &Chat) -> Result<Reply, Error> {
        let body = Bytes::from(chat.body(model).to_string());
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let turn = self.turns.next(chat.about_tokens()).await;
            let (reason, after) = match time::timeout(self.within, self.once(body.clone())).await {
                Ok(Ok(reply)) => {
                    turn.took(reply.usage.prompt_tokens.saturating_add(reply.usage.completion_tokens));
                    return Ok(reply);
                }
                Ok(Err(Attempt::Never(error))) => return Err(error),
                Ok(Err(Attempt::Again { reason, after })) => (reason, after),
                Err(_) => (format!("no answer within {} s", self.within.as_secs_f64()), None),
            };
            drop(turn);
            if attempt == ATTEMPTS {
                return Err(Error::Unanswered { host: self.host.clone(), attempts: ATTEMPTS, reason });
            }
            let pause_now = after.unwrap_or(pause).min(LONGEST_PAUSE);
            tracing::warn!(host = self.host, attempt, reason, pause = ?pause_now, "the model is asked again");
            wait(pause_now).await;
            pause *= 2;
        }
        unreachable!("the last attempt returns")
    }

    async fn once(&self, body: Bytes) -> Result<Reply, Attempt> {
        let mut request = Request::post(&self.uri).header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request = request.body(Full::new(body)).expect("an address and headers that were looked at");
        let broken = |reason: String| Attempt::Again { reason, after: None };
        let response = self.http.request(request).await.map_err(|error| broken(chain(&error)))?;
        let (status, after) = (response.status(), retry_after(&response));
        let collected = Limited::new(response.into_body(), MAX_REPLY).collect().await;
        let body = collected.map_err(|error| broken(error.to_string()))?.to_bytes();
        if status.is_success() {
            return self.read(&body).map_err(Attempt::Never);
        }
        let message: String = String::from_utf8_lossy(&body).trim().chars().take(EXCERPT).collect();
        let may_pass = status.is_server_error()
            || matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT
            );
        if may_pass {
            return Err(Attempt::Again { reason: format!("status {status}: {message}"), after });
        }
        Err(Attempt::Never(Error::Refused { host: self.host.clone(), status: status.as_u16(), message }))
    }

    fn read(&self, body: &[u8]) -> Result<Reply, Error> {
        let garbage = |reason: String| Error::Garbage { host: self.host.clone(), reason };
        let completion: Completion =
            serde_json::from_slice(body).map_err(|error| garbage(error.to_string()))?;
        let choice =
            completion.choices.into_iter().next().ok_or_else(|| garbage("it has no choices".to_owned()))?;
        Ok(Reply {
            text: choice.message.content.unwrap_or_default(),
            usage: completion.usage.unwrap_or_default(),
        })
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
}

#[expect(clippy::disallowed_methods, reason = "servers ask for pauses; nothing can be waited for instead")]
async fn wait(pause: Duration) {
    time::sleep(pause).await;
}

/// The seconds that a server asks for.
fn retry_after(response: &Response<Incoming>) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// An error with what is behind it.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
