//! Finds the folder of a program by its command line, and the other folders that it needs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use processes::confine::Shown;

use super::absolute;

/// Returns the folders of the suite that hold the programs of a command line, named by a path or
/// found by `PATH`.
pub(super) fn folders(line: &str, suite: &Path) -> BTreeSet<PathBuf> {
    let words = line.split(|c: char| c.is_whitespace() || "'\"=;&|()<>:,".contains(c));
    let words = words.filter(|word| !word.is_empty() && !word.starts_with('-')).map(str::to_owned);
    // `python3 -m name` names a file or a folder.
    let named = words.flat_map(|word| {
        [
            PathBuf::from(&word),
            PathBuf::from(word.replace('.', "/") + ".py"),
            word.replace('.', "/").into(),
        ]
    });
    let path = env::var_os("PATH").unwrap_or_default();
    let named = named.chain(env::split_paths(&path));
    let there =
        named.filter_map(|path| path.canonicalize().ok()).filter(|path| path.starts_with(suite));
    there
        .filter_map(
            |path| if path.is_dir() { Some(path) } else { path.parent().map(Path::to_owned) },
        )
        .collect()
}

/// Returns the parts of a folder of the suite that a program in it may see: all that the suite does
/// not name, and that is no task.
pub(super) fn shown(folder: &Path, suite: &Path, named: &[PathBuf]) -> Vec<Shown> {
    let writable = |path: PathBuf| Shown { path, writable: true };
    if folder != suite {
        return vec![writable(folder.to_owned())];
    }
    let is_task =
        |path: &Path| path.extension().is_some_and(|kind| kind == "yaml" || kind == "yml");
    let is_named = |path: &Path| named.iter().any(|named| named == path);
    let is_history = |path: &Path| path.file_name().is_some_and(|name| name == ".git");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let stays = entries.filter(|path| !is_task(path) && !is_named(path) && !is_history(path));
    stays.map(writable).collect()
}

/// Returns the folder with the libraries of a program that is in a folder `bin`, or in `shims` of a
/// version manager. A home folder, or one nearer to the root, does not count.
fn of_interpreter(program: &Path) -> Option<PathBuf> {
    let bin =
        program.parent().filter(|folder| folder.ends_with("bin") || folder.ends_with("shims"))?;
    bin.parent().filter(|above| above.components().count() > 3).map(Path::to_owned)
}

/// Returns the folders that a program reads besides the system's: its own, and those of its
/// interpreter.
pub(super) fn needs(line: &str) -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut found: BTreeSet<PathBuf> = BTreeSet::new();
    for word in line
        .split(|c: char| c.is_whitespace() || "'\";&|()".contains(c))
        .filter(|word| !word.is_empty())
    {
        let own = Path::new(word);
        if own.components().count() > 1 || own.extension().is_some() {
            let own = absolute(own);
            if let (true, Some(folder)) = (own.is_file(), own.parent()) {
                found.insert(folder.to_owned());
            }
        }
        let by_path = env::split_paths(&path).map(|folder| (folder.join(word), true));
        let programs = by_path.chain([(absolute(own), false)]);
        for (program, is_by_path) in programs.filter(|(program, _)| program.is_file()) {
            for program in [program.canonicalize().unwrap_or_default(), program] {
                // `PATH` may name any folders; that of a word with a path is in already.
                found.extend(program.parent().filter(|_| is_by_path).map(Path::to_owned));
                found.extend(of_interpreter(&program));
            }
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Files beside a program's folder are not its own.
    #[test]
    fn a_program_needs_its_own_folder_and_that_of_its_interpreter() {
        let keep = tempfile::tempdir().unwrap();
        let above = keep.path().join("projects/agents");
        for file in ["mine/agent.py", "other/notes", "venv/bin/python3"] {
            let path = above.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let line = format!("{0}/venv/bin/python3 {0}/mine/agent.py", above.display());
        let needs = needs(&line);
        assert!(
            needs.contains(&above.join("mine")) && needs.contains(&above.join("venv")),
            "{needs:?}"
        );
        assert!(!needs.iter().any(|path| above.starts_with(path)), "{needs:?}");
    }
}
