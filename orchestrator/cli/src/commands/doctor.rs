//! `sandbox doctor`: what this machine lacks, which commands need it, and how to install it.

use play::machine::{self, Finding};

use crate::failure::{Failure, Outcome};
use crate::options::DataFolder;
use crate::terminal::out;
use crate::terminal::progress::wrap;

/// Check this machine: what is missing, which commands need it, and how to install it
#[derive(clap::Args)]
pub(crate) struct Doctor {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataFolder,
}

impl Doctor {
    /// Prints a line per finding; exit code 3 when something is missing.
    pub(crate) async fn run(self) -> Outcome {
        let folder = self.data.path();
        let findings = machine::findings(folder.as_deref().map_err(ToString::to_string)).await;
        let missing = findings.iter().filter(|finding| finding.found.is_err()).count();
        if self.json {
            out::json(&findings);
        } else {
            findings.iter().for_each(print);
        }
        match missing {
            0 => Ok(()),
            n => Err(Failure::Environment(format!(
                "{n} of {} checks failed; run the commands above",
                findings.len()
            ))),
        }
    }
}

fn print(finding: &Finding) {
    let what = finding.what;
    match &finding.found {
        Ok(found) => println!("{}", wrap("ok       ", &format!("{what}: {found}"))),
        Err(wrong) => {
            println!("{}", wrap("missing  ", &format!("{what}: {wrong}")));
            println!("{}", wrap("         needed for: ", finding.needed_for));
            if let Some(cure) = &finding.cure {
                println!("{}", wrap("         mend with:  ", cure));
            }
        }
    }
}
