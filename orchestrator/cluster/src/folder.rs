//! The files of a run on a cluster, by their paths.
//!
//! ```text
//! RUN/
//!   parts/<token>-<i>/            the run of a part, until its episodes are moved into RUN
//!   slurm/
//!     token                       the token of the plan, as long as it is played
//!     plan.json                   which part plays what, and the digests of what it plays
//!     job.sh                      the script of the jobs
//!     submissions.jsonl           which parts were submitted when, as which jobs
//!     chromium                    the version that all parts show pages with
//!     images/<digest of a name>   the id of the image of a site that all parts play with
//!     status/<i>.<k>.<r>.<node>.json  what part i of submission k says of itself, started again r times
//!     status/<token>-<i>.lock     held by the process that plays part i
//!     logs/<i>.<k>.log            what it printed
//! ```

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};

use crate::Error;

/// The folder `slurm` in a run's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterFolder {
    run: Utf8PathBuf,
}

impl ClusterFolder {
    /// The folder of a run.
    pub fn of(run: &Utf8Path) -> ClusterFolder {
        ClusterFolder { run: run.to_owned() }
    }

    /// Makes the missing folders.
    ///
    /// # Errors
    /// When they cannot be made.
    pub fn create(&self) -> Result<(), Error> {
        for folder in [self.status(), self.logs(), self.parts(), self.images()] {
            std::fs::create_dir_all(&folder)
                .map_err(|source| Error::Write { path: folder, source })?;
        }
        Ok(())
    }

    /// Removes the status files of parts of an earlier plan, but not their logs.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn clear(&self) -> Result<(), Error> {
        let remove = |path: Utf8PathBuf, removed: std::io::Result<()>| match removed {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::Write { path, source })
            }
            _ => Ok(()),
        };
        for folder in [self.status(), self.images()] {
            let removed = std::fs::remove_dir_all(&folder);
            remove(folder, removed)?;
        }
        for file in [self.submissions(), self.chromium()] {
            let removed = std::fs::remove_file(&file);
            remove(file, removed)?;
        }
        Ok(())
    }

    /// The folder itself.
    pub fn path(&self) -> Utf8PathBuf {
        self.run.join("slurm")
    }

    /// The folder of the parts.
    pub fn parts(&self) -> Utf8PathBuf {
        self.run.join("parts")
    }

    /// The run of a part, numbered from 1, of the plan with this token. A late process of an
    /// earlier plan has another token, and writes elsewhere.
    pub fn part(&self, token: &str, part: u32) -> Utf8PathBuf {
        self.parts().join(format!("{token}-{part}"))
    }

    /// The token of the plan that is played.
    pub fn token(&self) -> Utf8PathBuf {
        self.path().join("token")
    }

    /// The plan. See the drawing above, as with all that follow.
    pub fn plan(&self) -> Utf8PathBuf {
        self.path().join("plan.json")
    }

    /// The job script.
    pub fn script(&self) -> Utf8PathBuf {
        self.path().join("job.sh")
    }

    /// The submissions.
    pub fn submissions(&self) -> Utf8PathBuf {
        self.path().join("submissions.jsonl")
    }

    /// The version of Chromium of all parts.
    pub fn chromium(&self) -> Utf8PathBuf {
        self.path().join("chromium")
    }

    /// The folder of the images' ids.
    pub fn images(&self) -> Utf8PathBuf {
        self.path().join("images")
    }

    /// The id of an image of all parts. A name may have slashes.
    pub fn image(&self, name: &str) -> Utf8PathBuf {
        self.images().join(hex::encode(Sha256::digest(name)))
    }

    /// The folder of the status files.
    pub fn status(&self) -> Utf8PathBuf {
        self.path().join("status")
    }

    /// The folder of the logs.
    pub fn logs(&self) -> Utf8PathBuf {
        self.path().join("logs")
    }

    /// The log of a part in a submission.
    pub fn log(&self, part: u32, submission: u32) -> Utf8PathBuf {
        self.logs().join(format!("{part}.{submission}.log"))
    }

    /// The status file of a part in a submission, on a node, with the number of times that the
    /// scheduler has started the job again by itself.
    pub fn status_of(&self, part: u32, submission: u32, restarts: u32, node: &str) -> Utf8PathBuf {
        self.status().join(format!("{part}.{submission}.{restarts}.{node}.json"))
    }

    /// The lock of a part, by the name of its folder. It is held from before the part says anything
    /// until its last word.
    pub fn lock(&self, name: &str) -> Utf8PathBuf {
        self.status().join(format!("{name}.lock"))
    }
}
