//! By which rules episodes are scored, and who rules on what they leave open.

use std::time::Duration;

use agents::llm::ModelSettings;
use camino::Utf8PathBuf;
use models::Model;
use runs::{Summary, counted};
use scoring::rules::Rules;

use crate::failure::{Failure, OrFail as _, Outcome};
use crate::models::{ModelOptions, Models};

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
    /// How the judge is asked: a file with the keys that `model` has in an agent's settings. Its server, key and price are
    /// its own then; a temperature or max_tokens goes before what its benchmark has published
    #[arg(long, value_name = "FILE")]
    judge_settings: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) models: ModelOptions,
}

/// How long a judge may take for one reply.
const WITHIN: Duration = Duration::from_secs(120);

impl Scoring {
    /// Whether a judge is named.
    pub(crate) fn names_a_judge(&self) -> bool {
        self.name.is_some() || self.judge_settings.is_some()
    }

    /// The answer "no" where the judge was asked and failed.
    pub(crate) fn verdict(summary: &Summary) -> Outcome {
        if summary.judge_failures == 0 {
            return Ok(());
        }
        let why =
            summary.causes.iter().find(|cause| cause.of_judge).map_or("", |cause| cause.message.as_str());
        Err(Failure::No(format!(
            "the judge failed in {}, which have no score: {why}; once that is mended, score them with `sandbox score run`",
            counted(summary.judge_failures, "episode")
        )))
    }

    /// The judge, where nobody else is asked.
    pub(crate) fn judge(&self) -> Result<Model, Failure> {
        self.judge_among(&self.models.open(self.names_a_judge())?)
    }

    /// The judge; without a name and a cassette, nobody.
    pub(crate) fn judge_among(&self, models: &Models) -> Result<Model, Failure> {
        let settings = self.judge_settings.as_ref().map(|path| ModelSettings::read(path)).transpose();
        let settings = settings.or_input("use the judge's settings")?.unwrap_or_default();
        let name = self.name.clone().or_else(|| settings.name.clone());
        let own = settings.request_timeout.map(|seconds| Duration::from_secs(seconds.get().into()));
        let judge = models.model(name, &settings, own.unwrap_or(WITHIN))?;
        Ok(Model { sampling: settings.sampling(), ..judge })
    }
}
