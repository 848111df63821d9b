//! Finds where the messages of an HTTP/1 connection begin and end, strictly by RFC 9112.

use crate::limits::MAX_HEAD;

/// The maximum line of a chunked body: a chunk size with extensions, or a trailer field.
const MAX_LINE: usize = 8 * 1024;

/// What the next bytes of the connection are.
#[derive(Debug, Default)]
enum Part {
    /// An empty line, or a request line.
    #[default]
    Start,
    Fields(Facts),
    Sized(u64),
    ChunkSize,
    ChunkData(u64),
    ChunkEnd,
    Trailer,
    /// Not HTTP/1, or nothing that needs checking.
    Rest,
}

/// What the head has declared so far about its body.
#[derive(Debug, Clone, Copy)]
struct Facts {
    connect: bool,
    http11: bool,
    length: Option<u64>,
    chunked: bool,
}

/// Tracks a connection from its first byte.
#[derive(Debug, Default)]
pub(super) struct Framing {
    part: Part,
    /// The number of requests whose head has begun.
    heads: u64,
    /// How many bytes of the incomplete line have been scanned.
    scanned: usize,
}

/// The result of a check.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Right,
    /// A malformed head; `end` completes the part that has passed.
    WrongHead {
        number: u64,
        reason: &'static str,
        end: &'static [u8],
    },
    /// A malformed body; `end` is text that hyper also rejects at this position.
    WrongBody {
        reason: &'static str,
        end: &'static [u8],
    },
}

const BARE: &str = "a line ends with CR LF, and neither stands alone";
const NO_LENGTH: &str = "Content-Length is a number, and the same wherever it stands";
const BOTH: &str = "a body has a Content-Length or a Transfer-Encoding, not both";
const CODING: &str = "the only Transfer-Encoding of requests is chunked, once, in HTTP/1.1";
const NO_FIELD: &str = "a header field is a name, a colon without a space before it, and a value";
const NO_CHUNK: &str =
    "a chunk is its size in hexadecimal digits and so many bytes, each with CR LF behind it";

impl Framing {
    /// Consumes bytes: those left over from the last call, followed by new ones. Returns how many
    /// are settled. The caller must present the rest, the beginning of a line, again.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> (usize, Verdict) {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            match &mut self.part {
                Part::Rest => return (bytes.len(), Verdict::Right),
                Part::Sized(left) | Part::ChunkData(left) => {
                    let taken =
                        usize::try_from(*left).map_or(rest.len(), |left| left.min(rest.len()));
                    *left -= taken as u64;
                    at += taken;
                    if *left > 0 {
                        return (at, Verdict::Right);
                    }
                    self.part = if matches!(self.part, Part::Sized(_)) {
                        Part::Start
                    } else {
                        Part::ChunkEnd
                    };
                    continue;
                }
                _ => {}
            }
            if rest.is_empty() {
                return (at, Verdict::Right);
            }
            // These bytes were searched in an earlier call, and have no line end.
            let scanned = std::mem::take(&mut self.scanned).min(rest.len());
            let Some(end) =
                rest[scanned..].iter().position(|byte| *byte == b'\n').map(|end| scanned + end)
            else {
                self.scanned = rest.len();
                return self.incomplete(at, rest.len());
            };
            let whole = rest[..end].strip_suffix(b"\r").filter(|line| !line.contains(&b'\r'));
            if let Err(reason) = whole.ok_or(BARE).and_then(|line| self.line(line)) {
                return (at, self.wrong(reason));
            }
            at += end + 1;
        }
    }

    /// Handles an incomplete line. hyper rejects a head line that is too long; in a body it is a
    /// framing error.
    fn incomplete(&mut self, at: usize, length: usize) -> (usize, Verdict) {
        match self.part {
            Part::Start | Part::Fields(_) if length > MAX_HEAD => {
                self.part = Part::Rest;
                (at + length, Verdict::Right)
            }
            Part::ChunkSize | Part::ChunkEnd | Part::Trailer if length > MAX_LINE => {
                (at, self.wrong(NO_CHUNK))
            }
            _ => (at, Verdict::Right),
        }
    }

    fn wrong(&self, reason: &'static str) -> Verdict {
        match self.part {
            Part::Start => {
                Verdict::WrongHead { number: self.heads, reason, end: b"GET / HTTP/1.1\r\n\r\n" }
            }
            Part::Fields(_) => Verdict::WrongHead { number: self.heads - 1, reason, end: b"\r\n" },
            Part::Trailer => Verdict::WrongBody { reason, end: b":\r\n\r\n" },
            _ => Verdict::WrongBody { reason, end: b"?" },
        }
    }

    /// Advances by one line, given without its line end.
    fn line(&mut self, line: &[u8]) -> Result<(), &'static str> {
        self.part = match &mut self.part {
            // Empty lines before a request are skipped.
            Part::Start if line.is_empty() => Part::Start,
            Part::Start => {
                self.heads += 1;
                Part::Fields(Facts {
                    connect: line.starts_with(b"CONNECT "),
                    http11: line.ends_with(b" HTTP/1.1"),
                    length: None,
                    chunked: false,
                })
            }
            Part::Fields(facts) if line.is_empty() => match *facts {
                Facts { connect: true, .. } => Part::Rest,
                Facts { chunked: true, .. } => Part::ChunkSize,
                Facts { length: Some(length @ 1..), .. } => Part::Sized(length),
                _ => Part::Start,
            },
            Part::Fields(facts) => {
                facts.field(line)?;
                return Ok(());
            }
            Part::ChunkSize => match chunk_size(line).ok_or(NO_CHUNK)? {
                0 => Part::Trailer,
                size => Part::ChunkData(size),
            },
            Part::ChunkEnd if line.is_empty() => Part::ChunkSize,
            Part::ChunkEnd => return Err(NO_CHUNK),
            Part::Trailer if line.is_empty() => Part::Start,
            Part::Trailer => return name_and_value(line).map(drop),
            Part::Sized(_) | Part::ChunkData(_) | Part::Rest => return Ok(()),
        };
        Ok(())
    }
}

impl Facts {
    fn field(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let (name, value) = name_and_value(line)?;
        if name.eq_ignore_ascii_case(b"content-length") {
            let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
            let length = std::str::from_utf8(value)
                .ok()
                .filter(|_| digits)
                .and_then(|text| text.parse().ok());
            let length = length.ok_or(NO_LENGTH)?;
            // Of two lengths, two readers could each take another one.
            if self.length.is_some_and(|other| other != length) {
                return Err(NO_LENGTH);
            }
            self.length = Some(length);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if self.chunked || !self.http11 || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(CODING);
            }
            self.chunked = true;
        }
        if self.chunked && self.length.is_some() { Err(BOTH) } else { Ok(()) }
    }
}

fn name_and_value(line: &[u8]) -> Result<(&[u8], &[u8]), &'static str> {
    let colon = line.iter().position(|byte| *byte == b':').ok_or(NO_FIELD)?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    if name.is_empty() || name.iter().any(|byte| byte.is_ascii_whitespace()) {
        return Err(NO_FIELD);
    }
    Ok((name, value.trim_ascii()))
}

/// The size in the first line of a chunk. Extensions after a semicolon are ignored.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let size = line.split(|byte| *byte == b';').next()?.trim_ascii_end();
    let digits = (1..=15).contains(&size.len()) && size.iter().all(u8::is_ascii_hexdigit);
    u64::from_str_radix(std::str::from_utf8(size).ok().filter(|_| digits)?, 16).ok()
}

#[cfg(test)]
mod tests;
