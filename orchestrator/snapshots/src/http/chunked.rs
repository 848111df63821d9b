//! Removes the chunked transfer coding from a stored body.

use std::io::{self, BufRead, Read};

/// The maximum length of a chunk-size or trailer line.
const MAX_LINE: usize = 16 << 10;

/// Decodes a chunked body. Some recorders store a body without chunks under a header that still
/// says `chunked`: if the first line is not a chunk size, everything passes through unchanged. A
/// later error ends the body there, as in a browser.
#[derive(Debug)]
pub struct Dechunk<R> {
    inner: R,
    state: State,
    /// Bytes that turned out not to be a chunk header; they are returned first.
    replay: Vec<u8>,
    replayed: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    First,
    Size,
    Data(u64),
    DataEnd,
    Plain,
    Done,
}

impl<R: BufRead> Dechunk<R> {
    /// Wraps `inner`, which is positioned at the start of the body.
    pub fn new(inner: R) -> Dechunk<R> {
        Dechunk { inner, state: State::First, replay: Vec::new(), replayed: 0 }
    }

    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.inner.by_ref().take(MAX_LINE as u64).read_until(b'\n', &mut line)?;
        Ok(line)
    }
}

impl<R: BufRead> Read for Dechunk<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            match self.state {
                State::First => {
                    let line = self.line()?;
                    match size(&line) {
                        Some(0) => self.state = State::Done,
                        Some(length) => self.state = State::Data(length),
                        // Some recorders store the body without its chunks, but leave the header
                        // that claims them.
                        None => {
                            self.replay = line;
                            self.state = State::Plain;
                        }
                    }
                }
                State::Size => {
                    let line = self.line()?;
                    // A length that cannot be read ends the body; what was read before it is kept.
                    self.state = match size(&line) {
                        None | Some(0) => State::Done,
                        Some(length) => State::Data(length),
                    };
                }
                State::Data(left) => {
                    let want = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
                    let got = self.inner.read(&mut buf[..want])?;
                    self.state = match left - got as u64 {
                        _ if got == 0 => State::Done,
                        0 => State::DataEnd,
                        left => State::Data(left),
                    };
                    if got > 0 {
                        return Ok(got);
                    }
                }
                State::DataEnd => {
                    self.line()?;
                    self.state = State::Size;
                }
                State::Plain if self.replayed < self.replay.len() => {
                    let got = (&self.replay[self.replayed..]).read(buf)?;
                    self.replayed += got;
                    return Ok(got);
                }
                State::Plain => return self.inner.read(buf),
                State::Done => return Ok(0),
            }
        }
    }
}

/// A chunk size; extensions are ignored.
fn size(line: &[u8]) -> Option<u64> {
    if !line.ends_with(b"\n") {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    let digits = text.split(';').next().unwrap_or("").trim();
    if digits.is_empty() || digits.len() > 16 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(stored: &[u8], expect: &[u8]) {
        let mut out = Vec::new();
        Dechunk::new(stored).read_to_end(&mut out).unwrap();
        assert_eq!(out, expect, "{}", String::from_utf8_lossy(stored));
    }

    #[test]
    fn chunks_go_trailers_go_and_plain_stays() {
        check(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n", b"abcde");
        check(b"3\nabc\n0\n\n", b"abc");
        check(b"0\r\n\r\n", b"");
        check(b"", b"");
        check(b"<html>not chunked</html>", b"<html>not chunked</html>");
        check(b"12", b"12");
        check(b"5\r\nab", b"ab");
        check(b"2\r\nab\r\nzz\r\nrest", b"ab");
        check(b"ffffffffffffffff\r\nabc", b"abc");
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut out = Vec::new();
            Dechunk::new(&bytes[..]).read_to_end(&mut out).unwrap();
            prop_assert!(out.len() <= bytes.len());
        }
    }
}
