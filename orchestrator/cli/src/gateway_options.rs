//! Options of every command that runs a gateway.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use gateway::{CertificateAuthority, Config, ConnectTo, Limits, Redact, Routes};

use crate::failure::{Failure, OrFail};
use crate::options::DataFolder;
use crate::units;

/// The largest body that is recorded unless the user says otherwise.
pub(crate) const MAX_BODY: &str = "1GiB";

/// How the live web is reached. Only commands that record reach it at all.
#[derive(Clone, clap::Args, Default, PartialEq)]
pub(crate) struct LiveWeb {
    /// Connect to ADDR:PORT2 for requests to HOST:PORT1, as in curl; an empty part matches any, or
    /// stays unchanged
    #[arg(long, value_name = "HOST:PORT1:ADDR:PORT2")]
    connect_to: Vec<ConnectTo>,
    /// Trust the certificate authorities in this PEM file too
    #[arg(long, value_name = "FILE")]
    upstream_ca: Vec<Utf8PathBuf>,
    /// Let pages reach loopback and private addresses; by default they cannot look into your
    /// network
    #[arg(long)]
    allow_private: bool,
}

/// How long a silent client or server is waited for.
#[derive(clap::Args)]
pub(crate) struct Deadline {
    /// Give up on a client or a server that has been silent for this long [default: 15s to reach a
    /// server, 60s to 120s for all else]
    #[arg(long, value_name = "TIME", value_parser = units::some_seconds, help_heading = "Waiting")]
    stall_timeout: Option<Duration>,
}

impl Deadline {
    /// Adds these options to a gateway's configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        if let Some(time) = self.stall_timeout {
            config.limits = Limits::patient_for(time);
        }
    }
}

/// What is replaced by placeholders before anything is written.
#[derive(clap::Args, Default, PartialEq)]
pub(crate) struct RedactOptions {
    /// Replace credentials by placeholders in the recording: Authorization, all cookies, and fields
    /// named like passwords and tokens
    #[arg(long = "redact")]
    pub(crate) credentials: bool,
    /// Replace the value of this header by a placeholder in the recording
    #[arg(long = "redact-header", value_name = "NAME")]
    pub(crate) headers: Vec<String>,
    /// Replace the value of this cookie by a placeholder in the recording
    #[arg(long = "redact-cookie", value_name = "NAME")]
    pub(crate) cookies: Vec<String>,
}

/// How the live web is recorded.
#[derive(clap::Args)]
pub(crate) struct RecordedWeb {
    #[command(flatten, next_help_heading = "Live web")]
    pub(crate) live: LiveWeb,
    /// Larger bodies pass, but are not recorded; a bare number is bytes
    #[arg(long, value_name = "SIZE", default_value = MAX_BODY, value_parser = units::bytes, help_heading = "Live web")]
    pub(crate) max_body: u64,
    #[command(flatten)]
    pub(crate) deadline: Deadline,
    #[command(flatten, next_help_heading = "Redaction")]
    pub(crate) redact: RedactOptions,
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

/// How a client is pointed at a gateway, for people. Chromium is told the key of the authority: a
/// certificate that is imported would be trusted by all profiles of the user.
pub(crate) fn instructions(address: SocketAddr, ca: &CertificateAuthority) -> String {
    let (path, key) = (ca.certificate_path().unwrap_or(Utf8Path::new("")), ca.spki_sha256_base64());
    format!(
        "  curl      curl --proxy http://{address} --cacert {path} https://...\n  \
           programs  HTTPS_PROXY=http://{address} HTTP_PROXY=http://{address} SSL_CERT_FILE={path} ...\n  \
           Chromium  chromium --proxy-server=http://{address} --proxy-bypass-list='<-loopback>' \
         --ignore-certificate-errors-spki-list={key} --user-data-dir=$(mktemp -d)"
    )
}

/// The same for a gateway of another process, whose clients have to trust the certificate in this
/// file.
pub(crate) fn ways_through(address: SocketAddr, certificate: &Utf8Path) -> Option<String> {
    let ca = CertificateAuthority::load_or_create(certificate.parent()?).ok()?;
    Some(instructions(address, &ca))
}
