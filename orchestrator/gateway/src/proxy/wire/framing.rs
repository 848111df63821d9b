//! Where the messages of an HTTP/1 connection begin and end, as RFC 9112 has it and no more
//! leniently.

use crate::limits::MAX_HEAD;

/// The longest line of a chunked body: a size with its extensions, or a field of the trailer.
const MAX_LINE: usize = 8 * 1024;

/// What follows on the connection.
#[derive(Debug, Default)]
enum Part {
    /// An empty line, or the first line of a request.
    #[default]
    Start,
    Fields(Facts),
    Sized(u64),
    ChunkSize,
    ChunkData(u64),
    ChunkEnd,
    Trailer,
    /// No HTTP/1, or nothing that we have to judge.
    Rest,
}

/// What a head has said so far about its body.
#[derive(Debug, Clone, Copy)]
struct Facts {
    connect: bool,
    http11: bool,
    length: Option<u64>,
    chunked: bool,
}

/// Follows a connection from its first byte on.
#[derive(Debug, Default)]
pub(super) struct Framing {
    part: Part,
    /// Requests whose head has begun.
    heads: u64,
    /// How far the line that is not complete was looked through.
    looked: usize,
}

/// What the bytes were like.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Right,
    /// A head is malformed; `end` makes a whole one of what was let pass of it.
    WrongHead {
        number: u64,
        reason: &'static str,
        end: &'static [u8],
    },
    /// A body is malformed; `end` is what hyper, too, takes for malformed at this place.
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
    /// Takes bytes in: those that were left over the last time and new ones behind them. How many
    /// of them are settled; the rest, the beginning of a line, is to be presented again.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> (usize, Verdict) {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            match &mut self.part {
                Part::Rest => return (bytes.len(), Verdict::Right),
                Part::Sized(left) | Part::ChunkData(left) => {
                    let taken = usize::try_from(*left).map_or(rest.len(), |left| left.min(rest.len()));
                    *left -= taken as u64;
                    at += taken;
                    if *left > 0 {
                        return (at, Verdict::Right);
                    }
                    self.part =
                        if matches!(self.part, Part::Sized(_)) { Part::Start } else { Part::ChunkEnd };
                    continue;
                }
                _ => {}
            }
            if rest.is_empty() {
                return (at, Verdict::Right);
            }
            let looked = std::mem::take(&mut self.looked).min(rest.len());
            let Some(end) = rest[looked..].iter().position(|byte| *byte == b'\n').map(|end| looked + end)
            else {
                self.looked = rest.len();
                return self.incomplete(at, rest.len());
            };
            let whole = rest[..end].strip_suffix(b"\r").filter(|line| !line.contains(&b'\r'));
            if let Err(reason) = whole.ok_or(BARE).and_then(|line| self.line(line)) {
                return (at, self.wrong(reason));
            }
            at += end + 1;
        }
    }

    /// The end of the line is still to come. A line that has become too long is hyper's to refuse,
    /// or a broken body.
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
            Part::Start => Verdict::WrongHead { number: self.heads, reason, end: b"GET / HTTP/1.1\r\n\r\n" },
            Part::Fields(_) => Verdict::WrongHead { number: self.heads - 1, reason, end: b"\r\n" },
            Part::Trailer => Verdict::WrongBody { reason, end: b":\r\n\r\n" },
            _ => Verdict::WrongBody { reason, end: b"?" },
        }
    }

    /// Goes on by a line without its end.
    fn line(&mut self, line: &[u8]) -> Result<(), &'static str> {
        self.part = match &mut self.part {
            // Empty lines before a request are passed over.
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
            let length =
                std::str::from_utf8(value).ok().filter(|_| digits).and_then(|text| text.parse().ok());
            let length = length.ok_or(NO_LENGTH)?;
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

/// The size that a chunk's first line names; what stands behind a semicolon is nobody's business.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let size = line.split(|byte| *byte == b';').next()?.trim_ascii_end();
    let digits = (1..=15).contains(&size.len()) && size.iter().all(u8::is_ascii_hexdigit);
    u64::from_str_radix(std::str::from_utf8(size).ok().filter(|_| digits)?, 16).ok()
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
