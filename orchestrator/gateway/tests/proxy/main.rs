//! The gateway from outside: client, proxy and origin in one process, over loopback.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod bounds;
mod client;
mod crowd;
mod failures;
mod floods;
mod forward;
mod origin;
mod record;
mod replay;
mod routing;
mod shutdown;
mod sites;
mod sockets;
mod strict;
mod tunnels;
mod world;
