//! Sites in real containers: started, leased, put back, killed, cut off from everything, swept up.
//! The image is made of the small site of this package; no network is needed.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../shared/daemon.rs"]
mod daemon;
mod faults;
mod harness;
mod hostile;
mod isolation;
mod life;
mod meddling;
mod names;
mod owners;
mod ports;
mod relays;
mod restart;
mod sidecars;
#[path = "../shared/up.rs"]
mod up;
mod volumes;
