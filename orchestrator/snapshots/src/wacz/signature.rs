//! Checks whether the signature of a WACZ was made with the key that it names.
//!
//! By the signing specification, the text of a package's digest is signed with ECDSA over SHA-256,
//! with a bare key or with that of a certificate. Only this is checked. Whether a certificate can
//! be trusted, and whether its time stamp is valid, is not checked.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA256_ASN1, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::Value;

/// The curves that the specification allows: their names in a key, and the length of a number on
/// them.
const CURVES: [(&[u8], usize, &dyn VerificationAlgorithm); 2] = [
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07], 32, &ECDSA_P256_SHA256_ASN1),
    (&[0x2b, 0x81, 0x04, 0x00, 0x22], 48, &ECDSA_P384_SHA256_ASN1),
];

/// Whether the `signature` of a `signedData` object matches its `hash` and its `publicKey` or
/// `domainCert`. `None` if that cannot be computed: no signature, no such key, or another kind of
/// key.
pub fn signature_holds(signed: &Value) -> Option<bool> {
    let text = |name: &str| signed.get(name).and_then(Value::as_str);
    let (hash, signature) = (text("hash")?, STANDARD.decode(text("signature")?.trim()).ok()?);
    let key = match (text("publicKey"), text("domainCert")) {
        (Some(key), None) => STANDARD.decode(key.trim()).ok()?,
        (None, Some(pem)) => key_of_certificate(&first_of_pem(pem)?)?.to_vec(),
        _ => return None,
    };
    let (size, algorithm, point) = point_of(&key)?;
    // Browsers write the two numbers of a signature bare, other programs as ASN.1.
    let signature = if signature.len() == 2 * size { to_asn1(&signature, size) } else { signature };
    Some(UnparsedPublicKey::new(algorithm, point).verify(hash.as_bytes(), &signature).is_ok())
}

/// The point of a `SubjectPublicKeyInfo`, and its curve.
fn point_of(key: &[u8]) -> Option<(usize, &'static dyn VerificationAlgorithm, &[u8])> {
    let (_, info, _) = element(key)?;
    let (_, algorithm, rest) = element(info)?;
    let (_, _kind, curve) = element(algorithm)?;
    let (_, curve, _) = element(curve)?;
    let (_, bits, _) = element(rest)?;
    let (_, size, algorithm) = *CURVES.iter().find(|(name, ..)| *name == curve)?;
    Some((size, algorithm, bits.strip_prefix(&[0])?))
}

/// The `SubjectPublicKeyInfo` of an X.509 certificate.
fn key_of_certificate(certificate: &[u8]) -> Option<&[u8]> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut rest, _) = element(certificate)?;
    if element(rest)?.0 == 0xa0 {
        rest = element(rest)?.2; // the version
    }
    for _field in ["serial number", "algorithm", "issuer", "validity", "subject"] {
        rest = element(rest)?.2;
    }
    let behind = element(rest)?.2;
    Some(&rest[..rest.len() - behind.len()])
}

fn first_of_pem(pem: &str) -> Option<Vec<u8>> {
    let (_, rest) = pem.split_once("-----BEGIN CERTIFICATE-----")?;
    let (body, _) = rest.split_once("-----END CERTIFICATE-----")?;
    STANDARD.decode(body.split_ascii_whitespace().collect::<String>()).ok()
}

/// The first ASN.1 element: its tag, its content, and the bytes after it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, short], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = match short {
        0..=0x7f => (usize::from(short), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(short & 0x0f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, behind) = rest.split_at_checked(length)?;
    Some((tag, content, behind))
}

fn to_asn1(numbers: &[u8], size: usize) -> Vec<u8> {
    let mut content = Vec::with_capacity(2 * size + 8);
    for number in numbers.chunks(size) {
        let zeros = number.iter().take_while(|b| **b == 0).count().min(size - 1);
        let number = &number[zeros..];
        let sign = usize::from(number[0] & 0x80 != 0);
        content.extend_from_slice(&[0x02, (number.len() + sign) as u8]);
        content.extend_from_slice(&[0][..sign]);
        content.extend_from_slice(number);
    }
    // Two numbers of at most 49 bytes: the length fits into seven bits.
    [&[0x30, content.len() as u8], content.as_slice()].concat()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const HASH: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000007";
    const KEY_256: &str = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1PhNEL0VdErux3Bq6OhMLRqZj+LCUx62abpRrkuoK/nuIPRpMHLKTbhCzTvD5v9N55Z8i7ZdjBfZ7036QKOxUA==";
    const SIGNATURE_256: &str = "MEYCIQDwwb/U1viHYCMlZBwQEhQgiMWsGBAPbI2BHGg1bHc+qwIhAPEHa2iIgnk7LIYkLtIdlqdykPZZ2j0eyzqpzGwFfCiP";
    const KEY_384: &str = "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE1NT3nJiwSbKOaLouR+L9yZB7GCLe4nS+6BkDPQ4FFXuQ3pBdHULtASJzP5LvbY0FKRYEQ9cPfGwRClfnEylhHj89w561jPuE9tmfWabcayoRlGeo+HEzvHB6AU/yLQjy";
    const SIGNATURE_384: &str = "MGYCMQCHnx0q/CyHjpKRixDwlxLaf15s2LAEXQnaaVC2eKp1py1ryGyWh4JAr2cc5iNcejcCMQDIi8nMuCsEyGOzr4437adXE35gjTfrVa2RDP+9SRqwjBZRHiFE4TieZ/LUUsHVvKQ=";
    /// Of the first key.
    const CERTIFICATE: &str = "MIIBhDCCASugAwIBAgIUKs3aZT7nw/vD2pFmD+a6wy75xQQwCgYIKoZIzj0EAwIwFzEVMBMGA1UEAwwMaGFyYm91ci50ZXN0MCAXDTI2MTEyMDIxMjEwOFoYDzIxMjYxMDI3MjEyMTA4WjAXMRUwEwYDVQQDDAxoYXJib3VyLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATU+E0QvRV0Su7HcGro6EwtGpmP4sJTHrZpulGuS6gr+e4g9GkwcspNuELNO8Pm/03nlnyLtl2MF9nvTfpAo7FQo1MwUTAdBgNVHQ4EFgQU885mnAj5sNTdI0d7+c5zYoRqMkswHwYDVR0jBBgwFoAU885mnAj5sNTdI0d7+c5zYoRqMkswDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiB0ZLiUE4SKnftQLZCJ0OO/YkBxWX9N2Jzyo4iNEI0sjAIgO8U/i6N3k8/DZQnIoZVeJL0dZHduyTCHtwu95rr+JE0=";

    fn bare(asn1: &str, size: usize) -> String {
        let bytes = STANDARD.decode(asn1).unwrap();
        let (_, content, _) = element(&bytes).unwrap();
        let (_, r, rest) = element(content).unwrap();
        let (_, s, _) = element(rest).unwrap();
        let mut out = Vec::new();
        for number in [r, s] {
            let number = &number[number.len().saturating_sub(size)..];
            out.extend(std::iter::repeat_n(0, size - number.len()));
            out.extend_from_slice(number);
        }
        STANDARD.encode(out)
    }

    #[test]
    fn both_curves_and_both_spellings() {
        for (key, signature, size) in [(KEY_256, SIGNATURE_256, 32), (KEY_384, SIGNATURE_384, 48)] {
            for signature in [signature.to_owned(), bare(signature, size)] {
                let holds = |hash: &str, key: &str| {
                    signature_holds(
                        &json!({"hash": hash, "signature": signature, "publicKey": key}),
                    )
                };
                assert_eq!(holds(HASH, key), Some(true));
                assert_eq!(holds(&HASH.replace('7', "8"), key), Some(false));
                let other = if key == KEY_256 { KEY_384 } else { KEY_256 };
                assert_eq!(holds(HASH, other), Some(false));
                assert_eq!(holds(HASH, "AAAA"), None);
            }
        }
        let pem =
            format!("-----BEGIN CERTIFICATE-----\n{CERTIFICATE}\n-----END CERTIFICATE-----\n");
        let mut signed = json!({"hash": HASH, "signature": SIGNATURE_256, "domain": "harbour.test", "domainCert": pem});
        assert_eq!(signature_holds(&signed), Some(true));
        signed["signature"] = SIGNATURE_384.into();
        assert_eq!(signature_holds(&signed), Some(false));
        assert_eq!(signature_holds(&json!({"hash": HASH})), None);
    }

    proptest! {
        #[test]
        fn any_key_and_signature_are_judged(
            key in proptest::collection::vec(any::<u8>(), 0..120),
            signature in proptest::collection::vec(any::<u8>(), 0..100),
            at in 0_usize..91,
        ) {
            let mut near = STANDARD.decode(KEY_256).unwrap();
            near[at] = near[at].wrapping_add(1);
            for key in [key, near] {
                let (key, signature) = (STANDARD.encode(key), STANDARD.encode(&signature));
                let pem = format!("-----BEGIN CERTIFICATE-----{key}-----END CERTIFICATE-----");
                let _ = signature_holds(&json!({"hash": HASH, "signature": signature, "publicKey": key}));
                let _ = signature_holds(&json!({"hash": HASH, "signature": signature, "domainCert": pem}));
            }
        }
    }
}
