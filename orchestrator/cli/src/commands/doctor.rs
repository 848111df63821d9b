//! `sandbox doctor`: what this machine lacks, which commands need it, and how to install it.

use play::machine::{self, Finding};
use serde::Serialize;

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

/// A finding as programs read it.
#[derive(Serialize)]
struct FindingReport<'a> {
    what: &'static str,
    needed_for: &'static str,
    ok: bool,
    /// Present where it is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'a str>,
    /// Present where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    /// Present where it is not, and something mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<&'a str>,
}

impl<'a> From<&'a Finding> for FindingReport<'a> {
    fn from(finding: &'a Finding) -> FindingReport<'a> {
        let ok = finding.found.is_ok();
        FindingReport {
            what: finding.what,
            needed_for: finding.needed_for,
            ok,
            found: finding.found.as_deref().ok(),
            problem: finding.found.as_ref().err().map(String::as_str),
            cure: finding.cure.as_deref().filter(|_| !ok),
        }
    }
}

impl Doctor {
    /// Prints a line per finding; exit code 3 when something is missing.
    pub(crate) async fn run(self) -> Outcome {
        let folder = self.data.path();
        let findings = [
            machine::browser(),
            machine::window(crate::commands::show::has_display()),
            machine::fonts(),
            machine::engine().await,
            machine::landlock(),
            machine::data_folder(folder.as_deref().map_err(ToString::to_string)),
            machine::room(),
            machine::loopback(),
            machine::networks(),
        ];
        let missing = findings.iter().filter(|finding| finding.found.is_err()).count();
        if self.json {
            let reports: Vec<FindingReport<'_>> =
                findings.iter().map(FindingReport::from).collect();
            out::json(&reports);
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
