//! Periods of a recording that the snapshot does not have: what was loaded then is no content, such
//! as a question whether the client is a person.

use std::fs::OpenOptions;
use std::io::{self, Write};

use camino::Utf8Path;

use super::{Load, MAX_LIST, Recording};
use crate::warc::RecordKind;
use crate::{Error, Record, Timestamp};

/// One period a line: two times with a blank between them.
const FILE: &str = "left-out.txt";

impl Recording {
    /// Leaves out of the snapshot whatever was requested in that period. The data of the recording
    /// keeps it.
    pub fn leave_out(&self, (from, to): Load) -> Result<(), Error> {
        let path = self.folder.join(FILE);
        let failed = |error| Error::io("write", &path, error);
        let mut file = OpenOptions::new().append(true).create(true).open(&path).map_err(failed)?;
        // Half a line of a process that was killed ends here.
        file.write_all(format!("\n{from} {to}\n").as_bytes()).map_err(failed)
    }

    /// The periods that are left out. Half a line, of a process that was killed, is none.
    pub(crate) fn left_out_in(folder: &Utf8Path) -> Result<Vec<Load>, Error> {
        let path = folder.join(FILE);
        let text = match files::read_text(&path, MAX_LIST) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        let period = |line: &str| {
            let (from, to) = line.split_once(' ')?;
            Some((Timestamp::parse(from).ok()?, Timestamp::parse(to).ok()?))
        };
        Ok(text.lines().filter_map(period).collect())
    }
}

/// Whether a record is of one of these periods.
pub(crate) fn is_left_out(record: &Record, periods: &[Load]) -> bool {
    record.kind() != RecordKind::Warcinfo
        && record.date().is_some_and(|at| periods.iter().any(|(from, to)| *from <= at && at <= *to))
}
