//! `load`: what the benchmarks need beside the program they measure.
//!
//! ```text
//! load corpus    a seeded web of documents -> a WARC file and its manifest (URL, sha256)
//! load origin    the same web, live, over TLS
//! load forward   the gateway as a plain forwarding proxy, the baseline of recording
//! load run       fetches a manifest through a proxy or from an address, checks every body, prints figures as JSON
//! ```

mod archive;
mod client;
mod commands;
mod corpus;
mod forward;
mod manifest;
mod origin;

use clap::Parser;

/// The same as in the program that is measured: `load forward` is compared with it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    commands::Command::parse().run()
}
