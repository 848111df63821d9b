//! Reads a WACZ as a container: its entries and their positions in the file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};

use camino::{Utf8Path, Utf8PathBuf};
use file_version::Version;
use flate2::bufread::DeflateDecoder;
use serde_json::Value;
use zip::{CompressionMethod, ZipArchive};

use super::PageLists;
use crate::budget::{Budget, Watched};
use crate::matching::ChangingParts;
use crate::warc::Window;
use crate::{Error, Page, Segment, Source, SourceReader};

/// The maximum size of a description (`datapackage.json` and its digest).
const MAX_DESCRIPTION: u64 = 64 << 20;
/// The maximum number of files.
const MAX_ENTRIES: usize = 1_000_000;

/// The file with the rules about volatile request parts. Other readers look for files in folders.
pub const RULES_NAME: &str = "rules/changing.yaml";
/// The maximum size of a list of rules.
pub(crate) const MAX_RULES: u64 = 4 << 20;

/// An opened WACZ.
#[derive(Debug, Clone)]
pub struct Package {
    path: Utf8PathBuf,
    source: Source,
    entries: Vec<Entry>,
    /// The first entry of each name.
    names: HashMap<String, usize>,
}

/// One file inside the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path in the container. A container with names that lead out of its folder is rejected
    /// when it is opened.
    pub name: String,
    /// Its size, as declared in the directory.
    pub size: u64,
    /// Whether its bytes are stored uncompressed.
    pub stored: bool,
    start: u64,
    packed: u64,
}

impl Package {
    pub(crate) fn open(path: &Utf8Path, source: Source) -> Result<Package, Error> {
        let broken = |reason: String| Error::Container { path: path.to_owned(), reason };
        let length = source.length().map_err(|e| Error::io("read", path, e))?;
        let mut zip = ZipArchive::new(BufReader::new(SourceReader::new(source.clone()))).map_err(|e| {
            broken(format!(
                "it is no ZIP file: {e}; `sandbox snapshot repair` makes a whole one of what is left"
            ))
        })?;
        check_zip(&mut zip).map_err(broken)?;
        let mut budget = Budget::of_extraction(length);
        let mut entries = Vec::with_capacity(zip.len());
        for index in 0..zip.len() {
            let entry = zip
                .by_index_raw(index)
                .map_err(|e| broken(format!("its entry {index} is broken: {e}")))?;
            let name = entry
                .name()
                .map_err(|e| broken(format!("the name of its entry {index} is broken: {e}")))?
                .into_owned();
            // Exports write files under these names.
            if !stays_inside(&name) {
                return Err(broken(format!(
                    "its entry {name:?} would lie outside of the container"
                )));
            }
            if entry.encrypted() {
                return Err(broken(format!(
                    "its entry {name:?} is encrypted; decrypt the file first"
                )));
            }
            let stored = match entry.compression() {
                CompressionMethod::Stored => true,
                CompressionMethod::Deflated => false,
                other => {
                    return Err(broken(format!(
                        "its entry {name:?} is compressed by {other}, which WACZ does not know"
                    )));
                }
            };
            let packed = entry.compressed_size();
            let start = entry.data_start().unwrap_or(u64::MAX);
            if start.checked_add(packed).is_none_or(|end| end > length) {
                return Err(broken(format!("its entry {name:?} is cut off")));
            }
            // A stored entry is as large as its part of the file; only others can unpack to more.
            if !stored {
                budget.take(entry.size()).map_err(|error| broken(error.to_string()))?;
            }
            if !entry.is_dir() {
                entries.push(Entry { name, size: entry.size(), stored, start, packed });
            }
        }
        drop(zip);
        let mut names = HashMap::with_capacity(entries.len());
        // The first of two entries with one name counts. `verify` reports the second.
        for (index, entry) in entries.iter().enumerate() {
            names.entry(entry.name.clone()).or_insert(index);
        }
        let package = Package { path: path.to_owned(), source, entries, names };
        package.check_version()?;
        Ok(package)
    }

    /// Refuses a WACZ of a later major version. What has no readable version is read as it is.
    fn check_version(&self) -> Result<(), Error> {
        let Ok(Some(description)) = self.description() else { return Ok(()) };
        let Some(version) = description.get("wacz_version").and_then(Value::as_str) else {
            return Ok(());
        };
        let numbers = version.split('.').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>();
        let Ok([major, minor, ..]) = numbers.as_deref() else { return Ok(()) };
        let found = Version { major: *major, minor: *minor };
        found.check(Version::FIRST).map_err(|newer| Error::Container {
            path: self.path.clone(),
            reason: newer.to_string(),
        })
    }

    /// All files in the container, in the order of its directory.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.names.get(name).map(|index| &self.entries[*index])
    }

    /// Reads an entry from its start. No more than one byte comes out beyond the size that the
    /// directory declares, which is part of the budget for the whole container.
    pub fn reader(&self, entry: &Entry) -> Box<dyn BufRead + Send> {
        let window = self.window(entry);
        if entry.stored {
            Box::new(BufReader::with_capacity(64 << 10, window))
        } else {
            let inflated =
                DeflateDecoder::new(BufReader::new(window)).take(entry.size.saturating_add(1));
            Box::new(BufReader::with_capacity(64 << 10, inflated))
        }
    }

    /// The content of the entry `name`, if it exists; an error if it exceeds `limit` bytes.
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        let Some(entry) = self.entry(name) else { return Ok(None) };
        let mut bytes = Vec::new();
        self.reader(entry)
            .take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| self.broken(name, &e))?;
        if bytes.len() as u64 > limit {
            return Err(Error::TooLarge { what: "an entry of a WACZ", limit });
        }
        Ok(Some(bytes))
    }

    /// How many bytes may come out of a compressed file in it.
    pub(crate) fn contents(&self) -> u64 {
        Budget::of_contents(self.source.length().unwrap_or(0)).left()
    }

    /// `datapackage.json`; `None` if there is none, as in files that only resemble a WACZ.
    pub fn description(&self) -> Result<Option<Value>, Error> {
        self.json("datapackage.json")
    }

    /// The WARC streams.
    pub(crate) fn segments(&self) -> Result<Vec<Segment>, Error> {
        let mut segments = Vec::new();
        // A compressed entry cannot be read from its middle, so it is unpacked into a temporary
        // file.
        let is_extracted = |entry: &&Entry| !entry.stored && is_warc_of_container(&entry.name);
        let extracted: u64 = self.entries.iter().filter(is_extracted).map(|entry| entry.size).sum();
        files::room::check(&files::room::temporary(), extracted).map_err(|none| {
            Error::io("extract", &self.path, io::Error::new(io::ErrorKind::StorageFull, none))
        })?;
        for entry in self.entries.iter().filter(|entry| is_warc_of_container(&entry.name)) {
            let name = entry.name.rsplit('/').next().unwrap_or(&entry.name).to_owned();
            segments.push(if entry.stored {
                Segment::new(name, &self.path, self.source.clone(), entry.start, entry.packed)?
            } else {
                let (file, length) = self.extract(entry)?;
                Segment::new(name, &self.path, file, 0, length)?
            });
        }
        if segments.is_empty() {
            return Err(Error::Container {
                path: self.path.clone(),
                reason: if self.entries.iter().any(|entry| entry.name.ends_with(".wacz")) {
                    "it holds other WACZ files; unpack it, and open its datapackage.json in its place"
                        .to_owned()
                } else {
                    "it has no WARC under archive/".to_owned()
                },
            });
        }
        Ok(segments)
    }

    /// All pages of all page lists, the main list first. They are read lazily, and have one budget.
    pub(crate) fn pages(&self) -> impl Iterator<Item = Result<Page, Error>> {
        let is_list =
            |entry: &&Entry| entry.name.starts_with("pages/") && entry.name.ends_with(".jsonl");
        let mut lists: Vec<&Entry> = self.entries.iter().filter(is_list).collect();
        lists.sort_by_key(|entry| entry.name != "pages/pages.jsonl");
        PageLists::new(lists.into_iter().map(|list| (list.name.clone(), self.reader(list))))
    }

    /// The rules about volatile request parts; `None` if there are none.
    pub(crate) fn changing_parts(&self) -> Result<Option<ChangingParts>, Error> {
        let Some(bytes) = self.read(RULES_NAME, MAX_RULES)? else { return Ok(None) };
        let reason = |error: &dyn std::fmt::Display| Error::Container {
            path: self.path.clone(),
            reason: format!("its {RULES_NAME} is wrong: failed to {error}"),
        };
        let text = std::str::from_utf8(&bytes)
            .map_err(|error| reason(&format!("read it as UTF-8: {error}")))?;
        ChangingParts::from_yaml(text).map(Some).map_err(|error| reason(&error))
    }

    pub(super) fn json(&self, name: &str) -> Result<Option<Value>, Error> {
        let Some(bytes) = self.read(name, MAX_DESCRIPTION)? else { return Ok(None) };
        let reason = |e: serde_json::Error| Error::Container {
            path: self.path.clone(),
            reason: format!("its {name} is wrong: {e}"),
        };
        file_version::check_values(&bytes).map_err(|error| Error::Container {
            path: self.path.clone(),
            reason: format!("its {name} is wrong: {error}"),
        })?;
        serde_json::from_slice(&bytes).map(Some).map_err(reason)
    }

    pub(super) fn window(&self, entry: &Entry) -> Window {
        Window::new(self.source.clone(), entry.start, entry.start + entry.packed)
    }

    /// An unnamed temporary file with the bytes of a deflated entry.
    fn extract(&self, entry: &Entry) -> Result<(File, u64), Error> {
        let mut file = Watched::temporary().map_err(|e| Error::io("extract", &self.path, e))?;
        let length = io::copy(&mut self.reader(entry), &mut file)
            .map_err(|e| self.broken(&entry.name, &e))?;
        if length > entry.size {
            return Err(Error::TooLarge { what: "a deflated WARC", limit: entry.size });
        }
        file.flush().map_err(|e| Error::io("extract", &self.path, e))?;
        Ok((file.into_file(), length))
    }

    pub(super) fn broken(&self, name: &str, error: &io::Error) -> Error {
        Error::Container {
            path: self.path.clone(),
            reason: format!("its entry {name:?} cannot be read: {error}"),
        }
    }
}

/// Refuses a ZIP with too many files, or with files that overlap.
pub(crate) fn check_zip<R: Read + Seek>(zip: &mut ZipArchive<R>) -> Result<(), String> {
    if zip.len() > MAX_ENTRIES {
        return Err(format!("it has more than {MAX_ENTRIES} files"));
    }
    // Otherwise one compressed file could be the content of thousands of entries.
    match zip.has_overlapping_entries() {
        Ok(false) => Ok(()),
        Ok(true) => Err("files in it overlap, which no program writes".to_owned()),
        Err(error) => Err(format!("it is cut off or damaged: {error}")),
    }
}

/// Whether this name, as a path, stays inside the folder to which it is unpacked.
pub(crate) fn stays_inside(name: &str) -> bool {
    let drive = name.as_bytes().get(1) == Some(&b':');
    !name.starts_with('/')
        && !drive
        && !name.contains(['\\', '\0'])
        && name.split('/').all(|part| part != "..")
}

fn is_warc_of_container(name: &str) -> bool {
    name.starts_with("archive/") && is_warc_name(name)
}

/// Whether a file of this name should hold WARC or ARC records.
pub(crate) fn is_warc_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".warc", ".warc.gz", ".arc", ".arc.gz"].iter().any(|end| name.ends_with(end))
}
