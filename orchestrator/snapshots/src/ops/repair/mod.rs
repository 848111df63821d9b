//! `repair`: copies all intact data of a damaged snapshot or an unfinished recording into a new
//! snapshot, and lists the losses.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::pages::choose;
use super::snapshot::{NewSnapshot, describe};
use super::stage::{Stage, survey};
use super::{Error, OnProgress};
use crate::matching::ChangingParts;
use crate::recording::{RULES, left_over_records};
use crate::wacz::{MAX_RULES, PageBudget, PageLines};
use crate::{Archive, BrowserState, Load, Page, Recording, Segment};

mod salvage;

/// The result of a repair.
#[derive(Debug, Clone, Serialize)]
pub struct RepairReport {
    /// The new snapshot.
    pub path: Utf8PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// `sha256:<hex>` of its description, which identifies its content.
    pub digest: String,
    /// Records kept.
    pub records: u64,
    /// Responses among them.
    pub responses: u64,
    /// Pages kept.
    pub pages: u64,
    /// Whether the page list was lost, so that pages had to be detected.
    pub pages_found: bool,
    /// Revisits whose payload is lost or was never in the input.
    pub unresolved_revisits: u64,
    /// Records whose block does not match its stored digest; they are kept.
    pub wrong_digests: u64,
    /// The losses, place by place.
    pub losses: Vec<Loss>,
    /// Bytes of the input that are in no record that was kept, as far as known.
    pub lost_bytes: u64,
}

/// Something that could not be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The file or stream, with offset if there is one.
    pub place: String,
    /// What is wrong with it.
    pub what: String,
}

/// Makes an intact snapshot at `out` from a damaged `input`: a WARC, ARC or WACZ file, the
/// `.recording` folder of a killed recording, or the path of its intended output. The input is not
/// changed.
///
/// # Errors
/// `out` exists, or nothing intact is found.
pub fn repair(
    input: &Utf8Path,
    out: &Utf8Path,
    progress: OnProgress<'_>,
) -> Result<RepairReport, Error> {
    let mut losses = Vec::new();
    let SalvagedFile { archive, pages, browser_state } = open(input, &mut losses)?;
    let archives = [archive];
    let mut snapshot = NewSnapshot::create(out, describe(None, None, &archives))?;
    snapshot.description().rules.join(left_over_rules(input, &mut losses));
    snapshot.set_browser_state(browser_state);
    let survey = survey(&archives);
    let mut stage = Stage::new(&archives, &survey, &mut snapshot);
    stage.left_out = left_over_periods(input, &mut losses);
    let mut lost_bytes = 0;
    let mut lose = |error: crate::Error| {
        lost_bytes += extent(&error, &archives[0]);
        losses.push(loss(&archives[0], &error));
        // Neither a failing disk nor too large a file is damage to be skipped.
        if matches!(
            error,
            crate::Error::Io { action: "write" | "create", .. } | crate::Error::TooLarge { .. }
        ) {
            Err(error.into())
        } else {
            Ok(())
        }
    };
    stage.copy(0, 0, progress, &mut lose, &mut Ok)?;
    let (counts, candidates) = (stage.counts, stage.candidates);
    if counts.unusable > 0 {
        let what = format!("{} records without type, URL or date", counts.unusable);
        losses.push(Loss { place: archives[0].path().to_string(), what });
    }
    if counts.records == 0 {
        return Err(Error::Nothing { action: "repair", path: input.to_owned() });
    }
    let pages_found = pages.is_empty();
    let pages = if pages_found { choose(candidates) } else { pages };
    for page in &pages {
        snapshot.page(page)?;
    }
    let made = snapshot.finish(|_| Ok(()))?;
    Ok(RepairReport {
        path: out.to_owned(),
        bytes: made.bytes,
        digest: made.digest,
        records: counts.records,
        responses: counts.responses,
        pages: made.pages,
        pages_found,
        unresolved_revisits: counts.unresolved,
        wrong_digests: counts.wrong_digests,
        losses,
        lost_bytes,
    })
}

fn loss(archive: &Archive, error: &crate::Error) -> Loss {
    match error {
        crate::Error::Damaged { segment, offset, damage, .. } => {
            Loss { place: format!("{segment} at offset {offset}"), what: damage.to_string() }
        }
        other => Loss { place: archive.path().to_string(), what: other.to_string() },
    }
}

/// The size of the damage: to the next intact record, or to the end of the stream.
fn extent(error: &crate::Error, archive: &Archive) -> u64 {
    let crate::Error::Damaged { segment, offset, resumes_at, .. } = error else { return 0 };
    let length = archive.segments().iter().find(|s| s.name == *segment).map_or(0, |s| s.length);
    resumes_at.unwrap_or(length).saturating_sub(*offset)
}

/// The data recovered from a damaged file.
struct SalvagedFile {
    archive: Archive,
    pages: Vec<Page>,
    browser_state: BrowserState,
}

/// Opens `input`, whatever it is.
fn open(input: &Utf8Path, losses: &mut Vec<Loss>) -> Result<SalvagedFile, Error> {
    let left_over = Recording::folder_of(input);
    if input.is_dir() {
        return open_recording(input, losses);
    }
    if !input.exists() && left_over.is_dir() {
        return open_recording(&left_over, losses);
    }
    match Archive::open(input) {
        Ok(archive) => {
            let mut pages = Vec::new();
            for page in archive.page_lines() {
                match page {
                    Ok(page) => pages.push(page),
                    Err(error) => {
                        losses.push(Loss { place: "pages".to_owned(), what: error.to_string() })
                    }
                }
            }
            let browser_state = BrowserState::of(&archive);
            let archive = salvage::with_shared_members_unpacked(archive)?;
            Ok(SalvagedFile { archive, pages, browser_state })
        }
        // The directory at the end of a ZIP may be lost while its records are still there.
        Err(error @ (crate::Error::Container { .. } | crate::Error::UnknownFormat { .. })) => {
            losses.push(Loss { place: input.to_string(), what: error.to_string() });
            let file = files::open(input).map_err(|source| Error::io("open", input, source))?;
            salvage::from_container(input, Arc::new(file), losses)?.ok_or(error.into())
        }
        Err(error) => Err(error.into()),
    }
}

fn open_recording(folder: &Utf8Path, losses: &mut Vec<Loss>) -> Result<SalvagedFile, Error> {
    let data = folder.join("data.warc");
    let archive = with_open_sockets(folder, Archive::open(&data)?)?;
    let path = folder.join("pages.jsonl");
    let pages = match files::unlinked(&path) {
        Ok(file) => {
            let list = std::io::BufReader::new(file);
            read_pages(path.as_str(), list, &mut PageBudget::default(), losses)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            losses.push(Loss { place: path.to_string(), what: error.to_string() });
            Vec::new()
        }
    };
    let browser_state = Recording::browser_state_in(folder).unwrap_or_else(|error| {
        losses.push(Loss { place: "what pages kept".to_owned(), what: error.to_string() });
        BrowserState::default()
    });
    Ok(SalvagedFile { archive, pages, browser_state })
}

/// The periods that a killed recording was to leave out.
fn left_over_periods(input: &Utf8Path, losses: &mut Vec<Loss>) -> Vec<Load> {
    let folder = if input.is_dir() { input.to_owned() } else { Recording::folder_of(input) };
    if input.is_file() {
        return Vec::new();
    }
    Recording::left_out_in(&folder).unwrap_or_else(|error| {
        losses.push(Loss { place: folder.to_string(), what: error.to_string() });
        Vec::new()
    })
}

/// The rules that a killed recording had learned.
fn left_over_rules(input: &Utf8Path, losses: &mut Vec<Loss>) -> ChangingParts {
    let folder = if input.is_dir() { input.to_owned() } else { Recording::folder_of(input) };
    let path = folder.join(RULES);
    if input.is_file() || !path.is_file() {
        return ChangingParts::default();
    }
    let text = files::read_text(&path, MAX_RULES).map_err(|error| error.to_string());
    text.and_then(|text| ChangingParts::from_yaml(&text).map_err(|error| error.to_string()))
        .unwrap_or_else(|what| {
            losses.push(Loss { place: path.to_string(), what });
            ChangingParts::default()
        })
}

/// The data of a recording, with the frames of connections that were open when it was killed.
fn with_open_sockets(folder: &Utf8Path, data: Archive) -> Result<Archive, Error> {
    let (records, length) = left_over_records(folder, &data)?;
    if length == 0 {
        return Ok(data);
    }
    let frames = Segment::new("sockets.warc".to_owned(), data.path(), records, 0, length)?;
    let segments = data.segments().iter().cloned().chain([frames]).collect();
    Ok(Archive::from_segments(data.path(), data.source().clone(), segments))
}

/// The readable pages; an unreadable line is a loss.
fn read_pages(
    name: &str,
    list: impl std::io::BufRead,
    budget: &mut PageBudget,
    losses: &mut Vec<Loss>,
) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut lines = PageLines::within(name, list, budget.clone());
    for page in lines.by_ref() {
        match page {
            Ok(page) => pages.push(page),
            Err(error) => losses.push(Loss { place: name.to_owned(), what: error.to_string() }),
        }
    }
    *budget = lines.budget();
    pages
}
