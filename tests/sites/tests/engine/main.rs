//! Sites in real containers: started, leased, put back, killed, cut off from everything, swept up. The image is made of
//! the small site of this package; no network is needed.

#![allow(clippy::unwrap_used, missing_docs)]

mod beside;
mod faults;
mod harness;
mod isolation;
mod life;
mod owners;
mod ports;
mod restart;
mod volumes;
