//! End to end: the built binary, real servers on loopback, real Chromium.

mod client;
mod demo;
mod harness;
mod killed;
mod recording;
mod usage;
