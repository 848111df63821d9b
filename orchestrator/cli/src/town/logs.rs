//! `sandbox logs`: what the copies of a site have printed.

use crate::failure::Outcome;
use crate::options::DataFolder;

/// Show the last lines that a site's copies have printed
#[derive(clap::Args)]
pub(crate) struct Logs {
    /// The site
    site: String,
    /// How many lines of each copy
    #[arg(long, value_name = "N", default_value_t = 50)]
    lines: usize,
    #[command(flatten)]
    data: DataFolder,
}

impl Logs {
    /// Prints them, each with the number of its copy.
    pub(crate) async fn run(self) -> Outcome {
        let said = super::client(&self.data).logs(&self.site, self.lines).await.map_err(super::failure)?;
        for (copy, lines) in said {
            lines.iter().for_each(|line| println!("{}-{copy}  {line}", self.site));
        }
        Ok(())
    }
}
