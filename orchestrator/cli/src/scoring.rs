//! By which rules episodes are scored, and who rules on what they leave open, as named on the command line and in the environment.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use models::{Cassette, Client, Model, Settings};
use tasks::scoring::rules::Rules;

use crate::failure::{Failure, OrFail};

/// Where OpenAI's own interface is.
const OPENAI: &str = "https://api.openai.com/v1";
/// How long one attempt at a verdict may take.
const WITHIN: Duration = Duration::from_secs(120);

/// Whose word decides.
#[derive(clap::Args)]
pub(crate) struct Scoring {
    /// `faithful` reproduces the benchmarks' published code bug for bug, `fixed` mends the bugs that tasks/README.md names
    #[arg(long, value_name = "RULES", default_value_t)]
    pub(crate) rules: Rules,
    /// The model that rules where a benchmark's rules ask one. It is asked over OpenAI's interface at OPENAI_BASE_URL, with the key in
    /// OPENAI_API_KEY. Without it, what is not in the cassette stays unjudged
    #[arg(long = "judge", value_name = "MODEL")]
    name: Option<String>,
    /// What models have said before, and where what they say now is added
    #[arg(long, value_name = "FILE")]
    cassette: Option<Utf8PathBuf>,
    /// Ask no model: what is not in the cassette stays unjudged
    #[arg(long)]
    offline: bool,
}

impl Scoring {
    /// The judge; without a name and a cassette, nobody.
    pub(crate) fn judge(&self) -> Result<Model, Failure> {
        let client = match self.name {
            Some(_) if !self.offline => Some(client()?),
            _ => None,
        };
        let cassette = match (&self.cassette, &client) {
            (None, _) => None,
            (Some(path), Some(_)) => Some(Cassette::record(path)),
            (Some(path), None) => Some(Cassette::open(path)),
        };
        let cassette = cassette.transpose().or_input("use the cassette")?.map(Arc::new);
        Ok(Model { name: self.name.clone(), cassette, client })
    }
}

fn client() -> Result<Client, Failure> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let (base_url, key) = (set("OPENAI_BASE_URL"), set("OPENAI_API_KEY"));
    if base_url.is_none() && key.is_none() {
        return Err(Failure::Environment(anyhow::anyhow!(
            "--judge asks a model: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, or add --offline to use the cassette alone"
        )));
    }
    let base_url = base_url.unwrap_or_else(|| OPENAI.to_owned());
    Client::new(&Settings { base_url, key, within: WITHIN }).or_input("reach the judge")
}
