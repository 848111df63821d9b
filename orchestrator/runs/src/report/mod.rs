//! A run as one HTML file: light and dark, as good on a phone as on paper. A small script searches,
//! filters and sorts; without it all is still there.
//!
//! Each task is one entry, with its repeats folded under it. Repeats with the same fingerprint are
//! the same to every pixel that matters, so each is shown once.
//!
//! A report has one of two forms ([`write()`], [`write_inline`]):
//!
//! ```text
//! linked   below 1 MB: pictures are the files beside it, observations and requests in the viewers
//! inline   everything in one file, which can be sent: equal pictures once, 64 MiB of them at most
//! ```

mod budget;
mod episode;
mod pictures;
mod rows;
mod view;

use camino::{Utf8Path, Utf8PathBuf};

use crate::html::Template;
use crate::results::RunFolder;
use crate::{Error, Summary, viewer};

/// Name of the file in the run's folder.
pub(crate) const NAME: &str = "report.html";

const REPORT: Template = Template {
    name: NAME,
    source: include_str!("report.html"),
    macros: &[("repeats.html", include_str!("repeats.html"))],
    style: include_str!("report.css"),
    script: concat!(
        include_str!("../html/filter.js"),
        include_str!("../html/sort.js"),
        include_str!("report.js")
    ),
};

/// Where a report has its pictures, and with them all that makes it large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In files beside it.
    Linked,
    /// In itself.
    Inline,
}

/// Draws the run into `report.html` in its folder, and the viewers of the episodes that have none;
/// gives the report's path.
///
/// # Errors
/// When the results cannot be read or a file cannot be written.
pub fn write(run: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let folder = RunFolder::open(run)?;
    let path = folder.path().join(NAME);
    REPORT.write(&page(&folder, Form::Linked)?, &path)?;
    viewer::write_missing(&folder, &folder.run()?, &folder.episodes()?)?;
    Ok(path)
}

/// Draws the run into `report.html` in its folder, which needs no other file; gives its path.
///
/// # Errors
/// As [`write()`].
pub fn write_inline(run: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let folder = RunFolder::open(run)?;
    let path = folder.path().join(NAME);
    REPORT.write(&page(&folder, Form::Inline)?, &path)?;
    Ok(path)
}

/// The report with links to its pictures, drawn and not written.
pub(crate) fn draw(folder: &RunFolder) -> Result<String, Error> {
    REPORT.draw(&page(folder, Form::Linked)?)
}

fn page(folder: &RunFolder, form: Form) -> Result<view::Page, Error> {
    let (record, episodes) = (folder.run()?, folder.episodes()?);
    let summary = Summary::of(folder.path(), &record, &episodes);
    view::page(folder, &record, &summary, &episodes, form)
}
