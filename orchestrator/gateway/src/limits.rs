//! Resource and time limits for clients, servers and buffers.

use std::time::Duration;

/// The maximum size of a request or response head, in bytes.
pub const MAX_HEAD: usize = 64 * 1024;

/// File descriptors budgeted per client: its connection, one to a site, the site's own end of that
/// connection if the site runs in this process, and one for everything else.
pub(crate) const OPEN_FILES_PER_CLIENT: usize = 4;

/// Limits on clients, servers and buffers. The defaults suit a browser on the same machine and the
/// public web.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Open client connections; fewer if the process may not open as many files. When another
    /// client connects, the longest idle connection is closed. If none is idle, the new client
    /// waits.
    pub connections: usize,
    /// Time for a client to send a request head, including the next one on a kept connection. Also
    /// the time for the first bytes in a tunnel, and for a TLS handshake.
    pub client_head: Duration,
    /// Time for a client to continue with a request body, or with reading a response.
    pub client_stall: Duration,
    /// Time to resolve a server's name, connect, and complete the TLS handshake.
    pub connect: Duration,
    /// Time for a server to begin its response after it has received the request.
    pub upstream_head: Duration,
    /// Time for a server to continue with a body. Event streams may be silent for longer.
    pub upstream_stall: Duration,
    /// The maximum request body that can be looked up in a snapshot. A larger one is answered with
    /// 413.
    pub replayed_body: usize,
    /// Total size of the request bodies that are being looked up. A request that does not fit is
    /// answered with 503.
    pub uploads: usize,
    /// The maximum WebSocket message.
    pub socket_message: usize,
    /// Time for requests in flight to end when the gateway shuts down.
    pub shutdown: Duration,
}

impl Limits {
    /// The default limits, except that silent clients and servers are given up after `patience`.
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
