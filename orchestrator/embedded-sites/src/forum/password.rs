//! Password hashes of the forum. They only keep pages and queries from showing a password, and they
//! make a log-in cheap.

use ring::{digest, hmac};

/// Hashes a password. The hash is deterministic, without random salt: the golden database must
/// always have the same bytes.
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
