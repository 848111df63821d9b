//! `sandbox report`: a run's results, shown again.

use camino::Utf8PathBuf;
use results::Summary;
use results::server::Page;

use crate::commands::show;
use crate::failure::{OrFail, Outcome};
use crate::packed_run::OpenRun;
use crate::terminal::out;
use crate::terminal::progress;

/// Print the table of a run, and write its HTML report again
///
/// The report has one entry for each task, with its attempts below it, and stays under 1 MB.
/// Screenshots are files beside it. The pages of `sandbox trace` have the observation and requests
/// of each step.
#[derive(clap::Args)]
pub(crate) struct Report {
    /// Folder of the run; of one in a file of `sandbox pack`, or at an address, only the table is
    /// printed
    run: Utf8PathBuf,
    /// Print the summary as one JSON document
    #[arg(long)]
    json: bool,
    /// Embed everything in the report, also screenshots, so that it is one file
    #[arg(long)]
    inline: bool,
    /// Serve the report on this machine until Ctrl-C instead of writing it. Prints the URL, and
    /// opens the desktop's browser if there is a display
    #[arg(long, conflicts_with_all = ["json", "inline"])]
    open: bool,
}

impl Report {
    /// Reads what is on disk; a run under way is shown as far as it has come.
    pub(crate) async fn run(self) -> Outcome {
        let open = OpenRun::open(&self.run).await?;
        let summary = Summary::read(open.path()).or_input("read the run")?;
        if self.open {
            println!("{}", summary.table(progress::columns()));
            return show::open(open.path(), Page::Report, "", "report        ").await;
        }
        if open.is_copy() {
            // A report beside a copy would be lost with it.
            let summary = Summary { folder: self.run.clone(), ..summary };
            match self.json {
                true => out::json(&summary),
                false => println!("{}", summary.table(progress::columns())),
            }
            return Ok(());
        }
        let write =
            if self.inline { results::report::write_inline } else { results::report::write };
        let report = write(open.path()).or_environment("write the report")?;
        if self.json {
            out::json(&summary);
        } else {
            println!("{}\nreport        {report}", summary.table(progress::columns()));
        }
        Ok(())
    }
}
