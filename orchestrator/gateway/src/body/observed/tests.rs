use std::collections::VecDeque;

use http::HeaderMap;
use http_body_util::BodyExt;

use super::*;

/// A body of the given frames, with or without a declared length.
struct Frames(VecDeque<Result<Frame<Bytes>, BodyError>>, Option<u64>);

impl Body for Frames {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Poll::Ready(self.0.pop_front())
    }

    fn size_hint(&self) -> SizeHint {
        self.1.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// Logs its callbacks. Its flush is ready at the second poll.
#[derive(Default)]
struct Log {
    lines: Vec<String>,
    max: Option<usize>,
    flush_polls: usize,
}

impl BodyObserver for Log {
    fn max_frame(&self) -> usize {
        self.max.unwrap_or(usize::MAX)
    }

    fn on_frame(&mut self, frame: &Frame<Bytes>) {
        let data = frame.data_ref().map(|data| String::from_utf8_lossy(data).into_owned());
        self.lines.push(data.unwrap_or_else(|| "trailers".to_owned()));
    }

    fn on_end(&mut self) {
        self.lines.push("end".to_owned());
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.flush_polls += 1;
        if self.flush_polls > 1 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn on_error(&mut self, error: &BodyError) {
        self.lines.push(error.to_string());
    }
}

fn data(text: &'static str) -> Result<Frame<Bytes>, BodyError> {
    Ok(Frame::data(Bytes::from_static(text.as_bytes())))
}

/// What the receiver got, and which callbacks the observer had received by then.
async fn pass(body: Frames, max: Option<usize>) -> (Vec<String>, Vec<String>) {
    let mut body = ObservedBody::new(body, Log { max, ..Log::default() });
    let mut got = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => got.push(
                String::from_utf8_lossy(frame.data_ref().unwrap_or(&Bytes::new())).into_owned(),
            ),
            Err(error) => {
                got.push(error.to_string());
                break;
            }
        }
    }
    (got, std::mem::take(&mut body.observer().lines))
}

#[tokio::test]
async fn frames_the_end_and_errors_are_observed() {
    let trailers = || Ok(Frame::trailers(HeaderMap::new()));
    for (frames, length, max, got, seen) in [
        (vec![data("ab"), data("c")], None, None, "ab|c", "ab|c|end"),
        (vec![data("ab"), data("c")], Some(3), None, "ab|c", "ab|c|end"),
        (vec![data("abcde")], Some(5), Some(2), "ab|cd|e", "ab|cd|e|end"),
        (vec![data("a"), trailers()], None, None, "a|", "a|trailers|end"),
        (vec![], Some(0), None, "", "end"),
        (vec![data("a"), Err("it broke".into())], None, None, "a|it broke", "a|it broke"),
    ] {
        let passed = pass(Frames(frames.into(), length), max).await;
        assert_eq!((passed.0.join("|"), passed.1.join("|")), (got.to_owned(), seen.to_owned()));
    }
}

#[tokio::test]
async fn the_last_frame_waits_for_the_flush_and_the_ones_before_do_not() {
    let frames = [data("a"), data("b")];
    let mut body = ObservedBody::new(Frames(frames.into(), Some(2)), Log::default());
    body.frame().await.unwrap().unwrap();
    assert_eq!(body.observer().flush_polls, 0);
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "b");
    assert_eq!(body.observer().flush_polls, 2);
}
