//! Who may come in by a door.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use http::HeaderMap;

use crate::Key;

/// Both ends of a client's connection.
#[derive(Debug, Clone, Copy)]
pub struct Ends {
    /// The client's.
    pub client: SocketAddr,
    /// Ours.
    pub server: SocketAddr,
}

/// Tells whether the client of a connection may come in.
pub type PeerCheck = Arc<dyn Fn(Ends) -> bool + Send + Sync>;

/// Who may come in by a door.
#[derive(Clone)]
pub enum Admission {
    /// Whoever gets there.
    Anyone,
    /// Who shows the key.
    Key(Key),
    /// Whose connection passes a check, such as of the process that has made it.
    Peer(PeerCheck),
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Admission::Anyone => "Anyone",
            Admission::Key(_) => "Key",
            Admission::Peer(_) => "Peer",
        })
    }
}

impl Admission {
    /// Whether a request may come in.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        match self {
            Admission::Key(key) => key.is_shown(headers),
            Admission::Anyone | Admission::Peer(_) => true,
        }
    }

    /// Whether the client of a connection may come in.
    pub async fn admits_peer(&self, ends: Ends) -> bool {
        match self {
            Admission::Peer(check) => {
                let check = Arc::clone(check);
                tokio::task::spawn_blocking(move || check(ends)).await.unwrap_or(false)
            }
            Admission::Anyone | Admission::Key(_) => true,
        }
    }
}
