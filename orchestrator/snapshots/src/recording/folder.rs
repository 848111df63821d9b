//! The folder of a recording: made, appended to, found again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};

use super::append::{self, Piece};
use super::appender::{Appender, FILLER};
use super::{Frame, RecordingOptions};
use crate::wacz::page_line;
use crate::warc::{RecordHead, RecordKind, new_record_id};
use crate::{Archive, Error, Exchange, Page, Timestamp};

pub(super) const DATA: &str = "data.warc";
pub(super) const PAGES: &str = "pages.jsonl";

/// A recording in progress. Its methods take `&self` and may be called from many tasks at once; each returns when
/// its records are whole in the file.
#[derive(Debug)]
pub struct Recording {
    pub(super) out: Utf8PathBuf,
    pub(super) folder: Utf8PathBuf,
    pub(super) options: RecordingOptions,
    data: Mutex<Appender>,
    pages: Mutex<Appender>,
}

impl Recording {
    /// Starts a recording that will become `out`. Neither an existing file nor a left-over recording is touched.
    pub fn create(out: &Utf8Path, options: RecordingOptions) -> Result<Recording, Error> {
        if out.symlink_metadata().is_ok() {
            return Err(Error::Exists { path: out.to_owned() });
        }
        let folder = Recording::folder_of(out);
        if let Ok(data) = fs::metadata(folder.join(DATA)) {
            return Err(Error::LeftOver { path: out.to_owned(), folder, bytes: data.len() });
        }
        fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, e))?;
        let recording = Recording::open(out, folder, options)?;
        let info = recording.warcinfo();
        let path = recording.folder.join(DATA);
        recording.write(&recording.data, &path, &[Piece::Bytes(&info)])?;
        Ok(recording)
    }

    /// Takes up a left-over recording: what was written after the last whole record is cut off. Gives the number of
    /// bytes that were cut, too.
    pub fn recover(out: &Utf8Path, options: RecordingOptions) -> Result<(Recording, u64), Error> {
        let folder = Recording::folder_of(out);
        let cut = cut_data(&folder.join(DATA))? + cut_pages(&folder.join(PAGES))?;
        Ok((Recording::open(out, folder, options)?, cut))
    }

    /// Where the recording that becomes `out` keeps its data: `<out>.recording`.
    pub fn folder_of(out: &Utf8Path) -> Utf8PathBuf {
        Utf8PathBuf::from(format!("{out}.recording"))
    }

    /// Appends an exchange as a response and a request record, in one write.
    pub fn append(&self, exchange: &Exchange) -> Result<(), Error> {
        let records = append::exchange(exchange);
        self.write(&self.data, &self.folder.join(DATA), &records.pieces(exchange))
    }

    /// Appends the exchange that opened a WebSocket connection, and its first frames as a resource record. Gives the id
    /// by which [`Self::append_frames`] adds later ones, so that the frames of a long connection are kept as they come.
    pub fn append_websocket(&self, opening: &Exchange, frames: &[Frame]) -> Result<String, Error> {
        let records = append::exchange(opening);
        let lines = append::websocket(opening, records.response_id(), frames);
        let mut pieces = records.pieces(opening);
        pieces.push(Piece::Bytes(&lines));
        self.write(&self.data, &self.folder.join(DATA), &pieces)?;
        Ok(records.response_id().to_owned())
    }

    /// Appends further frames of the connection that `opening` opened under `id`, as one more resource record. The frames of
    /// a connection are those of all records that are `WARC-Concurrent-To` its opening, in order.
    pub fn append_frames(&self, opening: &Exchange, id: &str, frames: &[Frame]) -> Result<(), Error> {
        let lines = append::websocket(opening, id, frames);
        self.write(&self.data, &self.folder.join(DATA), &[Piece::Bytes(&lines)])
    }

    /// Appends a resource record: bytes without HTTP around them, such as a screenshot under a `urn:`.
    pub fn append_resource(
        &self,
        uri: &str,
        media_type: &str,
        date: Timestamp,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let head = RecordHead::new(RecordKind::Resource, &new_record_id(), date)
            .field("WARC-Target-URI", uri)
            .field("Content-Type", media_type)
            .finish(bytes.len() as u64);
        self.write(
            &self.data,
            &self.folder.join(DATA),
            &[Piece::Bytes(&head), Piece::Bytes(bytes), Piece::Bytes(b"\r\n\r\n")],
        )
    }

    /// Appends a page to the list.
    pub fn append_page(&self, page: &Page) -> Result<(), Error> {
        let path = self.folder.join(PAGES);
        let line = page_line(page).map_err(|e| Error::io("write", &path, e.into()))?;
        self.write(&self.pages, &path, &[Piece::Bytes(&line)])
    }

    /// Bytes recorded so far.
    pub fn bytes(&self) -> u64 {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).length()
    }

    /// The file this will become.
    pub fn path(&self) -> &Utf8Path {
        &self.out
    }

    fn open(out: &Utf8Path, folder: Utf8PathBuf, options: RecordingOptions) -> Result<Recording, Error> {
        let data = Mutex::new(Appender::open(&folder.join(DATA), true)?);
        let pages = Mutex::new(Appender::open(&folder.join(PAGES), false)?);
        Ok(Recording { out: out.to_owned(), folder, options, data, pages })
    }

    fn write(&self, to: &Mutex<Appender>, path: &Utf8Path, pieces: &[Piece<'_>]) -> Result<(), Error> {
        let mut appender = to.lock().unwrap_or_else(PoisonError::into_inner);
        appender.append(pieces).map_err(|e| Error::io("write", path, e))
    }

    /// Takes the filling from the end of the data, before they are read as a whole.
    pub(super) fn trim(&self) -> Result<(), Error> {
        let mut data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        data.trim().map_err(|e| Error::io("cut", &self.folder.join(DATA), e))
    }

    fn warcinfo(&self) -> Vec<u8> {
        let mut fields = format!("software: {}\r\nformat: WARC File Format 1.1\r\n", super::SOFTWARE);
        fields.push_str(
            "conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n",
        );
        for (name, value) in &self.options.info {
            fields.push_str(&format!(
                "{}: {}\r\n",
                name.replace([':', '\r', '\n'], " "),
                value.replace(['\r', '\n'], " ")
            ));
        }
        let mut record = RecordHead::new(RecordKind::Warcinfo, &new_record_id(), Timestamp::now())
            .field("Content-Type", "application/warc-fields")
            .finish(fields.len() as u64);
        record.extend_from_slice(fields.as_bytes());
        record.extend_from_slice(b"\r\n\r\n");
        record
    }
}

/// Cuts a data file behind its last whole record; gives the number of bytes cut that were more than filling.
fn cut_data(path: &Utf8Path) -> Result<u64, Error> {
    let length = fs::metadata(path).map_err(|e| Error::io("open", path, e))?.len();
    let archive = Archive::open(path)?;
    let mut whole = 0;
    for record in archive.records() {
        match record {
            // The blank lines behind a record belong to it: without them the next one would not be found.
            Ok((at, _)) if at.offset + at.length + 4 <= length => whole = at.offset + at.length + 4,
            _ => break,
        }
    }
    let written = end_of_writing(path, whole, length).map_err(|e| Error::io("read", path, e))?;
    cut(path, whole, length)?;
    Ok(written - whole)
}

/// Where the last byte between `from` and `to` ends that is no filling.
fn end_of_writing(path: &Utf8Path, from: u64, to: u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let (mut at, mut end) = (from, from);
    let mut chunk = vec![0; 64 << 10];
    let mut rest = file.take(to.saturating_sub(from));
    loop {
        let count = rest.read(&mut chunk)?;
        if count == 0 {
            return Ok(end);
        }
        if let Some(last) = chunk[..count].iter().rposition(|byte| *byte != FILLER) {
            end = at + last as u64 + 1;
        }
        at += count as u64;
    }
}

/// Cuts a page list behind its last whole line.
fn cut_pages(path: &Utf8Path) -> Result<u64, Error> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(e) => return Err(Error::io("open", path, e)),
    };
    let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    cut(path, whole as u64, bytes.len() as u64)
}

fn cut(path: &Utf8Path, whole: u64, length: u64) -> Result<u64, Error> {
    let file = OpenOptions::new().write(true).open(path).map_err(|e| Error::io("open", path, e))?;
    file.set_len(whole).map_err(|e| Error::io("cut", path, e))?;
    Ok(length - whole)
}
