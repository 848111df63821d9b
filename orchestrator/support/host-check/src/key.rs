//! The keys of servers. A server's own key is in the address that its command prints; it is derived
//! from a secret in a file that only its owner can read, so that the address stays the same.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use camino::{Utf8Path, Utf8PathBuf};
use rand::Rng as _;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

/// The file of a key cannot be read or made.
#[derive(Debug, thiserror::Error)]
#[error("use the key in {path}: {why}")]
pub struct KeyError {
    /// The file.
    pub path: Utf8PathBuf,
    /// Why.
    pub why: String,
}

/// The key of one server, which is the first part of the path of its address.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key that nobody has had before.
    pub fn random() -> Key {
        let mut bytes = [0; 16];
        rand::rng().fill_bytes(&mut bytes);
        Key(hex::encode(bytes))
    }

    /// The key for one purpose of whoever knows a secret. It does not tell the secret.
    pub fn derived(secret: &str, purpose: &str) -> Key {
        let digest = Sha256::digest(format!("{purpose}\n{secret}"));
        Key(hex::encode(&digest[..16]))
    }

    /// As [`Key::derived`], by the secret in a file, which is made if it does not exist.
    ///
    /// # Errors
    /// When the file cannot be read or made, or others can read it.
    pub fn of_file(path: &Utf8Path, purpose: &str) -> Result<Key, KeyError> {
        open(path).map(|secret| Key::derived(&secret, purpose))
    }

    /// Its letters and digits.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Most bytes that a key has.
const LONGEST: u64 = 1024;

/// The secret in the file. A file that does not exist is made, with a new one.
///
/// # Errors
/// When the file cannot be read or made, or others can read it.
pub fn open(path: &Utf8Path) -> Result<String, KeyError> {
    match make(path) {
        Ok(key) => Ok(key),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read(path),
        Err(error) => Err(failed(path, error.to_string())),
    }
}

/// Writes the file beside its place, so that nobody reads a part of it.
fn make(path: &Utf8Path) -> std::io::Result<String> {
    let folder =
        path.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Its mode is 0600.
    let mut file = NamedTempFile::new_in(folder)?;
    let mut bytes = [0; 32];
    rand::rng().fill_bytes(&mut bytes);
    let key = hex::encode(bytes);
    file.write_all(format!("{key}\n").as_bytes())?;
    file.persist_noclobber(path)?;
    Ok(key)
}

/// The secret in a file that exists.
///
/// # Errors
/// When the file cannot be read, has no key, or can be read by others.
pub fn read(path: &Utf8Path) -> Result<String, KeyError> {
    let read = || {
        let mut file = File::open(path)?;
        let mode = file.metadata()?.permissions().mode();
        let mut key = String::new();
        (&mut file).take(LONGEST).read_to_string(&mut key)?;
        Ok((mode, key.trim().to_owned()))
    };
    let (mode, key) = read().map_err(|error: std::io::Error| failed(path, error.to_string()))?;
    if mode & 0o077 != 0 {
        return Err(failed(path, format!("others can read it; `chmod 600 {path}`")));
    }
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let why = "it is not one line of letters and digits; remove it, and the next start makes a new one";
        return Err(failed(path, why.to_owned()));
    }
    Ok(key)
}

/// Whether two keys are the same, in a time that does not depend on where they differ.
pub fn same(one: &str, other: &str) -> bool {
    let differs = one.bytes().zip(other.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    one.len() == other.len() && differs == 0
}

fn failed(path: &Utf8Path, why: String) -> KeyError {
    KeyError { path: path.to_owned(), why }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("data/front.key");
        let keys: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&path).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let key = keys[0].clone();
        assert!(keys.iter().all(|one| *one == key), "whoever opens it has the whole key");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(key.len() == 64 && open(&path).unwrap() == key && read(&path).unwrap() == key);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("chmod 600"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, " \n").unwrap();
        assert!(open(&path).unwrap_err().to_string().contains("remove it"));
        assert!(read(&path.with_extension("none")).is_err());
    }

    #[test]
    fn a_server_has_the_same_key_at_every_start_and_no_other_server_has_it() {
        let key = Key::derived("secret", "gym");
        assert_eq!(key, Key::derived("secret", "gym"));
        assert!(key != Key::derived("secret", "front") && key != Key::derived("other", "gym"));
        assert!(key.text().len() == 32 && Key::random() != Key::random());
        assert!(!format!("{key:?}").contains(key.text()));
    }

    #[test]
    fn keys_are_the_same_in_all_their_bytes() {
        assert!(same("abc", "abc"));
        assert!(!same("abc", "abd") && !same("abc", "ab") && !same("", "a"));
    }
}
