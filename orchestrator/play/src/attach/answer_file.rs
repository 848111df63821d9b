//! The file in which a program of attach mode leaves its answer.

/// The most bytes of an answer.
const LONGEST: u64 = 1 << 20;

/// Reads the answer that a program has left in its file, if there is one. A link is refused: it
/// would make us read a file that the program may not read.
pub(super) fn read(path: &str) -> Result<Option<String>, String> {
    let read = files::unlinked(path.into()).and_then(|file| files::read_within(&file, LONGEST));
    match read {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("failed to read the answer in {path}: {error}")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn nothing_else_is_read_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        assert_eq!(read(&at("answer")), Ok(None));
        std::fs::write(at("answer"), "42").unwrap();
        assert_eq!(read(&at("answer")).as_ref().map(Option::as_deref), Ok(Some("42")));
        std::os::unix::fs::symlink(at("answer"), at("link")).unwrap();
        std::fs::write(at("long"), vec![b'x'; 1 << 21]).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        for name in ["link", "long", "folder", "pipe"] {
            assert!(read(&at(name)).is_err(), "{name}");
        }
    }
}
