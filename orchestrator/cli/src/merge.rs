//! `sandbox merge`: parts of a run, put together.

use camino::Utf8PathBuf;
use runs::Summary;

use crate::failure::{OrFail as _, Outcome};
use crate::progress;

/// Put parts of a run together that were played apart, on several machines for example: see --shard of `sandbox run`
#[derive(clap::Args)]
pub(crate) struct Merge {
    /// The folders of the parts
    #[arg(required = true)]
    parts: Vec<Utf8PathBuf>,
    /// The folder of the whole
    #[arg(long, short, value_name = "DIR")]
    out: Utf8PathBuf,
    /// Print the summary as one JSON document
    #[arg(long)]
    json: bool,
}

impl Merge {
    /// Copies, and prints the table of the whole.
    pub(crate) fn run(self) -> Outcome {
        let folder = runs::merge(&self.parts, &self.out)?;
        let summary = Summary::read(folder.path())?;
        let report = runs::report::write(folder.path()).or_environment("write the report")?;
        if self.json {
            println!("{}", serde_json::to_string_pretty(&summary).expect("a summary is plain data"));
        } else {
            println!("{}\nreport        {report}", summary.table(progress::columns()));
        }
        Ok(())
    }
}
