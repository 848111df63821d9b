//! Reads HTTP/1.1 responses.

use std::io::{BufRead, Read};

use anyhow::{Context, Result, bail, ensure};

/// Longer lines are not read; nothing a benchmark asks for sends them.
const LINE_LIMIT: u64 = 64 << 10;
/// Larger bodies are not read.
const BODY_LIMIT: u64 = 256 << 20;

/// A whole response.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
    /// The connection can be used again.
    pub(super) keep_alive: bool,
}

/// What is in front of a body.
pub(super) struct Head {
    pub(super) status: u16,
    length: Option<u64>,
    chunked: bool,
    keep_alive: bool,
}

pub(super) fn read_head(stream: &mut impl BufRead) -> Result<Head> {
    let line = read_line(stream)?;
    let (version, rest) = line.split_once(' ').context("no status line")?;
    let status = rest.get(..3).and_then(|status| status.parse().ok()).context("no status code")?;
    let mut head = Head { status, length: None, chunked: false, keep_alive: version == "HTTP/1.1" };
    loop {
        let line = read_line(stream)?;
        if line.is_empty() {
            return Ok(head);
        }
        let (name, value) = line.split_once(':').context("a header line without colon")?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => {
                head.length = Some(value.parse().context("content-length is not a number")?)
            }
            "transfer-encoding" => head.chunked = value.eq_ignore_ascii_case("chunked"),
            "connection" if value.eq_ignore_ascii_case("close") => head.keep_alive = false,
            "connection" if value.eq_ignore_ascii_case("keep-alive") => head.keep_alive = true,
            _ => {}
        }
    }
}

pub(super) fn read_answer(stream: &mut impl BufRead) -> Result<Answer> {
    let Head { status, length, chunked, keep_alive } = read_head(stream)?;
    let mut body = Vec::new();
    let mut delimited = true;
    if chunked {
        read_chunks(stream, &mut body)?;
    } else if let Some(length) = length {
        read_exactly(stream, length, &mut body)?;
    } else if !matches!(status, 204 | 304) {
        delimited = false;
        stream.take(BODY_LIMIT).read_to_end(&mut body)?;
    }
    Ok(Answer { status, body, keep_alive: keep_alive && delimited })
}

fn read_chunks(stream: &mut impl BufRead, body: &mut Vec<u8>) -> Result<()> {
    loop {
        let line = read_line(stream)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).context("a chunk without size")?;
        if size == 0 {
            while !read_line(stream)?.is_empty() {}
            return Ok(());
        }
        read_exactly(stream, size, body)?;
        ensure!(read_line(stream)?.is_empty(), "a chunk longer than it says");
    }
}

fn read_exactly(stream: &mut impl BufRead, length: u64, body: &mut Vec<u8>) -> Result<()> {
    if length > BODY_LIMIT || body.len() as u64 > BODY_LIMIT {
        bail!("a body of more than {BODY_LIMIT} bytes");
    }
    let read = stream.take(length).read_to_end(body)?;
    ensure!(read as u64 == length, "the connection closed inside a body");
    Ok(())
}

fn read_line(stream: &mut impl BufRead) -> Result<String> {
    let mut line = Vec::new();
    stream.take(LINE_LIMIT).read_until(b'\n', &mut line)?;
    ensure!(line.pop() == Some(b'\n'), "the connection closed inside a head");
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line).context("a header line that is not text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(u16, String, bool)> {
        let answer = read_answer(&mut text.as_bytes()).ok()?;
        Some((answer.status, String::from_utf8_lossy(&answer.body).into_owned(), answer.keep_alive))
    }

    #[test]
    fn bodies_end_where_they_say() {
        let expect = |body: &str, keep| Some((200, body.to_owned(), keep));
        assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc"), expect("ab", true));
        assert_eq!(read("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"), expect("abc", false));
        let chunks = "2\r\nab\r\n1;x=y\r\nc\r\n0\r\nT: 1\r\n\r\n";
        assert_eq!(
            read(&format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}")),
            expect("abc", true)
        );
        assert_eq!(read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"), expect("", false));
        assert_eq!(read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), None);
        assert_eq!(read("HTTP/1.1 200"), None);
    }
}
