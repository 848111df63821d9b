//! The client side of the proxy: connections, tunnels and requests.

pub(crate) mod again;
mod client_io;
pub(crate) mod clients;
mod connect;
mod failure;
pub(crate) mod listener;
mod live;
mod service;
mod site;
mod socket;
mod stalled;
mod target;
mod track;
mod wire;

pub(crate) use failure::SANDBOX_ERROR;
