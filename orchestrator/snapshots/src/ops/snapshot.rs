//! Builds the output snapshot of an operation: takes records and pages, and writes a WACZ.

use camino::Utf8Path;

use super::Error;
use super::output::Output;
use crate::matching::ChangingParts;
use crate::recording::SOFTWARE;
use crate::wacz::{Description, SnapshotWriter};
use crate::warc::{Block, Version, new_record_id};
use crate::{Archive, Body, BrowserState, Headers, Page, Record, RecordKind, Timestamp};

/// An unfinished snapshot. If it is dropped, it leaves no files behind.
pub(super) struct NewSnapshot {
    writer: SnapshotWriter,
    output: Output,
    description: Description,
}

/// A summary of the new snapshot.
#[derive(Debug)]
pub(super) struct SnapshotSummary {
    pub(super) bytes: u64,
    pub(super) digest: String,
    /// Responses, including revisits.
    pub(super) responses: u64,
    pub(super) revisits: u64,
    pub(super) pages: u64,
}

impl NewSnapshot {
    /// Starts a snapshot with the target `out`, and writes a record that names this software.
    pub(super) fn create(out: &Utf8Path, description: Description) -> Result<NewSnapshot, Error> {
        let output = Output::create(out)?;
        let writer = SnapshotWriter::create(output.path())?;
        let mut snapshot = NewSnapshot { writer, output, description };
        let headers = [
            ("WARC-Type", RecordKind::Warcinfo.name().to_owned()),
            ("WARC-Record-ID", format!("<{}>", new_record_id())),
            ("WARC-Date", Timestamp::now().to_string()),
            ("Content-Type", "application/warc-fields".to_owned()),
        ];
        let fields = format!("software: {SOFTWARE}\r\nformat: WARC File Format 1.1\r\n");
        snapshot.add(headers.into_iter().collect(), Body::from(fields.into_bytes()))?;
        Ok(snapshot)
    }

    /// Replaces the browser state of the archives.
    pub(super) fn set_browser_state(&mut self, state: BrowserState) {
        self.description.browser_state = state;
    }

    /// A folder for temporary files.
    pub(super) fn folder(&self) -> &Utf8Path {
        self.output.path().parent().unwrap_or(self.output.path())
    }

    pub(super) fn add(&mut self, headers: Headers, block: Body) -> Result<(), crate::Error> {
        self.writer.add(Record {
            version: Version::One(1),
            headers,
            block: Block::from_body(block),
        })
    }

    pub(super) fn page(&mut self, page: &Page) -> Result<(), crate::Error> {
        self.writer.add_page(page)
    }

    /// The metadata, to be changed.
    pub(super) fn description(&mut self) -> &mut Description {
        &mut self.description
    }

    /// Completes the snapshot, calls `check` on it, and moves it to its target.
    pub(super) fn finish(
        self,
        check: impl FnOnce(&Utf8Path) -> Result<(), Error>,
    ) -> Result<SnapshotSummary, Error> {
        let written = self.writer.finish(self.description)?;
        let path = self.output.path();
        // Before the file takes its name.
        check(path)?;
        let bytes = path.metadata().map_err(|source| Error::io("read", path, source))?.len();
        self.output.keep()?;
        let count = |kind: RecordKind| written.records.get(kind.name()).copied().unwrap_or(0);
        let revisits = count(RecordKind::Revisit);
        let responses = count(RecordKind::Response) + revisits;
        Ok(SnapshotSummary {
            bytes,
            digest: written.digest,
            responses,
            revisits,
            pages: written.pages,
        })
    }
}

/// The new metadata. Title, description and main page come from the first package among `archives`
/// that has them, unless they are given. Rules and browser state are merged from all archives.
pub(super) fn describe(
    title: Option<&str>,
    description: Option<&str>,
    archives: &[Archive],
) -> Description {
    let inherited = |key: &str| {
        let packages = archives.iter().filter_map(Archive::package);
        let mut descriptions = packages.filter_map(|package| package.description().ok().flatten());
        descriptions.find_map(|description| Some(description.get(key)?.as_str()?.to_owned()))
    };
    let mut rules = ChangingParts::default();
    for archive in archives {
        match archive.changing_parts() {
            Ok(parts) => rules.join(parts.unwrap_or_default()),
            Err(error) => tracing::warn!(%error, "the rules of a snapshot are left out"),
        }
    }
    let mut browser_state = BrowserState::default();
    archives.iter().for_each(|archive| browser_state.add(BrowserState::of(archive)));
    Description {
        rules,
        browser_state,
        main_page: archives.iter().find_map(main_page),
        title: title.map(str::to_owned).or_else(|| inherited("title")),
        description: description.map(str::to_owned).or_else(|| inherited("description")),
        ..Description::default()
    }
}

/// The main page of an archive.
fn main_page(archive: &Archive) -> Option<(String, Timestamp)> {
    let description = archive.package()?.description().ok().flatten()?;
    let url = description.get("mainPageUrl")?.as_str().filter(|url| !url.is_empty())?;
    let named =
        ["mainPageDate", "mainPageTS"].iter().find_map(|key| description.get(*key)?.as_str());
    let listed = || archive.page_lines().flatten().find(|page| page.url == url).map(|page| page.ts);
    let date = named.and_then(|date| Timestamp::parse(date).ok()).or_else(listed)?;
    Some((url.to_owned(), date))
}
