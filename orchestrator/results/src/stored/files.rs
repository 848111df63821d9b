//! Safe access to files of a run's folder. The run may come from somebody else, so links are never
//! followed.
//!
//! Only regular files are read, so that a page never shows other files of the machine and a FIFO
//! never blocks. Writing creates a new file, which replaces a link of the same name.

use std::fs::File;
use std::io::Error;
use std::os::unix::fs::OpenOptionsExt as _;

use camino::Utf8Path;

/// Opens a regular file for reading. No folder from the run's own on may be a link.
///
/// # Errors
/// When it is missing, behind a link, or not regular.
pub fn open(path: &Utf8Path) -> Result<File, Error> {
    let (folder, name) = in_run(path);
    ::files::below::file(folder, name)
}

/// The folder that the user has named, and the path below it, which somebody else may have made: a
/// file of an episode is below `episodes`.
fn in_run(path: &Utf8Path) -> (&Utf8Path, &str) {
    let above = path.ancestors().skip(1).take(4);
    let run = above
        .filter(|folder| folder.file_name() == Some("episodes"))
        .last()
        .and_then(Utf8Path::parent);
    let folder = run.or(path.parent()).unwrap_or(Utf8Path::new(""));
    let name = path.strip_prefix(folder).map_or("", Utf8Path::as_str);
    (if folder == "" { Utf8Path::new(".") } else { folder }, name)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// As [`open`], and when it is larger.
pub fn read(path: &Utf8Path, limit: u64) -> Result<Vec<u8>, Error> {
    ::files::read_within(&open(path)?, limit)
}

/// Creates a new file with these permissions. Replaces an existing file or link of this name.
///
/// # Errors
/// When it cannot be created.
pub fn create(path: &Utf8Path, mode: u32) -> Result<File, Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => File::options().write(true).create_new(true).mode(mode).open(path),
    }
}

/// Writes a new file. Replaces an existing file or link of this name.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Utf8Path, bytes: &[u8]) -> Result<(), Error> {
    std::io::Write::write_all(&mut create(path, 0o666)?, bytes)
}

/// Whether a name in a record is a plain file name. What has a colon would be a URL of its own in a
/// page, such as `javascript:`.
pub fn is_beside(name: &str) -> bool {
    let is_odd = |c: char| matches!(c, '/' | '\\' | ':' | '?' | '#') || c.is_control();
    !name.is_empty() && name != "." && name != ".." && !name.contains(is_odd)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use camino::Utf8PathBuf;

    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        (folder, path)
    }

    #[test]
    fn a_link_is_neither_read_nor_written_through() {
        let (_kept, path) = folder();
        let (outside, link) = (path.join("outside"), path.join("link"));
        std::fs::write(&outside, "theirs").unwrap();
        symlink(&outside, &link).unwrap();
        assert!(open(&link).is_err());
        write(&link, b"ours").unwrap();
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "theirs");
        assert_eq!(read(&link, 4).unwrap(), b"ours");
        assert!(read(&link, 3).unwrap_err().to_string().contains("larger than 3 bytes"));
    }

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let (_kept, path) = folder();
        let fifo = path.join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            fifo.as_std_path(),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        assert!(open(&fifo).unwrap_err().to_string().contains("no regular file"));
        assert!(open(&path).unwrap_err().to_string().contains("no regular file"));
    }

    #[test]
    fn no_folder_of_the_run_may_be_a_link() {
        let (_kept, path) = folder();
        let (run, outside) = (path.join("run"), path.join("outside"));
        for folder in [run.join("episodes/one"), outside.join("downloads")] {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("file"), "x").unwrap();
        }
        symlink(&outside, run.join("episodes/two")).unwrap();
        symlink(&run, path.join("named")).unwrap();
        assert!(open(&run.join("episodes/one/file")).is_ok());
        assert!(open(&path.join("named/episodes/one/file")).is_ok(), "the user named it");
        assert!(open(&run.join("episodes/two/downloads/file")).is_err());
        symlink(run.join("episodes"), outside.join("episodes")).unwrap();
        assert!(open(&outside.join("episodes/one/file")).is_err());
    }

    #[test]
    fn a_name_with_a_path_in_it_is_not_beside() {
        assert!(is_beside("step-01.png"));
        assert!(
            ![
                "",
                ".",
                "..",
                "../step",
                "/etc/passwd",
                "a/b",
                "javascript:alert(1)",
                "x\ny",
                "\\\\host"
            ]
            .into_iter()
            .any(is_beside)
        );
    }
}
