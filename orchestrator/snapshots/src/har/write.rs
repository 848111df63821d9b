//! Writes a log entry by entry, as a browser exports it: bodies decoded, headers as sent.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{self, Cursor, Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::Error;
use super::body::charset;
use super::messages::{MessageOut, to_out};
use crate::http::decoder;
use crate::{Body, Exchange, Frame, Headers, Page};

/// Bodies up to this size are held in memory, and written as text if they are text. Larger ones are
/// streamed as base64.
const HELD: usize = 16 << 20;
/// What bodies may decode to, all together. Those beyond it are written in their content coding.
const DECODED: u64 = 4 << 30;

/// Writes a HAR 1.2 log. Only the entry being written is held in memory.
///
/// The log is complete only after [`Writer::finish`].
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    entries: u64,
    pages: Vec<Value>,
    /// What bodies may still decode to.
    left: u64,
}

impl<W: Write> Writer<W> {
    /// Starts a log. `version` is the version of this program.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn new(mut out: W, version: &str) -> Result<Self, Error> {
        let creator = json!({"name": "sandbox", "version": version});
        write!(out, "{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"entries\":[")
            .map_err(Error::Write)?;
        Ok(Writer { out, entries: 0, pages: Vec::new(), left: DECODED })
    }

    /// Limits what bodies decode to, all together. Those beyond it are written in their content
    /// coding.
    pub fn limit(&mut self, bytes: u64) {
        self.left = bytes;
    }

    /// Adds a page; entries refer to it by `id` in their `page`.
    pub fn page(&mut self, id: &str, page: &Page) {
        self.pages.push(json!({
            "startedDateTime": page.ts.to_string(),
            "id": id,
            "title": page.title.as_deref().unwrap_or(&page.url),
            "pageTimings": {},
            "_url": page.url,
        }));
    }

    /// Adds an exchange, with `frames` if it opened a WebSocket.
    ///
    /// # Errors
    /// [`Error::Write`], and [`Error::Body`] if a body cannot be read back. The log is unusable
    /// after an error.
    pub fn entry(
        &mut self,
        exchange: &Exchange,
        frames: Option<&[Frame]>,
        page: Option<&str>,
    ) -> Result<(), Error> {
        let read = |source| Error::Body { url: exchange.url.clone(), source };
        let left = &mut self.left;
        let request_body =
            prepare(&exchange.request.body, &exchange.request.headers, left).map_err(read)?;
        let response_body =
            prepare(&exchange.response.body, &exchange.response.headers, left).map_err(read)?;
        let started = exchange.started.as_millis();
        let entry = EntryOut {
            pageref: page,
            started_date_time: exchange.started.to_string(),
            time: exchange.duration_ms.unwrap_or(0.0),
            request: RequestOut {
                method: &exchange.request.method,
                url: &exchange.url,
                http_version: version(exchange),
                cookies: [],
                headers: headers_out(&exchange.request.headers),
                query_string: query(&exchange.url),
                post_data: (!exchange.request.body.is_empty()).then(|| PostDataOut {
                    mime_type: exchange.request.headers.get_str("content-type").unwrap_or_default(),
                    text: &request_body,
                    encoding: request_body.encoding(),
                }),
                // In HAR, -1 is an unknown size.
                headers_size: -1,
                body_size: exchange.request.body.len(),
            },
            response: ResponseOut {
                status: exchange.response.status,
                status_text: &exchange.response.reason,
                http_version: version(exchange),
                cookies: [],
                headers: headers_out(&exchange.response.headers),
                content: ContentOut {
                    mime_type: exchange
                        .response
                        .headers
                        .get_str("content-type")
                        .unwrap_or_default(),
                    text: &response_body,
                    encoding: response_body.encoding(),
                    size: SizeOf(&response_body),
                    compression: Saved(&response_body, exchange.response.body.len()),
                },
                redirect_url: exchange.response.headers.get_str("location").unwrap_or_default(),
                headers_size: -1,
                body_size: exchange.response.body.len(),
            },
            cache: json!({}),
            // HAR requires these three, but only their sum was recorded.
            timings: json!({"send": 0, "wait": 0, "receive": 0}),
            server_ip_address: exchange.ip.map(|ip| ip.to_string()),
            web_socket_messages: frames
                .map(|all| all.iter().map(|frame| to_out(frame, started)).collect()),
        };
        let separator = if self.entries == 0 { "\n" } else { ",\n" };
        self.out.write_all(separator.as_bytes()).map_err(Error::Write)?;
        let written = serde_json::to_writer(&mut self.out, &entry)
            .map_err(|error| Error::Write(error.into()));
        // The writer's error only says that a body failed; the body's own says why.
        for body in [&request_body, &response_body] {
            body.outcome().map_err(read)?;
        }
        written?;
        self.entries += 1;
        Ok(())
    }

    /// Ends the log and returns the output.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(mut self) -> Result<W, Error> {
        write!(self.out, "\n],\"pages\":{}}}}}\n", Value::Array(self.pages))
            .map_err(Error::Write)?;
        self.out.flush().map_err(Error::Write)?;
        Ok(self.out)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryOut<'a, 'b> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pageref: Option<&'a str>,
    started_date_time: String,
    time: f64,
    request: RequestOut<'a, 'b>,
    response: ResponseOut<'a, 'b>,
    cache: Value,
    timings: Value,
    #[serde(rename = "serverIPAddress", skip_serializing_if = "Option::is_none")]
    server_ip_address: Option<String>,
    #[serde(rename = "_webSocketMessages", skip_serializing_if = "Option::is_none")]
    web_socket_messages: Option<Vec<MessageOut<'a>>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestOut<'a, 'b> {
    method: &'a str,
    url: &'a str,
    http_version: &'a str,
    cookies: [(); 0],
    headers: Vec<Pair<'a>>,
    query_string: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_data: Option<PostDataOut<'a, 'b>>,
    headers_size: i8,
    body_size: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PostDataOut<'a, 'b> {
    mime_type: &'a str,
    text: &'a Prepared<'b>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResponseOut<'a, 'b> {
    status: u16,
    status_text: &'a str,
    http_version: &'a str,
    cookies: [(); 0],
    headers: Vec<Pair<'a>>,
    content: ContentOut<'a, 'b>,
    #[serde(rename = "redirectURL")]
    redirect_url: &'a str,
    headers_size: i8,
    body_size: u64,
}

/// `size` and `compression` come after `text`, because the size of a streamed body is known only
/// after it was written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContentOut<'a, 'b> {
    mime_type: &'a str,
    text: &'a Prepared<'b>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
    size: SizeOf<'a, 'b>,
    compression: Saved<'a, 'b>,
}

#[derive(Serialize)]
struct Pair<'a> {
    name: &'a str,
    value: std::borrow::Cow<'a, str>,
}

/// A body ready to be written.
enum Prepared<'a> {
    Text(String),
    Bytes(Vec<u8>),
    Stream {
        input: RefCell<Box<dyn Read + 'a>>,
        size: Cell<u64>,
        failed: RefCell<Option<io::Error>>,
    },
}

impl Prepared<'_> {
    fn encoding(&self) -> Option<&'static str> {
        (!matches!(self, Prepared::Text(_))).then_some("base64")
    }

    fn size(&self) -> u64 {
        match self {
            Prepared::Text(text) => text.len() as u64,
            Prepared::Bytes(bytes) => bytes.len() as u64,
            Prepared::Stream { size, .. } => size.get(),
        }
    }

    fn outcome(&self) -> io::Result<()> {
        match self {
            Prepared::Stream { failed, .. } => failed.take().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }
}

impl Serialize for Prepared<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Prepared::Text(text) => serializer.serialize_str(text),
            Prepared::Bytes(bytes) => {
                serializer.collect_str(&base64::display::Base64Display::new(bytes, &STANDARD))
            }
            Prepared::Stream { .. } => serializer.collect_str(self),
        }
    }
}

/// The base64 text of a stream, encoded while it is written.
impl fmt::Display for Prepared<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Prepared::Stream { input, size, failed } = self else { return Ok(()) };
        let mut chunk = Vec::with_capacity(48 << 10);
        loop {
            chunk.clear();
            // A multiple of three, so that chunks join without padding.
            if let Err(error) = input.borrow_mut().by_ref().take(48 << 10).read_to_end(&mut chunk) {
                // Formatting cannot report the cause of a failure. The caller checks `outcome`.
                failed.replace(Some(error));
                return Ok(());
            }
            if chunk.is_empty() {
                return Ok(());
            }
            size.set(size.get() + chunk.len() as u64);
            out.write_str(&STANDARD.encode(&chunk))?;
        }
    }
}

struct SizeOf<'a, 'b>(&'a Prepared<'b>);

impl Serialize for SizeOf<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0.size())
    }
}

/// The number of bytes that the content coding saved in transit.
struct Saved<'a, 'b>(&'a Prepared<'b>, u64);

impl Serialize for Saved<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0.size() as i64 - self.1 as i64)
    }
}

/// Removes the content coding. A body that does not decode is written as it is.
fn prepare<'a>(body: &'a Body, headers: &Headers, left: &mut u64) -> io::Result<Prepared<'a>> {
    let coding = headers.get_str("content-encoding").unwrap_or_default();
    let mut held = Vec::new();
    let mut input = decoded(coding, body, left).unwrap_or_else(|| Box::new(body.reader()));
    (&mut input).take(HELD as u64 + 1).read_to_end(&mut held)?;
    if held.len() > HELD {
        let input: Box<dyn Read + 'a> = Box::new(Cursor::new(held).chain(input));
        return Ok(Prepared::Stream {
            input: RefCell::new(input),
            size: Cell::new(0),
            failed: RefCell::new(None),
        });
    }
    // The text of a log is UTF-8, so a body in another charset would come back as other bytes.
    let set = headers.get_str("content-type").and_then(charset);
    let is_utf8 = matches!(set.as_deref(), None | Some("utf-8" | "utf8"));
    Ok(match String::from_utf8(held) {
        Ok(text) if (is_utf8 || text.is_ascii()) && is_printable(&text) => Prepared::Text(text),
        Ok(text) => Prepared::Bytes(text.into_bytes()),
        Err(error) => Prepared::Bytes(error.into_bytes()),
    })
}

/// A reader of the decoded body, if all of it decodes and stays below the limit. What was tried
/// counts, so that many bodies that are too large do not take for ever.
fn decoded<'a>(coding: &str, body: &'a Body, left: &mut u64) -> Option<Box<dyn Read + Send + 'a>> {
    if coding.is_empty() {
        return None;
    }
    let trial = decoder(coding, body.reader()).ok()?;
    let size = io::copy(&mut trial.take(left.saturating_add(1)), &mut io::sink()).ok()?;
    if size > *left {
        *left /= 2;
        return None;
    }
    *left -= size;
    decoder(coding, body.reader()).ok()
}

fn is_printable(text: &str) -> bool {
    !text.contains('\0')
}

fn headers_out(headers: &Headers) -> Vec<Pair<'_>> {
    headers
        .iter()
        .map(|(name, value)| Pair { name, value: String::from_utf8_lossy(value) })
        .collect()
}

fn query(url: &str) -> Vec<Value> {
    let Ok(url) = url::Url::parse(url) else { return Vec::new() };
    url.query_pairs().map(|(name, value)| json!({"name": name, "value": value})).collect()
}

fn version(exchange: &Exchange) -> &str {
    exchange.protocol.as_deref().unwrap_or("HTTP/1.1")
}
