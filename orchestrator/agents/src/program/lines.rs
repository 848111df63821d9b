//! A reader for lines of limited length.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A whole line, without its end.
    Text(Vec<u8>),
    /// The end of the stream, with the incomplete last line.
    End(Vec<u8>),
    /// The line is longer than the limit.
    Oversized,
}

/// Reads up to the next line feed. Keeps at most `limit` bytes.
pub(super) async fn read<R: AsyncBufRead + Unpin>(
    reader: &mut R,
    limit: usize,
) -> std::io::Result<Line> {
    let mut line = Vec::new();
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(Line::End(line));
        }
        let end = available.iter().position(|&byte| byte == b'\n');
        let taken = end.unwrap_or(available.len());
        if taken > limit - line.len() {
            return Ok(Line::Oversized);
        }
        line.extend_from_slice(&available[..taken]);
        reader.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(Line::Text(line));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_end_at_line_feeds_and_at_the_limit() {
        let mut input = &b"one\n\ntwo two\nrest"[..];
        assert_eq!(read(&mut input, 3).await.unwrap(), Line::Text(b"one".to_vec()));
        assert_eq!(read(&mut input, 3).await.unwrap(), Line::Text(Vec::new()));
        assert_eq!(read(&mut input, 3).await.unwrap(), Line::Oversized);
        let mut input = &b"rest"[..];
        assert_eq!(read(&mut input, 4).await.unwrap(), Line::End(b"rest".to_vec()));
        assert_eq!(read(&mut input, 4).await.unwrap(), Line::End(Vec::new()));
    }
}
