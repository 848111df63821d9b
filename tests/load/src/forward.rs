//! The gateway as a plain forwarding proxy: what recording is measured against.

use std::sync::Arc;

use anyhow::{Context, Result};
use camino::Utf8PathBuf;
use gateway::{CertificateAuthority, Config, ConnectTo, Gateway, Routes, Target};

/// Forwards until interrupted; prints `proxy http://ADDR` once it answers.
#[tokio::main]
pub(crate) async fn serve(
    connect_to: Vec<ConnectTo>,
    extra_roots: Vec<Utf8PathBuf>,
    allow_private: bool,
) -> Result<()> {
    let ca = CertificateAuthority::in_memory().context("failed to make a certificate authority")?;
    let config = Config {
        connect_to,
        extra_roots,
        allow_private,
        ..Config::for_everybody(Arc::new(ca), Routes::all(Target::Forward))
    };
    let gateway = Gateway::start(config).await.context("failed to start the gateway")?;
    println!("proxy http://{}", gateway.local_addr().context("an address")?);
    tokio::signal::ctrl_c().await.context("failed to wait for an interrupt")?;
    gateway.shutdown().await;
    Ok(())
}
