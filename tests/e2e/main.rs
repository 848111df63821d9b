//! End to end: the built binary, real servers on loopback, real Chromium.

mod agents;
mod client;
mod clients;
mod demo;
mod devtools;
mod disk;
mod door;
mod export;
mod filling;
mod frozen;
mod harness;
mod judges;
mod killed;
mod large;
mod machine;
mod miniwob;
mod pages;
mod recording;
mod scores;
mod server;
mod servers;
mod town;
mod turkingbench;
mod usage;
mod visualwebarena;
mod webarena;
