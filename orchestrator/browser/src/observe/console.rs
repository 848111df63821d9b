//! Collects the console messages of pages, their uncaught errors, and the browser's own complaints.
//!
//! The sources are the DevTools domains `Console` and `Log`, and `inject/reported.js` for errors.
//! `Runtime.enable` is not used: it previews logged objects, and so runs getters of the page.

use serde_json::{Value, json};

use crate::cdp::targets::stable_url;
use crate::cdp::tracker::{BrowserEvent, BrowserState, EventSink};
use crate::{ConsoleMessage, Session};

/// Stands before the place and text of an uncaught error in the console.
pub(crate) const ERROR_MARK: &str = "\u{2063}uncaught\u{2063}";

/// The most messages that are kept of one step.
const MOST: usize = 100;
/// The most characters of a message, and of its URL.
const LONGEST: usize = 1_000;
/// After this many messages in one step that are not kept, the browser stops sending them.
const FLOOD: u64 = 10_000;

/// The messages since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct ConsoleBuffer {
    messages: Vec<ConsoleMessage>,
    left_out: u64,
}

impl EventSink for ConsoleBuffer {
    fn on_event(&mut self, _: &mut BrowserState, event: &BrowserEvent<'_>) {
        let BrowserEvent { cdp, session, method, params } = *event;
        if matches!(method, "Console.messageAdded" | "Log.entryAdded") && self.add(message(params))
        {
            drop(cdp.send(session, "Console.disable", json!({})));
            drop(cdp.send(session, "Log.disable", json!({})));
        }
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl ConsoleBuffer {
    /// Adds a message. Returns whether there are so many that the browser should stop.
    pub(crate) fn add(&mut self, message: ConsoleMessage) -> bool {
        if self.messages.len() < MOST {
            self.messages.push(message);
        } else {
            self.left_out += 1;
        }
        self.left_out >= FLOOD
    }

    /// Takes the messages. The last one says how many were left out.
    fn take(&mut self) -> Vec<ConsoleMessage> {
        let ConsoleBuffer { mut messages, left_out } = std::mem::take(self);
        if left_out > 0 {
            let text = format!("{left_out} more messages are not kept");
            let (source, level) = ("browser".to_owned(), "warning".to_owned());
            messages.push(ConsoleMessage { source, level, text, url: String::new(), line: None });
        }
        messages
    }
}

impl Session {
    /// Takes the console messages since the last call or the beginning of the episode. Only frozen
    /// worlds have them.
    pub fn take_console(&mut self) -> Vec<ConsoleMessage> {
        self.tracker.lock().part_mut::<ConsoleBuffer>().take()
    }
}

/// The message of a `Console.messageAdded` or `Log.entryAdded`.
pub(crate) fn message(event: &Value) -> ConsoleMessage {
    // The two events have the same content, with their keys in different places.
    let entry = event.get("message").or_else(|| event.get("entry")).unwrap_or(event);
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    let line = entry.get("line").or_else(|| entry.get("lineNumber")).and_then(Value::as_u64);
    // Uncaught errors come through the console as well, with a mark of `inject/reported.js`.
    if let Some((place, what)) =
        text("text").strip_prefix(ERROR_MARK).and_then(|rest| rest.split_once(' '))
    {
        let (url, line) = place.rsplit_once(':').unwrap_or_default();
        return ConsoleMessage {
            source: "exception".to_owned(),
            level: "error".to_owned(),
            text: clip(what),
            url: clip(stable_url(url)),
            line: line.parse().ok().filter(|line| *line > 0),
        };
    }
    let source = match text("source") {
        "console-api" => "console",
        source => source,
    };
    let level = match text("level") {
        "verbose" => "debug",
        level => level,
    };
    ConsoleMessage {
        source: source.to_owned(),
        level: level.to_owned(),
        text: clip(text("text")),
        url: clip(stable_url(text("url"))),
        line: line.filter(|line| *line > 0),
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> ConsoleMessage {
        let (source, level) = ("console-api", "error");
        message(
            &json!({ "message": { "source": source, "level": level, "text": text, "url": "https://a.test/x.js", "line": 3 } }),
        )
    }

    #[test]
    fn errors_are_told_from_what_pages_write() {
        let own = parse("uncaught https://a.test/y.js:7 no");
        assert_eq!(
            (own.source.as_str(), own.line, own.url.as_str()),
            ("console", Some(3), "https://a.test/x.js")
        );
        let error = parse(&format!("{ERROR_MARK}https://a.test/y.js:7 x is not defined"));
        assert_eq!((error.source.as_str(), error.text.as_str()), ("exception", "x is not defined"));
        assert_eq!((error.line, error.url.as_str()), (Some(7), "https://a.test/y.js"));
        let rejection = parse(&format!("{ERROR_MARK} Uncaught (in promise) no"));
        assert_eq!((rejection.line, rejection.text.as_str()), (None, "Uncaught (in promise) no"));
    }

    #[test]
    fn messages_are_bounded_in_number_and_length() {
        let mut buffer = ConsoleBuffer::default();
        let long = parse(&"é".repeat(5_000));
        assert_eq!(long.text.chars().count(), LONGEST + 1);
        let is_flood =
            (0..MOST as u64 + FLOOD).map(|_| buffer.add(long.clone())).collect::<Vec<_>>();
        assert!(is_flood.last().unwrap() & !is_flood[is_flood.len() - 2]);
        let taken = buffer.take();
        assert_eq!(taken.len(), MOST + 1);
        assert_eq!(taken.last().unwrap().text, format!("{FLOOD} more messages are not kept"));
        assert!(buffer.take().is_empty());
    }
}
