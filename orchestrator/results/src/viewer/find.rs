//! Finds an episode by the name that a user gives.

use crate::Error;
use crate::stored::{EpisodeRecord, RunFolder};

/// Maximum number of ids in an error; others are counted.
const NAMED: usize = 8;

/// Finds an episode by `TASK-N` as results spell it, by the name of its folder, or by a task's id,
/// which means its first attempt.
///
/// # Errors
/// When there is no such episode. The error names existing ones.
pub fn find<'a>(
    folder: &RunFolder,
    episodes: &'a [EpisodeRecord],
    name: &str,
) -> Result<&'a EpisodeRecord, Error> {
    let spelt = |episode: &&EpisodeRecord| {
        let id = episode.id();
        id.to_string() == name || id.folder_name() == name
    };
    // A task's id may look like an attempt at another task. Then the task has priority.
    let found = episodes
        .iter()
        .find(|episode| episode.task == name)
        .or_else(|| episodes.iter().find(spelt));
    found.ok_or_else(|| {
        let mut known: Vec<String> =
            episodes.iter().take(NAMED).map(|episode| episode.id().to_string()).collect();
        if episodes.len() > NAMED {
            known.push(format!("{} others", episodes.len() - NAMED));
        }
        let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
        let ids: Vec<String> = episodes.iter().map(|episode| episode.id().to_string()).collect();
        let tasks = episodes.iter().map(|episode| episode.task.as_str());
        // If the task exists, another attempt is no useful suggestion.
        let is_task =
            |task: &str| name.strip_prefix(task).is_some_and(|rest| rest.starts_with('-'));
        let meant = match tasks.clone().any(is_task) {
            true => String::new(),
            false => suggestions::did_you_mean(name, ids.iter().map(String::as_str).chain(tasks)),
        };
        Error::UnknownEpisode {
            name: name.to_owned(),
            path: folder.path().to_owned(),
            meant,
            known,
        }
    })
}
