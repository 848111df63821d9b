//! How much, and for how long, anyone may ask of the gateway.

use std::time::Duration;

/// The largest request or response head, in bytes.
pub const MAX_HEAD: usize = 64 * 1024;

/// Files that are reckoned for each client: its connection, one to a site, that site's own end of
/// it where it runs in this process, and one for all else.
pub(crate) const OPEN_FILES_PER_CLIENT: usize = 4;

/// Bounds on clients, on servers and on what is kept. The defaults suit a browser on the same
/// machine and the public web.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Client connections open at once, fewer where the process may not open as many files. When
    /// another client comes, the longest idle one is closed; where none is idle, the new one waits.
    pub connections: usize,
    /// For a client to send a request head, also the next one on a kept connection; for the first
    /// bytes in a tunnel, and for a TLS handshake.
    pub client_head: Duration,
    /// For a client to go on with a request body or with taking a response.
    pub client_stall: Duration,
    /// For finding, reaching and greeting a server.
    pub connect: Duration,
    /// For a server to begin its answer once it has the request.
    pub upstream_head: Duration,
    /// For a server to go on with a body. Event streams may be silent for longer.
    pub upstream_stall: Duration,
    /// The largest request body that can be looked up in a snapshot; a larger one is answered with
    /// 413.
    pub replayed_body: usize,
    /// Request bodies that are being looked up, all together; a request that does not fit is
    /// answered with 503.
    pub uploads: usize,
    /// The largest WebSocket message.
    pub socket_message: usize,
    /// For requests in flight to end when the gateway is shut down.
    pub shutdown: Duration,
}

impl Limits {
    /// The default bounds, but for clients and servers that are silent: they are given up after
    /// `patience`.
    pub fn patient_for(patience: Duration) -> Self {
        Self {
            client_head: patience,
            client_stall: patience,
            connect: patience,
            upstream_head: patience,
            upstream_stall: patience,
            ..Self::default()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            client_head: Duration::from_secs(60),
            client_stall: Duration::from_secs(120),
            connect: Duration::from_secs(15),
            upstream_head: Duration::from_secs(90),
            upstream_stall: Duration::from_secs(90),
            replayed_body: 64 << 20,
            uploads: 256 << 20,
            socket_message: 16 << 20,
            shutdown: Duration::from_secs(10),
        }
    }
}
