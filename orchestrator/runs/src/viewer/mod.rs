//! Episodes to look at step by step in a browser: `trace.html` beside each episode's screenshots, and one for the whole run that lists them.
//!
//! ```text
//! trace.jsonl, ledger.jsonl, episode.json -> step (what was seen, done, earned) -> trace.html
//!                                              ^ changes (against the step before)
//! ```
//!
//! The files are for `file:` addresses, and [`crate::server`] draws the same pages on demand. They ask
//! for nothing but the screenshots beside them. With their script they show one step at a time and
//! are moved by keys; without it all steps stand one below the other.

mod call;
mod changes;
mod episode;
mod find;
mod list;
mod step;

use camino::{Utf8Path, Utf8PathBuf};

use crate::Error;
use crate::html::{TABLES, Template};
use crate::results::{EpisodeFolder, EpisodeRecord, RunFolder, RunRecord};

pub use find::find;

/// Name of the file, in an episode's folder and in the run's.
pub(crate) const NAME: &str = "trace.html";

const EPISODE: Template = Template {
    name: "episode.html",
    source: include_str!("episode.html"),
    macros: &[],
    style: include_str!("episode.css"),
    script: include_str!("episode.js"),
};

/// Each repeat has the goal of its task, of which the beginning is enough to tell it by.
const LIST_STYLE: &str = ".tasks .goal { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }";

const LIST: Template = Template {
    name: "list.html",
    source: include_str!("list.html"),
    macros: &[],
    style: LIST_STYLE,
    script: TABLES,
};

/// Draws the viewers of a run's episodes, and the list of them; gives the path of that.
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

/// Draws the viewer of one episode; gives its path.
///
/// # Errors
/// When the run has no such episode, the results cannot be read or the file cannot be written.
pub fn write_episode(run: &Utf8Path, name: &str) -> Result<Utf8PathBuf, Error> {
    let folder = RunFolder::open(run)?;
    let (record, episodes) = (folder.run()?, folder.episodes()?);
    let episode = find(&folder, &episodes, name)?;
    // It leads back to the list.
    write_list(&folder, &record, &episodes)?;
    write_one(&folder, &record, episode)
}

/// Draws the viewers that are not there yet or are older than what they show, and the list. That of an episode never changes otherwise.
pub(crate) fn write_missing(
    folder: &RunFolder,
    run: &RunRecord,
    episodes: &[EpisodeRecord],
) -> Result<(), Error> {
    for episode in episodes {
        let files = folder.episode(&episode.id());
        let time = |name: &str| files.path().join(name).metadata().and_then(|file| file.modified()).ok();
        if time(NAME).is_none_or(|drawn| time("episode.json").is_some_and(|ended| ended >= drawn)) {
            write_one(folder, run, episode)?;
        }
    }
    write_list(folder, run, episodes).map(drop)
}

fn write_one(folder: &RunFolder, run: &RunRecord, record: &EpisodeRecord) -> Result<Utf8PathBuf, Error> {
    let files = folder.episode(&record.id());
    let path = files.path().join(NAME);
    EPISODE.write(&episode::page(run, record, &files)?, &path)?;
    Ok(path)
}

fn write_list(folder: &RunFolder, run: &RunRecord, episodes: &[EpisodeRecord]) -> Result<Utf8PathBuf, Error> {
    let path = folder.path().join(NAME);
    let report = folder.path().join("report.html").exists();
    LIST.write(&list::page(run, episodes, report), &path)?;
    Ok(path)
}

/// The viewer of one episode, drawn and not written.
pub(crate) fn draw_one(
    run: &RunRecord,
    record: &EpisodeRecord,
    files: &EpisodeFolder,
) -> Result<String, Error> {
    EPISODE.draw(&episode::page(run, record, files)?)
}

/// The list of a run's episodes, drawn and not written, for where there is a report beside it.
pub(crate) fn draw_list(run: &RunRecord, episodes: &[EpisodeRecord]) -> Result<String, Error> {
    LIST.draw(&list::page(run, episodes, true))
}
