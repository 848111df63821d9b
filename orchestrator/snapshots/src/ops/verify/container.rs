//! Checks the files of the container against `datapackage.json`, and that file against its digest.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use serde_json::Value;

use super::{Error, Findings, Flaw};
use crate::ops::digest::{self, Check, DigestComparison};
use crate::ops::signature::SignatureKind;
use crate::wacz::{Entry, Package};

const DESCRIPTION: &str = "datapackage.json";
const DIGEST: &str = "datapackage-digest.json";

pub(super) fn check(package: &Package, findings: &mut Findings) -> Result<(), Error> {
    let mut names = HashSet::new();
    for entry in package.entries() {
        if !names.insert(entry.name.as_str()) {
            findings.error(Flaw::Twice, &entry.name, "the container holds two files of this name");
        }
        // Players read records by their offsets in the file.
        let must_be_stored = entry.name.starts_with("archive/") || entry.name.ends_with(".gz");
        if must_be_stored && !entry.stored {
            findings.error(
                Flaw::Deflated,
                &entry.name,
                "it is deflated and must be stored as it is",
            );
        }
    }
    let description = match package.description() {
        Ok(Some(description)) => description,
        Ok(None) => {
            findings.error(Flaw::Description, DESCRIPTION, "it is not there");
            return Ok(());
        }
        Err(error) => {
            findings.error(Flaw::Description, DESCRIPTION, error.to_string());
            return Ok(());
        }
    };
    fields(&description, findings);
    let first_version = description.get("wacz_version").and_then(Value::as_str) == Some("1.0.0");
    signature(first_version, findings);
    let listed = resources(&description, findings);
    for entry in package.entries() {
        match listed.get(entry.name.as_str()) {
            Some(resource) => file(package, entry, resource, findings)?,
            // Neither the list nor its digest can list itself.
            None if entry.name == DESCRIPTION || entry.name == DIGEST => {}
            None => findings.error(
                Flaw::NotListed,
                &entry.name,
                "it is not among the resources of datapackage.json",
            ),
        }
    }
    for path in listed.keys().filter(|path| !names.contains(*path)) {
        findings.error(
            Flaw::Missing,
            *path,
            "datapackage.json lists it, the container does not hold it",
        );
    }
    if !package.entries().iter().any(|entry| entry.name == "pages/pages.jsonl") {
        findings.error(Flaw::Pages, "pages/pages.jsonl", "it is not there");
    }
    Ok(())
}

fn signature(first_version: bool, findings: &mut Findings) {
    let Some(signature) = findings.report.signature.clone() else { return };
    match (signature.kind, signature.digest_holds) {
        (SignatureKind::Absent, _) if first_version => {
            findings.warning(
                Flaw::DescriptionDigest,
                DIGEST,
                "it is not there, which version 1.0 allowed",
            );
        }
        (SignatureKind::Absent, _) => {
            findings.error(Flaw::DescriptionDigest, DIGEST, "it is not there")
        }
        (_, Some(false)) => {
            findings.error(
                Flaw::DescriptionDigest,
                DIGEST,
                "its hash is not that of datapackage.json",
            );
        }
        (SignatureKind::Malformed, None) => {
            findings.error(Flaw::DescriptionDigest, DIGEST, "it has no hash")
        }
        (SignatureKind::Malformed, Some(true)) => {
            findings.error(
                Flaw::Signature,
                DIGEST,
                "its signedData is not that of a signature for this package",
            );
        }
        (SignatureKind::Anonymous | SignatureKind::Domain, _)
            if signature.signature_holds == Some(false) =>
        {
            findings.error(
                Flaw::Signature,
                DIGEST,
                "its signature was not made with the key it names",
            );
        }
        (SignatureKind::Anonymous | SignatureKind::Domain, _) => {
            findings.warning(
                Flaw::Signature,
                DIGEST,
                shown(signature.kind, signature.signature_holds),
            );
        }
        (SignatureKind::Unsigned, _) => {}
    }
}

/// What a signature shows, and what it only claims: anybody can write names and times into it.
fn shown(kind: SignatureKind, holds: Option<bool>) -> &'static str {
    match (holds, kind) {
        (Some(true), SignatureKind::Domain) => {
            "it shows that the holder of the certificate in it has signed this package; that the certificate is the \
             domain's, the time and the software are claims, and whether to trust the signer was not checked"
        }
        (Some(true), _) => {
            "it shows that the holder of the key in it has signed this package; who that is, the time and the \
             software are claims, and whether to trust the signer was not checked"
        }
        _ => {
            "it shows nothing: it is of a kind that cannot be computed here; the signer, the time and the software are \
             claims, and whether to trust the signer was not checked"
        }
    }
}

fn fields(description: &Value, findings: &mut Findings) {
    let text = |key: &str| description.get(key).and_then(Value::as_str);
    match text("profile") {
        Some("data-package" | "wacz") => {}
        other => {
            findings.error(Flaw::Description, DESCRIPTION, format!("its profile is {other:?}"))
        }
    }
    if text("wacz_version").is_none() && text("profile") != Some("wacz") {
        findings.error(Flaw::Description, DESCRIPTION, "it has no wacz_version");
    }
}

/// The resources by path. Invalid ones are findings.
fn resources<'a>(description: &'a Value, findings: &mut Findings) -> HashMap<&'a str, &'a Value> {
    let mut listed = HashMap::new();
    let Some(resources) = description.get("resources").and_then(Value::as_array) else {
        findings.error(Flaw::Description, DESCRIPTION, "it has no resources");
        return listed;
    };
    for resource in resources {
        match resource.get("path").and_then(Value::as_str) {
            Some(path) => {
                if listed.insert(path, resource).is_some() {
                    findings.error(Flaw::Twice, path, "datapackage.json lists it twice");
                }
            }
            None => findings.error(
                Flaw::Description,
                DESCRIPTION,
                format!("a resource has no path: {resource}"),
            ),
        }
    }
    listed
}

fn file(
    package: &Package,
    entry: &Entry,
    resource: &Value,
    findings: &mut Findings,
) -> Result<(), Error> {
    findings.report.files += 1;
    let name = entry.name.rsplit('/').next().unwrap_or_default();
    match resource.get("name").and_then(Value::as_str) {
        Some(said) if said.eq_ignore_ascii_case(name) => {}
        None => {}
        Some(other) => findings.warning(
            Flaw::Description,
            &entry.name,
            format!("its name is listed as {other:?}"),
        ),
    }
    // Version 1.0 has hash and size in `stats`, and the algorithm beside them.
    let stats = resource.get("stats").unwrap_or(resource);
    let hash = stats.get("hash").and_then(Value::as_str).unwrap_or_default();
    let said = match resource.get("hashing").and_then(Value::as_str) {
        Some(algorithm) if !hash.contains(':') => format!("{algorithm}:{hash}"),
        _ => hash.to_owned(),
    };
    let mut check = Check::new(&said);
    // Never more than the directory declares, so that a zip bomb is bounded by its declared size.
    let read =
        digest::run(package.reader(entry).take(entry.size.saturating_add(1)), &mut [&mut check]);
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(error) => {
            findings.error(Flaw::Damaged, &entry.name, format!("it cannot be read: {error}"));
            return Ok(());
        }
    };
    if bytes != entry.size {
        findings.error(
            Flaw::FileSize,
            &entry.name,
            format!("the container says {} bytes, {bytes} were read", entry.size),
        );
    }
    match stats.get("bytes").and_then(Value::as_u64) {
        Some(listed) if listed == bytes => {}
        Some(listed) => {
            findings.error(
                Flaw::FileSize,
                &entry.name,
                format!("datapackage.json says {listed} bytes, it has {bytes}"),
            );
        }
        None => findings.error(
            Flaw::Description,
            &entry.name,
            "datapackage.json does not say how many bytes it has",
        ),
    }
    match check.compare() {
        DigestComparison::Equal => {}
        DigestComparison::Differs(is) => {
            findings.error(
                Flaw::FileDigest,
                &entry.name,
                format!("datapackage.json says {said}, it is {is}"),
            );
        }
        DigestComparison::Unknown => {
            findings.error(Flaw::UnknownDigest, &entry.name, format!("its hash is {said:?}"))
        }
    }
    Ok(())
}
