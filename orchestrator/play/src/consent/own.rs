//! Suites that a command has written itself, which are agreed to without a question.

use camino::Utf8Path;

use super::{Agreements, Given, NeedList, of_suite};
use crate::{Error, suites};

/// The origin of a suite that a command has written, or added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The command wrote all of it, into a folder that did not exist or was empty.
    New,
    /// The user had agreed to all of it before the command added to it.
    Agreed,
    /// The folder held something that the user has not agreed to.
    Foreign,
}

/// Stores the agreement to a suite that this program has just written, as it is now. Returns
/// whether the suite is agreed to. Programs and files elsewhere that it starts and reads are
/// somebody else's: the first who plays it is asked.
///
/// # Errors
/// When the suite or the answers cannot be read, or the answer not be kept.
pub fn agree_to_own(
    folder: &Utf8Path,
    origin: Origin,
    agreements: &Agreements,
) -> Result<bool, Error> {
    let list = list_of(folder)?;
    if list.is_empty() {
        return Ok(true);
    }
    if origin == Origin::Agreed || (origin == Origin::New && !list.starts_or_reads()) {
        agreements.add(&format!("the suite {folder}, made here"), &list)?;
        return Ok(true);
    }
    Ok(false)
}

/// Whether a suite starts and reads nothing that somebody has to agree to.
///
/// # Errors
/// When the suite cannot be read.
pub fn needs_none(folder: &Utf8Path) -> Result<bool, Error> {
    Ok(list_of(folder)?.is_empty())
}

/// Whether all that a suite does was agreed to.
///
/// # Errors
/// When the suite or the answers cannot be read.
pub fn is_agreed_to(folder: &Utf8Path, agreements: &Agreements) -> Result<bool, Error> {
    let list = list_of(folder)?;
    Ok(list.is_empty() || agreements.have(&list)?)
}

fn list_of(folder: &Utf8Path) -> Result<NeedList, Error> {
    let suite = suites::load_undated(folder)?;
    of_suite(&suite, &suite.tasks, Given::default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns whether a suite with one task is agreed to once a command has written it.
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
        let agreements = Agreements::in_file(folder.join("data/consent.json"));
        agree_to_own(&suite, origin, &agreements).unwrap();
        is_agreed_to(&suite, &agreements).unwrap()
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
