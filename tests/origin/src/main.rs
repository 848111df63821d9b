//! Serves the demo web on loopback until interrupted or terminated.

use std::net::SocketAddr;

use anyhow::Context;
use camino::Utf8PathBuf;
use clap::Parser;
use origin::{Options, Origin, data::Variant};
use tokio::signal::unix::{SignalKind, signal};

/// Serve the demo web: three sites and their supporting hosts, on plain HTTP and on TLS.
///
/// Prints one line per listener once both answer, then the path of the certificate to trust.
#[derive(Debug, Parser)]
struct Arguments {
    /// Address for plain HTTP; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Address for TLS (HTTP/1.1 and HTTP/2); port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    tls_listen: SocketAddr,
    /// Folder for the certificate of the throw-away authority; a temporary one by default.
    #[arg(long, value_name = "DIR")]
    ca_dir: Option<Utf8PathBuf>,
    /// Which content to serve; `changed` differs on every page.
    #[arg(long, value_enum, default_value_t = Content::Original)]
    variant: Content,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Content {
    Original,
    Changed,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let variant = match arguments.variant {
        Content::Original => Variant::Original,
        Content::Changed => Variant::Changed,
    };
    let options = Options {
        listen: arguments.listen,
        tls_listen: arguments.tls_listen,
        ca_dir: arguments.ca_dir,
        variant,
    };
    let origin = Origin::start(&options).await.context("failed to start the demo web")?;
    println!("http {}", origin.plain_addr());
    println!("https {}", origin.tls_addr());
    println!("ca {}", origin.certificate_path());
    let mut terminated = signal(SignalKind::terminate()).context("failed to wait for a signal")?;
    tokio::select! {
        _ = terminated.recv() => {}
        interrupted = tokio::signal::ctrl_c() => interrupted.context("failed to wait for a signal")?,
    }
    origin.stop().await;
    Ok(())
}
