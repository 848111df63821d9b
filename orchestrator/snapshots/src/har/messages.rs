//! WebSocket messages in `_webSocketMessages`, which Chrome introduced and mitmproxy and Playwright
//! write in the same form; and the events of an event stream.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::schema::{RawEvent, RawMessage, Text};
use crate::{Frame, FrameSide};

/// The HAR form: seconds since the epoch, a numeric opcode, binary data in base64.
#[derive(Serialize)]
pub(super) struct MessageOut<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    time: f64,
    opcode: u8,
    data: Cow<'a, str>,
}

/// The messages of an entry that started `started_ms` after the epoch. Pings and pongs are skipped.
/// Binary data that is not valid base64 is taken literally.
pub(super) fn from_raw(raw: Vec<RawMessage>, started_ms: i64) -> Vec<Frame> {
    raw.into_iter().filter_map(|message| frame(message, started_ms)).collect()
}

fn frame(message: RawMessage, started_ms: i64) -> Option<Frame> {
    let from = match message.kind.as_ref().map(|kind| kind.as_str()) {
        Some("send" | "request") => FrameSide::Client,
        _ => FrameSide::Server,
    };
    let at = message.time.map_or(0.0, |seconds| seconds * 1000.0 - started_ms as f64);
    let frame = Frame {
        at_ms: at.max(0.0).round() as u64,
        from,
        text: None,
        base64: None,
        close: None,
        reason: None,
    };
    let data = message.data.map(|data| data.0).unwrap_or_default();
    match message.opcode.unwrap_or(1.0) as i64 {
        0 | 1 => Some(Frame { text: Some(data), ..frame }),
        2 if STANDARD.decode(&data).is_ok() => Some(Frame { base64: Some(data), ..frame }),
        2 => Some(Frame { base64: Some(STANDARD.encode(data)), ..frame }),
        8 => Some(Frame { close: Some(close_code(&data)), ..frame }),
        _ => None,
    }
}

/// The code of a close frame. Tools do not document how they write it; 1005 means "no code".
fn close_code(data: &str) -> u16 {
    data.parse().ok().filter(|code| (1000..5000).contains(code)).unwrap_or(1005)
}

pub(super) fn to_out(frame: &Frame, started_ms: i64) -> MessageOut<'_> {
    let (opcode, data) = match (&frame.text, &frame.base64, frame.close) {
        (Some(text), _, _) => (1, text.as_str().into()),
        (None, Some(base64), _) => (2, base64.as_str().into()),
        (None, None, close) => (8, close.map(|code| code.to_string()).unwrap_or_default().into()),
    };
    let kind = match frame.from {
        FrameSide::Server => "receive",
        FrameSide::Client => "send",
    };
    MessageOut { kind, time: (started_ms as f64 + frame.at_ms as f64) / 1000.0, opcode, data }
}

/// The body of an event stream, rebuilt from the events that a browser received.
pub(super) fn event_stream(events: &[RawEvent]) -> String {
    let field = |text: &Option<Text>| text.as_ref().map(|text| text.0.clone()).unwrap_or_default();
    let mut body = String::new();
    for event in events {
        let (id, name) = (field(&event.event_id), field(&event.event_name));
        if !id.is_empty() {
            body.push_str(&format!("id: {id}\n"));
        }
        // `message` is what events without a name are called.
        if !name.is_empty() && name != "message" {
            body.push_str(&format!("event: {name}\n"));
        }
        for line in field(&event.data).split('\n') {
            body.push_str(&format!("data: {line}\n"));
        }
        body.push('\n');
    }
    body
}
