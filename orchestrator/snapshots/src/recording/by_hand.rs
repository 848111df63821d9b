//! The part of a recording in which a person browsed: its documents become pages, as nobody lists
//! them.

use std::fs;
use std::io;

use super::Recording;
use crate::{Error, Timestamp};

const FILE: &str = "by-hand.txt";

impl Recording {
    /// Lists every document that is recorded from this time on as a page.
    ///
    /// # Errors
    /// When the recording's folder cannot be written.
    pub fn list_documents_from(&self, time: Timestamp) -> Result<(), Error> {
        let path = self.folder.join(FILE);
        fs::write(&path, time.to_string()).map_err(|error| Error::io("write", &path, error))
    }

    /// The time from which documents are pages. Half a time, of a process that was killed, is none.
    pub(super) fn documents_from(&self) -> Result<Option<Timestamp>, Error> {
        let path = self.folder.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Timestamp::parse(&text).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", &path, error)),
        }
    }
}
