//! By which rules episodes are scored, and who rules on what they leave open.

use models::{Model, Pace};
use tasks::scoring::rules::Rules;

use crate::failure::Failure;
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
    #[command(flatten)]
    pub(crate) models: ModelOptions,
}

impl Scoring {
    /// Whether a judge is named.
    pub(crate) fn names_a_judge(&self) -> bool {
        self.name.is_some()
    }

    /// The judge, where nobody else is asked.
    pub(crate) fn judge(&self) -> Result<Model, Failure> {
        self.judge_among(&self.models.open(self.names_a_judge())?)
    }

    /// The judge; without a name and a cassette, nobody.
    pub(crate) fn judge_among(&self, models: &Models) -> Result<Model, Failure> {
        models.model(self.name.clone(), Pace::default(), None)
    }
}
