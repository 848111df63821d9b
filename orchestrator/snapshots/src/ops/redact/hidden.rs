//! What a redaction would hide, asked by a scan, a count and a recording.

use super::fields::Value;
use super::message::{Cleaner, MARK, is_form, is_json, is_opaque};
use crate::{Headers, RecordKind};

impl Cleaner {
    /// The values to be hidden in a header, in an address, in a decoded body, and in any text.
    pub(in crate::ops) fn hidden_in_header(&self, name: &str, value: &[u8]) -> Vec<Vec<u8>> {
        bare(self.hidden.in_header(name, value))
    }

    /// The cookies to be hidden in a header of this name in lower case: name and value of each.
    pub(in crate::ops) fn hidden_cookies(
        &self,
        lower: &str,
        header: &[u8],
    ) -> Vec<(Vec<u8>, Vec<u8>)> {
        let found = self.hidden.in_header(lower, header);
        let name_of = |value: &Value| {
            let before = &header[..value.range.start];
            let start = before.iter().rposition(|byte| *byte == b';').map_or(0, |at| at + 1);
            before[start..].strip_suffix(b"=").unwrap_or(&before[start..]).to_vec()
        };
        let hidden = found.into_iter().filter(|value| !is_placeholder(&value.value));
        hidden.map(|value| (name_of(&value), value.value)).collect()
    }

    pub(in crate::ops) fn hidden_in_url(&self, url: &[u8]) -> Vec<Vec<u8>> {
        bare(self.hidden.in_url(url))
    }

    pub(in crate::ops) fn hidden_in_body(
        &self,
        kind: RecordKind,
        headers: &Headers,
        body: &[u8],
    ) -> Vec<Vec<u8>> {
        bare(self.hidden.in_body(kind, headers, body))
    }

    pub(in crate::ops) fn hidden_in_text(&self, text: &[u8]) -> Vec<Vec<u8>> {
        bare(self.hidden.with_userinfo(Vec::new(), text))
    }

    /// Whether a header has a value to be hidden.
    pub(in crate::ops) fn holds(&self, name: &str, value: &[u8]) -> bool {
        has_any(&self.hidden.in_header(name, value))
    }

    /// Whether a decoded body has a value to be hidden.
    pub(in crate::ops) fn holds_in_body(
        &self,
        kind: RecordKind,
        headers: &Headers,
        body: &[u8],
    ) -> bool {
        has_any(&self.hidden.in_body(kind, headers, body))
    }

    /// Whether WebSocket messages, one a line, have a value to be hidden.
    pub(in crate::ops) fn holds_in_frames(&self, lines: &[u8]) -> bool {
        let mut count = 0;
        self.frames(lines, &mut count);
        count > 0
    }

    /// Whether bodies of this kind are searched at all.
    pub(in crate::ops) fn searches_body(&self, kind: RecordKind, headers: &Headers) -> bool {
        let media = headers.get_str("content-type").unwrap_or_default().to_ascii_lowercase();
        !is_opaque(&media) && (kind == RecordKind::Request || is_json(&media) || is_form(&media))
    }
}

/// Whether a redaction has put it there.
pub(in crate::ops) fn is_placeholder(value: &[u8]) -> bool {
    value.starts_with(MARK)
}

/// Values without placeholders.
pub(super) fn bare(values: Vec<Value>) -> Vec<Vec<u8>> {
    values.into_iter().map(|value| value.value).filter(|value| !is_placeholder(value)).collect()
}

/// Whether there is any value. Placeholders do not count.
fn has_any(values: &[Value]) -> bool {
    values.iter().any(|value| !value.value.starts_with(MARK))
}
