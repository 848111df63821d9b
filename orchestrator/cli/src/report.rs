//! `sandbox report`: a run's results, shown again.

use camino::Utf8PathBuf;
use runs::Summary;

use crate::failure::{OrFail, Outcome};
use crate::progress;

/// Print the table of a run and write its HTML report anew
#[derive(clap::Args)]
pub(crate) struct Report {
    /// The folder of a run
    run: Utf8PathBuf,
    /// Print the summary as one JSON document
    #[arg(long)]
    json: bool,
}

impl Report {
    /// Reads what is on disk; a run under way is shown as far as it has come.
    pub(crate) fn run(self) -> Outcome {
        let summary = Summary::read(&self.run).or_input("read the run")?;
        let report = runs::report::write(&self.run).or_environment("write the report")?;
        if self.json {
            println!("{}", serde_json::to_string_pretty(&summary).expect("a summary is plain data"));
        } else {
            println!("{}\nreport        {report}", summary.table(progress::columns()));
        }
        Ok(())
    }
}
