//! The folder of a recording: created, appended to, recovered.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};

use camino::{Utf8Path, Utf8PathBuf};
use parking_lot::Mutex;

use super::append::{self, Piece};
use super::appender::{Appender, FILLER};
use super::journal::{self, Journal, OpenSocket, whole_lines};
use super::{Frame, MAX_LIST, RecordingOptions, frames};
use crate::wacz::page_line;
use crate::warc::{RecordHead, RecordKind, new_record_id};
use crate::{Archive, BrowserState, Error, Exchange, Page, Timestamp};

pub(super) const DATA: &str = "data.warc";
pub(super) const PAGES: &str = "pages.jsonl";
/// The browser state.
const STATE: &str = "browser-state.json";

/// A recording in progress. Its methods take `&self` and can be called concurrently from many
/// tasks. Each returns when its records are whole in the file.
#[derive(Debug)]
pub struct Recording {
    pub(super) out: Utf8PathBuf,
    pub(super) folder: Utf8PathBuf,
    pub(super) options: RecordingOptions,
    data: Mutex<Appender>,
    pages: Mutex<Appender>,
}

impl Recording {
    /// Starts a recording with the target `out`. Neither an existing file nor a left-over recording
    /// is changed.
    pub fn create(out: &Utf8Path, options: RecordingOptions) -> Result<Recording, Error> {
        if !options.replace && out.symlink_metadata().is_ok() {
            return Err(Error::Exists { path: out.to_owned() });
        }
        let folder = Recording::folder_of(out);
        if let Ok(data) = fs::metadata(folder.join(DATA)) {
            return Err(Error::LeftOver { path: out.to_owned(), folder, bytes: data.len() });
        }
        fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, e))?;
        let recording = Recording::open(out, folder, options)?;
        let info = recording.warcinfo();
        let path = recording.data_path();
        recording.write(&recording.data, &path, &[Piece::Bytes(&info)])?;
        Ok(recording)
    }

    /// Resumes a left-over recording. Data after the last whole record is truncated. Also returns
    /// the number of truncated bytes.
    pub fn recover(out: &Utf8Path, options: RecordingOptions) -> Result<(Recording, u64), Error> {
        let folder = Recording::folder_of(out);
        let cut = cut_data(&folder.join(DATA))? + cut_pages(&folder.join(PAGES))?;
        Ok((Recording::open(out, folder, options)?, cut))
    }

    /// Whether there is an unfinished recording with the target `out`.
    pub fn is_left_over(out: &Utf8Path) -> bool {
        Recording::folder_of(out).join(DATA).exists()
    }

    /// The data folder of the recording with the target `out`: `<out>.recording`.
    pub fn folder_of(out: &Utf8Path) -> Utf8PathBuf {
        Utf8PathBuf::from(format!("{out}.recording"))
    }

    /// Discards the recording and deletes its data.
    pub fn discard(self) -> Result<(), Error> {
        fs::remove_dir_all(&self.folder).map_err(|e| Error::io("remove", &self.folder, e))
    }

    /// Appends an exchange as a response and a request record, in one write.
    pub fn append(&self, exchange: &Exchange) -> Result<(), Error> {
        let records = append::exchange(exchange);
        self.write(&self.data, &self.data_path(), &records.pieces(exchange))
    }

    /// Appends the exchange that opened a WebSocket connection, and all its frames as a resource
    /// record that is `WARC-Concurrent-To` the response.
    pub fn append_websocket(&self, opening: &Exchange, frames: &[Frame]) -> Result<(), Error> {
        let records = append::exchange(opening);
        let lines = frames::record(opening, records.response_id(), frames);
        let mut pieces = records.pieces(opening);
        pieces.push(Piece::Bytes(&lines));
        self.write(&self.data, &self.data_path(), &pieces)
    }

    /// Appends the exchange that opens a WebSocket connection whose frames are yet to come.
    pub fn open_websocket(&self, opening: &Exchange) -> Result<OpenSocket, Error> {
        let records = append::exchange(opening);
        self.write(&self.data, &self.data_path(), &records.pieces(opening))?;
        OpenSocket::create(&self.folder, opening, records.response_id())
    }

    /// Appends the frames of a closed connection.
    pub fn close_websocket(&self, socket: OpenSocket) -> Result<(), Error> {
        self.append_journal(socket.close()?)
    }

    /// Appends the frames of connections that were open when the process was killed, or could not
    /// be closed.
    pub(super) fn append_left_over(&self, data: &Archive) -> Result<(), Error> {
        journal::left_over(&self.folder, data)?
            .into_iter()
            .try_for_each(|left| self.append_journal(left))
    }

    fn append_journal(&self, journal: Journal) -> Result<(), Error> {
        self.write(&self.data, &self.data_path(), &journal.pieces(&journal.head()))?;
        journal.remove()
    }

    /// Appends a resource record: bytes without HTTP framing, such as a screenshot under a `urn:`.
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
            &self.data_path(),
            &[Piece::Bytes(&head), Piece::Bytes(bytes), Piece::Bytes(b"\r\n\r\n")],
        )
    }

    /// Appends a page to the list.
    pub fn append_page(&self, page: &Page) -> Result<(), Error> {
        let path = self.folder.join(PAGES);
        let line = page_line(page).map_err(|e| Error::io("write", &path, e.into()))?;
        self.write(&self.pages, &path, &[Piece::Bytes(&line)])
    }

    /// Stores the browser state. Replaces an earlier one.
    pub fn set_browser_state(&self, state: &BrowserState) -> Result<(), Error> {
        let path = self.folder.join(STATE);
        let part = self.folder.join(format!("{STATE}.part"));
        let text = serde_json::to_vec(state).map_err(|e| Error::io("write", &path, e.into()))?;
        fs::write(&part, text).map_err(|e| Error::io("write", &part, e))?;
        fs::rename(&part, &path).map_err(|e| Error::io("write", &path, e))
    }

    /// The browser state in the folder of a recording; empty if none was stored.
    pub(crate) fn browser_state_in(folder: &Utf8Path) -> Result<BrowserState, Error> {
        let path = folder.join(STATE);
        let failed = |error| Error::io("read", &path, error);
        match files::read(&path, MAX_LIST) {
            Ok(text) => {
                file_version::check_values(&text)
                    .map_err(|error| failed(io::Error::other(error)))?;
                serde_json::from_slice(&text).map_err(|error| failed(error.into()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BrowserState::default()),
            Err(error) => Err(failed(error)),
        }
    }

    /// The WARC file of the recording: everything so far, except WebSockets that are still open.
    pub fn data_path(&self) -> Utf8PathBuf {
        self.folder.join(DATA)
    }

    /// Bytes recorded so far.
    pub fn bytes(&self) -> u64 {
        self.data.lock().length()
    }

    /// The path of the target file.
    pub fn path(&self) -> &Utf8Path {
        &self.out
    }

    fn open(
        out: &Utf8Path,
        folder: Utf8PathBuf,
        options: RecordingOptions,
    ) -> Result<Recording, Error> {
        let data = Mutex::new(Appender::open(&folder.join(DATA), true)?);
        let pages = Mutex::new(Appender::open(&folder.join(PAGES), false)?);
        Ok(Recording { out: out.to_owned(), folder, options, data, pages })
    }

    fn write(
        &self,
        to: &Mutex<Appender>,
        path: &Utf8Path,
        pieces: &[Piece<'_>],
    ) -> Result<(), Error> {
        let mut appender = to.lock();
        appender.append(pieces).map_err(|e| Error::io("write", path, e))
    }

    /// Removes the fill from the end of the data, before the data is read as a whole.
    pub(super) fn trim(&self) -> Result<(), Error> {
        let mut data = self.data.lock();
        data.trim().map_err(|e| Error::io("cut", &self.data_path(), e))
    }

    fn warcinfo(&self) -> Vec<u8> {
        let mut fields =
            format!("software: {}\r\nformat: WARC File Format 1.1\r\n", super::SOFTWARE);
        fields.push_str(
            "conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n",
        );
        for (name, value) in &self.options.info {
            // A line end in a value would begin another field.
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

/// Truncates a data file after its last whole record. Returns the number of removed bytes, without
/// the fill.
fn cut_data(path: &Utf8Path) -> Result<u64, Error> {
    let length = fs::metadata(path).map_err(|e| Error::io("open", path, e))?.len();
    let archive = Archive::open(path)?;
    let mut whole = 0;
    for record in archive.records() {
        match record {
            // The blank lines after a record belong to it. Without them the next record would not
            // be found.
            Ok((at, _)) if at.offset + at.length + 4 <= length => whole = at.offset + at.length + 4,
            _ => break,
        }
    }
    let written = end_of_writing(path, whole, length).map_err(|e| Error::io("read", path, e))?;
    cut(path, whole, length)?;
    Ok(written - whole)
}

/// The end of the last byte between `from` and `to` that is not fill.
fn end_of_writing(path: &Utf8Path, from: u64, to: u64) -> io::Result<u64> {
    let mut file = files::open(path)?;
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

/// Truncates a page list after its last whole line.
fn cut_pages(path: &Utf8Path) -> Result<u64, Error> {
    let file = match files::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(e) => return Err(Error::io("open", path, e)),
    };
    let length = file.metadata().map_err(|e| Error::io("open", path, e))?.len();
    let whole =
        whole_lines(&mut io::BufReader::new(file)).map_err(|e| Error::io("read", path, e))?;
    cut(path, whole, length)
}

fn cut(path: &Utf8Path, whole: u64, length: u64) -> Result<u64, Error> {
    let file = OpenOptions::new().write(true).open(path).map_err(|e| Error::io("open", path, e))?;
    file.set_len(whole).map_err(|e| Error::io("cut", path, e))?;
    Ok(length - whole)
}
