//! How language models are reached: by the command line, settings and the environment.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use agents::llm::ModelSettings;
use camino::Utf8PathBuf;
use llm_client::{Cassette, Client, Model};
use play::consent::of_model;
use processes::Variable;

use crate::failure::{Failure, OrFail};
use crate::options::DataFolder;
use crate::trust::Trust;

/// Where replies come from.
#[derive(Default, clap::Args)]
pub(crate) struct ModelOptions {
    /// File with recorded replies of models; new replies are added to it
    #[arg(long, value_name = "FILE")]
    cassette: Option<Utf8PathBuf>,
    /// Ask no model; use the replies in the cassette only
    #[arg(long)]
    offline: bool,
    /// Let settings of models send this environment variable to their server, as NAME or
    /// NAME=value; can be repeated
    #[arg(long = "model-env", value_name = "NAME[=VALUE]")]
    variables: Vec<Variable>,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

/// Models that share one cassette.
pub(crate) struct Models {
    cassette: Option<Arc<Cassette>>,
    offline: bool,
    variables: Vec<Variable>,
    trust: Trust,
    data: DataFolder,
}

impl ModelOptions {
    /// Whether there is a cassette to which replies are added.
    pub(crate) fn adds_to_a_cassette(&self) -> bool {
        self.cassette.is_some() && !self.offline
    }

    /// Opens the cassette, to be added to where somebody may be asked.
    pub(crate) fn open(&self, calls_models: bool, data: &DataFolder) -> Result<Models, Failure> {
        let cassette = self.cassette.as_ref().map(|path| {
            if calls_models && !self.offline {
                Cassette::record(path)
            } else {
                Cassette::open(path)
            }
        });
        let cassette = cassette.transpose().or_input("use the cassette")?.map(Arc::new);
        let (variables, trust, data) = (self.variables.clone(), self.trust.clone(), data.clone());
        Ok(Models { cassette, offline: self.offline, variables, trust, data })
    }
}

impl Models {
    /// Whether there is anything to get a reply from without a name.
    pub(crate) fn have_recordings(&self) -> bool {
        self.cassette.is_some()
    }

    /// A model that may take so long for a reply; without a name and a cassette, nobody. Where a
    /// cassette knows one model alone, it is that one.
    pub(crate) fn model(
        &self,
        name: Option<String>,
        settings: &ModelSettings,
        within: Duration,
    ) -> Result<Model, Failure> {
        let client = match name {
            Some(_) if !self.offline => Some(self.client(settings, within)?),
            _ => None,
        };
        let known = || self.cassette.as_ref().and_then(|cassette| cassette.only_model());
        Ok(Model {
            name: name.or_else(known),
            cassette: self.cassette.clone(),
            client,
            price: settings.price,
            ..Model::default()
        })
    }
}

impl Models {
    /// A model for programs, which say themselves which one they mean.
    pub(crate) fn for_anybody(
        &self,
        name: Option<String>,
        settings: &ModelSettings,
        within: Duration,
    ) -> Result<Model, Failure> {
        let client = if self.offline { None } else { Some(self.client(settings, within)?) };
        let cassette = self.cassette.clone();
        Ok(Model { name, cassette, client, price: settings.price, ..Model::default() })
    }

    /// The client of these settings. They may be somebody else's: where they name a server or
    /// variables, their user has to agree before anything is sent.
    fn client(&self, settings: &ModelSettings, within: Duration) -> Result<Client, Failure> {
        let list = of_model(settings, &self.variables);
        self.trust.agree("the settings of the model", &list, &self.data)?;
        let given = |name: &str| {
            let given = self.variables.iter().rev().find(|given| given.name == name);
            given.map(|given| given.value.clone()).or_else(|| variable(name))
        };
        Ok(settings.client(within, given)?)
    }
}

/// Asks a model's server for a word; `role` is who the model is.
pub(crate) async fn check_model(role: &str, model: &Model) -> Result<(), Failure> {
    model.greet().await.map_err(|error| {
        let name = model.name.as_deref().unwrap_or_default();
        Failure::Environment(format!(
            "failed to reach {role} {name} before the run: {}; check its name, its address and its key, or skip \
             the check with --no-preflight",
            error_text::with_causes(&error)
        ))
    })
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
