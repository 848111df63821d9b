//! An HTTP client for OpenAI-compatible chat completion servers.
//!
//! It retries requests where that can help (`complaint.rs` decides). Pauses grow and are
//! randomized, so that many workers do not retry at the same moment. If a server rejects a
//! parameter for a model, such as a temperature, the client omits it from then on.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use http_client::Route;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::time::{self, Instant};

use crate::complaint::{Complaint, Cure};
use crate::error::Attempt;
use crate::pace::Turns;
use crate::reading::{self, MAX_ANSWER, Other};
use crate::{Chat, Error, Pace, Reply, lenient_json};

/// Number of attempts, unless the server is busy.
const ATTEMPTS: u32 = 5;
/// How long to retry while a server is busy or starting; the default in [`Settings::to`].
const PATIENCE: Duration = Duration::from_secs(300);
/// Longest pause before the second attempt. It doubles with each further attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest pause that the client chooses.
const LONG_PAUSE: Duration = Duration::from_secs(30);
/// Longest pause, even if a server requests a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Time limit of one attempt; the default in [`Settings::to`].
const WITHIN: Duration = Duration::from_secs(120);

/// The address of a server and how to call it.
#[derive(Clone)]
pub struct Settings {
    /// Such as `https://api.openai.com/v1`. The client appends the rest of the path, before a
    /// query.
    pub base_url: String,
    /// The API key, sent as a bearer token.
    pub key: Option<String>,
    /// A header that carries the key instead of a bearer token, such as `api-key`.
    pub key_header: Option<String>,
    /// Additional headers of each request.
    pub headers: Vec<(String, String)>,
    /// Time limit of one attempt.
    pub within: Duration,
    /// How long to retry while the server is busy.
    pub patience: Duration,
    /// The rate limits.
    pub pace: Pace,
    /// How the server is reached.
    pub route: Route,
}

impl Settings {
    /// The server at this address, without a key and with default limits.
    pub fn to(base_url: impl Into<String>) -> Settings {
        Settings {
            base_url: base_url.into(),
            key: None,
            key_header: None,
            headers: Vec::new(),
            within: WITHIN,
            patience: PATIENCE,
            pace: Pace::default(),
            route: Route::default(),
        }
    }
}

/// A client of one server. Clones share connections, rate limits and the list of rejected
/// parameters.
#[derive(Clone)]
pub struct Client {
    http: http_client::Client<Full<Bytes>>,
    uri: Uri,
    host: String,
    headers: HeaderMap,
    within: Duration,
    patience: Duration,
    turns: Arc<Turns>,
    learnt: Arc<Mutex<HashMap<String, UnsupportedParameters>>>,
}

/// Parameters that the server rejects for a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct UnsupportedParameters {
    /// The server expects `max_completion_tokens` instead of `max_tokens`.
    max_tokens: bool,
    temperature: bool,
    top_p: bool,
}

impl UnsupportedParameters {
    fn learn(&mut self, key: &str) {
        match key {
            "max_tokens" => self.max_tokens = true,
            "temperature" => self.temperature = true,
            "top_p" => self.top_p = true,
            _ => {}
        }
    }

    fn leave_out(self, body: &mut Map<String, Value>) {
        if self.max_tokens
            && let Some(most) = body.remove("max_tokens")
        {
            body.entry("max_completion_tokens").or_insert(most);
        }
        for (key, unwanted) in [("temperature", self.temperature), ("top_p", self.top_p)] {
            if unwanted {
                body.remove(key);
            }
        }
    }
}

/// Omits the key.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("host", &self.host)
            .field("within", &self.within)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Creates a client. It sends nothing yet.
    ///
    /// # Errors
    /// When an address is invalid, the key or a header cannot be sent, or the certificates cannot
    /// be read.
    pub fn new(settings: &Settings) -> Result<Client, Error> {
        let address = |reason: String| Error::Address { text: settings.base_url.clone(), reason };
        let mut url =
            url::Url::parse(&settings.base_url).map_err(|error| address(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(address("it begins with neither http:// nor https://".to_owned()));
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        let path = format!("{}/chat/completions", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_fragment(None);
        let uri = url
            .as_str()
            .parse()
            .map_err(|error: http::uri::InvalidUri| address(error.to_string()))?;
        Ok(Client {
            http: http_client::client(&settings.route)?,
            uri,
            headers: headers(settings, &host)?,
            host,
            within: settings.within,
            patience: settings.patience,
            turns: Arc::new(Turns::new(settings.pace)),
            learnt: Arc::default(),
        })
    }

    /// The TCP port of the server.
    pub fn port(&self) -> u16 {
        let usual = if self.uri.scheme_str() == Some("http") { 80 } else { 443 };
        self.uri.port_u16().unwrap_or(usual)
    }

    /// Sends a chat until there is a reply. Retries temporary failures, such as too many requests.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses.
    pub async fn ask(&self, model: &str, chat: &Chat) -> Result<Reply, Error> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let body = self.body(model, chat);
            let turn = self.turns.next(chat.about_tokens()).await;
            let sent = Bytes::from(Value::Object(body.clone()).to_string());
            let (reason, after, patient) = match time::timeout(self.within, self.once(sent)).await {
                Ok(Ok(reply)) => {
                    turn.took(
                        reply.usage.prompt_tokens.saturating_add(reply.usage.completion_tokens),
                    );
                    return Ok(reply);
                }
                Ok(Err(Attempt::Never(error))) => return Err(error),
                Ok(Err(Attempt::Complains { complaint, after })) => {
                    if self.learn(model, &complaint, &body) {
                        continue;
                    }
                    match complaint.cure() {
                        Cure::None => return Err(Error::refused(&self.host, complaint)),
                        cure => (complaint.describe(), after, cure == Cure::Wait),
                    }
                }
                Ok(Err(Attempt::Again(reason))) => (reason, None, false),
                Err(_) => {
                    (format!("no answer within {} s", self.within.as_secs_f64()), None, false)
                }
            };
            drop(turn);
            // At least half of the pause, so that pauses still grow.
            let drawn = pause.mul_f64(0.5 + rand::random::<f64>() / 2.0).min(LONG_PAUSE);
            let now = after.unwrap_or(drawn).min(LONGEST_PAUSE);
            let over =
                if patient { began.elapsed() + now > self.patience } else { attempts >= ATTEMPTS };
            if over {
                return Err(Error::Unanswered { host: self.host.clone(), attempts, reason });
            }
            tracing::warn!(host = self.host, attempts, reason, pause = ?now, "the model is asked again");
            wait(now).await;
            pause = (pause * 2).min(LONG_PAUSE);
        }
    }

    /// The request's body without the parameters that the server rejects.
    fn body(&self, model: &str, chat: &Chat) -> Map<String, Value> {
        let mut body = chat.body(model);
        let learnt = self.learnt.lock();
        learnt.get(model).copied().unwrap_or_default().leave_out(&mut body);
        body
    }

    /// Remembers the rejected parameter that a complaint names, and returns whether it names one. A
    /// concurrent request may have learnt it already.
    fn learn(&self, model: &str, complaint: &Complaint, sent: &Map<String, Value>) -> bool {
        let Some(setting) = complaint.unwanted(sent) else { return false };
        let mut learnt = self.learnt.lock();
        learnt.entry(model.to_owned()).or_default().learn(setting);
        let (host, reason) = (&self.host, &complaint.message);
        tracing::warn!(
            host,
            model,
            setting,
            reason,
            "a setting of the model's is left out from now on"
        );
        true
    }

    async fn once(&self, body: Bytes) -> Result<Reply, Attempt> {
        let mut request = Request::post(&self.uri).header(CONTENT_TYPE, "application/json");
        // Small answers need no compression, but some gateways compress them anyway.
        request = request.header(ACCEPT_ENCODING, "gzip, deflate, identity");
        request.headers_mut().into_iter().for_each(|headers| headers.extend(self.headers.clone()));
        let request =
            request.body(Full::new(body)).expect("an address and headers that were looked at");
        let broken = |error: &dyn std::error::Error| Attempt::Again(error_text::with_causes(error));
        let response = self.http.request(request).await.map_err(|error| broken(&error))?;
        let (head, body) = response.into_parts();
        let collected = Limited::new(body, MAX_ANSWER).collect().await;
        let body = collected.map_err(|error| broken(error.as_ref()))?.to_bytes();
        let garbage = |reason| Attempt::Never(Error::Garbage { host: self.host.clone(), reason });
        let coding = head.headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
        let body = reading::decoded(coding, &body).map_err(garbage)?;
        let after = requested_pause(&head.headers, SystemTime::now());
        if !head.status.is_success() {
            let complaint = Complaint::of(head.status.as_u16(), &body);
            return Err(Attempt::Complains { complaint, after });
        }
        let answer = lenient_json::parse(&body).map_err(|error| garbage(error.to_string()))?;
        reading::reply(&answer).map_err(|other| match other {
            Other::Complains(complaint) => Attempt::Complains { complaint, after },
            Other::Garbage(reason) => garbage(reason),
        })
    }
}

/// The headers of every request. All values are marked sensitive, so that no log shows them.
fn headers(settings: &Settings, host: &str) -> Result<HeaderMap, Error> {
    let unsendable = |name: &str| Error::Header { name: name.to_owned(), host: host.to_owned() };
    let mut headers = HeaderMap::new();
    for (name, text) in &settings.headers {
        let key = HeaderName::try_from(name.as_str()).map_err(|_| unsendable(name))?;
        let mut value = HeaderValue::try_from(text.as_str()).map_err(|_| unsendable(name))?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    if let Some(key) = &settings.key {
        let (name, text) = match &settings.key_header {
            Some(name) => (name.as_str(), key.clone()),
            None => (AUTHORIZATION.as_str(), format!("Bearer {key}")),
        };
        let mut value =
            HeaderValue::try_from(text).map_err(|_| Error::Key { host: host.to_owned() })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::try_from(name).map_err(|_| unsendable(name))?, value);
    }
    Ok(headers)
}

#[expect(
    clippy::disallowed_methods,
    reason = "servers ask for pauses; nothing can be waited for instead"
)]
async fn wait(pause: Duration) {
    time::sleep(pause).await;
}

/// The pause that a server requests: as seconds (also fractions), as milliseconds, or as a date.
fn requested_pause(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| {
        text.parse::<f64>().ok().and_then(|number| Duration::try_from_secs_f64(number).ok())
    };
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Some(milliseconds / 1000);
    }
    let retry_after = text(RETRY_AFTER.as_str())?;
    let until = || {
        Some(httpdate::parse_http_date(retry_after).ok()?.duration_since(now).unwrap_or_default())
    };
    number(retry_after).or_else(until)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_asked_for_in_several_ways() {
        let now = httpdate::parse_http_date("Thu, 12 Mar 2026 08:30:00 GMT").unwrap();
        let pause = |name: &'static str, text: &'static str| {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static(name),
                HeaderValue::from_static(text),
            )]);
            requested_pause(&headers, now)
        };
        let seconds = |seconds| Some(Duration::from_secs_f64(seconds));
        assert_eq!(pause("retry-after", "3"), seconds(3.0));
        assert_eq!(pause("retry-after", "0.25"), seconds(0.25));
        assert_eq!(pause("retry-after", "Thu, 12 Mar 2026 08:30:07 GMT"), seconds(7.0));
        assert_eq!(pause("retry-after", "Thu, 12 Mar 2026 08:29:00 GMT"), seconds(0.0));
        assert_eq!(pause("retry-after-ms", "1500"), seconds(1.5));
        assert_eq!((pause("retry-after", "soon"), pause("retry-after", "-1")), (None, None));
    }
}
