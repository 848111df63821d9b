//! `sandbox merge`: the parts of a run as one.

use camino::Utf8PathBuf;
use results::{Summary, mirror};
use snapshots::is_address;

use crate::failure::{Failure, OrFail as _, Outcome};
use crate::packed_run::OpenRun;
use crate::terminal::out;
use crate::terminal::progress;

/// Merge the parts of a run that were played apart, such as on several machines (`sandbox run
/// --shard`)
#[derive(clap::Args)]
pub(crate) struct Merge {
    /// Folders of the parts, or addresses of an object store. An address below which there are
    /// parts stands for all of them
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
    pub(crate) async fn run(self) -> Outcome {
        out::is_a_path(&self.output)?;
        let mut parts = Vec::new();
        for part in &self.parts {
            for part in runs_at(part.clone()).await? {
                parts.push(OpenRun::open(&part).await?);
            }
        }
        let paths: Vec<Utf8PathBuf> = parts.iter().map(|part| part.path().to_owned()).collect();
        let folder = results::merge(&paths, &self.output)?;
        let summary = Summary::read(folder.path())?;
        let report = results::report::write(folder.path()).or_environment("write the report")?;
        if self.json {
            out::json(&summary);
        } else {
            println!("{}\nreport        {report}", summary.table(progress::columns()));
        }
        Ok(())
    }
}

/// The runs at an address, or the one in a folder.
async fn runs_at(part: Utf8PathBuf) -> Result<Vec<Utf8PathBuf>, Failure> {
    if !is_address(&part) {
        return Ok(vec![part]);
    }
    let looking = tokio::task::spawn_blocking(move || mirror::runs_below(part.as_str()));
    Ok(looking.await.or_environment("look for parts")??)
}
