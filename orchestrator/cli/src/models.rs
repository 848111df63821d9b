//! How language models are reached, as named on the command line and in the environment.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use models::{Cassette, Client, Model, Pace, Price, Settings};

use crate::failure::{Failure, OrFail};

/// Where OpenAI's own interface is.
const OPENAI: &str = "https://api.openai.com/v1";
/// How long one attempt at a reply may take.
const WITHIN: Duration = Duration::from_secs(120);

/// Where replies come from.
#[derive(clap::Args)]
pub(crate) struct ModelOptions {
    /// What models have said before, and where what they say now is added
    #[arg(long, value_name = "FILE")]
    cassette: Option<Utf8PathBuf>,
    /// Ask no model: only what is in the cassette is known
    #[arg(long)]
    offline: bool,
}

/// Models that share one cassette.
pub(crate) struct Models {
    cassette: Option<Arc<Cassette>>,
    offline: bool,
}

impl ModelOptions {
    /// Opens the cassette, to be added to where somebody may be asked.
    pub(crate) fn open(&self, somebody_is_asked: bool) -> Result<Models, Failure> {
        let cassette = self.cassette.as_ref().map(|path| {
            if somebody_is_asked && !self.offline { Cassette::record(path) } else { Cassette::open(path) }
        });
        let cassette = cassette.transpose().or_input("use the cassette")?.map(Arc::new);
        Ok(Models { cassette, offline: self.offline })
    }
}

impl Models {
    /// Whether there is anything to get a reply from without a name.
    pub(crate) fn have_recordings(&self) -> bool {
        self.cassette.is_some()
    }

    /// A model; without a name and a cassette, nobody.
    pub(crate) fn model(
        &self,
        name: Option<String>,
        pace: Pace,
        price: Option<Price>,
    ) -> Result<Model, Failure> {
        let client = match name {
            Some(_) if !self.offline => Some(client(pace)?),
            _ => None,
        };
        Ok(Model { name, cassette: self.cassette.clone(), client, price })
    }
}

fn client(pace: Pace) -> Result<Client, Failure> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let (base_url, key) = (set("OPENAI_BASE_URL"), set("OPENAI_API_KEY"));
    if base_url.is_none() && key.is_none() {
        return Err(Failure::Environment(anyhow::anyhow!(
            "a model is to be asked: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, or add --offline to use the cassette alone"
        )));
    }
    let base_url = base_url.unwrap_or_else(|| OPENAI.to_owned());
    Client::new(&Settings { base_url, key, within: WITHIN, pace }).or_input("reach the model")
}
