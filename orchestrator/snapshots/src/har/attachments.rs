//! Bodies stored outside the log. Playwright names them in `_file`, relative to the log or to the
//! `.zip` that contains both.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use zip::ZipArchive;

use super::Error;
use crate::budget::{Budget, Watched};
use crate::wacz::check_zip;

/// The bodies that are stored outside the log, and how much of them may still be read. By default
/// there are none.
#[derive(Debug)]
pub struct Attachments {
    place: Place,
    budget: Budget,
}

/// Where the files named by `_file` are stored.
#[derive(Debug)]
enum Place {
    /// Nowhere: such an entry is an error.
    None,
    /// In a folder, usually that of the log. Nothing outside of it is ever read.
    Folder {
        folder: Utf8PathBuf,
        /// Device and number of the files that are in the budget.
        known: HashSet<(u64, u64)>,
    },
    /// In the zip that also contains the log.
    Zip(Box<ZipArchive<File>>),
}

impl Default for Attachments {
    fn default() -> Attachments {
        Attachments { place: Place::None, budget: Budget::of_contents(0) }
    }
}

impl Attachments {
    /// The files in the folder of a log.
    pub(super) fn beside(folder: &Utf8Path, budget: Budget) -> Attachments {
        let place = Place::Folder { folder: folder.to_owned(), known: HashSet::new() };
        Attachments { place, budget }
    }

    /// Reads at most `limit` bytes of the body `name` of entry number `entry`.
    ///
    /// # Errors
    /// [`Error::Attachment`] if the name is not a plain relative path, the file is missing or
    /// unreadable, or it is larger than `limit` (whatever size it declares).
    /// [`Error::AllTogether`] if all bodies together are too large for their files.
    pub(super) fn read(&mut self, entry: u64, name: &str, limit: u64) -> Result<Vec<u8>, Error> {
        let refuse = |reason: String| Error::Attachment { entry, name: shortened(name), reason };
        if !is_plain(name) {
            return Err(refuse("the name leads out of the folder of the log".to_owned()));
        }
        let budget = &mut self.budget;
        let input: Box<dyn Read + '_> = match &mut self.place {
            Place::None => return Err(refuse("bodies beside the log were not given".to_owned())),
            Place::Folder { folder, known } => {
                // A link or a pipe among the bodies is not opened.
                let file =
                    files::below::file(folder, name).map_err(|error| refuse(error.to_string()))?;
                let about = file.metadata().map_err(|error| refuse(error.to_string()))?;
                if known.insert((about.dev(), about.ino())) {
                    // A file with holes is as small as what it takes on the disk.
                    budget.add(about.len().min(about.blocks().saturating_mul(512)));
                }
                Box::new(file)
            }
            Place::Zip(zip) => {
                Box::new(zip.by_name(name).map_err(|error| refuse(error.to_string()))?)
            }
        };
        let mut bytes = Vec::new();
        input
            .take(limit.min(budget.left()).saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| refuse(error.to_string()))?;
        take(budget, bytes.len() as u64)?;
        if bytes.len() as u64 > limit {
            return Err(refuse(format!("it is larger than the limit of {limit} bytes")));
        }
        Ok(bytes)
    }
}

/// Opens the one `.har` inside a zip. It is unpacked into an anonymous temporary file, because the
/// zip is needed for the bodies at the same time. Log and bodies have one budget.
pub(super) fn open_zip(
    path: &Utf8Path,
    file: File,
    limit: u64,
    mut budget: Budget,
) -> Result<(File, Attachments), Error> {
    let broken = |reason: String| Error::Zip { path: path.to_owned(), reason };
    let failed = |error: io::Error| broken(error.to_string());
    let mut zip = ZipArchive::new(file).map_err(|error| broken(error.to_string()))?;
    check_zip(&mut zip).map_err(broken)?;
    let names: Vec<String> = zip
        .file_names()
        .flatten()
        .filter(|name| name.ends_with(".har"))
        .map(|name| name.into_owned())
        .collect();
    let [name] = names.as_slice() else {
        return Err(broken(format!(
            "it holds {} files named *.har, and one is wanted",
            names.len()
        )));
    };
    let mut log = Watched::temporary().map_err(failed)?;
    let entry = zip.by_name(name).map_err(|error| broken(error.to_string()))?;
    // One byte more tells a log at the limit from a longer one.
    let most = limit.min(budget.left());
    let copied = io::copy(&mut entry.take(most.saturating_add(1)), &mut log).map_err(failed)?;
    if copied > limit {
        return Err(broken(format!("{name} unpacks to more than the limit of {limit} bytes")));
    }
    take(&mut budget, copied)?;
    log.flush().map_err(failed)?;
    let mut log = log.into_file();
    log.rewind().map_err(failed)?;
    Ok((log, Attachments { place: Place::Zip(Box::new(zip)), budget }))
}

fn take(budget: &mut Budget, bytes: u64) -> Result<(), Error> {
    budget.take(bytes).map_err(|_| Error::AllTogether { limit: budget.limit() })
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(['\\', '\0'])
        && Utf8Path::new(name).components().all(|part| matches!(part, Utf8Component::Normal(_)))
}

/// A text of a log as it is shown.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
