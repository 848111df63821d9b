//! Lines of text from the events of a Chromium trace.
//!
//! | event | line |
//! | --- | --- |
//! | `CommitLoad` | `document URL` |
//! | `ResourceFetcher::requestResource`, `ResourceReceiveResponse`, `ResourceFinish` | `request URL`, `response STATUS URL`, `loaded URL` or `failed URL` |
//! | `EvaluateScript`, `FunctionCall` | `script URL:LINE`, `function NAME URL:LINE:COLUMN`; not those of ours |
//! | `EventDispatch` | `event TYPE` |
//! | `SchedulePostMessage`, `HandlePostMessage` | `message sent`, `message` |
//! | `WebSocket...` | `socket URL`, `socket open`, `socket closed` |
//! | `TimeStamp` with our mark | a change of the document |
//! | | `timer MILLISECONDS`, `console LEVEL TEXT` |

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;

use crate::Determinism;
use crate::cdp::targets::stable_url;
use crate::clock::virtual_time;
use crate::order::MARK;

/// The most lines of one step.
const MOST: usize = 20_000;
/// The most characters of a URL.
const LONGEST: usize = 120;
/// The most characters of a line.
const LONGEST_LINE: usize = 300;
/// How far a mark's time may be from the last known one, in milliseconds: a page can make up marks.
const FARTHEST: f64 = 24.0 * 3600.0 * 1000.0;

/// A thread, by the numbers of its process and its own.
type Thread = (u64, u64);

/// The state that lines need from earlier steps.
#[derive(Debug, Default)]
pub(crate) struct OrderWriter {
    /// Frames by their ids, in the order in which they came.
    frames: HashMap<String, String>,
    /// The renderer processes of the episode.
    processes: HashSet<u64>,
    workers: HashMap<Thread, String>,
    /// URLs of requests, by their ids.
    urls: HashMap<String, String>,
    /// The requests of streams of events, by their ids.
    streams: HashSet<String>,
}

/// An event that is told, or that tells what others need, by Chromium's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Kind {
    CommitLoad,
    EvaluateScript,
    EventDispatch,
    FunctionCall,
    HandlePostMessage,
    #[serde(rename = "ResourceFetcher::requestResource")]
    RequestResource,
    ResourceFinish,
    ResourceReceiveResponse,
    ResourceSendRequest,
    SchedulePostMessage,
    TimeStamp,
    WebSocketCreate,
    WebSocketDestroy,
    WebSocketReceiveHandshakeResponse,
    #[serde(other)]
    Other,
}

/// An event of a trace.
#[derive(Debug, Deserialize)]
pub(crate) struct TraceEvent {
    #[serde(rename = "name")]
    kind: Kind,
    pid: u64,
    tid: u64,
    #[serde(default)]
    ts: u64,
    #[serde(default)]
    args: Value,
}

impl TraceEvent {
    /// An event of a trace, if it is one that is told.
    pub(crate) fn read(event: &Value) -> Option<TraceEvent> {
        TraceEvent::deserialize(event).ok().filter(|event| event.kind != Kind::Other)
    }

    fn thread(&self) -> Thread {
        (self.pid, self.tid)
    }

    /// Whether it is of a process's first thread, which is that of documents.
    fn is_of_main_thread(&self) -> bool {
        self.pid == self.tid
    }

    fn data(&self, name: &str) -> &Value {
        self.args.get("data").and_then(|data| data.get(name)).unwrap_or(&Value::Null)
    }

    fn text(&self, name: &str) -> &str {
        self.data(name).as_str().unwrap_or_default()
    }

    fn number(&self, name: &str) -> u64 {
        self.data(name).as_u64().unwrap_or_default()
    }
}

impl OrderWriter {
    /// The lines of a trace. `clocks` has the page's time, in milliseconds since 1970, at times of
    /// the trace in microseconds. `pages` are the frames of the episode's tabs.
    pub(crate) fn write(
        &mut self,
        mut events: Vec<TraceEvent>,
        clocks: &[(u64, f64)],
        pages: &[String],
        determinism: Determinism,
    ) -> Vec<String> {
        events.sort_by_key(|event| event.ts);
        for event in &events {
            self.learn(event, pages);
        }
        // The documents' thread first, then one worker after the other.
        let mut threads: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let (mut clocks, mut now) = (clocks.iter().peekable(), f64::MIN);
        for event in &events {
            while let Some((_, clock)) = clocks.next_if(|(at, _)| *at <= event.ts) {
                now = now.max(*clock);
            }
            let (Some(thread), Some(what)) = (self.thread_of(event), self.line(event)) else {
                continue;
            };
            let what = match what.strip_prefix(MARK) {
                None => what,
                Some(marked) => {
                    let Some((clock, what)) = marked.split_once(' ') else { continue };
                    let clock = clock.parse().unwrap_or(f64::NAN);
                    if (clock - now).abs() < FARTHEST {
                        now = now.max(clock);
                    }
                    what.to_owned()
                }
            };
            #[expect(clippy::cast_precision_loss, reason = "an episode lasts for hours at most")]
            let seconds = virtual_time::elapsed(determinism, now) as f64 / 1000.0;
            let place = self.place(event, &thread).to_owned();
            let lines = threads.entry(thread).or_default();
            if lines.len() < MOST {
                lines.push(format!("{seconds:>6.1}  {place:<9}  {}", one_line(&what)));
            } else if lines.len() == MOST {
                lines.push(format!("{seconds:>6.1}  {place:<9}  more is not kept"));
            }
        }
        threads.into_values().flatten().collect()
    }

    /// Takes from an event what others of the same time need.
    fn learn(&mut self, event: &TraceEvent, pages: &[String]) {
        let frame = event.text("frame");
        if pages.iter().any(|page| page == frame) {
            self.processes.insert(event.pid);
        }
        match event.kind {
            Kind::ResourceSendRequest => {
                self.urls.insert(event.text("requestId").to_owned(), shortened(event.text("url")));
            }
            Kind::ResourceReceiveResponse if event.text("mimeType") == "text/event-stream" => {
                self.streams.insert(event.text("requestId").to_owned());
            }
            Kind::CommitLoad if !self.frames.contains_key(frame) => {
                let name = match pages.iter().position(|page| page == frame) {
                    Some(0) => "page".to_owned(),
                    Some(tab) => format!("page {}", tab + 1),
                    None => {
                        let count =
                            self.frames.values().filter(|name| name.starts_with("frame")).count();
                        format!("frame {}", count + 1)
                    }
                };
                self.frames.insert(frame.to_owned(), name);
            }
            Kind::EvaluateScript
                if !event.is_of_main_thread() && !self.workers.contains_key(&event.thread()) =>
            {
                let name = format!("worker {}", self.workers.len() + 1);
                self.workers.insert(event.thread(), name);
            }
            _ => {}
        }
    }

    /// By what the events of a thread are sorted; `None` for one that runs no scripts.
    fn thread_of(&self, event: &TraceEvent) -> Option<String> {
        if !self.processes.contains(&event.pid) {
            return None;
        }
        if event.is_of_main_thread() {
            Some(String::new())
        } else {
            self.workers.get(&event.thread()).cloned()
        }
    }

    fn place<'a>(&'a self, event: &TraceEvent, thread: &'a str) -> &'a str {
        if thread.is_empty() {
            self.frames.get(event.text("frame")).map_or("", String::as_str)
        } else {
            thread
        }
    }

    /// Returns the text of an event; `None` for events without one.
    fn line(&self, event: &TraceEvent) -> Option<String> {
        let url = || shortened(event.text("url"));
        let known_url = || self.urls.get(event.text("requestId")).map_or("", String::as_str);
        Some(match event.kind {
            Kind::CommitLoad => format!("document {}", url()),
            Kind::RequestResource => {
                let url = event.args.get("url").and_then(Value::as_str).unwrap_or_default();
                format!("request {}", shortened(url))
            }
            Kind::ResourceReceiveResponse => {
                format!("response {} {}", event.number("statusCode"), known_url())
            }
            Kind::ResourceFinish => {
                let how = match event.data("didFail") {
                    // Both sides end it, as soon as the page has what it wants.
                    _ if self.streams.contains(event.text("requestId")) => "ended",
                    Value::Bool(true) => "failed",
                    _ => "loaded",
                };
                format!("{how} {}", known_url())
            }
            Kind::EvaluateScript if !event.text("url").is_empty() => {
                format!("script {}:{}", url(), event.number("lineNumber"))
            }
            Kind::FunctionCall if !event.text("url").is_empty() => {
                let mut line = "function ".to_owned();
                if !event.text("functionName").is_empty() {
                    let _ = write!(line, "{} ", event.text("functionName"));
                }
                let _ = write!(
                    line,
                    "{}:{}:{}",
                    url(),
                    event.number("lineNumber"),
                    event.number("columnNumber")
                );
                line
            }
            Kind::EventDispatch => format!("event {}", event.text("type")),
            Kind::SchedulePostMessage if event.data("traceId").is_string() => {
                "message sent".to_owned()
            }
            Kind::HandlePostMessage => "message".to_owned(),
            Kind::WebSocketCreate => format!("socket {}", url()),
            Kind::WebSocketReceiveHandshakeResponse => "socket open".to_owned(),
            Kind::WebSocketDestroy => "socket closed".to_owned(),
            Kind::TimeStamp if event.text("message").starts_with(MARK) => {
                event.text("message").to_owned()
            }
            _ => return None,
        })
    }
}

/// A URL as it is in every run, and short.
fn shortened(url: &str) -> String {
    let url = stable_url(url);
    match url.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &url[..end]),
        None => url.to_owned(),
    }
}

/// A text without line feeds and other control characters, and short.
fn one_line(text: &str) -> String {
    let mut line: String = text
        .trim_end()
        .chars()
        .take(LONGEST_LINE)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(LONGEST_LINE).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(name: &str, ts: u64, data: Value) -> TraceEvent {
        let event = json!({ "name": name, "pid": 7, "tid": 7, "ts": ts, "args": { "data": data } });
        TraceEvent::read(&event).unwrap()
    }

    #[test]
    fn what_a_page_says_stays_in_its_line() {
        let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
        let start = virtual_time::start_millis(world);
        let mark = |ts, text: &str| {
            event("TimeStamp", ts, json!({ "frame": "top", "message": format!("{MARK}{text}") }))
        };
        let commit = json!({ "frame": "top", "url": "https://a.test/" });
        let events = vec![
            mark(30, &format!("{} console log a\nb\u{1b}[2J", start + 500.0)),
            event("CommitLoad", 10, commit),
            mark(40, "1e300 console log later"),
            mark(50, &format!("{} console log {}", start + 700.0, "x".repeat(500))),
        ];
        assert!(TraceEvent::read(&json!({ "name": "Paint", "pid": 7, "tid": 7 })).is_none());
        let pages = ["top".to_owned()];
        let lines = OrderWriter::default().write(events, &[(5, start)], &pages, world);
        assert_eq!(
            lines[..3],
            [
                "   0.0  page       document https://a.test/",
                "   0.5  page       console log a b [2J",
                "   0.5  page       console log later",
            ]
        );
        assert!(lines[3].starts_with("   0.7  ") && lines[3].chars().count() < 330, "{}", lines[3]);
    }
}
