//! What an annotation begins with: a new task, an existing one, or a draft that was left.

use annotate::{Draft, Source, TaskFolder};
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use snapshots::index::ReplaySet;
use tasks::{Task, UNDATED};
use url::Url;

use super::Annotate;
use crate::commands::record;
use crate::commands::replay;
use crate::failure::{Failure, OrFail as _};

/// The ends of the names of snapshots.
const SNAPSHOTS: [&str; 5] = [".wacz", ".warc", ".warc.gz", ".arc", ".arc.gz"];

impl Annotate {
    /// The draft of a new task, or of the one that is edited.
    pub(super) fn new_draft(
        &self,
        place: &TaskFolder,
        edited: Option<(Utf8PathBuf, Task)>,
    ) -> Result<Draft, Failure> {
        if place.world.as_ref().is_some_and(|world| world.sites.is_some()) {
            return Err(Failure::Input(format!(
                "failed to annotate {}: its world has sites that run here, and only pages of snapshots and of the live \
                 web can be annotated",
                place.folder
            )));
        }
        if let Some((file, task)) = &edited {
            self.check_edit(file, task)?;
        }
        let source = self.source(place, edited.as_ref().map(|(_, task)| task))?;
        let clock = self.clock(&source, place, edited.as_ref().map(|(_, task)| task))?;
        if let Some((file, task)) = edited {
            return Ok(Draft::of_task(task, &file, source, clock)?);
        }
        let start = self.start_url(&source)?;
        let id = self.id.clone().unwrap_or_else(|| annotate::free_id(&start, place));
        Ok(Draft::new(source, id, start.to_string(), clock))
    }

    /// What is for new tasks only does not change the one that is edited.
    fn check_edit(&self, file: &Utf8Path, task: &Task) -> Result<(), Failure> {
        let refuse = |what: &str, instead: &str| {
            Err(Failure::Input(format!(
                "failed to edit {file}: {what} is for a new task; {instead}"
            )))
        };
        if self.id.is_some() {
            return refuse("--id", "leave it out, and change the id in the panel");
        }
        if self.url.is_some() {
            return refuse("--url", "leave it out: the task has its first page");
        }
        let live = self.web.as_deref().filter(|web| !is_snapshot(web));
        let live = live.and_then(|web| record::web_address(web).ok());
        let start = task.start_url.as_deref().and_then(|start| Url::parse(start).ok());
        if let Some(live) = live.filter(|live| start.as_ref() != Some(live)) {
            let begins = task.start_url.as_deref().unwrap_or("no page");
            return refuse(live.as_str(), &format!("the task begins at {begins}: name that"));
        }
        Ok(())
    }

    fn source(&self, place: &TaskFolder, edited: Option<&Task>) -> Result<Source, Failure> {
        match &self.web {
            Some(web) if is_snapshot(web) => {
                let path = Utf8PathBuf::from(web);
                std::fs::metadata(&path).or_input(format!("open the snapshot {path}"))?;
                Ok(Source::Snapshots(vec![path]))
            }
            Some(web) => {
                record::web_address(web).map_err(|why| {
                    Failure::Input(format!(
                        "failed to open {web}: it is no snapshot (WACZ, WARC, ARC), and {why}"
                    ))
                })?;
                Ok(Source::Live(annotate::free_snapshot(&place.folder)))
            }
            None => {
                let Some(world) = &place.world else {
                    return Err(Failure::Input(format!(
                        "failed to annotate: {} is no suite yet; name the first page on the live web, or a snapshot",
                        place.folder
                    )));
                };
                let own = edited.and_then(|task| task.snapshots.clone());
                Ok(Source::Snapshots(own.unwrap_or_else(|| world.snapshots.clone())))
            }
        }
    }

    /// The time of the task's world.
    fn clock(
        &self,
        source: &Source,
        place: &TaskFolder,
        edited: Option<&Task>,
    ) -> Result<Timestamp, Failure> {
        let Source::Snapshots(snapshots) = source else { return Ok(annotate::now()) };
        if let Some(clock) = edited.and_then(|task| task.clock) {
            return Ok(clock);
        }
        let world = place.world.as_ref().filter(|world| annotate::is_of(world, snapshots));
        match world.map(|world| world.clock).filter(|clock| *clock != UNDATED) {
            Some(clock) => Ok(clock),
            None => Ok(play::suites::recorded(snapshots)?),
        }
    }

    fn start_url(&self, source: &Source) -> Result<Url, Failure> {
        if let Some(url) = &self.url {
            return Ok(url.clone());
        }
        match source {
            Source::Live(_) => {
                let web = self.web.as_deref().unwrap_or_default();
                record::web_address(web)
                    .map_err(|why| Failure::Input(format!("failed to open {web}: {why}")))
            }
            Source::Snapshots(files) => {
                let set: ReplaySet = replay::open(files, &self.data)?;
                let first = set.pages().find_map(|page| Url::parse(&page.url).ok());
                first.ok_or_else(|| {
                    let files: Vec<&str> = files.iter().map(|file| file.as_str()).collect();
                    Failure::Input(format!(
                        "failed to choose the first page: {} has no list of pages; name it with --url",
                        files.join(", ")
                    ))
                })
            }
        }
    }
}

fn is_snapshot(web: &str) -> bool {
    let name = web.to_ascii_lowercase();
    !web.contains("://")
        && (SNAPSHOTS.iter().any(|end| name.ends_with(end)) || Utf8Path::new(web).is_file())
}
