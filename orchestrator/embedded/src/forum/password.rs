//! Passwords of a sandbox: hashed so that a page or a probe never shows one, cheap so that a log-in costs nothing.

use ring::{digest, hmac};

/// The same for the same person and password, always: the golden database has to be the same bytes.
pub(super) fn hash(name: &str, password: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, name.to_lowercase().as_bytes());
    hex::encode(&hmac::sign(&key, password.as_bytes()).as_ref()[..digest::SHA256_OUTPUT_LEN / 2])
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn a_hash_belongs_to_one_person() {
        assert_eq!(hash("Ada", "x"), hash("ada", "x"));
        assert_ne!(hash("ada", "x"), hash("bob", "x"));
        assert_ne!(hash("ada", "x"), hash("ada", "y"));
    }
}
