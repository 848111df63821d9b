//! One HTTP request over a connection of its own, answered as a whole.
//!
//! For questions to a server that is asked rarely, or that has few workers: a connection that is
//! kept open would occupy one. Redirects are not followed, and no header is added.

use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

/// Why there is no whole answer. The text says what broke; its causes say why.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server speaks no HTTP, or the connection broke.
    #[error(transparent)]
    Connection(#[from] hyper::Error),
    /// The body broke off, or is larger than the limit.
    #[error(transparent)]
    Body(Box<dyn std::error::Error + Send + Sync>),
}

/// Sends a request over `stream` and reads its answer, whose body has at most `largest` bytes.
///
/// The connection ends with the answer. The caller sets the header `Host` and the deadline.
///
/// # Errors
/// When the connection breaks before the answer is whole, or the body is larger.
pub async fn exchange<S>(
    stream: S,
    request: Request<Full<Bytes>>,
    largest: usize,
) -> Result<Response<Bytes>, Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // The answer tells what went wrong with the connection.
    tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = Limited::new(body, largest).collect().await.map_err(Error::Body)?.to_bytes();
    Ok(Response::from_parts(head, body))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn answered(answer: &'static str, largest: usize) -> Result<Response<Bytes>, Error> {
        let (ours, mut theirs) = tokio::io::duplex(4096);
        tokio::spawn(async move {
            let mut request = [0; 1024];
            let _ = theirs.read(&mut request).await.unwrap();
            theirs.write_all(answer.as_bytes()).await.unwrap();
        });
        let request = Request::get("/x").header("host", "a.test").body(Full::default()).unwrap();
        exchange(ours, request, largest).await
    }

    #[tokio::test]
    async fn a_whole_answer_is_given_and_no_other() {
        let whole = "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\noak";
        let answer = answered(whole, 3).await.unwrap();
        assert_eq!((answer.status().as_u16(), &answer.body()[..]), (404, &b"oak"[..]));
        assert!(matches!(answered(whole, 2).await, Err(Error::Body(_))));
        let broken = "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\noak";
        assert!(matches!(answered(broken, 99).await, Err(Error::Body(_))));
        assert!(matches!(answered("no HTTP\r\n\r\n", 99).await, Err(Error::Connection(_))));
    }
}
