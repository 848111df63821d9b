//! The pictures of a task: `screenshots/TASK/01.png`, one a step, by its place.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::draft::journal::{Journal, replace};
use crate::{Draft, Error};

/// The folder for the pictures of a task.
#[derive(Debug)]
pub(super) struct Pictures {
    place: Utf8PathBuf,
    /// The folder that the task has had until now.
    before: Option<Utf8PathBuf>,
}

impl Pictures {
    /// Pictures of a task, which had this id until now. Nothing is written.
    ///
    /// # Errors
    /// When another folder has the place.
    pub(super) fn of(
        draft: &Draft,
        folder: &Utf8Path,
        old_id: Option<&str>,
    ) -> Result<Pictures, Error> {
        let root = folder.join("screenshots");
        let place = root.join(&draft.task_id);
        if old_id != Some(&*draft.task_id) && place.symlink_metadata().is_ok() {
            return Err(Error::Exists { path: place });
        }
        let before = old_id.map(|id| root.join(id)).filter(|before| before.is_dir());
        Ok(Pictures { place, before })
    }

    /// Writes the pictures. Steps of an earlier version of the task keep theirs, at their new
    /// places; what else lies in the folder stays.
    ///
    /// # Errors
    /// When a picture cannot be written.
    pub(super) fn write(&self, draft: &Draft, journal: &Journal) -> Result<(), Error> {
        let mut pictures = Vec::new();
        for (place, step) in draft.steps.iter().enumerate() {
            let earlier = || {
                let name = file_name(step.place_before?);
                fs::read(self.before.as_ref()?.join(name)).ok()
            };
            let own = journal
                .picture(step.number)
                .filter(|_| step.has_picture || step.place_before.is_some());
            let png = match own {
                Some(png) => Some(png),
                None => {
                    let png = earlier();
                    if let Some(png) = &png {
                        // If something fails now, its place is another one the next time.
                        journal.keep_picture(step, png)?;
                    }
                    png
                }
            };
            pictures.extend(png.map(|png| (place + 1, png)));
        }
        if let Some(before) = self.before.as_ref().filter(|before| **before != self.place) {
            fs::rename(before, &self.place).map_err(Error::write(&self.place))?;
        }
        if self.place.is_dir() {
            for entry in self.place.read_dir_utf8().map_err(Error::read(&self.place))? {
                let path = entry.map_err(Error::read(&self.place))?.into_path();
                let is_number = path
                    .file_stem()
                    .is_some_and(|stem| stem.bytes().all(|byte| byte.is_ascii_digit()));
                if is_number && path.extension() == Some("png") {
                    fs::remove_file(&path).map_err(Error::write(&path))?;
                }
            }
        }
        if !pictures.is_empty() {
            fs::create_dir_all(&self.place).map_err(Error::write(&self.place))?;
        }
        for (number, png) in pictures {
            replace(&self.place.join(file_name(number)), &png)?;
        }
        Ok(())
    }

    /// Takes back that the folder is new, or has another name, as far as that can be done.
    pub(super) fn take_back(&self) {
        let taken_back = match &self.before {
            None => fs::remove_dir_all(&self.place),
            Some(before) if *before != self.place => fs::rename(&self.place, before),
            Some(_) => Ok(()),
        };
        if let Err(error) = taken_back {
            tracing::debug!(%error, "the pictures of a task that was not written stay");
        }
    }
}

/// The name of the picture of a step, by its place from 1.
fn file_name(place: usize) -> String {
    format!("{place:02}.png")
}
