//! The side towards the clients: connections, tunnels, requests.

mod client_io;
mod connect;
mod failure;
pub(crate) mod listener;
mod live;
mod service;
mod site;
mod socket;
mod target;
mod track;

pub(crate) use failure::SANDBOX_ERROR;
