//! Lists the files that programs must not see: the solutions of a suite, and the results of runs.
//!
//! The list comes from the suite's own keys and from the folders in which runs usually are. It is
//! made once a run, before the first program starts.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use scoring::Requirement;
use snapshots::is_address;
use tasks::Suite;

use super::absolute;
use crate::Options;

/// Files of a run's folder.
const OF_RUN: [&str; 5] = ["run.json", "inputs.json", "report.html", "trace.html", "mirror.json"];
/// The default folder of runs.
const RUNS: &str = "runs";
/// The extension of packed runs.
const PACKED: &str = ".tar.zst";

/// The files of a suite that programs must not see, wherever they are.
#[derive(Debug)]
pub(super) struct Secrets {
    /// The suite's folder.
    pub(super) suite: PathBuf,
    /// The files that the suite names, in its folder or elsewhere: snapshots, sites, stored states,
    /// programs of scorers and the files that they are given.
    pub(super) named: Vec<PathBuf>,
    /// The user's data, repositories, and this executable.
    pub(super) elsewhere: Vec<PathBuf>,
    /// The files that pages may be given.
    pub(super) visible: Vec<PathBuf>,
}

impl Secrets {
    pub(super) fn of(suite: &Suite, options: &Options, cassettes: Vec<PathBuf>) -> Secrets {
        let world = &suite.world;
        let mut named: BTreeSet<PathBuf> = BTreeSet::new();
        let mut name = |path: &Utf8Path| {
            if !is_address(path) {
                named.extend(with_target(path.as_std_path()));
            }
        };
        world
            .snapshots
            .iter()
            .chain(&world.sites)
            .chain(&world.storage_state)
            .for_each(|path| name(path));
        for task in &suite.tasks {
            task.snapshots.iter().flatten().chain(&task.storage_state).for_each(|path| name(path));
            for program in task.scorer.requirements().into_iter().filter_map(Requirement::program) {
                program.command.iter().for_each(|word| {
                    // The file of a command, such as a verifier with the answers. A word `.` is the
                    // folder itself, and other words are options or programs elsewhere.
                    let path = program.folder.join(word);
                    if path.starts_with(&program.folder) && path.exists() && path != program.folder
                    {
                        name(&path);
                    }
                });
            }
        }
        let folder =
            suite.folder.canonicalize().unwrap_or_else(|_| absolute(suite.folder.as_std_path()));
        let mut elsewhere: Vec<PathBuf> =
            options.confinement.hidden.iter().map(Into::into).collect();
        elsewhere.extend(cassettes.iter().flat_map(|path| with_target(path)));
        // The history of a repository has the suite as well.
        let repositories: BTreeSet<PathBuf> =
            named.iter().chain([&folder]).filter_map(|path| repository(path)).collect();
        elsewhere.extend(repositories);
        elsewhere.extend(options.helper.iter().flat_map(|helper| executable(helper.as_std_path())));
        let visible = world.files.iter().map(|files| absolute(files.as_std_path())).collect();
        Secrets { suite: folder, named: named.into_iter().collect(), elsewhere, visible }
    }
}

/// Returns a path, and its target if it is a link.
fn with_target(path: &Path) -> Vec<PathBuf> {
    let path = absolute(path);
    let target = path.canonicalize().ok().filter(|target| *target != path);
    target.into_iter().chain([path]).collect()
}

/// Returns the repository that holds a file: its history has the suite, too.
fn repository(path: &Path) -> Option<PathBuf> {
    let git = path.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    if git.is_dir() {
        return Some(git);
    }
    // A work tree: `gitdir: REPOSITORY/.git/worktrees/NAME`.
    let text = fs::read_to_string(&git).ok()?;
    let own = git.parent()?.join(text.trim().strip_prefix("gitdir: ")?);
    let common = fs::read_to_string(own.join("commondir"));
    common.map_or_else(|_| Some(own.clone()), |common| own.join(common.trim()).canonicalize().ok())
}

/// Returns the paths of this executable, which has the demo in it. Builds have several names for
/// it, beside it and below.
fn executable(program: &Path) -> Vec<PathBuf> {
    let mut found = with_target(program);
    let (Ok(own), Some(folder)) = (program.metadata(), program.parent()) else { return found };
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for folder in [folder.to_owned(), folder.join("deps")] {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        found.extend(entries.map(|entry| entry.path()).filter(|path| {
            // Earlier builds have other numbers in their names, and the same demo.
            let is_build = path.file_name().is_some_and(|file| {
                file.to_string_lossy().starts_with(&format!("{name}-"))
                    && path.extension().is_none()
            });
            is_build
                || path
                    .metadata()
                    .is_ok_and(|other| (other.dev(), other.ino()) == (own.dev(), own.ino()))
        }));
    }
    found
}

/// Returns the files of runs that programs must not see: of this run, and of those beside it or
/// where runs usually are.
pub(super) fn of_runs(run: &Path) -> Vec<PathBuf> {
    let run = absolute(run);
    let mut found = of_run(&run);
    let beside = run.parent().map(Path::to_owned);
    for folder in [beside, Some(absolute(Path::new(RUNS))), Some(absolute(Path::new(".")))]
        .into_iter()
        .flatten()
    {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.join("run.json").is_file() {
                found.extend(of_run(&path));
            } else if path.to_string_lossy().ends_with(PACKED) {
                found.push(path);
            }
        }
    }
    found
}

/// Returns the files of one run. Other files in its folder are not its own.
fn of_run(run: &Path) -> Vec<PathBuf> {
    let mut found = vec![run.join("episodes")];
    found.extend(OF_RUN.iter().map(|name| run.join(name)).filter(|path| path.exists()));
    found
}
