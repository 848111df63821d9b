//! `rules`: reads and replaces a snapshot's rules about volatile request parts.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use serde_json::{Map, Value};

use super::output::Output;
use super::{Error, OnProgress};
use crate::matching::ChangingParts;
use crate::wacz::{ContainerWriter, Description, RULES_NAME};
use crate::{Archive, Timestamp};

/// The files that describe the others; they are regenerated.
const DESCRIPTIONS: [&str; 2] = ["datapackage.json", "datapackage-digest.json"];

/// The result of setting rules.
#[derive(Debug, Clone, Serialize)]
pub struct RulesSet {
    /// The new snapshot.
    pub path: Utf8PathBuf,
    /// `sha256:<hex>` of its description, which identifies its content.
    pub digest: String,
    /// The new number of rules.
    pub rules: usize,
}

/// The rules of `input` about volatile request parts.
///
/// # Errors
/// It cannot be opened, or its rules cannot be read.
pub fn rules(input: &Utf8Path) -> Result<ChangingParts, Error> {
    Ok(Archive::open(input)?.changing_parts()?.unwrap_or_default())
}

/// Writes a copy of `input` with other rules to `out`. Everything else stays the same, except a
/// signature: it is dropped, because it applies to the old description.
///
/// # Errors
/// `out` exists, or `input` is not a WACZ or cannot be read.
pub fn set_rules(
    input: &Utf8Path,
    rules: &ChangingParts,
    out: &Utf8Path,
    progress: OnProgress<'_>,
) -> Result<RulesSet, Error> {
    let archive = Archive::open(input)?;
    let Some(package) = archive.package() else {
        return Err(Error::NoPackage { path: input.to_owned() });
    };
    let output = Output::create(out)?;
    let mut writer = ContainerWriter::create(output.path())?;
    let kept = |name: &str| name != RULES_NAME && !DESCRIPTIONS.contains(&name);
    let total = package.entries().iter().map(|entry| entry.size).sum();
    let mut done = 0;
    for entry in package.entries().iter().filter(|entry| kept(&entry.name)) {
        writer.start(&entry.name, entry.stored)?;
        io::copy(&mut package.reader(entry), &mut writer)
            .map_err(|error| Error::io("copy", input, error))?;
        done += entry.size;
        progress(crate::Progress { done, total });
    }
    let digest = writer.finish(&description(package.description()?, rules.clone()))?;
    output.keep()?;
    Ok(RulesSet { path: out.to_owned(), digest, rules: rules.len() })
}

/// The new description: the old one, without the parts that are regenerated.
fn description(old: Option<Value>, rules: ChangingParts) -> Description {
    const ANEW: [&str; 5] = ["profile", "resources", "wacz_version", "software", "created"];
    let mut extra: Map<String, Value> =
        old.and_then(|old| old.as_object().cloned()).unwrap_or_default();
    let created =
        extra.get("created").and_then(Value::as_str).and_then(|at| Timestamp::parse(at).ok());
    ANEW.iter().for_each(|key| drop(extra.remove(*key)));
    Description { rules, created, extra, ..Description::default() }
}
