//! The recorded exchange behind a request of the ledger, as text: headers and body.

use std::fmt::Write as _;

use ::files::below;
use axum::response::{IntoResponse, Response};
use camino::Utf8Path;
use gateway::{Answer, Entry, GivenCapture};
use http::{HeaderValue, header};
use snapshots::Headers;
use snapshots::index::{Capture, IndexError, IndexHit, ReplaySet};
use snapshots::matching::{self, ReplayRequest};

use super::{files, nothing};
use crate::stored::{EpisodeId, RunFolder};

/// The most bytes of a body that are shown.
const LARGEST: u64 = 4 << 20;
/// Headers that log in. Other users of the machine can reach loopback, too.
const SECRET: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "set-cookie"];

/// Whether the snapshots have the exchange of such an answer.
pub(crate) fn is_recorded(answer: &Answer) -> bool {
    match answer {
        Answer::Exact | Answer::Normalised { .. } | Answer::Fuzzy { .. } => true,
        Answer::OtherState { of, .. } => is_recorded(of),
        Answer::Synthesised { of, .. } => of.as_deref().is_some_and(is_recorded),
        _ => false,
    }
}

/// The exchange of the request with this position in the ledger of the episode of this name.
pub(super) fn exchange(run: &Utf8Path, set: &ReplaySet, episode: &str, seq: u64) -> Response {
    let Some(entry) = entry(run, episode, seq) else { return nothing() };
    let text = match text(set, &entry) {
        Ok(Some(text)) => text,
        Ok(None) => {
            "the snapshots have no exchange of this method and URL without a body\n".to_owned()
        }
        Err(error) => {
            format!("failed to read the recorded exchange: {}\n", error_text::with_causes(&error))
        }
    };
    let mut answer = (files::headers(Some("text/plain; charset=utf-8")), text).into_response();
    answer.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}

fn entry(run: &Utf8Path, episode: &str, seq: u64) -> Option<Entry> {
    below::folder(run, &format!("episodes/{episode}")).ok()?;
    let folder = RunFolder::open(run).ok()?;
    let record = folder.record_named(episode).ok()?;
    let id = EpisodeId { task: record.task, repeat: record.repeat };
    let requests = folder.episode(&id).requests().ok()?;
    let entry = requests.into_iter().map(|request| request.entry).find(|entry| entry.seq == seq)?;
    is_recorded(&entry.answer).then_some(entry)
}

fn text(set: &ReplaySet, entry: &Entry) -> Result<Option<String>, IndexError> {
    let Some((hit, count)) = capture_of(set, entry)? else { return Ok(None) };
    let capture = set.capture(hit)?;
    let (method, url) = set.request_line(hit, &capture)?;
    let mut text = format!("{method} {url}\n");
    match &entry.capture {
        Some(given) if is_given(hit, &capture, given) => {
            let _ = writeln!(text, "{}", given.words());
        }
        Some(_) => {
            text.push_str("another capture of the request: that which was given is not there\n")
        }
        None => {}
    }
    if count > 1 {
        let _ = writeln!(text, "one of {count} recorded exchanges");
    }
    if let Some(headers) = set.request_headers(hit, &capture)? {
        add_headers(&mut text, "request", &headers);
    }
    let mut response = set.read(hit.member, capture.response)?;
    if response.holds_http() {
        let head = response.response_head()?;
        add_headers(&mut text, &format!("response, status {}", head.status), &head.headers);
    }
    match set.document(hit, LARGEST) {
        Ok(Some(body)) => {
            let _ = writeln!(text, "\nbody, {} bytes, {}", body.bytes.len(), body.media_type);
            match String::from_utf8(body.bytes) {
                Ok(body) => text.push_str(&body),
                Err(_) => text.push_str("(no text)\n"),
            }
        }
        Ok(None) => text.push_str("\nno body\n"),
        Err(error) => {
            let _ =
                writeln!(text, "\nfailed to read the body: {}", error_text::with_causes(&error));
        }
    }
    Ok(Some(text))
}

/// Whether a capture is the one that was given, as far as its place and its time say.
fn is_given(hit: IndexHit, capture: &Capture, given: &GivenCapture) -> bool {
    (hit.member, hit.capture) == (given.archive, given.number)
        && capture.at_millis == given.at.as_millis()
}

/// The capture that the request was given. In runs of versions that did not name it, one of its
/// captures, and how many there are; one with the same status is preferred.
fn capture_of(set: &ReplaySet, entry: &Entry) -> Result<Option<(IndexHit, usize)>, IndexError> {
    if let Some(given) = &entry.capture {
        let at_millis = given.at.as_millis() as u64;
        let hit = IndexHit { member: given.archive, capture: given.number, at_millis, status: 0 };
        // The snapshots may be others than those of the run.
        if set.capture(hit).is_ok_and(|capture| is_given(hit, &capture, given)) {
            return Ok(Some((hit, 1)));
        }
    }
    let url = recorded_url(&entry.answer).unwrap_or(&entry.url);
    let method = if entry.method == "HEAD" { "GET" } else { &entry.method };
    let request = ReplayRequest::bare(method, url);
    let mut hits = set.exact(&matching::exact(&request))?;
    if hits.is_empty() {
        hits = set.normalised(&matching::normalised(&request).0)?;
    }
    let count = hits.len();
    let same = hits.iter().position(|hit| hit.status == entry.status).unwrap_or(0);
    Ok(hits.into_iter().nth(same).map(|hit| (hit, count)))
}

/// The URL under which the answer was recorded, if it is another one.
fn recorded_url(answer: &Answer) -> Option<&str> {
    match answer {
        Answer::Fuzzy { url, .. } => Some(url),
        Answer::OtherState { of, .. } => recorded_url(of),
        Answer::Synthesised { of, .. } => of.as_deref().and_then(recorded_url),
        _ => None,
    }
}

fn add_headers(text: &mut String, what: &str, headers: &Headers) {
    let _ = writeln!(text, "\n{what}");
    for (name, value) in headers.iter() {
        let is_secret = SECRET.contains(&name.to_ascii_lowercase().as_str());
        let value = String::from_utf8_lossy(value);
        let _ = writeln!(text, "{name}: {}", if is_secret { "(left out)" } else { &value });
    }
}
