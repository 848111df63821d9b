//! Digests in the notations of records and indexes.

use sha1::Sha1;
use sha2::{Digest, Sha256};

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// `sha256:` and 64 lower-case hexadecimal digits.
pub fn sha256_text(digest: &[u8]) -> String {
    format!("sha256:{}", hex::encode(digest))
}

/// `sha1:` and 32 characters of base32, as in older tools.
pub fn sha1_text(digest: &[u8]) -> String {
    format!("sha1:{}", base32(digest))
}

/// Whether `text`, in any common spelling (sha1 or sha256, in base32 or hexadecimal), is the digest
/// of `bytes`. `None` for an unknown algorithm.
pub fn matches(text: &str, bytes: &[u8]) -> Option<bool> {
    let (name, value) = text.trim().split_once(':')?;
    let digest = match name.trim().to_ascii_lowercase().replace('-', "").as_str() {
        "sha1" => Sha1::digest(bytes).to_vec(),
        "sha256" => Sha256::digest(bytes).to_vec(),
        _ => return None,
    };
    Some(same(value, &digest))
}

/// Whether `value` spells `digest`.
pub fn same(value: &str, digest: &[u8]) -> bool {
    let value = value.trim().trim_end_matches('=');
    if value.len() == digest.len() * 2 {
        return value.eq_ignore_ascii_case(&sha256_text(digest)[7..]);
    }
    value.eq_ignore_ascii_case(&base32(digest))
}

fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for group in bytes.chunks(5) {
        let mut word = [0_u8; 8];
        word[3..3 + group.len()].copy_from_slice(group);
        let word = u64::from_be_bytes(word);
        for place in 0..(group.len() * 8).div_ceil(5) {
            text.push(char::from(BASE32[(word >> (35 - 5 * place) & 31) as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_digest() {
        let bytes = b"tide";
        for text in [
            sha256_text(&Sha256::digest(bytes)),
            sha1_text(&Sha1::digest(bytes)),
            sha1_text(&Sha1::digest(bytes)).to_lowercase(),
            format!("sha-256:{}", sha256_text(&Sha256::digest(bytes))[7..].to_uppercase()),
            format!("sha256:{}====", base32(&Sha256::digest(bytes))),
        ] {
            assert_eq!(matches(&text, bytes), Some(true), "{text}");
            assert_eq!(matches(&text, b"ebb"), Some(false), "{text}");
        }
        assert_eq!(base32(b"hello"), "NBSWY3DP");
        assert_eq!(matches("crc32:00", bytes), None);
    }
}
