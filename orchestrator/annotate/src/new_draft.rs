//! The draft of a new task, or of one that is edited.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use recorder::web_address;
use snapshots::index::ReplaySet;
use tasks::{Task, UNDATED};
use url::Url;

use crate::begin::{free_id, free_snapshot, is_of};
use crate::write::now;
use crate::{Draft, Error, Source, TaskFolder};

/// The ends of the names of snapshots.
const SNAPSHOTS: [&str; 5] = [".wacz", ".warc", ".warc.gz", ".arc", ".arc.gz"];

/// What is annotated.
#[derive(Debug, Clone, Default)]
pub struct NewDraft {
    /// The first page of the live web, or a snapshot; by default the world of the suite.
    pub web: Option<String>,
    /// The id of the new task; by default made of the host of its first page.
    pub id: Option<String>,
    /// The first page of a snapshot; by default the first of its page list.
    pub url: Option<Url>,
}

impl NewDraft {
    /// The draft of a new task, or of the one that is `edited`, with its file. `open` opens
    /// snapshots whose pages have to be known.
    ///
    /// # Errors
    /// When something else than pages is to be annotated, what is for new tasks would change one
    /// that is edited, or the web, its time or its first page are not known.
    pub fn draft<E: From<Error>>(
        &self,
        place: &TaskFolder,
        edited: Option<(Utf8PathBuf, Task)>,
        open: impl FnOnce(&[Utf8PathBuf]) -> Result<ReplaySet, E>,
    ) -> Result<Draft, E> {
        if place.world.as_ref().is_some_and(|world| world.sites.is_some()) {
            return Err(Error::HasSites { folder: place.folder.clone() }.into());
        }
        if let Some((file, task)) = &edited {
            self.check_edit(file, task)?;
        }
        let source = self.source(place, edited.as_ref().map(|(_, task)| task))?;
        let clock = clock(&source, place, edited.as_ref().map(|(_, task)| task))?;
        if let Some((file, task)) = edited {
            return Ok(Draft::of_task(task, &file, source, clock)?);
        }
        let start = self.start_url(&source, open)?;
        let id = self.id.clone().unwrap_or_else(|| free_id(&start, place));
        Ok(Draft::new(source, id, start.to_string(), clock))
    }

    /// What is for new tasks only does not change the one that is edited.
    fn check_edit(&self, file: &Utf8Path, task: &Task) -> Result<(), Error> {
        let refuse = |what: &str, instead: &str| {
            let why = format!("{what} is for a new task; {instead}");
            Err(Error::Unfit { path: file.to_owned(), why })
        };
        if self.id.is_some() {
            return refuse("--id", "leave it out, and change the id in the panel");
        }
        if self.url.is_some() {
            return refuse("--url", "leave it out: the task has its first page");
        }
        let live = self.web.as_deref().filter(|web| !is_snapshot(web));
        let live = live.and_then(|web| web_address(web).ok());
        let start = task.start_url.as_deref().and_then(|start| Url::parse(start).ok());
        if let Some(live) = live.filter(|live| start.as_ref() != Some(live)) {
            let begins = task.start_url.as_deref().unwrap_or("no page");
            return refuse(live.as_str(), &format!("the task begins at {begins}: name that"));
        }
        Ok(())
    }

    fn source(&self, place: &TaskFolder, edited: Option<&Task>) -> Result<Source, Error> {
        match &self.web {
            Some(web) if is_snapshot(web) => {
                let path = Utf8PathBuf::from(web);
                if let Err(source) = std::fs::metadata(&path) {
                    return Err(Error::OpenSnapshot { path, source });
                }
                Ok(Source::Snapshots(vec![path]))
            }
            Some(web) => {
                web_address(web).map_err(|why| Error::Address {
                    web: web.clone(),
                    why: format!("it is no snapshot (WACZ, WARC, ARC), and {why}"),
                })?;
                Ok(Source::Live(free_snapshot(&place.folder)))
            }
            None => {
                let Some(world) = &place.world else {
                    return Err(Error::NoSuite { folder: place.folder.clone() });
                };
                let own = edited.and_then(|task| task.snapshots.clone());
                Ok(Source::Snapshots(own.unwrap_or_else(|| world.snapshots.clone())))
            }
        }
    }

    fn start_url<E: From<Error>>(
        &self,
        source: &Source,
        open: impl FnOnce(&[Utf8PathBuf]) -> Result<ReplaySet, E>,
    ) -> Result<Url, E> {
        if let Some(url) = &self.url {
            return Ok(url.clone());
        }
        match source {
            Source::Live(_) => {
                let web = self.web.clone().unwrap_or_default();
                Ok(web_address(&web).map_err(|why| Error::Address { web, why })?)
            }
            Source::Snapshots(files) => {
                let set = open(files)?;
                let first = set.pages().find_map(|page| Url::parse(&page.url).ok());
                Ok(first.ok_or_else(|| {
                    let files: Vec<&str> = files.iter().map(|file| file.as_str()).collect();
                    Error::NoPages { files: files.join(", ") }
                })?)
            }
        }
    }
}

/// The time of the task's world.
fn clock(source: &Source, place: &TaskFolder, edited: Option<&Task>) -> Result<Timestamp, Error> {
    let Source::Snapshots(snapshots) = source else { return Ok(now()) };
    if let Some(clock) = edited.and_then(|task| task.clock) {
        return Ok(clock);
    }
    let world = place.world.as_ref().filter(|world| is_of(world, snapshots));
    match world.map(|world| world.clock).filter(|clock| *clock != UNDATED) {
        Some(clock) => Ok(clock),
        None => Ok(play::suites::recorded(snapshots)?),
    }
}

fn is_snapshot(web: &str) -> bool {
    let name = web.to_ascii_lowercase();
    !web.contains("://")
        && (SNAPSHOTS.iter().any(|end| name.ends_with(end)) || Utf8Path::new(web).is_file())
}
