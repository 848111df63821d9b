//! `sandbox gym balance`: one address over many servers of `sandbox gym`.

use std::net::SocketAddr;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;
use url::Url;

use crate::failure::{Failure, OrFail as _, Outcome};
use crate::options::DataFolder;
use crate::options::units;
use crate::terminal::interrupt;
use crate::terminal::out;

/// The most bytes of a list of gyms.
const LONGEST_LIST: u64 = 1 << 20;

/// Serve many gyms at one address
///
/// Prints one line of JSON when it is ready: url, servers, places and key. Clients use the URL as
/// that of one `sandbox gym`. A reset goes to the least busy gym, and the session stays there. When
/// a gym does not answer, only its own sessions fail; it gets sessions again when it answers again.
/// All gyms must serve the same suite.
///
/// `sandbox gym --join URL` registers a gym by itself. Programs can do so with POST and DELETE
/// /servers and {"url": URL}; GET /servers lists the gyms. These need the header `Authorization:
/// Bearer KEY`. GET /metrics has measurements for Prometheus. Ctrl-C refuses new sessions and waits
/// for the open ones to end; then a second line of JSON sums up.
#[derive(clap::Args)]
pub(crate) struct Balance {
    /// URLs of gyms, as `sandbox gym` prints them; those that do not answer yet are taken in later.
    /// Other users of the machine see command lines, and the keys in these: see --gyms
    #[arg(value_name = "URL")]
    urls: Vec<Url>,
    /// File with more URLs of gyms, one in each line; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    gyms: Option<Utf8PathBuf>,
    /// Address to listen on; port 0 is a free port
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// How long a reset waits for a free place before it is refused with status 503
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::seconds)]
    wait: Duration,
    /// How long open sessions may go on after Ctrl-C
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = units::seconds)]
    drain: Duration,
    /// File with the key for the list of gyms, made if absent [default: front.key in the folder of
    /// --data]
    #[arg(long, value_name = "FILE")]
    key: Option<Utf8PathBuf>,
    #[command(flatten)]
    data: DataFolder,
}

impl Balance {
    /// Serves until interrupted, then says what was served.
    pub(crate) async fn run(self) -> Outcome {
        let settings = gym::balancer::Settings {
            listen: self.listen,
            place_within: self.wait,
            drain_within: self.drain,
            key: self.data.balancer_key(self.key.as_deref())?,
        };
        let urls = [self.urls, listed(self.gyms.as_deref())?].concat();
        let served = gym::balancer::serve(settings, &urls, interrupt::token(), |listening| {
            out::json_line(listening);
            eprintln!("Ctrl-C waits for open sessions, and closes the balancer");
        });
        out::json_line(&json!(served.await?));
        Ok(())
    }
}

/// The URLs in a file, or on standard input.
fn listed(file: Option<&Utf8Path>) -> Result<Vec<Url>, Failure> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let text = match file.as_str() {
        "-" => std::io::read_to_string(std::io::stdin()),
        _ => files::read_text(file, LONGEST_LIST),
    };
    let text = text.or_input(format!("read {file}"))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| Url::parse(line).or_input(format!("read {file}: {line:?}"))).collect()
}
