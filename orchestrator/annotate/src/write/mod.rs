//! Writes a finished draft as files of a suite.
//!
//! ```text
//! suite.yaml                     the world, where the suite is new
//! screenshots/TASK/01.png        one picture a step, with the element outlined
//! mind2web-live.json             the annotated tasks in Mind2Web-Live's own form
//! TASK.yaml                      the task, written last
//! ```

pub(crate) mod existing;
mod pictures;
mod published;
#[cfg(test)]
mod tests;

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use scoring::{KeyNodes, Scorer};
use serde::Serialize;
use tasks::import::live;
use tasks::{GoalText, Task, WorldSpec, relative};

use self::pictures::Pictures;
use self::published::Published;
use crate::draft::journal::{Journal, replace};
use crate::{Draft, Error, Source};

/// The folder into which a task is written.
#[derive(Debug, Clone)]
pub struct TaskFolder {
    /// The folder of the suite.
    pub folder: Utf8PathBuf,
    /// Its world, where there is a suite; paths are resolved.
    pub world: Option<WorldSpec>,
    /// Ids of its tasks but for the edited one, with their files.
    pub taken: std::collections::BTreeMap<String, String>,
}

/// The files that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveReport {
    /// The file of the task.
    pub task: Utf8PathBuf,
    /// Whether the suite is new.
    pub is_new_suite: bool,
    /// Number of steps and of key nodes.
    pub counts: (usize, usize),
    /// Comments of the edited file that are not in it any more.
    pub lost_comments: usize,
}

#[derive(Serialize)]
struct SuiteKeys<'a> {
    name: &'a str,
    world: &'a WorldSpec,
}

/// Writes the task of a draft, and the suite where it is new. Every file is replaced as a whole,
/// the task's last.
///
/// # Errors
/// When a file cannot be written, or something has its place.
pub fn save(draft: &Draft, journal: &Journal, into: &TaskFolder) -> Result<SaveReport, Error> {
    let folder = &into.folder;
    let old_id = draft.edited.as_deref().map(existing::id_of).transpose()?;
    let path = match &draft.edited {
        Some(path) if Some(&draft.task_id) == old_id.as_ref() => path.clone(),
        _ => folder.join(format!("{}.yaml", draft.task_id)),
    };
    if draft.edited.as_ref() != Some(&path) && path.symlink_metadata().is_ok() {
        return Err(Error::Exists { path });
    }
    let is_new_suite = into.world.is_none();
    if is_new_suite {
        existing::check_no_other_yaml(folder)?;
    }
    let pictures = Pictures::of(draft, folder, old_id.as_deref())?;
    // Before anything is written: it can be unreadable.
    let published = Published::with(draft, folder, old_id.as_deref())?;
    let (task, head, lost_comments) = match &draft.edited {
        Some(edited) => existing::changed(edited, draft, into)?,
        None => (new_task(draft, into), String::new(), 0),
    };
    let task_text = head + &yaml::to_string(&task).map_err(encode(&task.id))?;
    if is_new_suite {
        let name = folder.canonicalize_utf8().map_err(Error::read(folder))?;
        let name = name.file_name().unwrap_or("suite");
        let world = live::world(snapshots(draft, folder), draft.clock, live::BROWSERGYM, None);
        let text =
            yaml::to_string(&SuiteKeys { name, world: &world }).map_err(encode("suite.yaml"))?;
        replace(&folder.join("suite.yaml"), text.as_bytes())?;
    }
    published.write()?;
    let written =
        pictures.write(draft, journal).and_then(|()| replace(&path, task_text.as_bytes()));
    if written.is_err() {
        pictures.take_back();
    }
    written?;
    if let Some(edited) = draft.edited.as_ref().filter(|edited| **edited != path) {
        // It has another id now, and so another file.
        fs::remove_file(edited).map_err(Error::write(edited))?;
    }
    let counts = (draft.steps.len(), draft.nodes.len());
    Ok(SaveReport { task: path, is_new_suite, counts, lost_comments })
}

fn encode(what: &str) -> impl FnOnce(serde_yaml::Error) -> Error {
    let what = what.to_owned();
    move |error| Error::Encode { what, why: error.to_string() }
}

fn new_task(draft: &Draft, into: &TaskFolder) -> Task {
    let goal = GoalText::Words(draft.goal.trim().to_owned());
    let nodes = draft.nodes.iter().map(|node| node.node.clone()).collect();
    let mut task = Task::new(draft.task_id.clone(), goal, Scorer::Mind2WebLive(KeyNodes { nodes }));
    task.start_url = Some(draft.start_url.clone());
    task.tags = vec!["annotated".to_owned()];
    complete(&mut task, draft, into);
    if let Some(world) = &into.world {
        own_world(&mut task, draft, world, &into.folder);
    }
    task
}

/// Fills in the keys of the task that follow from the steps.
fn complete(task: &mut Task, draft: &Draft, into: &TaskFolder) {
    task.oracle = draft.oracle();
    let length = u32::try_from(task.oracle.len()).unwrap_or(u32::MAX);
    task.reference_steps = Some(length);
    task.max_steps = task.max_steps.max(tasks::import::mind2web_live_max_steps(length));
    // In a world with sites these are their names.
    if into.world.as_ref().is_none_or(|world| world.sites.is_none()) {
        task.sites = hosts(draft);
    }
}

/// The hosts that the steps come to, in their order.
fn hosts(draft: &Draft) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    let urls = draft.steps.iter().flat_map(|step| [&step.url, &step.url_after]);
    for url in [&draft.start_url].into_iter().chain(urls) {
        let host = url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
        hosts.extend(host.filter(|host| !hosts.contains(host)));
    }
    hosts
}

/// In a suite with another world the task names its own snapshots and time.
fn own_world(task: &mut Task, draft: &Draft, world: &WorldSpec, folder: &Utf8Path) {
    if has_snapshots(world, draft) {
        return;
    }
    task.snapshots = Some(snapshots(draft, folder));
    task.clock = Some(draft.clock).filter(|clock| *clock != world.clock);
}

/// Whether a world has the snapshots of a draft.
fn has_snapshots(world: &WorldSpec, draft: &Draft) -> bool {
    let used = match &draft.source {
        Source::Live(snapshot) => std::slice::from_ref(snapshot),
        Source::Snapshots(snapshots) => snapshots,
    };
    let known: Vec<Utf8PathBuf> = world.snapshots.iter().map(|path| canonical(path)).collect();
    used.iter().all(|path| known.contains(&canonical(path)))
}

/// The snapshots of a draft, as paths from the folder of the suite.
fn snapshots(draft: &Draft, folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    match &draft.source {
        Source::Live(snapshot) => vec![relative(snapshot, folder)],
        Source::Snapshots(snapshots) => {
            snapshots.iter().map(|path| relative(path, folder)).collect()
        }
    }
}

fn canonical(path: &Utf8Path) -> Utf8PathBuf {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
}

/// The time of a world that begins now, to the second.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}
