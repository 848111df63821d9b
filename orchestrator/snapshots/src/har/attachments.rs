//! Bodies stored outside the log. Playwright names them in `_file`, relative to the log or to the
//! `.zip` that contains both.

use std::fs::File;
use std::io::{self, Read, Seek};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use zip::ZipArchive;

use super::Error;

/// Where the files named by `_file` are stored.
#[derive(Debug, Default)]
pub enum Attachments {
    /// Nowhere: such an entry is an error.
    #[default]
    None,
    /// In a folder, usually that of the log. Nothing outside of it is ever read.
    Folder(Utf8PathBuf),
    /// In the zip that also contains the log.
    Zip(Box<ZipArchive<File>>),
}

impl Attachments {
    /// Reads at most `limit` bytes of the body `name` of entry number `entry`.
    ///
    /// # Errors
    /// [`Error::Attachment`] if the name is not a plain relative path, the file is missing or
    /// unreadable, or it is larger than `limit` (whatever size it declares).
    pub(super) fn read(&mut self, entry: u64, name: &str, limit: u64) -> Result<Vec<u8>, Error> {
        let refuse = |reason: String| Error::Attachment { entry, name: name.to_owned(), reason };
        if !is_plain(name) {
            return Err(refuse("the name leads out of the folder of the log".to_owned()));
        }
        match self {
            Attachments::None => Err(refuse("bodies beside the log were not given".to_owned())),
            Attachments::Folder(folder) => {
                // A link or a pipe among the bodies is not opened.
                let file = files::below::file(folder, name).map_err(|error| refuse(error.to_string()))?;
                read_capped(file, limit).map_err(|error| refuse(error.to_string()))
            }
            Attachments::Zip(zip) => {
                let file = zip.by_name(name).map_err(|error| refuse(error.to_string()))?;
                read_capped(file, limit).map_err(|error| refuse(error.to_string()))
            }
        }
    }
}

/// Opens the one `.har` inside a zip. It is unpacked into an anonymous temporary file, because the
/// zip is needed for the bodies at the same time.
pub(super) fn open_zip(path: &Utf8Path, file: File, limit: u64) -> Result<(File, Attachments), Error> {
    let broken = |reason: String| Error::Zip { path: path.to_owned(), reason };
    let mut zip = ZipArchive::new(file).map_err(|error| broken(error.to_string()))?;
    let names: Vec<String> = zip
        .file_names()
        .flatten()
        .filter(|name| name.ends_with(".har"))
        .map(|name| name.into_owned())
        .collect();
    let [name] = names.as_slice() else {
        return Err(broken(format!("it holds {} files named *.har, and one is wanted", names.len())));
    };
    let mut log = tempfile::tempfile().map_err(|error| broken(error.to_string()))?;
    let entry = zip.by_name(name).map_err(|error| broken(error.to_string()))?;
    let copied = io::copy(&mut entry.take(limit.saturating_add(1)), &mut log)
        .map_err(|error| broken(error.to_string()))?;
    if copied > limit {
        return Err(broken(format!("{name} unpacks to more than the limit of {limit} bytes")));
    }
    log.rewind().map_err(|error| broken(error.to_string()))?;
    Ok((log, Attachments::Zip(Box::new(zip))))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(['\\', '\0'])
        && Utf8Path::new(name).components().all(|part| matches!(part, Utf8Component::Normal(_)))
}

fn read_capped(input: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("it is larger than the limit of {limit} bytes"),
        ));
    }
    Ok(bytes)
}
