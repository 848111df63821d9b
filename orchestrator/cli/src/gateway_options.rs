//! Options of every command that runs a gateway.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use gateway::{CertificateAuthority, Config, ConnectTo, Limits, Redact, Routes};

use crate::failure::{Failure, OrFail};
use crate::options::DataFolder;

/// The largest body that is recorded unless the user says otherwise, in bytes.
pub(crate) const MAX_BODY: u64 = 1 << 30;

/// How the live web is reached. Only commands that record reach it at all.
#[derive(clap::Args, Default, PartialEq)]
pub(crate) struct LiveWeb {
    /// Connect to ADDR:PORT2 for requests to HOST:PORT1, as curl has it; empty parts mean any or unchanged
    #[arg(long, value_name = "HOST:PORT1:ADDR:PORT2")]
    connect_to: Vec<ConnectTo>,
    /// Trust the certificate authorities in this PEM file besides the public ones
    #[arg(long, value_name = "FILE")]
    upstream_ca: Vec<Utf8PathBuf>,
    /// Let pages reach loopback and private addresses (refused by default, so that a page cannot look into your network)
    #[arg(long)]
    allow_private: bool,
}

/// How long the silent are waited for.
#[derive(clap::Args)]
pub(crate) struct Patience {
    /// Give up on a client or a server that has been silent for this many seconds [default: 15 to reach a server, 60 to
    /// 120 for all else]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Waiting")]
    stall_timeout: Option<u64>,
}

impl Patience {
    /// Adds these options to a gateway's configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        if let Some(seconds) = self.stall_timeout {
            config.limits = Limits::patient_for(Duration::from_secs(seconds));
        }
    }
}

/// What is replaced by placeholders before anything is written.
#[derive(clap::Args, Default, PartialEq)]
pub(crate) struct RedactOptions {
    /// Replace what lets one in by placeholders in the recording: Authorization, all cookies, and
    /// fields named like passwords and tokens
    #[arg(long = "redact")]
    pub(crate) credentials: bool,
    /// Replace the value of this header by a placeholder in the recording
    #[arg(long = "redact-header", value_name = "NAME")]
    headers: Vec<String>,
    /// Replace the value of this cookie by a placeholder in the recording
    #[arg(long = "redact-cookie", value_name = "NAME")]
    cookies: Vec<String>,
}

impl RedactOptions {
    /// For the gateway.
    pub(crate) fn into_redact(self) -> Redact {
        Redact { headers: self.headers, cookies: self.cookies, credentials: self.credentials }
    }
}

impl LiveWeb {
    /// Adds these options to a gateway's configuration.
    pub(crate) fn apply(self, config: &mut Config) {
        config.connect_to = self.connect_to;
        config.extra_roots = self.upstream_ca;
        config.allow_private = self.allow_private;
    }
}

/// A gateway's configuration with this user's certificate authority and no routes yet.
pub(crate) fn config(data: &DataFolder, listen: Option<SocketAddr>) -> Result<Config, Failure> {
    let ca =
        CertificateAuthority::load_or_create(&data.ca()?).or_environment("load the certificate authority")?;
    let mut config = Config::new(Arc::new(ca), Routes::new());
    if let Some(listen) = listen {
        config.listen = listen;
    }
    Ok(config)
}

/// How a client is pointed at a gateway, for people.
pub(crate) fn instructions(address: SocketAddr, ca: &CertificateAuthority) -> String {
    ways_through(address, ca.certificate_path().unwrap_or(Utf8Path::new("")))
}

/// The same for a gateway of another process, whose clients have to trust the certificate in this
/// file.
pub(crate) fn ways_through(address: SocketAddr, ca: &Utf8Path) -> String {
    format!(
        "  curl      curl --proxy http://{address} --cacert {ca} https://...\n  \
           programs  HTTPS_PROXY=http://{address} HTTP_PROXY=http://{address} SSL_CERT_FILE={ca} ...\n  \
           Chromium  chromium --proxy-server=http://{address} --user-data-dir=$(mktemp -d) (and import {ca})"
    )
}
