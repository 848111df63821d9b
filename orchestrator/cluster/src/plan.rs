//! The plan (`plan.json`): the episodes of each part, and the files that a node must have for them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use file_version::Version;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::files::{read_json, replace, replace_json};
use crate::folder::ClusterFolder;

/// A plan. It does not change once parts are submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The version of the file.
    #[serde(default)]
    pub format: Version,
    /// Tells this plan from others of the same run. Part of the names of its jobs.
    pub token: String,
    /// The program that plays.
    pub program: Utf8PathBuf,
    /// The SHA-256 of the program, in hexadecimal.
    pub program_digest: String,
    /// The folder in which the parts run. Relative paths start there.
    pub folder: Utf8PathBuf,
    /// Digests of the suite's files by path.
    pub files: BTreeMap<Utf8PathBuf, String>,
    /// Ids of the images of sites by name, as far as the machine that submitted the run knew them.
    #[serde(default)]
    pub images: BTreeMap<String, String>,
    /// The names of the episodes of each part.
    pub parts: Vec<Vec<String>>,
}

impl Plan {
    /// Reads the plan of a run; none if it has none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(folder: &ClusterFolder) -> Result<Option<Plan>, Error> {
        read_json(&folder.plan())
    }

    /// Writes it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, folder: &ClusterFolder) -> Result<(), Error> {
        // First: a plan whose token is not there is not played.
        replace(&folder.token(), self.token.as_bytes(), 0o644)?;
        replace_json(&folder.plan(), self)
    }

    /// Returns whether the plan with this token is in force. Parts ask this often, so the token has
    /// a file of its own: the plan may be large.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn is_played(folder: &ClusterFolder, token: &str) -> Result<bool, Error> {
        let path = folder.token();
        match fs::read_to_string(&path) {
            Ok(there) => Ok(there == token),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(source) => Err(Error::Read { path, source }),
        }
    }

    /// Puts the plan away, if there is one. Processes that still play by it end themselves.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn finish(folder: &ClusterFolder) -> Result<(), Error> {
        let (plan, token) = (folder.plan(), folder.token());
        let renamed = fs::rename(&plan, plan.with_file_name("plan.finished.json"));
        for (path, done) in [(plan, renamed), (token.clone(), fs::remove_file(&token))] {
            match done {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    return Err(Error::Write { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The name of the jobs of a submission.
    pub fn job_name(&self, submission: u32) -> String {
        format!("sandbox-{}-{submission}", self.token)
    }

    /// The submission that a job of this name belongs to.
    pub fn submission(&self, job_name: &str) -> Option<u32> {
        job_name
            .strip_prefix("sandbox-")?
            .strip_prefix(&self.token)?
            .strip_prefix('-')?
            .parse()
            .ok()
    }
}

/// The SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// When it cannot be read.
pub fn sha256(path: &Utf8Path) -> Result<String, Error> {
    let read = |source| Error::Read { path: path.to_owned(), source };
    let mut file = fs::File::open(path).map_err(read)?;
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut piece).map_err(read)? {
            0 => break,
            count => hash.update(&piece[..count]),
        }
    }
    Ok(hex::encode(hash.finalize()))
}

/// Makes this version of Chromium that of all parts, unless there is one. Returns the version of
/// all parts.
///
/// # Errors
/// When the file cannot be written or read.
pub fn agree_on_chromium(folder: &ClusterFolder, chromium: &str) -> Result<String, Error> {
    agree(folder.chromium(), chromium)
}

/// Makes this id of an image that of all parts, unless there is one. Returns the id of all parts.
///
/// # Errors
/// When the file cannot be written or read.
pub fn agree_on_image(folder: &ClusterFolder, name: &str, id: &str) -> Result<String, Error> {
    agree(folder.image(name), id)
}

/// Writes a value unless there is one, and returns the one that is there.
fn agree(path: Utf8PathBuf, value: &str) -> Result<String, Error> {
    // Written whole under another name, and linked: of two at once, one is first.
    // Two nodes may have a process of the same number.
    let node = std::env::var("SLURMD_NODENAME").unwrap_or_default();
    let own = path.with_extension(format!("{node}.{}", std::process::id()));
    let write = |source| Error::Write { path: own.clone(), source };
    fs::File::create(&own).and_then(|mut file| file.write_all(value.as_bytes())).map_err(write)?;
    let linked = fs::hard_link(&own, &path);
    let _ = fs::remove_file(&own);
    match linked {
        Ok(()) => Ok(value.to_owned()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::read_to_string(&path).map_err(|source| Error::Read { path, source })
        }
        Err(source) => Err(Error::Write { path, source }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written_and_put_away() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = ClusterFolder::of(Utf8Path::from_path(temporary.path()).unwrap());
        folder.create().unwrap();
        assert_eq!(Plan::read(&folder).unwrap(), None);
        let plan = Plan {
            format: Version::FIRST,
            token: "0f3a".to_owned(),
            program: "/usr/bin/sandbox".into(),
            program_digest: "aa".to_owned(),
            folder: "/home".into(),
            files: BTreeMap::from([("suite.yaml".into(), "bb".to_owned())]),
            images: BTreeMap::from([("a:1".to_owned(), "sha256:cc".to_owned())]),
            parts: vec![vec!["tea-1".to_owned()]],
        };
        plan.write(&folder).unwrap();
        assert_eq!(Plan::read(&folder).unwrap().as_ref(), Some(&plan));
        assert_eq!(plan.submission(&plan.job_name(7)), Some(7));
        assert_eq!(plan.submission("sandbox-0f3b-7"), None);
        assert!(
            Plan::is_played(&folder, "0f3a").unwrap() && !Plan::is_played(&folder, "0f3b").unwrap()
        );
        Plan::finish(&folder).unwrap();
        assert_eq!(Plan::read(&folder).unwrap(), None);
        assert!(!Plan::is_played(&folder, "0f3a").unwrap());
        Plan::finish(&folder).unwrap();
        fs::write(folder.plan(), r#"{"format": 2}"#).unwrap();
        assert!(matches!(Plan::read(&folder), Err(Error::NewerFormat { .. })));
    }

    #[test]
    fn the_first_chromium_and_image_are_those_of_all() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = ClusterFolder::of(Utf8Path::from_path(temporary.path()).unwrap());
        folder.create().unwrap();
        for chromium in ["156.0.1.1", "156.0.1.2"] {
            assert_eq!(agree_on_chromium(&folder, chromium).unwrap(), "156.0.1.1");
        }
        for (image, id) in [("a/b:1", "x"), ("a/b:1", "y")] {
            assert_eq!(agree_on_image(&folder, image, id).unwrap(), "x");
        }
        assert_eq!(agree_on_image(&folder, "a/b:2", "y").unwrap(), "y");
    }
}
