//! Asks whether what a suite, or a file of settings, would do on this machine may be done.
//!
//! The list is made by [`runs::consent`]. A list that was agreed to is not asked about again: the
//! answer is in the data folder. An empty list is never asked about.

use std::io::{self, BufRead as _, IsTerminal as _};

use camino::Utf8Path;
use processes::Variable;
use runs::consent::{Agreed, Agreements, Given, NeedList, of_suite};
use tasks::{Suite, Task};

use crate::commands::tasks as suites;
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
        suites::date(suite)?;
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

/// Whose a suite is that a command has written, or added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// All of it was written by the command, into a folder that was not there or was empty.
    New,
    /// All that it did was agreed to before the command added to it.
    Agreed,
    /// There was something in the folder that nobody has agreed to.
    Foreign,
}

/// Keeps that a suite which this program has just written is agreed to, as it is now. What it
/// starts and reads elsewhere is somebody else's: the first who plays it is asked, and is told so
/// here.
pub(crate) fn agree_to_own(folder: &Utf8Path, origin: Origin, data: &DataFolder) -> Outcome {
    let list = list_of(folder)?;
    if list.is_empty() {
        return Ok(());
    }
    if origin == Origin::Agreed || (origin == Origin::New && !list.starts_or_reads()) {
        return Ok(agreements(data)?.add(&format!("the suite {folder}, made here"), &list)?);
    }
    println!(
        "It starts or reads what was not written here, so that the first play asks whether it may."
    );
    Ok(())
}

fn list_of(folder: &Utf8Path) -> Result<NeedList, Failure> {
    let suite = suites::load_undated(folder)?;
    Ok(of_suite(&suite, &suite.tasks, Given::default())?)
}

/// Whether all that a suite does was agreed to.
pub(crate) fn is_agreed_to(folder: &Utf8Path, data: &DataFolder) -> Result<bool, Failure> {
    let list = list_of(folder)?;
    Ok(list.is_empty() || agreements(data)?.have(&list)?)
}

/// Warns that what a command has made cannot be played without a question.
pub(crate) fn warn_unless_kept(kept: Outcome) {
    if let Err(failure) = kept {
        out::warn(&failure);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Alone {
        #[command(flatten)]
        data: DataFolder,
    }

    /// A suite with one task; whether it is agreed to once a command has written it.
    fn agreed(origin: Origin, scorer: &str, site: &str) -> bool {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap();
        let (suite, shop) = (folder.join("suite"), folder.join("stranger/shop"));
        fs::create_dir_all(&suite).unwrap();
        fs::create_dir_all(&shop).unwrap();
        let manifest = format!("title: Shop\nabout: A shop.\nhosts: [shop.test]\n{site}\n");
        fs::write(shop.join("site.yaml"), manifest).unwrap();
        let world = "world: {clock: 2026-03-12T08:30:00Z, sites: ../stranger}\n";
        fs::write(suite.join("suite.yaml"), world).unwrap();
        let task = format!("id: one\ngoal: x\nsites: [shop]\nscorer: {{{scorer}}}\n");
        fs::write(suite.join("one.yaml"), task).unwrap();
        let data = Alone::parse_from(["sandbox", "--data", folder.join("data").as_str()]).data;
        agree_to_own(&suite, origin, &data).unwrap();
        is_agreed_to(&suite, &data).unwrap()
    }

    #[test]
    fn what_strangers_have_made_is_not_agreed_to_by_writing_beside_it() {
        const PLAIN: &str = "equals: x";
        const PROGRAM: &str = "program: [python3, verify.py]";
        const FORUM: &str = "driver: embedded\nembedded: forum";
        const SERVER: &str = "driver: process\ncommand: [python3, server.py, '{port}']";
        const EXTERNAL: &str = "driver: external\nreset: never\nurl: https://instance.test/";
        for (origin, scorer, site, expect) in [
            (Origin::New, PLAIN, FORUM, true),
            (Origin::New, PLAIN, EXTERNAL, true),
            (Origin::New, PLAIN, SERVER, false),
            (Origin::New, PROGRAM, FORUM, false),
            (Origin::Foreign, PLAIN, EXTERNAL, false),
            (Origin::Foreign, PROGRAM, FORUM, false),
            (Origin::Agreed, PROGRAM, SERVER, true),
        ] {
            assert_eq!(agreed(origin, scorer, site), expect, "{origin:?}, {scorer}, {site}");
        }
    }
}
