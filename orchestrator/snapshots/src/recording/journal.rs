//! Journals of WebSocket connections that are still open.
//!
//! A record begins with its length, but the length of an open connection's frames is unknown. Until
//! it ends, its frames are lines of a separate journal, and each is on disk before it is forwarded.
//! Then they become one record, and the journal is deleted. If the process is killed, the recovery
//! of the recording converts the left-over journal into that record.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use file_version::Version;
use serde_json::Value;

use super::Frame;
use super::append::{END, Piece};
use super::appender::Appender;
use super::frames::{FORMAT, FramesHead};
use crate::{Archive, Error, Exchange};

/// The folder of the journals, inside the recording's folder.
const FOLDER: &str = "sockets";
/// The maximum size of the first line of a journal.
const MAX_HEAD: u64 = 64 << 20;

/// The frames of a connection that is still open.
#[derive(Debug)]
pub struct OpenSocket {
    lines: Appender,
    path: Utf8PathBuf,
}

impl OpenSocket {
    /// Creates the journal of the connection that `opening` opened.
    pub(super) fn create(
        recording: &Utf8Path,
        opening: &Exchange,
        response: &str,
    ) -> Result<OpenSocket, Error> {
        let head = FramesHead::new(opening, response);
        let folder = recording.join(FOLDER);
        fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, e))?;
        let name = head.id.rsplit(':').next().unwrap_or(&head.id);
        let path = folder.join(format!("{name}.jsonl"));
        let mut socket = OpenSocket { lines: Appender::open(&path, false)?, path };
        socket.write(&head.line())?;
        Ok(socket)
    }

    /// Writes a frame. When this returns, the frame survives a kill of the process.
    pub fn append(&mut self, frame: &Frame) -> Result<(), Error> {
        self.write(&frame.line())
    }

    fn write(&mut self, line: &[u8]) -> Result<(), Error> {
        self.lines.append(&[Piece::Bytes(line)]).map_err(|e| Error::io("write", &self.path, e))
    }

    /// The written frames, to be converted into a record.
    pub(super) fn close(self) -> Result<Journal, Error> {
        let path = self.path;
        drop(self.lines);
        Journal::read(path.clone())?
            .ok_or_else(|| Error::io("read", &path, io::ErrorKind::InvalidData.into()))
    }
}

/// The whole lines of a journal.
pub(super) struct Journal {
    path: Utf8PathBuf,
    head: FramesHead,
    file: Arc<File>,
    /// The start of the frames, after the first line.
    start: u64,
    end: u64,
}

impl Journal {
    /// Reads the whole lines of a journal; `None` if not even the first line is whole.
    fn read(path: Utf8PathBuf) -> Result<Option<Journal>, Error> {
        let failed = |e| Error::io("read", &path, e);
        let file = files::open(&path).map_err(failed)?;
        let mut reader = BufReader::new(file);
        let mut first = Vec::new();
        reader.by_ref().take(MAX_HEAD).read_until(b'\n', &mut first).map_err(failed)?;
        let Ok(head) = serde_json::from_slice::<Value>(&first) else { return Ok(None) };
        let newer = |newer: file_version::NewerVersion| Error::Line {
            name: path.file_name().unwrap_or_default().to_owned(),
            line: 1,
            reason: newer.to_string(),
        };
        Version::of(&head).unwrap_or_default().check(FORMAT).map_err(newer)?;
        let Ok(head) = serde_json::from_value::<FramesHead>(head) else { return Ok(None) };
        let start = first.len() as u64;
        let end = start + whole_lines(&mut reader).map_err(failed)?;
        Ok(Some(Journal { path, head, file: Arc::new(reader.into_inner()), start, end }))
    }

    /// Its frames as a record, in the pieces of one entry. `head` is [`Self::head`].
    pub(super) fn pieces<'a>(&'a self, head: &'a [u8]) -> [Piece<'a>; 3] {
        let frames =
            Piece::File { file: &self.file, start: self.start, length: self.end - self.start };
        [Piece::Bytes(head), frames, Piece::Bytes(END)]
    }

    /// The header of its record.
    pub(super) fn head(&self) -> Vec<u8> {
        self.head.record(self.end - self.start)
    }

    /// Deletes the journal, once its record is written.
    pub(super) fn remove(self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(|e| Error::io("remove", &self.path, e))
    }
}

/// The number of bytes in the whole lines that follow. A line that was being written when the
/// process was killed lacks its first byte, which is written last, or its end.
pub(super) fn whole_lines(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut whole = 0;
    loop {
        if matches!(reader.fill_buf()?, [] | [0, ..]) {
            return Ok(whole);
        }
        let Some(length) = skip_line(reader)? else { return Ok(whole) };
        whole += length;
    }
}

/// The length of the next line, which is not kept; `None` if it has no end.
fn skip_line(reader: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = 0;
    loop {
        let bytes = reader.fill_buf()?;
        let (end, skipped) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => (true, end + 1),
            None => (false, bytes.len()),
        };
        reader.consume(skipped);
        length += skipped as u64;
        if end {
            return Ok(Some(length));
        }
        if skipped == 0 {
            return Ok(None);
        }
    }
}

/// The journals in the folder of a recording without a record: those of connections that were open
/// when the process was killed.
pub(super) fn left_over(recording: &Utf8Path, data: &Archive) -> Result<Vec<Journal>, Error> {
    let folder = recording.join(FOLDER);
    let failed = |e| Error::io("read", &folder, e);
    let mut journals = Vec::new();
    match folder.read_dir_utf8() {
        Ok(entries) => {
            for entry in entries {
                journals.extend(Journal::read(entry.map_err(failed)?.into_path())?);
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    if !journals.is_empty() {
        // Killed between writing a record and deleting its journal.
        let ids = data.records().filter_map(|record| record.ok()?.1.id().map(str::to_owned));
        let known: HashSet<String> = ids.collect();
        journals.retain(|journal| !known.contains(&journal.head.id));
    }
    // In the order of opening.
    journals.sort_by(|a, b| a.head.opened().cmp(&b.head.opened()));
    Ok(journals)
}

/// The records of all left-over journals in the folder of a recording, in an unnamed file, with its
/// length. The folder is not changed.
pub(crate) fn left_over_records(
    recording: &Utf8Path,
    data: &Archive,
) -> Result<(File, u64), Error> {
    let failed = |e| Error::io("copy", recording, e);
    let mut records = tempfile::tempfile().map_err(failed)?;
    for journal in left_over(recording, data)? {
        let mut frames = &*journal.file;
        frames.seek(io::SeekFrom::Start(journal.start)).map_err(failed)?;
        records.write_all(&journal.head()).map_err(failed)?;
        io::copy(&mut frames.take(journal.end - journal.start), &mut records).map_err(failed)?;
        records.write_all(END).map_err(failed)?;
    }
    let length = records.stream_position().map_err(failed)?;
    Ok((records, length))
}
