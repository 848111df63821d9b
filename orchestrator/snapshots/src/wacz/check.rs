//! Compares the files of a WACZ with its description of them.

use std::collections::HashSet;
use std::io::Read;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::package::{Entry, Package};
use crate::Error;
use crate::warc::{same_digest, sha256_text};

/// The result of checking one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileCheck {
    /// Its path in the container.
    pub path: String,
    /// What was found.
    pub state: FileState,
}

/// How a file relates to its description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    /// The digest matches.
    Good,
    /// The digest differs.
    Changed,
    /// The file is in the description but not in the container.
    Missing,
    /// The file is in the container but not in the description.
    Unlisted,
    /// The description has no supported digest for it.
    Unchecked,
}

impl FileCheck {
    /// Whether no difference was found.
    pub fn is_good(&self) -> bool {
        self.state == FileState::Good
    }
}

impl Package {
    /// Reads every file and compares it with `datapackage.json`. Compares that file with
    /// `datapackage-digest.json`, if there is one.
    pub fn check(&self) -> Result<Vec<FileCheck>, Error> {
        let description = self.description()?.unwrap_or(Value::Null);
        let mut checks = Vec::new();
        let mut described = HashSet::new();
        for resource in description["resources"].as_array().into_iter().flatten() {
            let path = resource["path"].as_str().unwrap_or_default();
            described.insert(path);
            let state = match (self.entry(path), stated_digest(resource)) {
                (None, _) => FileState::Missing,
                (Some(_), None) => FileState::Unchecked,
                (Some(entry), Some(digest)) => self.compare(entry, &digest)?,
            };
            checks.push(FileCheck { path: path.to_owned(), state });
        }
        if let Some(digest) = self.digest_file()? {
            let entry = self.entry("datapackage.json");
            let stated = digest["hash"].as_str();
            let state = match (entry, stated) {
                (None, _) => FileState::Missing,
                (Some(_), None) => FileState::Unchecked,
                (Some(entry), Some(stated)) => self.compare(entry, stated)?,
            };
            checks.push(FileCheck { path: "datapackage.json".to_owned(), state });
        }
        let about = ["datapackage.json", "datapackage-digest.json"];
        let unlisted = self.entries().iter().map(|entry| entry.name.as_str());
        for path in unlisted.filter(|name| !about.contains(name) && !described.contains(name)) {
            checks.push(FileCheck { path: path.to_owned(), state: FileState::Unlisted });
        }
        Ok(checks)
    }

    /// `datapackage-digest.json`, if there is one.
    pub fn digest_file(&self) -> Result<Option<Value>, Error> {
        self.json("datapackage-digest.json")
    }

    fn compare(&self, entry: &Entry, stated: &str) -> Result<FileState, Error> {
        let Some((algorithm, value)) = stated.split_once(':') else {
            return Ok(FileState::Unchecked);
        };
        if !algorithm.eq_ignore_ascii_case("sha256") {
            return Ok(FileState::Unchecked);
        }
        let digest = self.sha256(entry)?;
        Ok(if same_digest(value, &digest) { FileState::Good } else { FileState::Changed })
    }

    /// The sha256 of the content of an entry.
    pub fn sha256(&self, entry: &Entry) -> Result<[u8; 32], Error> {
        let mut reader = self.reader(entry);
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 256 << 10];
        loop {
            let got = reader.read(&mut buffer).map_err(|e| self.broken(&entry.name, &e))?;
            if got == 0 {
                return Ok(hasher.finalize().into());
            }
            hasher.update(&buffer[..got]);
        }
    }

    /// `sha256:<hex>` of `datapackage.json`, which identifies the content of the snapshot; `None`
    /// if there is none.
    pub fn digest(&self) -> Result<Option<String>, Error> {
        self.entry("datapackage.json")
            .map(|entry| self.sha256(entry).map(|d| sha256_text(&d)))
            .transpose()
    }
}

/// The digest of a resource: `hash` with its algorithm, or the form of version 1.0.
fn stated_digest(resource: &Value) -> Option<String> {
    if let Some(hash) = resource["hash"].as_str() {
        return Some(if hash.contains(':') { hash.to_owned() } else { format!("md5:{hash}") });
    }
    let (name, value) = (resource["hashing"].as_str()?, resource["stats"]["hash"].as_str()?);
    Some(format!("{name}:{value}"))
}
