//! The lock file `images.lock` with the digests of pulled images at their first pull. It is YAML,
//! with one `image: digest` on each line.

use std::collections::BTreeMap;
use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};

use crate::Error;

const HEAD: &str = "# The content of every pulled image, by digest. Written by `sandbox images pull`; \
`sandbox images pull --update IMAGE` accepts a change.\n";

/// The pinned digests and their file.
#[derive(Debug)]
pub struct Lock {
    path: Utf8PathBuf,
    digests: BTreeMap<String, String>,
}

impl Lock {
    /// Reads the file. A missing file pins nothing.
    ///
    /// # Errors
    /// When it cannot be read, or a line is not `image: digest`.
    pub fn open(path: &Utf8Path) -> Result<Lock, Error> {
        let malformed = |why: String| Error::Malformed { path: path.to_owned(), why };
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            other => other.map_err(Error::of_file("read", path))?,
        };
        let digests: Option<BTreeMap<String, String>> =
            serde_yaml::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        let digests = digests.unwrap_or_default();
        if let Some((image, digest)) =
            digests.iter().find(|(_, digest)| !digest.starts_with("sha256:"))
        {
            return Err(malformed(format!(
                "{image}: {digest} is no digest; it begins with sha256:"
            )));
        }
        Ok(Lock { path: path.to_owned(), digests })
    }

    /// The pinned digest of an image.
    pub fn digest(&self, image: &str) -> Option<&str> {
        self.digests.get(image).map(String::as_str)
    }

    /// All pinned images.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        self.digests.keys().map(String::as_str)
    }

    /// Pins an image and writes the file atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn pin(&mut self, image: &str, digest: &str) -> Result<(), Error> {
        if self.digest(image) == Some(digest) {
            return Ok(());
        }
        self.digests.insert(image.to_owned(), digest.to_owned());
        let folder = match self.path.parent() {
            Some(folder) if folder != "" => folder,
            _ => Utf8Path::new("."),
        };
        std::fs::create_dir_all(folder).map_err(Error::of_file("create", folder))?;
        let body = serde_yaml::to_string(&self.digests).expect("a map of strings is YAML");
        // Temporary files are the owner's alone, but this one is for others to read.
        let mut readable = tempfile::Builder::new();
        readable.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut part =
            readable.tempfile_in(folder).map_err(Error::of_file("create a file in", folder))?;
        part.write_all(format!("{HEAD}{body}").as_bytes())
            .and_then(|()| part.as_file().sync_all())
            .and_then(|()| part.persist(&self.path).map_err(|error| error.error))
            .map_err(Error::of_file("write", &self.path))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pinned_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().join("sites/images.lock")).unwrap();
        let mut lock = Lock::open(&path).unwrap();
        assert_eq!(lock.images().count(), 0);
        lock.pin("127.0.0.1:5000/b:1", "sha256:bb").unwrap();
        lock.pin("a:1", "sha256:aa").unwrap();
        let lock = Lock::open(&path).unwrap();
        assert_eq!(lock.digest("127.0.0.1:5000/b:1"), Some("sha256:bb"));
        assert_eq!(lock.images().collect::<Vec<_>>(), ["127.0.0.1:5000/b:1", "a:1"]);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("\n127.0.0.1:5000/b:1: sha256:bb\na:1: sha256:aa\n"), "{text}");
    }

    #[test]
    fn a_line_that_is_no_digest_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().join("images.lock")).unwrap();
        std::fs::write(&path, "a:1: latest\n").unwrap();
        let error = Lock::open(&path).unwrap_err().to_string();
        assert!(
            error.ends_with("images.lock: a:1: latest is no digest; it begins with sha256:"),
            "{error}"
        );
        std::fs::write(&path, "- a\n").unwrap();
        assert!(matches!(Lock::open(&path), Err(Error::Malformed { .. })));
    }
}
