//! Finds the paths of a suite that lead out of its folder.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// The folders that may be read without consent.
#[derive(Debug)]
pub(super) struct Places(Vec<Utf8PathBuf>);

impl Places {
    pub(super) fn of(folders: &[&Utf8Path]) -> Places {
        Places(folders.iter().map(|folder| full(folder)).collect())
    }

    /// The first of the folders.
    pub(super) fn first(&self) -> &Utf8Path {
        self.0.first().map_or(Utf8Path::new("."), |folder| folder)
    }

    /// Returns the full path, if it leads out of all folders: by its text, or by a link on the way.
    pub(super) fn outside(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let full = full(path);
        let is_inside = self.0.iter().any(|folder| full.starts_with(folder));
        (!is_inside).then_some(full)
    }
}

/// Returns the absolute path with links followed, as far as it exists; the rest without `.` and
/// `..`.
fn full(path: &Utf8Path) -> Utf8PathBuf {
    if let Ok(full) = path.canonicalize_utf8() {
        return full;
    }
    let mut done = match std::env::current_dir().map(Utf8PathBuf::try_from) {
        Ok(Ok(here)) if !path.is_absolute() => here,
        _ => Utf8PathBuf::from("/"),
    };
    for part in path.components() {
        match part {
            Utf8Component::ParentDir => {
                done.pop();
            }
            Utf8Component::Normal(name) => {
                done.push(name);
                // A link in the middle leads somewhere even if the end is not there.
                done = done.canonicalize_utf8().unwrap_or(done);
            }
            Utf8Component::CurDir | Utf8Component::RootDir | Utf8Component::Prefix(_) => {}
        }
    }
    done
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_way_out_of_a_folder_is_found() {
        let keep = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(keep.path()).unwrap().canonicalize_utf8().unwrap();
        let suite = root.join("suite");
        std::fs::create_dir_all(suite.join("in/deep")).unwrap();
        std::fs::create_dir_all(root.join("suite-2")).unwrap();
        std::os::unix::fs::symlink(&root, suite.join("link")).unwrap();
        std::os::unix::fs::symlink("in", suite.join("own")).unwrap();
        std::os::unix::fs::symlink(root.join("nowhere"), suite.join("dangling")).unwrap();
        let places = Places::of(&[&suite]);
        for inside in ["in", "in/../in/deep", "own/deep", "not-there/x", "./in", "own/../in"] {
            assert_eq!(places.outside(&suite.join(inside)), None, "{inside}");
        }
        for outside in [
            "..",
            "../suite-2",
            "/etc/passwd",
            "link",
            "link/x/y",
            "in/../../x",
            "link/suite-2",
            "/",
        ] {
            assert!(places.outside(&suite.join(outside)).is_some(), "{outside}");
        }
        assert_eq!(places.outside(&suite.join("link/secret")), Some(root.join("secret")));
    }
}
