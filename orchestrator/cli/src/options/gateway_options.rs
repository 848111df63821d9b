//! Options of every command that runs a gateway.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use doors::{Admission, Key};
use gateway::{CertificateAuthority, Config, ConnectTo, Gateway, Limits, Listen, Redact, Routes};
use processes::peers;

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::options::units;

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
    /// Where somebody acts: after a write of a site, such as a form, ask again for at most this
    /// many of the pages and data that were seen of it, and before the first one for pages like
    /// its cart, so that the recording has both states. 0 asks for none
    #[arg(long, value_name = "REQUESTS", default_value_t = 24, help_heading = "Live web")]
    pub(crate) ask_again: usize,
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

/// Where clients of other programs come in.
#[derive(Clone, clap::Args)]
pub(crate) struct Listening {
    /// Address to listen on [default: a free port on loopback]
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Ask for no key, and let in every program of this user on this machine, and nobody else. For
    /// browsers, which have no option for the key of a proxy
    #[arg(long)]
    pub(crate) no_key: bool,
}

impl Listening {
    /// Has a gateway listen for clients that show this user's key, or are this user's.
    pub(crate) fn apply(&self, config: &mut Config, data: &DataFolder) -> Outcome {
        let address = self.listen.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let admission = if self.no_key { of_user() } else { of_key(data)? };
        config.listen = Some(Listen { address, admission });
        Ok(())
    }
}

/// Lets in the programs of this user. The kernel knows whose a connection is.
pub(crate) fn of_user() -> Admission {
    let user = rustix::process::geteuid().as_raw();
    Admission::Peer(Arc::new(move |ends| peers::is_of_user(user, ends.client, ends.server)))
}

fn of_key(data: &DataFolder) -> Result<Admission, Failure> {
    let key = host_check::Key::of_file(&data.server_key(None)?, "proxy")
        .or_environment("read the key of the proxy")?;
    Ok(Admission::Key(Key::new(key.text())))
}

/// A gateway's configuration with this user's certificate authority and no routes yet. It listens
/// nowhere.
pub(crate) fn config(data: &DataFolder) -> Result<Config, Failure> {
    let ca = CertificateAuthority::load_or_create(&data.ca()?)
        .or_environment("load the certificate authority")?;
    Ok(Config::new(Arc::new(ca), Routes::new()))
}

/// Prints the URL of a gateway's proxy, and how clients are pointed at it.
pub(crate) fn announce(gateway: &Gateway, ca: &CertificateAuthority) {
    let Some(proxy) = gateway.proxy() else { return };
    println!("proxy {proxy}");
    eprintln!("{}", instructions(&proxy, ca));
}

/// How a client is pointed at a proxy, for people: by its URL with user and key. They are in
/// variables, because all users of the machine can see command lines. Chromium is told the key of
/// the authority: a certificate that is imported would be trusted by all profiles of the user.
pub(crate) fn instructions(proxy: &str, ca: &CertificateAuthority) -> String {
    let (path, key) = (ca.certificate_path().unwrap_or(Utf8Path::new("")), ca.spki_sha256_base64());
    let (plain, asks) = match proxy.rsplit_once('@') {
        Some((_, address)) => {
            (format!("http://{address}"), " (it asks for user name and password, the key)")
        }
        None => (proxy.to_owned(), ""),
    };
    format!(
        "  curl      https_proxy={proxy} http_proxy={proxy} curl --cacert {path} https://...\n  \
           programs  HTTPS_PROXY={proxy} HTTP_PROXY={proxy} SSL_CERT_FILE={path} ...\n  \
           Chromium  chromium --proxy-server={plain} --proxy-bypass-list='<-loopback>' \
         --ignore-certificate-errors-spki-list={key} --user-data-dir=$(mktemp -d){asks}"
    )
}

/// The same for a gateway of another process, whose clients have to trust the certificate in this
/// file.
pub(crate) fn ways_through(proxy: &str, certificate: &Utf8Path) -> Option<String> {
    let ca = CertificateAuthority::load_or_create(certificate.parent()?).ok()?;
    Some(instructions(proxy, &ca))
}
