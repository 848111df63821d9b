//! The inside of CONNECT tunnels: TLS that the gateway terminates, or plain HTTP.
//!
//! Every tunnel is accepted, whatever its route. A refusal inside a tunnel is a readable page; a
//! refused tunnel is not.

use std::io;
use std::sync::Arc;

use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use in_flight::InFlightGuard;
use rustls::server::Acceptor;
use tokio::time::timeout;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

use super::client_io::ClientIo;
use super::clients::Client;
use super::listener::{serve_http1, serve_http2};
use super::target::Via;
use super::wire::CheckedIo;
use crate::Scheme;
use crate::door::ClientStream;
use crate::gateway::Shared;
use crate::tls::H2;

/// The first byte of every TLS connection: the type of a handshake record.
const TLS_HANDSHAKE: u8 = 0x16;

/// A tunnel that a client has requested.
pub(super) struct Tunnel {
    pub(super) host: String,
    pub(super) port: u16,
    /// The client's connection, once it has received its 200.
    pub(super) upgrade: OnUpgrade,
    /// Counts the tunnel until it can carry requests.
    pub(super) opening: InFlightGuard,
}

/// Serves a tunnel until its client leaves or the gateway stops.
pub(super) async fn serve_tunnel(shared: Arc<Shared>, place: Arc<Client>, tunnel: Tunnel) {
    let closed = place.clone();
    tokio::select! {
        () = closed.closed() => {}
        () = shared.cut.clone().cancelled_owned() => {}
        () = serve(shared, place, tunnel) => {}
    }
}

async fn serve(shared: Arc<Shared>, place: Arc<Client>, tunnel: Tunnel) {
    let Tunnel { host, port, upgrade, opening } = tunnel;
    let limit = shared.limits.client_head;
    let begun = timeout(limit, async {
        let mut client = opened(upgrade.await.map_err(io::Error::other)?, &shared)?;
        let first = client.peek().await?;
        Ok::<_, io::Error>((client, first))
    });
    let (client, first) = match begun.await {
        Ok(Ok((client, Some(first)))) => (client, first),
        Ok(Ok((_, None))) | Err(_) => return,
        Ok(Err(error)) => {
            tracing::debug!(%host, %error, "a tunnel did not open");
            return;
        }
    };
    // Browsers open a tunnel for `ws:` as well, and send plain HTTP through it.
    if first != TLS_HANDSHAKE {
        drop(opening);
        return serve_http1(
            shared,
            Via::Tunnel { scheme: Scheme::Http, host, port },
            place,
            client,
        )
        .await;
    }
    let tls = timeout(limit, handshake(&shared, &host, client)).await;
    drop(opening);
    match tls {
        Ok(Ok(tls)) => {
            let via = Via::Tunnel { scheme: Scheme::Https, host, port };
            if tls.get_ref().1.alpn_protocol() == Some(H2) {
                serve_http2(shared, via, place, tls).await;
            } else {
                serve_http1(shared, via, place, tls).await;
            }
        }
        Ok(Err(error)) => tracing::debug!(%host, %error, "a client's TLS handshake failed"),
        Err(_) => tracing::debug!(%host, ?limit, "a client's TLS handshake was not done in time"),
    }
}

/// Takes the client's connection back from hyper, with the bytes that hyper had already read.
fn opened(upgraded: Upgraded, shared: &Shared) -> io::Result<ClientIo<ClientStream>> {
    match upgraded.downcast::<TokioIo<CheckedIo<ClientIo<ClientStream>>>>() {
        Ok(parts) => {
            let (client, unread) = parts.io.into_inner().into_parts();
            Ok(client.unread(unread).unread(parts.read_buf))
        }
        Err(_) => Err(io::Error::other(format!(
            "a tunnel in a tunnel is not served ({} connections at most)",
            shared.limits.connections
        ))),
    }
}

/// Completes the TLS handshake with a certificate for the SNI name, or else for the tunnel's host.
async fn handshake(
    shared: &Shared,
    host: &str,
    client: ClientIo<ClientStream>,
) -> io::Result<TlsStream<ClientIo<ClientStream>>> {
    let start = LazyConfigAcceptor::new(Acceptor::default(), client).await?;
    let name = start.client_hello().server_name().unwrap_or(host).to_ascii_lowercase();
    let config = shared.ca.server_config(&name).map_err(io::Error::other)?;
    start.into_stream(config).await
}
