//! The list of what a corpus holds: one JSON object a line.

use std::fs;
use std::io::Write;

use anyhow::{Context, Result};
use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A URL and the body it must give.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) host: String,
    /// Path and query.
    pub(crate) target: String,
    /// Of the body, in lower-case hexadecimal; empty where any body will do.
    pub(crate) sha256: String,
    /// Of the body, in bytes.
    pub(crate) length: usize,
}

pub(crate) fn read(path: &Utf8Path) -> Result<Vec<Entry>> {
    let text = fs::read_to_string(path).with_context(|| format!("failed to read {path}"))?;
    let entries: Result<Vec<Entry>, _> = text.lines().map(serde_json::from_str).collect();
    let entries = entries.with_context(|| format!("{path} is not a manifest"))?;
    anyhow::ensure!(!entries.is_empty(), "{path} lists nothing");
    Ok(entries)
}

pub(crate) fn write_line(to: &mut impl Write, entry: &Entry) -> Result<()> {
    serde_json::to_writer(&mut *to, entry)?;
    to.write_all(b"\n").context("failed to write the manifest")
}

pub(crate) fn sha256(body: &[u8]) -> String {
    hex::encode(Sha256::digest(body))
}
