//! Moves the episodes of parts into the run, once no process plays by the plan any more.

use results::RunFolder;
use results::parts;
use tokio::time::Instant;

use crate::Error;
use crate::folder::ClusterFolder;
use crate::lock::{FREE_WITHIN, PartLock};

/// Moves the episodes of the parts into the run, each part once its process has ended. The plan
/// must have been put away before, because that makes the processes end.
pub(crate) async fn gather(whole: &RunFolder, folder: &ClusterFolder) -> Result<(), Error> {
    let path = folder.parts();
    let entries = path.read_dir_utf8();
    let entries = entries.map_err(|source| Error::Read { path: path.clone(), source })?;
    let mut names: Vec<String> =
        entries.filter_map(Result::ok).map(|entry| entry.file_name().to_owned()).collect();
    names.sort();
    let deadline = Instant::now() + FREE_WITHIN;
    let (mut free, mut busy) = (Vec::new(), Vec::new());
    for name in names {
        match PartLock::wait(&folder.lock(&name), deadline).await? {
            // It need not be held: whoever takes it now sees that the plan is put away.
            Some(_) => free.push(path.join(name)),
            None => busy.push(name),
        }
    }
    parts::gather(whole, &free)?;
    if busy.is_empty() {
        return Ok(());
    }
    Err(Error::Busy { parts: busy })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use camino::Utf8Path;
    use jiff::Timestamp;
    use results::{EpisodeId, EpisodeRecord, Outcome as EpisodeOutcome, RunRecord};
    use tokio::time::Duration;

    use super::*;

    fn run(path: &Utf8Path, episode: Option<&str>) -> RunFolder {
        let record =
            RunRecord::new("town", "digest".to_owned(), "oracle".to_owned(), 1, Vec::new());
        let folder = RunFolder::create(path, &record).unwrap();
        if let Some(id) = episode {
            let id: EpisodeId = id.parse().unwrap();
            let record = EpisodeRecord::new(&id, EpisodeOutcome::Answered, Timestamp::UNIX_EPOCH);
            folder.keep(folder.begin_episode(&id).unwrap(), &record, &[], &[]).unwrap();
        }
        folder
    }

    /// A part of any plan is gathered, but not before the process that plays it has ended.
    #[tokio::test]
    async fn a_part_is_gathered_once_its_process_has_let_it_go() {
        let temporary = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(temporary.path()).unwrap().join("run");
        let whole = run(&path, None);
        let folder = ClusterFolder::of(&path);
        folder.create().unwrap();
        drop(run(&folder.part("0a", 1), Some("a-1")));
        let playing = PartLock::take(&folder.lock("0b-1")).unwrap().unwrap();
        drop(run(&folder.part("0b", 1), None));
        let played = async {
            // The gathering waits meanwhile.
            tokio::time::timeout(Duration::from_millis(50), std::future::pending::<()>())
                .await
                .unwrap_err();
            let late = RunFolder::open(&folder.part("0b", 1)).unwrap();
            let id: EpisodeId = "b-1".parse().unwrap();
            let record = EpisodeRecord::new(&id, EpisodeOutcome::Answered, Timestamp::UNIX_EPOCH);
            late.keep(late.begin_episode(&id).unwrap(), &record, &[], &[]).unwrap();
            drop(playing);
        };
        let (gathered, ()) = tokio::join!(gather(&whole, &folder), played);
        gathered.unwrap();
        let names: Vec<String> =
            whole.episodes().unwrap().iter().map(|record| record.id().to_string()).collect();
        assert_eq!(names, ["a-1", "b-1"]);
        assert!(folder.parts().read_dir_utf8().unwrap().next().is_none());
    }
}
