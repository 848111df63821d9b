//! The messages of a WebSocket connection, and the record that stores them.

use file_version::Version;
use serde::{Deserialize, Serialize};

use super::append::END;
use crate::warc::{RecordHead, RecordKind, new_record_id};
use crate::{Exchange, Timestamp};

/// Content type of the record of a WebSocket connection.
pub(crate) const FRAMES_TYPE: &str = "application/x-websocket-frames+jsonl";

/// The version of a journal.
pub(super) const FORMAT: Version = Version::FIRST;

/// The sender of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FrameSide {
    /// Sent by the origin.
    Server,
    /// Sent by the browser.
    Client,
}

/// One WebSocket message: a line of the resource record of its connection. Exactly one of `text`,
/// `base64` and `close` is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Milliseconds since the connection was opened.
    pub at_ms: u64,
    /// Who sent it.
    pub from: FrameSide,
    /// A text message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A binary message, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// The code the connection was closed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close: Option<u16>,
    /// The reason given with `close`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Frame {
    /// The frame as a line of a record or a journal.
    pub(super) fn line(&self) -> Vec<u8> {
        line(self)
    }
}

/// The metadata of a connection's record, without its frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FramesHead {
    /// The version of the journal. Absent in version 1.
    #[serde(default, skip_serializing_if = "Version::is_first")]
    format: Version,
    /// The id of the future record.
    pub(super) id: String,
    url: String,
    date: Timestamp,
    /// The response that opened the connection.
    concurrent_to: String,
    protocol: Option<String>,
    page: Option<String>,
}

impl FramesHead {
    /// For the connection that `opening` opened and whose response is the record `response`.
    pub(super) fn new(opening: &Exchange, response: &str) -> FramesHead {
        let url = match opening.url.split_once("://") {
            Some(("https", rest)) => format!("wss://{rest}"),
            Some(("http", rest)) => format!("ws://{rest}"),
            _ => opening.url.clone(),
        };
        FramesHead {
            format: FORMAT,
            id: new_record_id(),
            url,
            date: opening.started,
            concurrent_to: response.to_owned(),
            protocol: opening.protocol.clone(),
            page: opening.page.clone(),
        }
    }

    /// When the connection was opened, and the id of its record.
    pub(super) fn opened(&self) -> (Timestamp, &str) {
        (self.date, &self.id)
    }

    /// The first line of a journal.
    pub(super) fn line(&self) -> Vec<u8> {
        line(self)
    }

    /// The header of the record, for frames of `length` bytes.
    pub(super) fn record(&self, length: u64) -> Vec<u8> {
        RecordHead::new(RecordKind::Resource, &self.id, self.date)
            .field("WARC-Target-URI", &self.url)
            .optional("WARC-Protocol", self.protocol.as_deref())
            .optional("WARC-Page-ID", self.page.as_deref())
            .uri("WARC-Concurrent-To", &self.concurrent_to)
            .field("Content-Type", FRAMES_TYPE)
            .finish(length)
    }
}

/// The whole record of a connection whose frames are known.
pub(super) fn record(opening: &Exchange, response: &str, frames: &[Frame]) -> Vec<u8> {
    let lines: Vec<u8> = frames.iter().flat_map(Frame::line).collect();
    let mut record = FramesHead::new(opening, response).record(lines.len() as u64);
    record.extend_from_slice(&lines);
    record.extend_from_slice(END);
    record
}

fn line(of: &impl Serialize) -> Vec<u8> {
    // Strings and numbers: their serialisation cannot fail.
    let mut line = serde_json::to_vec(of).unwrap_or_default();
    line.push(b'\n');
    line
}
