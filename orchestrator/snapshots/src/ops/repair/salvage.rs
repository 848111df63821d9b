//! Finds the entries of a ZIP by their local headers, if its directory is missing or wrong.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use camino::Utf8Path;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Error, Loss, SalvagedFile, read_pages};
use crate::budget::{Budget, Watched};
use crate::wacz::PageBudget;
use crate::warc::Window;
use crate::{Archive, BrowserState, Damage, Segment};

const LOCAL: &[u8; 4] = b"PK\x03\x04";
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
/// The fixed part of a local header, before name and extra field.
const HEADER: u64 = 30;
/// The maximum size of a stream that is unpacked.
const MAX_UNPACKED: u64 = 64 << 30;
/// The maximum size of a description.
const MAX_DESCRIPTION: u64 = 64 << 20;
/// How many bytes of the file are searched at once.
const SEARCH: usize = 1 << 20;

/// An entry as its local header describes it. Only the next header shows where it ends.
struct Local {
    name: String,
    stored: bool,
    start: u64,
    end: u64,
}

/// The contents of a damaged container; `None` if there is no WARC in it.
pub(super) fn from_container(
    path: &Utf8Path,
    file: Arc<File>,
    losses: &mut Vec<Loss>,
) -> Result<Option<SalvagedFile>, Error> {
    let failed = |source| Error::io("read", path, source);
    let length = file.metadata().map_err(failed)?.len();
    let whole = Window::new(Arc::clone(&file), 0, length);
    let locals = find(&whole, length).map_err(failed)?;
    let (mut segments, mut pages) = (Vec::new(), Vec::new());
    let mut browser_state = BrowserState::default();
    // Entries may overlap, and each be the whole file.
    let (mut budget, mut page_budget) = (Budget::of_extraction(length), PageBudget::default());
    for local in locals {
        let window = Window::new(Arc::clone(&file), local.start, local.end);
        if local.name.starts_with("archive/") {
            if !local.stored {
                let what = "a deflated WARC without a directory cannot be taken out".to_owned();
                losses.push(Loss { place: local.name, what });
                continue;
            }
            let name = local.name.rsplit('/').next().unwrap_or(&local.name).to_owned();
            let size = local.end - local.start;
            segments.push(Segment::new(name, path, Arc::clone(&file), local.start, size)?);
        } else if local.name.starts_with("pages/") && local.name.ends_with(".jsonl") {
            let reader = unpacked(window, local.stored).take(budget.left());
            let mut list = BufReader::new(reader);
            pages.extend(read_pages(&local.name, &mut list, &mut page_budget, losses));
            let read = budget.left() - list.get_ref().limit();
            budget.take(read)?;
            if budget.left() == 0 {
                let what = format!("no more than {} bytes are read of page lists", budget.limit());
                losses.push(Loss { place: local.name, what });
            }
        } else if local.name == "datapackage.json" {
            let mut text = Vec::new();
            let reader = unpacked(window, local.stored).take(MAX_DESCRIPTION.min(budget.left()));
            // What was unpacked before an error may hold the description.
            let _ = BufReader::new(reader).read_to_end(&mut text);
            budget.take(text.len() as u64)?;
            browser_state =
                description_in(&text).map_or(browser_state, |found| BrowserState::read(&found));
        }
    }
    if segments.is_empty() {
        return Ok(None);
    }
    Ok(Some(SalvagedFile {
        archive: Archive::from_segments(path, file, segments),
        pages,
        browser_state,
    }))
}

/// The first value in a text. Bytes between the description and the next entry are not part of it.
fn description_in(text: &[u8]) -> Option<Value> {
    let first =
        serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>().next()?.ok()?.get();
    file_version::check_values(first.as_bytes()).ok()?;
    serde_json::from_str(first).ok()
}

fn unpacked(window: Window, stored: bool) -> Box<dyn Read> {
    match stored {
        true => Box::new(window),
        false => Box::new(DeflateDecoder::new(BufReader::new(window))),
    }
}

/// Unpacks streams in which a gzip member holds several records, so that each record can be
/// accessed.
pub(super) fn with_shared_members_unpacked(archive: Archive) -> Result<Archive, Error> {
    let shared = |segment: u32| {
        let mut records = archive.records_of(segment)?;
        let hit =
            |item| matches!(item, Err(crate::Error::Damaged { damage: Damage::SharedMember, .. }));
        Ok::<bool, crate::Error>(records.any(|item| hit(item.map(drop))))
    };
    let mut segments = Vec::new();
    let mut changed = false;
    for (segment, number) in archive.segments().iter().zip(0..) {
        if !shared(number)? {
            segments.push(segment.clone());
            continue;
        }
        changed = true;
        let path = archive.path();
        let mut file = Watched::temporary().map_err(|source| Error::io("unpack", path, source))?;
        let mut members = MultiGzDecoder::new(BufReader::new(segment.window()))
            .take(Budget::of_extraction(segment.length).left().min(MAX_UNPACKED));
        // Data inflated before an error is readable. The error shows up as a truncated record.
        let copied = io::copy(&mut members, &mut file);
        if copied.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::StorageFull) {
            copied.map_err(|source| Error::io("unpack", path, source))?;
        }
        let file = file.into_file();
        let length = file.metadata().map_err(|source| Error::io("unpack", path, source))?.len();
        segments.push(Segment::new(segment.name.clone(), path, file, 0, length)?);
    }
    Ok(if changed {
        Archive::from_segments(archive.path(), archive.source().clone(), segments)
    } else {
        archive
    })
}

/// All plausible local headers, in file order. Each entry extends to the next header.
fn find(whole: &Window, length: u64) -> std::io::Result<Vec<Local>> {
    let mut found: Vec<Local> = Vec::new();
    let mut at = 0;
    while at + HEADER <= length {
        let bytes = whole.from(at).peek(SEARCH)?;
        // A signature of four bytes may lie across two windows.
        let step = bytes.len().saturating_sub(3);
        for index in 0..step {
            let here = at + index as u64;
            let candidate = &bytes[index..];
            let next = match candidate {
                [b'P', b'K', 3, 4, ..] => {
                    parse(&whole.from(here).peek(HEADER as usize + 1024)?, here, length)
                }
                [b'P', b'K', 1, 2, ..] => None,
                _ => continue,
            };
            let directory = candidate.starts_with(CENTRAL) && !found.is_empty();
            if let Some(last) =
                found.last_mut().filter(|last| last.end == length && last.start <= here)
                && (next.is_some() || (directory && is_directory(candidate)))
            {
                last.end = here;
            }
            found.extend(next);
        }
        at += step.max(1) as u64;
    }
    Ok(found)
}

/// A local header with a version, method and name that are typical of a WACZ. Anything else is a
/// chance match.
fn parse(bytes: &[u8], here: u64, length: u64) -> Option<Local> {
    let header = bytes.get(..HEADER as usize)?;
    let word = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let (version, method) = (word(4) & 0xFF, word(8));
    let (name_length, extra_length) = (usize::from(word(26)), u64::from(word(28)));
    let name = bytes.get(HEADER as usize..HEADER as usize + name_length)?;
    let name = std::str::from_utf8(name).ok()?;
    let known = ["archive/", "pages/", "indexes/", "datapackage", "logs/"];
    let plausible = version <= 63
        && matches!(method, 0 | 8)
        && known.iter().any(|start| name.starts_with(start));
    let start = here + HEADER + name_length as u64 + extra_length;
    // The size may be after the data instead (flag 3), or in the extra field.
    let packed = u32::from_le_bytes([header[18], header[19], header[20], header[21]]);
    let known_size = word(6) & 8 == 0 && !matches!(packed, 0 | u32::MAX);
    let end = if known_size { length.min(start.saturating_add(u64::from(packed))) } else { length };
    (header.starts_with(LOCAL) && plausible && start <= length).then(|| Local {
        name: name.to_owned(),
        stored: method == 0,
        start,
        end,
    })
}

fn is_directory(bytes: &[u8]) -> bool {
    bytes.get(4..8).is_some_and(|versions| versions[0] <= 63 && versions[2] <= 63)
}
