//! The built-in forum in a process of its own: the program inside the image `sandbox/forum:1`.
//!
//! ```text
//! forum seed FILE              writes the golden database
//! forum serve FILE [ADDRESS]   answers from that database, at 0.0.0.0:8000 unless told otherwise, until it is asked to end
//! ```
//!
//! Whoever runs the container may put the database back meanwhile. `SITE_CLOCK_FILE` names the file with the time that
//! it is; without it the system's clock holds.

mod clock;

use std::path::Path;

use anyhow::{Context, bail};
use embedded_sites::{Options, forum};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["seed", file] => {
            std::fs::write(file, forum::generate()?).with_context(|| format!("write {file}"))
        }
        ["serve", file] => serve(file.as_ref(), "0.0.0.0:8000").await,
        ["serve", file, address] => serve(file.as_ref(), address).await,
        _ => bail!("usage: forum seed FILE | forum serve FILE [ADDRESS]"),
    }
}

async fn serve(database: &Path, address: &str) -> anyhow::Result<()> {
    // The first process of a container is not ended by signals that it does not handle.
    let (mut ended, mut interrupted) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let options = Options::new(clock::clock(std::env::var_os("SITE_CLOCK_FILE").map(Into::into)));
    let router = forum::open(database, &options)?;
    let listener =
        TcpListener::bind(address).await.with_context(|| format!("listen on {address}"))?;
    // Connections that browsers keep open are not waited for: a request's change is in the file before its answer.
    tokio::select! {
        served = async { axum::serve(listener, router).await } => Ok(served?),
        _ = ended.recv() => Ok(()),
        _ = interrupted.recv() => Ok(()),
    }
}
