//! Asks whether what a suite, or a file of settings, would do on this machine may be done.
//!
//! The list is made by [`play::consent`]. A list that was agreed to is not asked about again: the
//! answer is in the data folder. An empty list is never asked about.

use std::io::{self, BufRead as _, IsTerminal as _};

use camino::Utf8Path;
pub(crate) use play::consent::Origin;
use play::consent::{Agreed, Agreements, Given, NeedList, of_suite};
use processes::Variable;
use tasks::{Suite, Task};

use crate::failure::{Failure, Outcome};
use crate::options::DataFolder;
use crate::terminal::clean;
use crate::terminal::out;

/// Consent that is given in advance.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct Trust {
    /// Agree to what the suite and files of settings start, read, take from the environment and
    /// reach, without a question
    #[arg(
        long,
        alias = "run-programs",
        env = "SANDBOX_TRUST",
        value_parser = clap::builder::FalseyValueParser::new(),
        action = clap::ArgAction::SetTrue
    )]
    trust: bool,
}

/// The variables that manifests of sites get.
#[derive(Clone, Default, clap::Args)]
pub(crate) struct SiteVariables {
    /// Let the manifests of sites take this environment variable, as NAME or NAME=value; can be
    /// repeated. By default they see none
    #[arg(long = "site-env", value_name = "NAME[=VALUE]")]
    pub(crate) given: Vec<Variable>,
}

impl Trust {
    /// Asks for a suite, of which these tasks are to be played; of all if none is named. Then the
    /// suite may be looked into at addresses, too.
    pub(crate) fn agree_to_suite(
        &self,
        suite: &mut Suite,
        ids: &[String],
        variables: &SiteVariables,
        data: &DataFolder,
    ) -> Result<Agreed, Failure> {
        // An id that is not there is named by who plays.
        let is_wanted = |task: &&Task| ids.is_empty() || ids.contains(&task.id);
        let tasks: Vec<Task> = suite.tasks.iter().filter(is_wanted).cloned().collect();
        let list = of_suite(suite, &tasks, Given { variables: &variables.given, unpacked: None })?;
        let agreed = self.agree(&format!("the suite {}", suite.folder), &list, data)?;
        play::suites::date(suite)?;
        Ok(agreed)
    }

    /// Asks for a list, unless it was agreed to.
    pub(crate) fn agree(
        &self,
        of: &str,
        list: &NeedList,
        data: &DataFolder,
    ) -> Result<Agreed, Failure> {
        if self.trust {
            return Ok(Agreed::to_all());
        }
        if list.is_empty() {
            return Ok(Agreed::default());
        }
        let agreements = agreements(data)?;
        if agreements.have(list)? {
            return Ok(Agreed::to(list));
        }
        eprintln!("nobody has agreed to what {} would do:", clean::one_line(of));
        for need in list.needs() {
            eprintln!("  {}", clean::one_line(&need.to_string()));
        }
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Err(Failure::Input(format!(
                "failed to go on with {of}: nobody is here to agree to that list; if you trust it, agree with --trust"
            )));
        }
        if !answers_yes() {
            return Err(Failure::Input(format!(
                "failed to go on with {of}: you have not agreed to that list; nothing was done"
            )));
        }
        agreements.add(of, list)?;
        Ok(Agreed::to(list))
    }
}

fn answers_yes() -> bool {
    eprintln!("Only agree if you trust who has made it. Go on? Type yes or no, and press Enter.");
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

fn agreements(data: &DataFolder) -> Result<Agreements, Failure> {
    Ok(Agreements::in_file(data.path()?.join("consent.json")))
}

/// As [`play::consent::agree_to_own`], and says where somebody will be asked.
pub(crate) fn agree_to_own(folder: &Utf8Path, origin: Origin, data: &DataFolder) -> Outcome {
    // The folder with the answers may be unknown, which does not matter here.
    if play::consent::needs_none(folder)? {
        return Ok(());
    }
    if !play::consent::agree_to_own(folder, origin, &agreements(data)?)? {
        println!(
            "It starts or reads what was not written here, so that the first play asks whether it may."
        );
    }
    Ok(())
}

/// Whether all that a suite does was agreed to.
pub(crate) fn is_agreed_to(folder: &Utf8Path, data: &DataFolder) -> Result<bool, Failure> {
    Ok(play::consent::needs_none(folder)?
        || play::consent::is_agreed_to(folder, &agreements(data)?)?)
}

/// Warns that what a command has made cannot be played without a question.
pub(crate) fn warn_unless_kept(kept: Outcome) {
    if let Err(failure) = kept {
        out::warn(&failure);
    }
}
