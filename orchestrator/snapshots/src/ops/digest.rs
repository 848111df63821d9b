//! Digests in the form of WARC and WACZ: `algorithm:value`, the value in base32, hex or base64.

use std::io::{self, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

/// The result of comparing a digest with the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DigestComparison {
    /// It matches.
    Equal,
    /// It does not match. The value is the actual digest, in the same spelling.
    Differs(String),
    /// The algorithm is unknown, or the text is not a digest.
    Unknown,
}

/// The state of a hash algorithm.
enum State {
    Sha1(Sha1),
    Sha256(Sha256),
    Sha512(Sha512),
}

/// Hashes bytes with the algorithm of a digest label, and compares at the end.
pub(super) struct Check {
    label: String,
    state: Option<State>,
}

impl Check {
    pub(super) fn new(label: &str) -> Check {
        let label = label.trim().to_owned();
        let name =
            label.split(':').next().unwrap_or_default().to_ascii_lowercase().replace('-', "");
        let state = match name.as_str() {
            "sha1" => Some(State::Sha1(Sha1::new())),
            "sha256" => Some(State::Sha256(Sha256::new())),
            "sha512" => Some(State::Sha512(Sha512::new())),
            _ => None,
        };
        Check { label, state }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match &mut self.state {
            Some(State::Sha1(hash)) => hash.update(bytes),
            Some(State::Sha256(hash)) => hash.update(bytes),
            Some(State::Sha512(hash)) => hash.update(bytes),
            None => {}
        }
    }

    pub(super) fn compare(self) -> DigestComparison {
        let bytes = match self.state {
            Some(State::Sha1(hash)) => hash.finalize().to_vec(),
            Some(State::Sha256(hash)) => hash.finalize().to_vec(),
            Some(State::Sha512(hash)) => hash.finalize().to_vec(),
            None => return DigestComparison::Unknown,
        };
        let (name, said) = self.label.split_once(':').unwrap_or((&self.label, ""));
        let said = said.trim();
        if said.len() == bytes.len() * 2 {
            let is = hex::encode(bytes);
            return if said.eq_ignore_ascii_case(&is) {
                DigestComparison::Equal
            } else {
                DigestComparison::Differs(format!("{name}:{is}"))
            };
        }
        // Base64 also occurs, in both alphabets.
        let plain = said.trim_end_matches('=').replace('-', "+").replace('_', "/");
        if plain == STANDARD_NO_PAD.encode(&bytes) {
            return DigestComparison::Equal;
        }
        let is = base32(&bytes);
        if said.trim_end_matches('=').eq_ignore_ascii_case(&is) {
            DigestComparison::Equal
        } else {
            DigestComparison::Differs(format!("{name}:{is}"))
        }
    }
}

/// Reads all of `input` through several checks at once. Returns the number of bytes.
pub(super) fn run(mut input: impl Read, checks: &mut [&mut Check]) -> io::Result<u64> {
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        let count = input.read(&mut buffer)?;
        if count == 0 {
            return Ok(total);
        }
        total += count as u64;
        for check in checks.iter_mut() {
            check.update(&buffer[..count]);
        }
    }
}

/// Whether two labels denote the same digest, in any spelling.
pub(super) fn same(a: &str, b: &str) -> bool {
    spelling(a) == spelling(b)
}

/// The canonical spelling of a digest. Case, padding, and a dash in the algorithm name are ignored.
pub(super) fn spelling(label: &str) -> String {
    let label = label.trim().trim_end_matches('=').to_ascii_lowercase();
    match label.split_once(':') {
        Some((name, value)) => format!("{}:{value}", name.replace('-', "")),
        None => label,
    }
}

/// Takes the sha256 of what is written to it.
#[derive(Default)]
pub(super) struct Sha256Writer(Sha256);

impl Sha256Writer {
    /// `sha256:<hex>` of everything.
    pub(super) fn finish(self) -> String {
        format!("sha256:{}", hex::encode(self.0.finalize()))
    }
}

impl io::Write for Sha256Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `sha256:<hex>` of some bytes.
pub(super) fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", hex::encode(Sha256::digest(bytes)))
}

fn base32(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut out = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for chunk in bytes.chunks(5) {
        let mut group = [0; 8];
        group[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(group);
        for index in 0..(chunk.len() * 8).div_ceil(5) {
            out.push(char::from(ALPHABET[(bits >> (35 - 5 * index)) as usize & 31]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_digest_in_two_spellings() {
        assert!(same("sha-256:AB12", "SHA256:ab12="));
        assert!(!same("sha256:ab12", "sha1:ab12"));
    }

    fn compare(label: &str, bytes: &[u8]) -> DigestComparison {
        let mut check = Check::new(label);
        check.update(bytes);
        check.compare()
    }

    #[test]
    fn spellings_met_in_archives() {
        for label in [
            "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N",
            "SHA-1:vl2mmho4yxukfwv63yhtwsbm3gxksq2n",
            "sha1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
            "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
            "sha1:qvTGHdzF6KLavt4PO0gs2a6pQ00=",
            "sha256:FTZE3OS7WCRQ4JXIHMVMLOPCTYNRMHS4D6TUEXTTAQZWFE4LTASA",
        ] {
            assert_eq!(compare(label, b"hello"), DigestComparison::Equal, "{label}");
            assert!(matches!(compare(label, b"hello!"), DigestComparison::Differs(_)), "{label}");
        }
        for label in ["", "md5:x", "x", "sha9:abc"] {
            assert_eq!(compare(label, b"hello"), DigestComparison::Unknown, "{label}");
        }
        assert!(matches!(compare("sha1:", b"hello"), DigestComparison::Differs(_)));
    }
}
