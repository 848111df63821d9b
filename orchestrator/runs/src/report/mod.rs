//! A run as one HTML file: no script, no second file, light and dark, as good on a phone as on paper.
//!
//! Repeats with the same fingerprint are the same to every pixel that matters, so each is drawn once. Pictures that are equal are embedded once.
//! A file that would grow past what browsers like (64 MiB of pictures, 32 MiB of observations) links to the run's folder for the rest and says
//! so.

mod episode;
mod pictures;
mod view;
mod words;

use camino::{Utf8Path, Utf8PathBuf};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};

use crate::results::RunFolder;
use crate::{Error, Summary};

/// Draws the run into `report.html` in its folder; gives the file's path.
///
/// # Errors
/// When the results cannot be read or the file cannot be written.
pub fn write(run: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let folder = RunFolder::open(run)?;
    let record = folder.run()?;
    let episodes = folder.episodes()?;
    let summary = Summary::of(folder.path(), &record, &episodes);
    let page = view::page(&folder, &record, &summary, &episodes)?;
    let html = render(&page).map_err(|source| Error::Template { source })?;
    let path = folder.path().join("report.html");
    let beside = folder.path().join(".report.html.new");
    let failed = |source| Error::Write { path: path.clone(), source };
    std::fs::write(&beside, html).map_err(failed)?;
    std::fs::rename(&beside, &path).map_err(failed)?;
    Ok(path)
}

fn render(page: &view::Page) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    // The name ends in .html, which turns escaping on.
    environment.add_template("report.html", include_str!("report.html"))?;
    environment
        .get_template("report.html")?
        .render(context! { page => Serde(page), style => include_str!("report.css") })
}
