//! The viewer: HTML pages that show episodes step by step. Each episode has a `trace.html` beside
//! its screenshots, and the run has one that lists them.
//!
//! ```text
//! trace.jsonl, calls.jsonl  -> step (observation, action, model, score) -+-> trace.html
//! ledger.jsonl              -> network (requests, grouped by step)        -+
//! console.jsonl             -> console (messages, grouped by step)        -+
//! ```
//!
//! The files work at `file:` URLs; [`crate::server`] renders the same pages on request. They load
//! nothing but the screenshots beside them. With their script they show one step at a time, with a
//! panel of it, and react to keys; the address names both. Without it all steps are listed.

mod call;
mod changes;
mod console;
mod episode;
mod find;
mod list;
mod network;
mod step;

use camino::{Utf8Path, Utf8PathBuf};
pub use find::find;

use crate::Error;
use crate::html::{TABLES, Template};
use crate::stored::{EpisodeFolder, EpisodeRecord, RunFolder, RunRecord};

/// The file name, in an episode's folder and in the run's.
pub(crate) const NAME: &str = "trace.html";

const EPISODE: Template = Template {
    name: "episode.html",
    source: include_str!("episode.html"),
    macros: &[("panels.html", include_str!("panels.html"))],
    style: include_str!("episode.css"),
    script: concat!(include_str!("episode.js"), include_str!("boxes.js")),
};

/// All repeats have the same goal, so its beginning is enough.
const LIST_STYLE: &str = ".tasks .goal { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }";

const LIST: Template = Template {
    name: "list.html",
    source: include_str!("list.html"),
    macros: &[],
    style: LIST_STYLE,
    script: TABLES,
};

/// Writes the viewers of a run's episodes and the list of them. Returns the path of the list.
///
/// # Errors
/// When the results cannot be read or a file cannot be written.
pub fn write(run: &Utf8Path) -> Result<Utf8PathBuf, Error> {
    let folder = RunFolder::open(run)?;
    let (record, episodes) = (folder.run()?, folder.episodes()?);
    for episode in &episodes {
        write_one(&folder, &record, episode)?;
    }
    write_list(&folder, &record, &episodes)
}

/// Writes the viewer of one episode and returns its path.
///
/// # Errors
/// When the run has no such episode, the results cannot be read or the file cannot be written.
pub fn write_episode(run: &Utf8Path, name: &str) -> Result<Utf8PathBuf, Error> {
    let folder = RunFolder::open(run)?;
    let (record, episodes) = (folder.run()?, folder.episodes()?);
    let episode = find(&folder, &episodes, name)?;
    // The viewer links to the list.
    write_list(&folder, &record, &episodes)?;
    write_one(&folder, &record, episode)
}

/// Writes viewers that are missing or older than their episode, and the list. An episode's viewer
/// does not change otherwise. An episode that cannot be read gets none.
pub(crate) fn write_missing(
    folder: &RunFolder,
    run: &RunRecord,
    episodes: &[EpisodeRecord],
) -> Result<(), Error> {
    for episode in episodes {
        let files = folder.episode(&episode.id());
        let time =
            |name: &str| files.path().join(name).metadata().and_then(|file| file.modified()).ok();
        if time(NAME).is_none_or(|drawn| time("episode.json").is_some_and(|ended| ended >= drawn)) {
            match write_one(folder, run, episode) {
                // A disk that is full ends it. An episode that cannot be read only has no viewer.
                Err(error @ Error::Write { .. }) => return Err(error),
                Err(error) => tracing::warn!(
                    episode = %episode.id(),
                    "this episode has no viewer: failed to {}",
                    error_text::with_causes(&error)
                ),
                Ok(_) => {}
            }
        }
    }
    write_list(folder, run, episodes).map(drop)
}

fn write_one(
    folder: &RunFolder,
    run: &RunRecord,
    record: &EpisodeRecord,
) -> Result<Utf8PathBuf, Error> {
    let files = folder.episode(&record.id());
    let path = files.path().join(NAME);
    EPISODE.write(&episode::page(run, record, &files, false)?, &path)?;
    Ok(path)
}

fn write_list(
    folder: &RunFolder,
    run: &RunRecord,
    episodes: &[EpisodeRecord],
) -> Result<Utf8PathBuf, Error> {
    let path = folder.path().join(NAME);
    let report = folder.path().join("report.html").exists();
    LIST.write(&list::page(run, episodes, report), &path)?;
    Ok(path)
}

/// Renders the viewer of one episode without writing it; with links to recorded exchanges, where
/// the server has them.
pub(crate) fn draw_one(
    run: &RunRecord,
    record: &EpisodeRecord,
    files: &EpisodeFolder,
    recorded: bool,
) -> Result<String, Error> {
    EPISODE.draw(&episode::page(run, record, files, recorded)?)
}

/// Renders the list of episodes without writing it, with a link to the report.
pub(crate) fn draw_list(run: &RunRecord, episodes: &[EpisodeRecord]) -> Result<String, Error> {
    LIST.draw(&list::page(run, episodes, true))
}
