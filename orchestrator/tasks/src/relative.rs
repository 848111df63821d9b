//! Paths in the files of a suite.

use camino::{Utf8Path, Utf8PathBuf};
use object_files::is_address;

/// A path as it is written in a file of `folder`: from there, unless the two have nothing but the
/// root in common. An address stays what it is. What does not exist is taken by its name.
pub fn relative(path: &Utf8Path, folder: &Utf8Path) -> Utf8PathBuf {
    if is_address(path) {
        return path.to_owned();
    }
    let (path, folder) = (whole(path), whole(folder));
    let common = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    if common <= 1 {
        return path;
    }
    let up = folder.components().skip(common).map(|_| "..");
    up.chain(path.components().skip(common).map(|part| part.as_str())).collect()
}

/// The path from the root, as far as it exists.
fn whole(path: &Utf8Path) -> Utf8PathBuf {
    let parent =
        path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let above = || Some(parent.canonicalize_utf8().ok()?.join(path.file_name()?));
    path.canonicalize_utf8().ok().or_else(above).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_the_suite_to_what_lies_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::create_dir_all(folder.join("webs")).unwrap();
        std::fs::write(folder.join("webs/a.wacz"), "").unwrap();
        // The folder of the suite is still to be made.
        assert_eq!(relative(&folder.join("webs/a.wacz"), &folder.join("suite")), "../webs/a.wacz");
        assert_eq!(
            relative(Utf8Path::new("/proc/version"), &folder.join("suite")),
            "/proc/version"
        );
        assert_eq!(relative(Utf8Path::new("s3://b/a.wacz"), folder), "s3://b/a.wacz");
    }
}
