//! Options of scoring: the rules, and the judge of criteria that ask a model.

use std::time::Duration;

use agents::llm::ModelSettings;
use camino::Utf8PathBuf;
use llm_client::Model;
use results::{Summary, counted};
use scoring::mode::ScoringMode;

use crate::failure::{Failure, OrFail as _, Outcome};
use crate::options::DataFolder;
use crate::options::models::{ModelOptions, Models};

/// The rules and the judge.
#[derive(clap::Args)]
pub(crate) struct Scoring {
    /// `faithful` reproduces the benchmarks' published code with its bugs, `fixed` corrects those
    /// that tasks/README.md names
    #[arg(
        id = "scoring-mode",
        long = "scoring-mode",
        alias = "rules",
        value_name = "MODE",
        default_value_t
    )]
    pub(crate) mode: ScoringMode,
    /// Model that judges criteria for which a benchmark asks a model. It is asked over an
    /// OpenAI-compatible API at OPENAI_BASE_URL with the key in OPENAI_API_KEY. Without a judge,
    /// criteria that are not in the cassette stay unjudged
    #[arg(long = "judge", value_name = "MODEL")]
    name: Option<String>,
    /// File with settings of the judge: the keys below `model` in an agent's settings. The judge
    /// then has its own server, key and price. A temperature or max_tokens overrides that of the
    /// benchmark
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
        let why = summary
            .causes
            .iter()
            .find(|cause| cause.of_judge)
            .map_or("", |cause| cause.message.as_str());
        Err(Failure::Negative(format!(
            "the judge failed in {}, which have no score: {why}; once that is mended, score them with `sandbox score run`",
            counted(summary.judge_failures, "episode")
        )))
    }

    /// The judge, where nobody else is asked.
    pub(crate) fn judge(&self, data: &DataFolder) -> Result<Model, Failure> {
        self.judge_among(&self.models.open(self.names_a_judge(), data)?)
    }

    /// The judge; without a name and a cassette, nobody.
    pub(crate) fn judge_among(&self, models: &Models) -> Result<Model, Failure> {
        let settings =
            self.judge_settings.as_ref().map(|path| ModelSettings::read(path)).transpose();
        let settings = settings.or_input("use the judge's settings")?.unwrap_or_default();
        let name = self.name.clone().or_else(|| settings.name.clone());
        let own = settings.request_timeout.map(|seconds| Duration::from_secs(seconds.get().into()));
        let judge = models.model(name, &settings, own.unwrap_or(WITHIN))?;
        Ok(Model { sampling: settings.sampling(), ..judge })
    }
}
