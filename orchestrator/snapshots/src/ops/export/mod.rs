//! `export`: writes a snapshot as one `.warc.gz`, as HAR, or as a folder of plain files.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};

use camino::{Utf8Path, Utf8PathBuf};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::exchanges::{Exchanges, budget_of, damaged};
use super::output::Output;
use super::stage::starts;
use super::{Error, OnProgress};
use crate::budget::Watched;
use crate::{Archive, Page, Progress, content, har};

mod names;

/// A format to export to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// All records in one compressed WARC.
    WarcGz,
    /// HAR 1.2.
    Har,
    /// A folder per host with the decoded bodies, and `index.jsonl` that maps files to URLs.
    Folder,
}

/// The result of an export.
#[derive(Debug, Clone, Serialize)]
pub struct ExportReport {
    /// The file or folder.
    pub path: Utf8PathBuf,
    /// Its format.
    pub format: Format,
    /// Records, entries or files written.
    pub written: u64,
    /// Responses that the format cannot express (not HTTP, or a revisit without its payload), by
    /// URL; the first hundred.
    pub left_out: Vec<String>,
    /// The total number of omitted responses.
    pub left_out_count: u64,
}

/// Writes the snapshot `input` to `out` in another format.
///
/// # Errors
/// `out` exists, or the input cannot be read or is damaged.
pub fn export(
    input: &Utf8Path,
    out: &Utf8Path,
    format: Format,
    progress: OnProgress<'_>,
) -> Result<ExportReport, Error> {
    let archive = Archive::open(input)?;
    let output = Output::create(out)?;
    let mut report = ExportReport {
        path: out.to_owned(),
        format,
        written: 0,
        left_out: Vec::new(),
        left_out_count: 0,
    };
    match format {
        Format::WarcGz => to_warc(&archive, output.path(), &mut report, progress)?,
        Format::Har => to_har(&archive, output.path(), &mut report, progress)?,
        Format::Folder => to_folder(&archive, output.path(), &mut report, progress)?,
    }
    output.keep()?;
    Ok(report)
}

impl ExportReport {
    fn leave_out(&mut self, mut urls: Vec<String>) {
        self.left_out_count = urls.len() as u64;
        urls.truncate(100);
        self.left_out = urls;
    }
}

fn to_warc(
    archive: &Archive,
    out: &Utf8Path,
    report: &mut ExportReport,
    progress: OnProgress<'_>,
) -> Result<(), Error> {
    let failed = |source| Error::io("write", out, source);
    let mut file = BufWriter::new(Watched::create(out).map_err(failed)?);
    let starts = starts(archive);
    for item in archive.records() {
        let (at, mut record) = item.map_err(|error| damaged(archive, error))?;
        progress(Progress { done: starts.position(at), total: starts.total });
        let mut headers = record.headers.clone();
        // ARC has no ids, and WARC requires one.
        if !headers.contains("WARC-Record-ID") {
            headers.push("WARC-Record-ID", format!("<{}>", crate::warc::new_record_id()));
        }
        // One gzip member a record, so that readers can begin at each.
        let mut member = GzEncoder::new(&mut file, Compression::default());
        let head = crate::warc::serialise(&headers, record.block.remaining());
        let written = member
            .write_all(&head)
            .and_then(|()| std::io::copy(&mut record.block, &mut member))
            .and_then(|_| member.write_all(b"\r\n\r\n"))
            .and_then(|()| member.finish().map(drop));
        written.map_err(failed)?;
        report.written += 1;
    }
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    file.into_file().sync_all().map_err(failed)
}

fn to_har(
    archive: &Archive,
    out: &Utf8Path,
    report: &mut ExportReport,
    progress: OnProgress<'_>,
) -> Result<(), Error> {
    let failed = |source| Error::io("write", out, source);
    let file = BufWriter::new(Watched::create(out).map_err(failed)?);
    let mut writer = har::Writer::new(file, env!("CARGO_PKG_VERSION"))?;
    writer.limit(budget_of(archive).left());
    let pages = archive.pages();
    let mut page_ids: HashMap<String, String> = HashMap::new();
    for (number, page) in pages.iter().enumerate() {
        let id = page.id.clone().unwrap_or_else(|| format!("page_{}", number + 1));
        // HAR has no place for a page's text.
        writer.page(&id, &Page { text: None, ..page.clone() });
        page_ids.entry(page.url.clone()).or_insert(id);
    }
    let known: HashSet<&String> = page_ids.values().collect();
    let exchanges = Exchanges::of(archive)?;
    let mut left_out = Vec::new();
    exchanges.each(
        progress,
        |url| left_out.push(url),
        |found| {
            let exchange = &found.exchange;
            let own = exchange.page.as_ref().filter(|id| known.contains(id));
            let page = own.or_else(|| page_ids.get(&exchange.url)).map(String::as_str);
            writer.entry(exchange, found.frames.as_deref(), page)?;
            report.written += 1;
            Ok(())
        },
    )?;
    report.leave_out(left_out);
    let file = writer.finish()?.into_inner().map_err(|error| failed(error.into_error()))?;
    file.into_file().sync_all().map_err(failed)
}

/// One line of a folder's `index.jsonl`.
#[derive(Serialize)]
struct FileLine<'a> {
    file: &'a str,
    url: &'a str,
    method: &'a str,
    status: u16,
    date: crate::Timestamp,
    media_type: Option<&'a str>,
    bytes: u64,
}

fn to_folder(
    archive: &Archive,
    out: &Utf8Path,
    report: &mut ExportReport,
    progress: OnProgress<'_>,
) -> Result<(), Error> {
    let failed = |source| Error::io("write", out, source);
    fs::create_dir(out).map_err(failed)?;
    let mut index = BufWriter::new(File::create_new(out.join(names::INDEX)).map_err(failed)?);
    let mut names = names::Names::default();
    let mut budget = budget_of(archive);
    let exchanges = Exchanges::of(archive)?;
    let mut left_out = Vec::new();
    exchanges.each(
        progress,
        |url| left_out.push(url),
        |found| {
            let exchange = &found.exchange;
            let headers = &exchange.response.headers;
            let media_type = headers.get_str("content-type");
            let file = names.take(&exchange.url, media_type);
            let path = out.join(&file);
            let folder = path.parent().unwrap_or(out);
            fs::create_dir_all(folder).map_err(|e| Error::io("write", &path, e))?;
            let create = || Watched::create(&path);
            let written =
                content::write_decoded(headers, &exchange.response.body, &mut budget, create);
            let (_, bytes) = written?;
            let line = FileLine {
                file: &file,
                url: &exchange.url,
                method: &exchange.request.method,
                status: exchange.response.status,
                date: exchange.started,
                media_type,
                bytes,
            };
            serde_json::to_writer(&mut index, &line).map_err(|e| failed(e.into()))?;
            index.write_all(b"\n").map_err(failed)?;
            report.written += 1;
            Ok(())
        },
    )?;
    report.leave_out(left_out);
    index.flush().map_err(failed)
}
