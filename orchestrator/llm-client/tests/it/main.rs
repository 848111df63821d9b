//! Models from outside: a client, a proxy and servers over loopback.
#![allow(clippy::unwrap_used)]

mod proxy;
mod replies;
mod server;
