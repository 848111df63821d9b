//! End to end: the built binary, real servers on loopback, real Chromium.

mod agents;
mod client;
mod clients;
mod demo;
mod disk;
mod door;
mod filling;
mod frozen;
mod gym;
mod harness;
mod judges;
mod killed;
mod large;
mod machine;
mod miniwob;
mod recording;
mod scores;
mod server;
mod servers;
mod town;
mod turkingbench;
mod usage;
mod visualwebarena;
mod webarena;
