//! Moves the episodes of parts into the folder of the whole run.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::Error;
use crate::analysis::merge::join;
use crate::stored::{EarlierAttempt, EpisodeRecord, Outcome, RunFolder};

/// Moves the whole episodes of the parts that are there into the run, and removes the parts. An
/// episode of the run that ended in an error gives way to another attempt. Whatever ends this in
/// the middle, it can be done again.
///
/// # Errors
/// When a part is of another run or was played on another kind of machine, when two parts have one
/// episode, or when something cannot be moved. What was not moved stays where it is.
pub fn gather(run: &RunFolder, parts: &[Utf8PathBuf]) -> Result<(), Error> {
    let mut whole = run.run()?;
    let mut there = Vec::new();
    for path in parts.iter().filter(|path| path.join("run.json").is_file()) {
        let part = RunFolder::open(path)?;
        join(&mut whole, &part.run()?, path)?;
        there.push(part);
    }
    run.rewrite(&whole)?;
    for part in there {
        for record in part.episodes()? {
            take(run, &part, &record)?;
        }
        remove(part.path())?;
    }
    // Parts that never began have a folder at most.
    parts.iter().filter(|path| path.exists()).try_for_each(|path| remove(path))
}

fn take(run: &RunFolder, part: &RunFolder, record: &EpisodeRecord) -> Result<(), Error> {
    let id = record.id();
    let (from, to) = (part.episode(&id), run.episode(&id));
    if to.is_whole() {
        let before = to.record()?;
        if !matches!(before.outcome, Outcome::Error { .. }) {
            return Err(Error::TwiceInParts { path: from.path().to_owned(), id: id.to_string() });
        }
        // The attempt that gives way stays in the record of this one.
        let earlier = [EarlierAttempt::up_to(&before), record.earlier.clone()].concat();
        from.rewrite(&EpisodeRecord { earlier, ..record.clone() })?;
        remove(to.path())?;
    }
    fs::rename(from.path(), to.path())
        .map_err(|source| Error::Write { path: to.path().to_owned(), source })
}

fn remove(path: &Utf8Path) -> Result<(), Error> {
    fs::remove_dir_all(path).map_err(|source| Error::Write { path: path.to_owned(), source })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::stored::{EpisodeId, RunRecord};

    fn folder(path: &Utf8Path, chromium: &str, ids: &[(&str, bool)]) -> RunFolder {
        let mut record =
            RunRecord::new("town", "digest".to_owned(), "oracle".to_owned(), 2, Vec::new());
        record.world.chromium = (!chromium.is_empty()).then(|| chromium.to_owned());
        let folder = RunFolder::create(path, &record).unwrap();
        for (id, fails) in ids {
            let id: EpisodeId = id.parse().unwrap();
            let error = Outcome::Error { message: "x".to_owned() };
            let outcome = if *fails { error } else { Outcome::Answered };
            let record = EpisodeRecord::new(&id, outcome, Timestamp::UNIX_EPOCH);
            folder.keep(folder.begin_episode(&id).unwrap(), &record, &[], &[]).unwrap();
        }
        folder
    }

    fn ids(run: &RunFolder) -> Vec<String> {
        run.episodes().unwrap().iter().map(|record| record.id().to_string()).collect()
    }

    #[test]
    fn each_episode_is_moved_once_and_errors_give_way() {
        let temporary = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(temporary.path()).unwrap();
        let run = folder(&path.join("run"), "", &[("a-1", true)]);
        let parts = [path.join("1"), path.join("2"), path.join("never")];
        drop(folder(&parts[0], "156.0.1.1", &[("a-1", false), ("b-1", false)]));
        drop(folder(&parts[1], "156.0.1.1", &[("b-2", true)]));
        gather(&run, &parts).unwrap();
        assert_eq!(ids(&run), ["a-1", "b-1", "b-2"]);
        assert_eq!(run.episodes().unwrap()[0].outcome, Outcome::Answered);
        assert_eq!(run.run().unwrap().world.chromium.as_deref(), Some("156.0.1.1"));
        assert!(parts.iter().all(|part| !part.exists()));
        gather(&run, &parts).unwrap();
        drop(folder(&parts[0], "156.0.1.1", &[("a-1", false)]));
        assert!(matches!(gather(&run, &parts), Err(Error::TwiceInParts { .. })));
    }

    #[test]
    fn parts_of_another_chromium_are_refused_and_left() {
        let temporary = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(temporary.path()).unwrap();
        let run = folder(&path.join("run"), "156.0.1.1", &[]);
        let part = path.join("1");
        drop(folder(&part, "156.0.1.2", &[("a-1", false)]));
        let error = gather(&run, std::slice::from_ref(&part)).unwrap_err().to_string();
        assert!(error.contains("its Chromium is \"156.0.1.2\", not \"156.0.1.1\""), "{error}");
        assert!(ids(&run).is_empty() && part.exists());
    }
}
