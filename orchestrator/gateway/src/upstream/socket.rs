//! Opens a WebSocket on the live web: a separate HTTP/1.1 connection, upgraded.

use http::header::{CONNECTION, SEC_WEBSOCKET_EXTENSIONS, UPGRADE};
use http::{Extensions, HeaderValue, Request, StatusCode};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use super::response_body::ConnectionUse;
use super::send::{http1_client, to_http1};
use super::{Server, Upstream, UpstreamBody, UpstreamError, UpstreamHead, UpstreamResponse};
use crate::{Body, RequestHead, body};

/// The server's reaction to a handshake.
pub(crate) enum UpgradeOutcome {
    /// It switched to WebSocket.
    Socket(Box<UpstreamHead>, Upgraded),
    /// It sent an HTTP response.
    Answer(Box<UpstreamResponse>),
}

impl Upstream {
    /// Forwards a client's handshake. Extensions (compression) are not requested, so that frames
    /// stay readable in transit.
    pub(crate) async fn open_socket(
        &self,
        server: &Server,
        head: &RequestHead,
        extensions: Extensions,
    ) -> Result<UpgradeOutcome, UpstreamError> {
        let host = || head.host.clone();
        let invalid = |reason| UpstreamError::Request { host: host(), reason };
        let mut request = Request::new(body::empty());
        *request.uri_mut() =
            head.url.parse().map_err(|error: http::uri::InvalidUri| invalid(error.to_string()))?;
        *request.headers_mut() = head.headers.clone();
        *request.extensions_mut() = extensions;
        to_http1(&mut request).map_err(invalid)?;
        let headers = request.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        // The messages are read here, and an extension would compress them.
        headers.remove(SEC_WEBSOCKET_EXTENSIONS);

        let dialed = self.dialer.dial(server, true).await?;
        let broken = |source| UpstreamError::Broken { host: host(), source };
        // The recording keeps the head as it came over the wire.
        let tap = dialed.stream.tap();
        let (mut sender, connection) = http1_client()
            .handshake::<_, Body>(TokioIo::new(dialed.stream))
            .await
            .map_err(broken)?;
        tokio::spawn(connection.with_upgrades());
        tap.open();
        let mut response = timeout(self.head, sender.send_request(request))
            .await
            .map_err(|_| UpstreamError::HeadTimeout { host: host(), waited: self.head })?
            .map_err(broken)?;
        let raw = tap.take();
        let head = |parts| UpstreamHead { parts, raw, remote: dialed.remote, http2: false };
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let (parts, incoming) = response.into_parts();
            let body = UpstreamBody::new(incoming, ConnectionUse::new(None, self.stall));
            return Ok(UpgradeOutcome::Answer(Box::new(UpstreamResponse {
                head: head(parts),
                body,
            })));
        }
        if response.headers().contains_key(SEC_WEBSOCKET_EXTENSIONS) {
            return Err(invalid(
                "the server uses a WebSocket extension it was not asked for".to_owned(),
            ));
        }
        let upgraded = hyper::upgrade::on(&mut response).await.map_err(broken)?;
        Ok(UpgradeOutcome::Socket(Box::new(head(response.into_parts().0)), upgraded))
    }
}
