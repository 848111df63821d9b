//! The report of a run: one HTML file, for light and dark screens, phones and paper. A small script
//! searches, filters and sorts; without it everything is still visible.
//!
//! Each task is one entry, with its repeats folded below it. Repeats with the same fingerprint are
//! shown once, because they look the same.
//!
//! A report has one of two forms ([`write()`], [`write_inline`]):
//!
//! ```text
//! linked   below 1 MB: images are files beside it, observations and requests are in the viewers
//! inline   one file to send: everything in it, equal images once, at most 64 MiB of images
//! ```

mod budget;
mod episode;
mod pictures;
mod rows;
mod view;

use camino::{Utf8Path, Utf8PathBuf};

use crate::html::Template;
use crate::stored::RunFolder;
use crate::{Error, Summary, viewer};

/// The file name of the report in the run's folder.
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

/// The place of a report's images, and of everything else that is large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// In files beside the report.
    Linked,
    /// In the report itself.
    Inline,
}

/// Writes `report.html` into the run's folder, and the missing viewers of episodes. Returns the
/// path of the report.
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

/// Writes a self-contained `report.html` into the run's folder. Returns its path.
///
/// # Errors
/// As [`write()`].
pub fn write_inline(run: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let folder = RunFolder::open(run)?;
    let path = folder.path().join(NAME);
    REPORT.write(&page(&folder, Form::Inline)?, &path)?;
    Ok(path)
}

/// Renders the linked report without writing it.
pub(crate) fn draw(folder: &RunFolder) -> Result<String, Error> {
    REPORT.draw(&page(folder, Form::Linked)?)
}

fn page(folder: &RunFolder, form: Form) -> Result<view::Page, Error> {
    let (record, episodes) = (folder.run()?, folder.episodes()?);
    let summary = Summary::of(folder.path(), &record, &episodes);
    view::page(folder, &record, &summary, &episodes, form)
}
