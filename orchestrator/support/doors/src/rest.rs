//! The rest of a request's body, which is read before the request is answered.
//!
//! Whoever refuses a request does not want its body: it is too long, or has the wrong key. But a
//! server that answers and closes while the client still sends makes the system reset the
//! connection, and the client may then lose the answer (RFC 9112, 9.6). Whether it does is chance:
//! a page's upload to a refused address would fail in one run and be answered in the next. So what
//! a handler has left of a body is read and thrown away, and then the answer is sent.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, header};
use http_body::{Body, Frame, SizeHint};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long the rest of a body may take. A client that sends for longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client may be silent meanwhile. One that stalls sends nothing that could get lost.
const SILENCE: Duration = Duration::from_secs(1);

/// The body of a request. If it is dropped before its end, the rest is for [`Rest`].
#[derive(Debug)]
pub struct Kept<B> {
    body: Option<B>,
    rest: Option<oneshot::Sender<B>>,
    /// The client sends nothing before it is told to, which the first look at the body does.
    is_unasked: bool,
}

/// What a handler leaves of a body.
#[derive(Debug)]
pub struct Rest<B>(Option<oneshot::Receiver<B>>);

/// A request for a handler, and what will be left of its body.
pub fn kept<B: Body + Unpin>(request: Request<B>) -> (Request<Kept<B>>, Rest<B>) {
    let (sender, receiver) = oneshot::channel();
    let is_unasked = request.headers().contains_key(header::EXPECT);
    let keep = |body| Kept { body: Some(body), rest: Some(sender), is_unasked };
    (request.map(keep), Rest(Some(receiver)))
}

impl<B: Body + Unpin> Rest<B> {
    /// Reads what is left and throws it away, for ten seconds at most. There is nothing to read
    /// where the handler has come to the end, or still reads while its answer goes out.
    pub async fn read(&mut self) {
        if let Some(mut receiver) = self.0.take()
            && let Ok(body) = receiver.try_recv()
        {
            read_to_end(body).await;
        }
    }
}

async fn read_to_end<B: Body + Unpin>(mut body: B) {
    let whole = async {
        loop {
            let frame = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
            if !matches!(timeout(SILENCE, frame).await, Ok(Some(Ok(_)))) {
                break;
            }
        }
    };
    if timeout(PATIENCE, whole).await.is_err() {
        tracing::debug!("a client still sends after {PATIENCE:?}; it may lose its answer");
    }
}

impl<B> Drop for Kept<B> {
    fn drop(&mut self) {
        if let (Some(body), Some(rest)) = (self.body.take(), self.rest.take())
            && !self.is_unasked
        {
            // Nobody wants it where the connection has ended.
            let _ = rest.send(body);
        }
    }
}

impl<B: Body + Unpin> Body for Kept<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.is_unasked = false;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}
