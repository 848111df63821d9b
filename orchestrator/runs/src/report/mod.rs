//! A run as one HTML file: light and dark, as good on a phone as on paper. A small script searches and filters; without it all is still there.
//!
//! The report links to the [viewer] of each episode, which is a file beside that.
//! Repeats with the same fingerprint are the same to every pixel that matters, so each is drawn once. Pictures that are equal are embedded once.
//! A file that would grow past what browsers like (64 MiB of pictures, 32 MiB of observations) links to the run's folder for the rest and says
//! so.

mod episode;
mod pictures;
mod rows;
mod view;

use camino::{Utf8Path, Utf8PathBuf};

use crate::html::{FILTER, Template};
use crate::results::RunFolder;
use crate::{Error, Summary, viewer};

const REPORT: Template = Template {
    name: "report.html",
    source: include_str!("report.html"),
    style: include_str!("report.css"),
    script: FILTER,
};

/// Draws the run into `report.html` in its folder, and the viewers of the episodes that have none; gives the report's path.
///
/// # Errors
/// When the results cannot be read or the file cannot be written.
pub fn write(run: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let folder = RunFolder::open(run)?;
    let record = folder.run()?;
    let episodes = folder.episodes()?;
    let summary = Summary::of(folder.path(), &record, &episodes);
    let page = view::page(&folder, &record, &summary, &episodes)?;
    viewer::write_missing(&folder, &record, &episodes)?;
    let path = folder.path().join("report.html");
    REPORT.write(&page, &path)?;
    Ok(path)
}
