//! The submissions of a run (`submissions.jsonl`): a line before the scheduler is called, and a
//! line with the job's number once it has answered. After a crash in between, the job is found by
//! its name.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};

use file_version::Version;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::folder::ClusterFolder;

/// A submission of parts, as one array of jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// Its number, from 1.
    pub number: u32,
    /// The numbers of its parts.
    pub parts: Vec<u32>,
    /// The time just before it was submitted.
    pub at: Timestamp,
    /// The number of the job array; none if the scheduler's answer got lost.
    pub job: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(default, skip_serializing_if = "Version::is_first")]
    format: Version,
    submission: u32,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    job: Option<String>,
}

/// Reads all submissions. An incomplete last line was never acted upon.
///
/// # Errors
/// When the file cannot be read.
pub fn read(folder: &ClusterFolder) -> Result<Vec<Submission>, Error> {
    let path = folder.submissions();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::Read { path, source }),
    };
    let mut all: Vec<Submission> = Vec::new();
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let Line { submission, at, parts, job, .. } = crate::files::parse(&path, line)?;
        if let Some(parts) = parts {
            all.push(Submission { number: submission, parts, at, job: None });
        } else if let Some(known) = all.iter_mut().find(|known| known.number == submission) {
            known.job = job;
        }
    }
    Ok(all)
}

/// Notes that these parts are about to be submitted. Returns the number of the submission.
///
/// # Errors
/// When that cannot be written. Then nothing must be submitted.
pub fn begin(folder: &ClusterFolder, parts: &[u32]) -> Result<u32, Error> {
    let submission = read(folder)?.last().map_or(1, |last| last.number + 1);
    append(
        folder,
        &Line {
            format: Version::FIRST,
            submission,
            at: Timestamp::now(),
            parts: Some(parts.to_vec()),
            job: None,
        },
    )?;
    Ok(submission)
}

/// Notes the number that the scheduler has given to a submission.
///
/// # Errors
/// When that cannot be written.
pub fn submitted(folder: &ClusterFolder, submission: u32, job: &str) -> Result<(), Error> {
    let job = Some(job.to_owned());
    append(
        folder,
        &Line { format: Version::FIRST, submission, at: Timestamp::now(), parts: None, job },
    )
}

/// The last submission of a part.
pub fn last_of(submissions: &[Submission], part: u32) -> Option<&Submission> {
    submissions.iter().rev().find(|submission| submission.parts.contains(&part))
}

fn append(folder: &ClusterFolder, line: &Line) -> Result<(), Error> {
    let path = folder.submissions();
    let write = |source| Error::Write { path: path.clone(), source };
    let malformed = |source| Error::Malformed { path: path.clone(), source };
    let mut bytes = serde_json::to_vec(line).map_err(malformed)?;
    bytes.push(b'\n');
    // What a killed process has left of a line is ended first.
    let broken = fs::read(&path).is_ok_and(|there| there.last().is_some_and(|last| *last != b'\n'));
    if broken {
        let text = fs::read_to_string(&path).map_err(write)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        crate::files::replace(&path, whole.as_bytes(), 0o644)?;
    }
    let mut file: File = File::options().append(true).create(true).open(&path).map_err(write)?;
    file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(write)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use camino::Utf8Path;

    use super::*;

    #[test]
    fn a_submission_is_there_before_its_job_is_known() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = ClusterFolder::of(Utf8Path::from_path(temporary.path()).unwrap());
        folder.create().unwrap();
        assert_eq!(begin(&folder, &[1, 2, 3]).unwrap(), 1);
        submitted(&folder, 1, "42").unwrap();
        assert_eq!(begin(&folder, &[2]).unwrap(), 2);
        // Killed in the middle of a line.
        let mut file = File::options().append(true).open(folder.submissions()).unwrap();
        file.write_all(b"{\"submission\":3,\"par").unwrap();
        let all = read(&folder).unwrap();
        assert_eq!(
            all.iter().map(|one| one.job.as_deref()).collect::<Vec<_>>(),
            [Some("42"), None]
        );
        assert_eq!(last_of(&all, 2).unwrap().number, 2);
        assert_eq!(last_of(&all, 3).unwrap().number, 1);
        assert_eq!(begin(&folder, &[9]).unwrap(), 3);
        assert_eq!(read(&folder).unwrap().len(), 3);
    }
}
