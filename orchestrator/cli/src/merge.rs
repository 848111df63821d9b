//! `sandbox merge`: the parts of a run as one.

use camino::Utf8PathBuf;
use runs::Summary;

use crate::failure::{OrFail as _, Outcome};
use crate::{out, progress};

/// Merge the parts of a run that were played apart, such as on several machines (`sandbox run --shard`)
#[derive(clap::Args)]
pub(crate) struct Merge {
    /// Folders of the parts
    #[arg(required = true)]
    parts: Vec<Utf8PathBuf>,
    /// Folder for the merged run
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Utf8PathBuf,
    /// Print the summary as one JSON document
    #[arg(long)]
    json: bool,
}

impl Merge {
    /// Copies, and prints the table of the whole.
    pub(crate) fn run(self) -> Outcome {
        let folder = runs::merge(&self.parts, &self.output)?;
        let summary = Summary::read(folder.path())?;
        let report = runs::report::write(folder.path()).or_environment("write the report")?;
        if self.json {
            out::json(&summary);
        } else {
            println!("{}\nreport        {report}", summary.table(progress::columns()));
        }
        Ok(())
    }
}
