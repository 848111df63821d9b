//! What an annotation begins with: a new task, an existing one, or a draft that was left.

use annotate::{Draft, Source, TaskFolder};
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use snapshots::Recording;
use snapshots::index::ReplaySet;
use tasks::{Task, UNDATED, WorldSpec};
use url::Url;

use super::Annotate;
use crate::commands::record;
use crate::commands::replay;
use crate::commands::tasks as suites;
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
        let id = self.id.clone().unwrap_or_else(|| free_id(&start, place));
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
                Ok(Source::Live(free_snapshot(&place.folder)))
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
        let world = place.world.as_ref().filter(|world| is_of(world, snapshots));
        match world.map(|world| world.clock).filter(|clock| *clock != UNDATED) {
            Some(clock) => Ok(clock),
            None => suites::recorded(snapshots),
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

/// Whether a world has these snapshots.
fn is_of(world: &WorldSpec, snapshots: &[Utf8PathBuf]) -> bool {
    let real = |path: &Utf8PathBuf| path.canonicalize_utf8().unwrap_or_else(|_| path.clone());
    let known: Vec<Utf8PathBuf> = world.snapshots.iter().map(real).collect();
    snapshots.iter().all(|path| known.contains(&real(path)))
}

/// A draft that was left: a recording that is finished is played from now on.
pub(super) fn resumed(mut draft: Draft) -> Draft {
    if let Source::Live(path) = &draft.source
        && path.is_file()
        && !Recording::is_left_over(path)
    {
        draft.source = Source::Snapshots(vec![path.clone()]);
    }
    draft
}

fn is_snapshot(web: &str) -> bool {
    let name = web.to_ascii_lowercase();
    !web.contains("://")
        && (SNAPSHOTS.iter().any(|end| name.ends_with(end)) || Utf8Path::new(web).is_file())
}

/// A name for a new snapshot of the suite that nothing has.
fn free_snapshot(folder: &Utf8Path) -> Utf8PathBuf {
    let name = |number: u32| match number {
        1 => folder.join("snapshot.wacz"),
        number => folder.join(format!("snapshot-{number}.wacz")),
    };
    let is_free = |path: &Utf8PathBuf| !path.exists() && !Recording::is_left_over(path);
    (1..=u32::MAX).map(name).find(is_free).unwrap_or_else(|| name(1))
}

/// An id that the suite does not have yet.
fn free_id(start: &Url, place: &TaskFolder) -> String {
    let host = start.host_str().unwrap_or("task");
    let host = host.strip_prefix("www.").unwrap_or(host);
    let host: String =
        host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let host = host.trim_matches('-').to_owned();
    let ids = (1..=u32::MAX).map(|number| format!("{host}-{number}"));
    let is_free = |id: &String| !place.taken.contains_key(id);
    ids.into_iter().find(is_free).unwrap_or(host)
}

/// Copies the snapshots into the suite, each whole before it has its name. One that is there with
/// the same length is the same.
pub(super) fn copy_snapshots(draft: &mut Draft, folder: &Utf8Path) -> Result<(), Failure> {
    let Source::Snapshots(files) = &mut draft.source else { return Ok(()) };
    for file in files {
        let copy = folder.join(file.file_name().unwrap_or("snapshot.wacz"));
        let real = |path: &Utf8Path| path.canonicalize_utf8().ok();
        if copy.exists() && real(&copy) == real(file) {
            continue;
        }
        if copy.exists() {
            return Err(Failure::Input(format!(
                "failed to copy {file}: {copy} is there already; leave --copy-snapshot out, or rename one of them"
            )));
        }
        let doing = || format!("copy {file} to {copy}");
        let part =
            tempfile::Builder::new().prefix(".part-").tempfile_in(folder).or_environment(doing())?;
        std::fs::copy(&*file, part.path()).or_environment(doing())?;
        part.persist(&copy).or_environment(doing())?;
        *file = copy;
    }
    Ok(())
}
