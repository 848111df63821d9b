//! Work that goes by paths, as SQLite's does, on files that an application can exchange at any
//! time.
//!
//! It is done on a thread of its own to which the kernel gives nothing but the files that were
//! looked at before, whatever a path leads to by then (Landlock, Linux 5.13).

use std::fs::File;

use camino::Utf8Path;
use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, RulesetStatus,
};

use super::StateError;
use super::dir::Dir;

/// What the work may reach. All else is refused to it.
pub(super) struct Reach<'a> {
    /// Files that it may read.
    pub(super) read: Vec<&'a File>,
    /// Files that it may read and write.
    pub(super) write: Vec<&'a File>,
    /// The folder below which it may remove files.
    pub(super) remove: &'a Dir,
}

/// Does some work within its reach.
///
/// # Errors
/// When the kernel cannot hold it there; then nothing was done.
pub(super) fn run<T: Send>(
    reach: &Reach<'_>,
    work: impl FnOnce() -> Result<T, StateError> + Send,
) -> Result<T, StateError> {
    let confined = || {
        match restrict(reach) {
            Ok(true) => {}
            Ok(false) => return Err(StateError::Unconfined { why: "this kernel lacks Landlock".to_owned() }),
            Err(error) => return Err(StateError::Unconfined { why: error.to_string() }),
        }
        work()
    };
    std::thread::scope(|scope| match scope.spawn(confined).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Whether the kernel can hold work to the files that it is about.
///
/// # Errors
/// When it cannot, with what is missing.
pub fn available() -> Result<(), StateError> {
    let root = Dir::open(Utf8Path::new("/"))?;
    run(&Reach { read: Vec::new(), write: Vec::new(), remove: &root }, || Ok(()))
}

/// Takes from this thread, for good, what is out of reach. Whether the kernel did so.
fn restrict(reach: &Reach<'_>) -> Result<bool, RulesetError> {
    // Later kernels know of more that can be refused; the first one knows enough.
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
