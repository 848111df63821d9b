//! Builds the index of an archive in one scan.
//!
//! Captures are written as they are read. Their keys go through external sorts. At the end,
//! revisits are resolved to the record with their body. Memory use does not depend on the size of
//! the archive.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use super::effects::{self, Effect};
use super::layout::{Binding, Layout, PAGE, Summary};
use super::pairing::{Pairing, Request};
use super::paths::path_key;
use super::row::{CAPTURE, Capture, CaptureKind, Entry, MOST_VISITS, Text, crc};
use super::scan::{Message, Origin, ResponseRecord, message};
use super::table::{ReadError, Table, TablePlace, TableWriter};
use super::turns::{self, Turn};
use super::{BuildProgress, IndexError};
use crate::matching::{self, Key, ReplayRequest};
use crate::sorter::Sorter;
use crate::{Archive, RecordRef};

/// The memory for rows of each sort, in bytes.
const SORT_MEMORY: usize = 24 << 20;
/// The least memory for rows of each sort, in bytes.
const LEAST_SORT_MEMORY: usize = 4 << 20;
/// How many captures there are for one write, for the size of a table.
const PAGES_PER_TURN: u64 = 32;
/// Progress is reported once per this many records.
const TELL: u64 = 512;

/// The memory for rows of each sort, in bytes, while this many indexes are built at once.
pub(super) fn sort_memory(at_once: usize) -> usize {
    (2 * SORT_MEMORY / at_once.max(1)).clamp(LEAST_SORT_MEMORY, SORT_MEMORY)
}

/// Reads all of `archive` and writes its index to `file`, which is empty. Each of five sorts uses
/// at most `memory` bytes.
pub(super) fn build(
    archive: &Archive,
    file: &File,
    memory: usize,
    progress: &mut dyn FnMut(BuildProgress),
) -> Result<(), IndexError> {
    let path = archive.path();
    let source = archive.source();
    let (binding, failures) =
        (Binding::of(source).map_err(IndexError::io("read", path))?, source.failures());
    let starts: Vec<u64> = archive
        .segments()
        .iter()
        .scan(0, |sum, segment| Some(std::mem::replace(sum, *sum + segment.length)))
        .collect();
    let total_bytes = archive.segments().iter().map(|segment| segment.length).sum();
    let io =
        |source| IndexError::Io { action: "write the index of", path: path.to_owned(), source };

    let mut builder = Builder::new(file, memory).map_err(io)?;
    let mut pairing = Pairing::new();
    let mut number = 0;
    for record in archive.records() {
        builder.summary.records += 1;
        let (at, mut record) = match record {
            Ok(found) => found,
            Err(error) if error.is_damage() => {
                builder.summary.damaged += 1;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        match message(&mut record, at, number) {
            Ok(Some(Message::Request(request))) => pairing.request(request),
            Ok(Some(Message::Response(link, found))) => pairing.response(link, found),
            Ok(None) => continue,
            Err(_) => {
                builder.summary.damaged += 1;
                continue;
            }
        }
        number += 1;
        while let Some((found, request)) = pairing.next(false) {
            builder.add(found, request).map_err(io)?;
        }
        if builder.summary.records % TELL == 0 {
            let start = starts.get(at.segment as usize).copied().unwrap_or_default();
            progress(BuildProgress::of_one(
                builder.summary.records,
                start + at.offset,
                total_bytes,
            ));
        }
    }
    while let Some((found, request)) = pairing.next(true) {
        builder.add(found, request).map_err(io)?;
    }
    // A record that could not be read is no damaged one: an index without it would be kept.
    if let Some(why) = source.last_failure().filter(|_| source.failures() != failures) {
        return Err(IndexError::io("read", path)(io::Error::other(why)));
    }
    let records = builder.summary.records;
    builder.finish(binding).map_err(io)?;
    progress(BuildProgress::of_one(records, total_bytes, total_bytes));
    Ok(())
}

struct Builder<'a> {
    file: &'a File,
    captures: BufWriter<&'a File>,
    texts: BufWriter<File>,
    texts_length: u64,
    exact: Sorter,
    normalised: Sorter,
    anchors: Sorter,
    anchor_count: u64,
    turns: Sorter,
    paths: Sorter,
    path_count: u64,
    /// Captures that refer to another record: capture number, three keys, and the number of keys
    /// set.
    origins: BufWriter<File>,
    /// The numbers of the visits, from 1 on.
    visits: HashMap<Key, u32>,
    summary: Summary,
}

/// The size of a row of [`Builder::origins`], in bytes.
const ORIGIN: usize = 4 + 3 * 16 + 1;

impl<'a> Builder<'a> {
    fn new(file: &'a File, memory: usize) -> io::Result<Self> {
        let mut captures = BufWriter::with_capacity(1 << 18, file);
        // Empty until all else is written: without its first page, a file is no index.
        captures.write_all(&[0; PAGE])?;
        Ok(Builder {
            file,
            captures,
            texts: BufWriter::with_capacity(1 << 18, tempfile::tempfile()?),
            texts_length: 0,
            exact: Sorter::new(memory),
            normalised: Sorter::new(memory),
            anchors: Sorter::new(memory),
            anchor_count: 0,
            turns: Sorter::new(memory),
            paths: Sorter::new(memory),
            path_count: 0,
            origins: BufWriter::with_capacity(1 << 16, tempfile::tempfile()?),
            visits: HashMap::new(),
            summary: Summary::default(),
        })
    }

    fn add(&mut self, found: ResponseRecord, request: Option<Request>) -> io::Result<()> {
        let number = u32::try_from(self.summary.captures)
            .map_err(|_| io::Error::other("too many records for one index"))?;
        self.summary.captures += 1;
        self.summary.paired += u64::from(request.is_some());
        // A handshake is a GET, too. A method of its own keeps sockets and pages of one address
        // apart.
        let bare = match found.kind {
            CaptureKind::Socket => ReplayRequest::bare(super::SOCKET, &found.url),
            _ => ReplayRequest::bare("GET", &found.url),
        };
        let turn = match (found.kind, &request) {
            (CaptureKind::Socket, _) => Some(Turn::Socket),
            (_, Some(request)) => turn(request, &found),
            (_, None) => None,
        };
        let visit =
            request.as_ref().and_then(|request| request.visit).map_or(0, |key| self.visit(key));
        let asked_again = request.as_ref().is_some_and(|request| request.asked_again);
        let (method, exact, normalised, rules, body, request_at) = match request {
            Some(r) => (r.method, r.exact, r.normalised, r.rules, r.body, Some(r.at)),
            None => {
                let (normalised, rules) = matching::normalised(&bare);
                (bare.method.to_owned(), matching::exact(&bare), normalised, rules, [0; 8], None)
            }
        };

        let text = format!("{method} {}", found.url);
        let place = Text {
            offset: self.texts_length,
            length: text.len() as u32,
            crc: crc(text.as_bytes()),
        };
        self.texts.write_all(text.as_bytes())?;
        self.texts_length += text.len() as u64;

        let capture = Capture {
            kind: found.kind,
            response: found.at,
            body: found.at,
            request: request_at,
            at_millis: found.at_millis,
            status: found.status,
            rules,
            request_body: body,
            visit,
            asked_again,
            text: place,
        };
        self.captures.write_all(&capture.to_bytes())?;

        let at_millis = found.at_millis.max(0) as u64;
        let entry =
            |key| Entry { key, at_millis, capture: number, status: found.status }.to_bytes();
        if let Some(turn) = turn {
            let key = turns::site_key(&found.url);
            self.turns
                .push(&Entry { key, at_millis, capture: number, status: turn as u16 }.to_bytes())?;
        }
        self.exact.push(&entry(exact))?;
        self.normalised.push(&entry(normalised))?;
        // A revisit has no body that another revisit could refer to.
        if found.kind != CaptureKind::Dangling {
            for key in found.anchors.iter().flatten() {
                self.anchors.push(&entry(*key))?;
                self.anchor_count += 1;
            }
        }
        if let Some(mut key) = path_key(&method, &found.url) {
            key.extend_from_slice(&number.to_be_bytes());
            self.paths.push(&key)?;
            self.path_count += 1;
        }
        if let Some(origin) = &found.origin {
            self.summary.revisits += u64::from(found.kind == CaptureKind::Dangling);
            self.origins.write_all(&origin_row(number, origin))?;
        }
        Ok(())
    }

    /// The number of a visit. Those beyond the greatest one are unknown.
    fn visit(&mut self, key: Key) -> u32 {
        let next = self.visits.len() as u32 + 1;
        match self.visits.get(&key) {
            Some(number) => *number,
            None if next > MOST_VISITS => 0,
            None => *self.visits.entry(key).or_insert(next),
        }
    }

    fn finish(self, binding: Binding) -> io::Result<()> {
        let Builder { file, mut captures, texts, mut summary, origins, .. } = self;
        let mut at = PAGE as u64 + summary.captures * CAPTURE as u64;
        let mut place =
            |sorter: Sorter, expected: u64, out: &mut BufWriter<&File>| -> io::Result<TablePlace> {
                let mut writer = TableWriter::new(at, expected);
                sorter.drain(|row| writer.push(row, out))?;
                let place = writer.finish(out)?;
                at = place.end();
                Ok(place)
            };
        let exact = place(self.exact, summary.captures, &mut captures)?;
        let normalised = place(self.normalised, summary.captures, &mut captures)?;
        let anchors = place(self.anchors, self.anchor_count, &mut captures)?;
        let mut writer = TableWriter::new(at, summary.captures / PAGES_PER_TURN);
        let mut condensed = turns::Condensed::default();
        self.turns.drain(|row| match condensed.keeps(row) {
            true => writer.push(row, &mut captures),
            false => Ok(()),
        })?;
        let turns = writer.finish(&mut captures)?;
        let paths_at = turns.end();
        self.paths.drain(|row| {
            let number = row.last_chunk::<4>().copied().unwrap_or_default();
            captures.write_all(&number)?;
            captures.write_all(&crc(&number).to_le_bytes())
        })?;
        let texts_at = paths_at + self.path_count * super::layout::PATH as u64;
        io::copy(&mut rewound(texts)?, &mut captures)?;
        captures.flush()?;

        // The originals of revisits are in the table that was just written.
        let table = Table::open(file, anchors).map_err(unreadable)?;
        summary.dangling = summary.revisits - resolve(file, &table, rewound(origins)?)?;
        let layout = Layout {
            binding,
            summary,
            exact,
            normalised,
            anchors,
            turns,
            captures: summary.captures,
            paths_at,
            paths: self.path_count,
            texts_at,
            texts_length: self.texts_length,
        };
        // The first page comes last: without it, an index that was cut short is not opened.
        file.write_all_at(&layout.to_page(), 0)
    }
}

/// Resolves every capture without its own body. Returns the number of resolved revisits.
fn resolve(file: &File, anchors: &Table, mut origins: BufReader<File>) -> io::Result<u64> {
    let mut resolved = 0;
    let mut row = [0; ORIGIN];
    while read_whole(&mut origins, &mut row)? {
        let (number, origin) = read_origin(&row);
        let target = origin_of(&origin, |key| anchors.group(file, key), |entry| entry.capture)
            .map_err(unreadable)?;
        let Some(target) = target else { continue };
        let (Some(mut capture), Some(target)) =
            (read_capture(file, number)?, read_capture(file, target.capture)?)
        else {
            continue;
        };
        lead(&mut capture, target.response, target.status);
        if capture.kind == CaptureKind::Socket {
            // The frames of a socket have no request of their own.
            capture.visit = target.visit;
        }
        resolved += u64::from(capture.kind == CaptureKind::Revisit);
        file.write_all_at(&capture.to_bytes(), capture_at(number))?;
    }
    Ok(resolved)
}

/// Sets the location of a capture's body. A revisit without a recorded status also uses the head
/// there.
fn lead(capture: &mut Capture, target: RecordRef, status: u16) {
    if capture.kind == CaptureKind::Socket {
        capture.response = target;
        return;
    }
    capture.kind = CaptureKind::Revisit;
    capture.body = target;
    if capture.status == 0 {
        capture.response = target;
        capture.status = status;
    }
}

/// The capture that `origin` refers to: by record id, else by payload digest, preferably at the
/// given URI and time, else by URI and time alone.
pub(super) fn origin_of<T: Copy, N: PartialEq, E>(
    origin: &Origin,
    mut group: impl FnMut(&Key) -> Result<Vec<T>, E>,
    number: impl Fn(&T) -> N,
) -> Result<Option<T>, E> {
    let mut of = |key: &Option<Key>| key.as_ref().map_or(Ok(Vec::new()), &mut group);
    if let Some(named) = of(&origin.id)?.first() {
        return Ok(Some(*named));
    }
    let (by_digest, by_time) = (of(&origin.digest)?, of(&origin.time)?);
    let both =
        by_time.iter().find(|entry| by_digest.iter().any(|other| number(other) == number(entry)));
    Ok(both.or(by_digest.first()).or(by_time.first()).copied())
}

/// Whether a capture is a write, or may begin a visit of its site.
fn turn(request: &Request, found: &ResponseRecord) -> Option<Turn> {
    match effects::judge(&request.signs, found.status, &found.signs) {
        Effect::Write(_) => Some(Turn::Write),
        // The recorder asks for nothing that does something.
        Effect::Action if !request.asked_again => Some(Turn::Action),
        _ if effects::may_begin(&request.signs, found.status, &found.signs) => Some(Turn::Start),
        _ => None,
    }
}

fn origin_row(number: u32, origin: &Origin) -> [u8; ORIGIN] {
    let mut row = [0; ORIGIN];
    row[..4].copy_from_slice(&number.to_le_bytes());
    for (at, key) in [origin.id, origin.time, origin.digest].into_iter().enumerate() {
        if let Some(key) = key {
            row[4 + at * 16..20 + at * 16].copy_from_slice(&key.0);
            row[ORIGIN - 1] |= 1 << at;
        }
    }
    row
}

fn read_origin(row: &[u8; ORIGIN]) -> (u32, Origin) {
    let key = |at: usize| {
        let mut key = [0; 16];
        key.copy_from_slice(&row[4 + at * 16..20 + at * 16]);
        (row[ORIGIN - 1] & 1 << at != 0).then_some(Key(key))
    };
    let number = u32::from_le_bytes([row[0], row[1], row[2], row[3]]);
    (number, Origin { id: key(0), time: key(1), digest: key(2) })
}

pub(super) fn capture_at(number: u32) -> u64 {
    PAGE as u64 + u64::from(number) * CAPTURE as u64
}

fn read_capture(file: &File, number: u32) -> io::Result<Option<Capture>> {
    let mut row = [0; CAPTURE];
    file.read_exact_at(&mut row, capture_at(number))?;
    Ok(Capture::from_bytes(&row))
}

fn read_whole(reader: &mut impl Read, row: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(row) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn rewound(writer: BufWriter<File>) -> io::Result<BufReader<File>> {
    let mut file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(BufReader::with_capacity(1 << 18, file))
}

fn unreadable(error: ReadError) -> io::Error {
    match error {
        ReadError::Io(error) => error,
        ReadError::Damaged => io::Error::other("what was just written reads back otherwise"),
    }
}
