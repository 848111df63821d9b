//! Writes the heads of WARC 1.1 records.

use uuid::Uuid;

use super::RecordKind;
use crate::Timestamp;

/// A new record id, `urn:uuid:...`, without angle brackets.
pub fn new_record_id() -> String {
    Uuid::new_v4().urn().to_string()
}

/// The header of a WARC 1.1 record with these fields, for a block of `length` bytes. A length among
/// the fields is ignored.
pub(crate) fn serialise(headers: &crate::Headers, length: u64) -> Vec<u8> {
    let mut head = RecordHead { bytes: b"WARC/1.1\r\n".to_vec() };
    for (name, value) in
        headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("Content-Length"))
    {
        head.push(name, value);
    }
    head.finish(length)
}

/// Builds a record header field by field.
#[derive(Debug)]
pub struct RecordHead {
    bytes: Vec<u8>,
}

impl RecordHead {
    /// Starts the header of a record.
    pub fn new(kind: RecordKind, id: &str, date: Timestamp) -> RecordHead {
        let mut head = RecordHead { bytes: Vec::with_capacity(1 << 10) };
        head.bytes.extend_from_slice(b"WARC/1.1\r\n");
        head.field("WARC-Type", kind.name())
            .uri("WARC-Record-ID", id)
            .field("WARC-Date", &date.to_string())
    }

    /// Adds a field. Line ends in the value become spaces.
    pub fn field(mut self, name: &str, value: &str) -> RecordHead {
        self.push(name, value.as_bytes());
        self
    }

    /// Adds a field if there is a value.
    pub fn optional(self, name: &str, value: Option<&str>) -> RecordHead {
        match value {
            Some(value) => self.field(name, value),
            None => self,
        }
    }

    /// Adds a field whose value is in angle brackets.
    pub fn uri(mut self, name: &str, uri: &str) -> RecordHead {
        self.push_parts(name, &[b"<", uri.as_bytes(), b">"]);
        self
    }

    /// Adds a field of bytes.
    pub(crate) fn push(&mut self, name: &str, value: &[u8]) {
        self.push_parts(name, &[value]);
    }

    fn push_parts(&mut self, name: &str, value: &[&[u8]]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name.as_bytes());
        // Replaced rather than removed: a field of a foreign record must not turn into another one,
        // such as its length.
        replace(&mut self.bytes[start..], |b| !b.is_ascii_graphic() || b == b':', b'_');
        self.bytes.extend_from_slice(b": ");
        let start = self.bytes.len();
        value.iter().for_each(|part| self.bytes.extend_from_slice(part));
        replace(&mut self.bytes[start..], |b| matches!(b, b'\r' | b'\n'), b' ');
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Ends the header for a block of `length` bytes. Two line ends must follow the block.
    pub fn finish(mut self, length: u64) -> Vec<u8> {
        self.push("Content-Length", length.to_string().as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
        self.bytes
    }
}

fn replace(bytes: &mut [u8], wrong: impl Fn(u8) -> bool, by: u8) {
    bytes.iter_mut().filter(|b| wrong(**b)).for_each(|b| *b = by);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_turns_into_another() {
        let fields = [
            ("Content-\u{FFFD}Length", "999"),
            ("A: b\r\nContent-Length", "1\r\nX: y"),
            ("content-length", "7"),
        ];
        let text =
            String::from_utf8(serialise(&fields.into_iter().collect(), 5)).unwrap_or_default();
        assert_eq!(
            text,
            "WARC/1.1\r\nContent-___Length: 999\r\nA__b__Content-Length: 1  X: y\r\nContent-Length: 5\r\n\r\n"
        );
    }
}
