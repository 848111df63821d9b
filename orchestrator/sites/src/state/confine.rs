//! Confines work that opens files by path, such as SQLite's, while an application can replace these
//! files at any time.
//!
//! The work runs on its own thread. The kernel gives this thread access only to the files that were
//! checked before, whatever a path leads to by then (Landlock, Linux 5.13).

use std::fs::File;

use camino::Utf8Path;
use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
};

use super::StateError;
use super::dir::Dir;

/// The files that the work can access. Everything else is denied.
pub(super) struct Reach<'a> {
    /// Files that it can read.
    pub(super) read: Vec<&'a File>,
    /// Files that it can read and write.
    pub(super) write: Vec<&'a File>,
    /// The folder below which it can remove files.
    pub(super) remove: &'a Dir,
}

/// Runs work with only this access.
///
/// # Errors
/// When the kernel cannot confine it; then nothing was done.
pub(super) fn run<T: Send>(
    reach: &Reach<'_>,
    work: impl FnOnce() -> Result<T, StateError> + Send,
) -> Result<T, StateError> {
    let confined = || {
        match restrict(reach) {
            Ok(true) => {}
            Ok(false) => {
                return Err(StateError::Unconfined {
                    why: "this kernel lacks Landlock".to_owned(),
                });
            }
            Err(error) => return Err(StateError::Unconfined { why: error.to_string() }),
        }
        work()
    };
    // On a thread of its own, because the restriction cannot be lifted again.
    std::thread::scope(|scope| match scope.spawn(confined).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Checks whether the kernel can confine work to specific files.
///
/// # Errors
/// When it cannot; the error says what is missing.
pub fn available() -> Result<(), StateError> {
    let root = Dir::open(Utf8Path::new("/"))?;
    run(&Reach { read: Vec::new(), write: Vec::new(), remove: &root }, || Ok(()))
}

/// Irrevocably removes all other access from this thread. Returns whether the kernel did so.
fn restrict(reach: &Reach<'_>) -> Result<bool, RulesetError> {
    // Later kernels can deny more; the first Landlock version is enough.
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))?;
    let write = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
    let rules = reach.read.iter().map(|file| (*file, BitFlags::from(AccessFs::ReadFile)));
    let rules = rules.chain(reach.write.iter().map(|file| (*file, write)));
    let mut created = ruleset.create()?;
    for (file, access) in rules {
        created = created.add_rule(PathBeneath::new(file, access))?;
    }
    created = created.add_rule(PathBeneath::new(reach.remove.handle(), AccessFs::RemoveFile))?;
    Ok(created.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}
