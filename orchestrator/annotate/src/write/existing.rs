//! Suites and tasks that are there already.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use scoring::solution::OracleStep;
use scoring::{KeyNodes, Scorer};
use tasks::{GoalText, Suite, Task, WorldSpec};

use super::TaskFolder;
use crate::draft::{Node, Step};
use crate::{Draft, Error, Source};

/// Looks at the place of a task: a folder, which may be a suite or not be there, or the file of a
/// task. `task` names a task of the suite to edit. Also returns the task to edit and its file.
///
/// # Errors
/// When the suite cannot be read, or has no such task.
pub fn load(
    output: &Utf8Path,
    task: Option<&str>,
) -> Result<(TaskFolder, Option<(Utf8PathBuf, Task)>), Error> {
    let is_file = matches!(output.extension(), Some("yaml" | "yml"));
    if is_file && output.file_stem() == Some("suite") && output.is_file() {
        // The file of the suite stands for its folder.
        let folder = output.parent().filter(|folder| !folder.as_str().is_empty());
        return load(folder.unwrap_or(Utf8Path::new(".")), task);
    }
    let folder = match output.parent() {
        _ if !is_file => output.to_owned(),
        Some(parent) if !parent.as_str().is_empty() => parent.to_owned(),
        _ => Utf8PathBuf::from("."),
    };
    if is_file && !output.is_file() {
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(Error::read(output)(source));
    }
    let has_suite = ["suite.yaml", "suite.yml"].iter().any(|name| folder.join(name).is_file());
    let mut files: BTreeMap<String, Utf8PathBuf> = BTreeMap::new();
    let mut world = None;
    if has_suite {
        for path in task_files(&folder)? {
            let task = tasks::read_task(&path)?;
            files.insert(task.id, path);
        }
        world = Some(Suite::load_world(&folder)?);
    }
    if !has_suite && !is_file {
        check_no_other_yaml(&folder)?;
    }
    let edited = match (is_file, task) {
        (true, _) => {
            let known = files.iter().find(|(_, path)| path.file_name() == output.file_name());
            Some(known.map(|(_, path)| path.clone()).ok_or_else(|| Error::Unfit {
                path: output.to_owned(),
                why: "there is no suite.yaml beside it".to_owned(),
            })?)
        }
        (false, Some(id)) => Some(files.get(id).cloned().ok_or_else(|| {
            let near = suggestions::did_you_mean(id, files.keys().map(String::as_str));
            Error::Unfit { path: folder.clone(), why: format!("it has no task `{id}`{near}") }
        })?),
        (false, None) => None,
    };
    let edited = match edited {
        Some(path) => {
            let (task, of_suite) = task_and_world(&path)?;
            world = Some(of_suite);
            Some((path, task))
        }
        None => None,
    };
    let own = edited.as_ref().map(|(path, _)| path);
    let taken = files
        .iter()
        .filter(|(_, path)| Some(*path) != own)
        .map(|(id, path)| (id.clone(), path.file_name().unwrap_or_default().to_owned()))
        .collect();
    Ok((TaskFolder { folder, world, taken }, edited))
}

/// A task as a run has it, with resolved paths, and the world of its suite.
fn task_and_world(file: &Utf8Path) -> Result<(Task, WorldSpec), Error> {
    let mut suite = Suite::load(file)?;
    let task = suite.tasks.pop().ok_or_else(|| tasks::Error::NoTasks { path: file.to_owned() })?;
    Ok((task, suite.world))
}

/// Each YAML file of a suite's folder is a task: beside others no suite can begin.
pub(crate) fn check_no_other_yaml(folder: &Utf8Path) -> Result<(), Error> {
    let files = if folder.is_dir() { task_files(folder)? } else { Vec::new() };
    match files.first() {
        None => Ok(()),
        Some(file) => Err(Error::Unfit {
            path: folder.to_owned(),
            why: format!(
                "it is no suite, and has {file}, which would be taken for a task; use another folder"
            ),
        }),
    }
}

fn task_files(folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>, Error> {
    let mut files = Vec::new();
    for entry in folder.read_dir_utf8().map_err(Error::read(folder))? {
        let path = entry.map_err(Error::read(folder))?.into_path();
        let is_task =
            matches!(path.extension(), Some("yaml" | "yml")) && path.file_stem() != Some("suite");
        if is_task && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl Draft {
    /// A draft of an existing task. `clock` is the time of its world.
    ///
    /// # Errors
    /// When the task is scored by another rule than key nodes, its goal is made up by its page, or
    /// it begins nowhere.
    pub fn of_task(
        task: Task,
        file: &Utf8Path,
        source: Source,
        clock: jiff::Timestamp,
    ) -> Result<Draft, Error> {
        let unfit = |why: &str| Error::Unfit { path: file.to_owned(), why: why.to_owned() };
        let Scorer::Mind2WebLive(KeyNodes { nodes }) = task.scorer else {
            return Err(unfit(
                "its scorer is not `mind2web_live`, and only key nodes can be annotated",
            ));
        };
        let GoalText::Words(goal) = task.goal else {
            return Err(unfit("its goal is made up by its page"));
        };
        let start_url = task.start_url.ok_or_else(|| unfit("it has no `start_url`"))?;
        let mut draft = Draft::new(source, task.id, start_url, clock);
        draft.goal = goal;
        draft.edited = Some(file.to_owned());
        let mut steps = task.oracle;
        if let Some(OracleStep::Answer(answer)) = steps.last() {
            draft.answer.clone_from(answer);
            steps.pop();
        }
        for (place, action) in steps.into_iter().enumerate() {
            let number = draft.next_number();
            draft
                .steps
                .push(Step { place_before: Some(place + 1), ..Step::new(number, action, "") });
        }
        for node in nodes {
            let number = draft.next_number();
            draft.nodes.push(Node { number, step: None, node });
        }
        Ok(draft)
    }
}

/// The id in a task's file.
pub(super) fn id_of(file: &Utf8Path) -> Result<String, Error> {
    Ok(tasks::read_task(file)?.id)
}

/// The edited task with what the draft says. All else of its file stays, but for comments: those at
/// its head are kept, and the others counted.
pub(super) fn changed(
    file: &Utf8Path,
    draft: &Draft,
    into: &TaskFolder,
) -> Result<(Task, String, usize), Error> {
    let mut task = tasks::read_task(file)?;
    task.id.clone_from(&draft.task_id);
    task.goal = GoalText::Words(draft.goal.trim().to_owned());
    task.start_url = Some(draft.start_url.clone());
    let nodes = draft.nodes.iter().map(|node| node.node.clone()).collect();
    task.scorer = Scorer::Mind2WebLive(KeyNodes { nodes });
    let had_length = task.reference_steps.is_some();
    let sites = task.sites.clone();
    super::complete(&mut task, draft, into);
    // What its author has written counts.
    if !had_length {
        task.reference_steps = None;
    }
    if !sites.is_empty() {
        task.sites = sites;
    }
    // What the pages came from until now stays as it is written.
    let (known, of_suite) = task_and_world(file)?;
    if !super::has_snapshots(&known.world(&of_suite), draft) {
        (task.snapshots, task.clock) = (None, None);
        super::own_world(&mut task, draft, &of_suite, &into.folder);
    }
    let text = fs::read_to_string(file).map_err(Error::read(file))?;
    let is_comment = |line: &&str| line.trim_start().starts_with('#');
    let head: String = text.lines().take_while(is_comment).flat_map(|line| [line, "\n"]).collect();
    let lost = text.lines().filter(is_comment).count() - head.lines().count();
    Ok((task, head, lost))
}
