//! Reads `datapackage-digest.json`, and checks whether it matches the package.

use serde::Serialize;
use serde_json::Value;

use super::digest;
use crate::wacz::{Package, signature_holds};

/// The maximum size of a description.
const MAX: u64 = 64 << 20;

/// The state of a WACZ's signature. Digest and signature are checked. Whether the key or
/// certificate of a signature can be trusted is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Signature {
    /// Who signed, if anybody.
    pub kind: SignatureKind,
    /// Whether the stored digest matches `datapackage.json`; `None` if there is none.
    pub digest_holds: Option<bool>,
    /// Whether the signature was made with the key that it names; `None` if there is none or it
    /// cannot be computed.
    pub signature_holds: Option<bool>,
    /// The domain or key that signed.
    pub signer: Option<String>,
    /// When it was signed.
    pub created: Option<String>,
    /// The program that signed.
    pub software: Option<String>,
}

/// The kinds of signature in the WACZ signing specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureKind {
    /// There is no `datapackage-digest.json`.
    Absent,
    /// A digest without a signature.
    Unsigned,
    /// Signed with a bare key.
    Anonymous,
    /// Signed with the certificate of a domain.
    Domain,
    /// Invalid by the specification, or the signature of another package.
    Malformed,
}

/// Reads the signature of a package. An unreadable one is [`SignatureKind::Malformed`].
pub(super) fn of(package: &Package) -> Signature {
    let none = Signature {
        kind: SignatureKind::Absent,
        digest_holds: None,
        signature_holds: None,
        signer: None,
        created: None,
        software: None,
    };
    let Ok(Some(bytes)) = package.read("datapackage-digest.json", MAX) else { return none };
    let malformed = Signature { kind: SignatureKind::Malformed, ..none.clone() };
    let Ok(said) = serde_json::from_slice::<Value>(&bytes) else { return malformed };
    let Some(hash) = said.get("hash").and_then(Value::as_str) else { return malformed };
    let is = match package.read("datapackage.json", MAX) {
        Ok(Some(description)) => digest::sha256(&description),
        _ => return malformed,
    };
    let digest_holds = Some(digest::same(hash, &is));
    let Some(signed) = said.get("signedData") else {
        return Signature { kind: SignatureKind::Unsigned, digest_holds, ..none };
    };
    let text = |key: &str| signed.get(key).and_then(Value::as_str).map(str::to_owned);
    let fits =
        text("hash").is_some_and(|inner| digest::same(&inner, hash)) && text("signature").is_some();
    let kind = match (
        text("publicKey").is_some(),
        text("domain").is_some() && text("domainCert").is_some(),
    ) {
        (true, false) if fits => SignatureKind::Anonymous,
        (false, true) if fits => SignatureKind::Domain,
        _ => SignatureKind::Malformed,
    };
    Signature {
        kind,
        digest_holds,
        signature_holds: signature_holds(signed),
        signer: text("domain").or_else(|| text("publicKey")),
        created: text("created"),
        software: text("software"),
    }
}
