//! Bodies that are read before their receiver asks for them.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http_body_util::{BodyExt as _, BodyStream, StreamBody};
use hyper::body::{Bytes, Frame};
use tokio::time::{Instant, timeout_at};

use super::{Body, BodyError};

/// How many bytes are read ahead, at most.
const AHEAD: usize = 64 << 10;

/// The same body, of which what comes within this time is in memory. A receiver that leaves before
/// the end then leaves nothing unread.
pub(crate) async fn read_ahead(mut body: Body, time: Duration) -> Body {
    let deadline = Instant::now() + time;
    let mut frames: Vec<Result<Frame<Bytes>, BodyError>> = Vec::new();
    let (mut size, mut is_over) = (0, false);
    while size < AHEAD && !is_over {
        match timeout_at(deadline, body.frame()).await {
            Ok(Some(frame)) => {
                size += frame.as_ref().ok().and_then(Frame::data_ref).map_or(0, Bytes::len);
                is_over = frame.is_err();
                frames.push(frame);
            }
            Ok(None) => is_over = true,
            Err(_) => break,
        }
    }
    let ahead = stream::iter(frames);
    match is_over {
        true => StreamBody::new(ahead).boxed_unsync(),
        false => StreamBody::new(ahead.chain(BodyStream::new(body))).boxed_unsync(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body;

    #[tokio::test]
    async fn what_was_read_is_given_and_then_the_rest() {
        let bytes = vec![7_u8; 200_000];
        for (body, length) in [
            (body::empty(), 0),
            (body::full("short"), 5),
            (body::from_read(std::io::Cursor::new(bytes), Some(200_000)), 200_000),
        ] {
            let read = read_ahead(body, Duration::from_secs(5)).await;
            let whole = read.collect().await.map(http_body_util::Collected::to_bytes);
            assert_eq!(whole.ok().map(|bytes| bytes.len()), Some(length));
        }
        // One that never ends is passed on as it comes.
        let open = body::open_ended(body::full("begun"));
        let mut read = read_ahead(open, Duration::from_millis(20)).await;
        let first =
            read.frame().await.and_then(Result::ok).and_then(|frame| frame.into_data().ok());
        assert_eq!(first, Some(Bytes::from("begun")));
        // What breaks off breaks off for the receiver, too.
        let short = body::from_read(std::io::Cursor::new(b"1".to_vec()), Some(2));
        assert!(read_ahead(short, Duration::from_secs(5)).await.collect().await.is_err());
    }
}
