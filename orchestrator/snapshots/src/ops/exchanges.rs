//! Reads the HTTP exchanges of an archive: each response with its request, the payload of a
//! revisit, and the frames of a WebSocket.

use std::cell::RefCell;
use std::collections::HashMap;

use super::originals::Originals;
use super::pairs::Pairs;
use super::stage::starts;
use super::{Error, OnProgress};
use crate::budget::Budget;
use crate::recording::FRAMES_TYPE;
use crate::{Archive, Exchange, Frame, Progress, Record, RecordKind, RecordRef, content};

/// The data from all records that is needed to assemble exchanges.
#[derive(Debug)]
pub(super) struct Exchanges<'a> {
    archive: &'a Archive,
    pairs: Pairs,
    originals: Originals,
    /// Frame records, by the id of the response that opened the connection.
    frames: HashMap<String, RecordRef>,
    /// What may still be read, all bodies together.
    budget: RefCell<Budget>,
}

/// An exchange and the location of its response.
#[derive(Debug)]
pub(super) struct LocatedExchange {
    pub(super) at: RecordRef,
    pub(super) exchange: Exchange,
    pub(super) frames: Option<Vec<Frame>>,
}

impl<'a> Exchanges<'a> {
    /// Reads the heads of all records.
    pub(super) fn of(archive: &'a Archive) -> Result<Exchanges<'a>, Error> {
        let mut all = Exchanges {
            archive,
            pairs: Pairs::default(),
            originals: Originals::default(),
            frames: HashMap::new(),
            budget: RefCell::new(budget_of(archive)),
        };
        for item in archive.records() {
            let (at, record) = item.map_err(|error| damaged(archive, error))?;
            all.pairs.note(at, &record);
            all.originals.note(0, at, &record);
            if record.content_type() == Some(FRAMES_TYPE) {
                all.frames.extend(record.concurrent_to().map(|id| (id.to_owned(), at)));
            }
        }
        Ok(all)
    }

    /// Calls `give` with every exchange in file order, and `leave_out` with the URL of each
    /// response that is not an exchange: not HTTP, or a revisit without its payload.
    pub(super) fn each(
        &self,
        progress: OnProgress<'_>,
        mut leave_out: impl FnMut(String),
        mut give: impl FnMut(LocatedExchange) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let starts = starts(self.archive);
        for item in self.archive.records() {
            let (at, record) = item.map_err(|error| damaged(self.archive, error))?;
            progress(Progress { done: starts.position(at), total: starts.total });
            if !matches!(record.kind(), RecordKind::Response | RecordKind::Revisit) {
                continue;
            }
            let url = record.target_uri().map(|url| url.into_owned()).unwrap_or_default();
            match self.put_together(at, record)? {
                Some(found) => give(found)?,
                None => leave_out(url),
            }
        }
        Ok(())
    }

    /// The exchange whose response is at `at`.
    pub(super) fn read(&self, at: RecordRef) -> Result<Option<Exchange>, Error> {
        let record = self.archive.read_at(at)?;
        Ok(self.put_together(at, record)?.map(|found| found.exchange))
    }

    fn put_together(
        &self,
        at: RecordRef,
        record: Record,
    ) -> Result<Option<LocatedExchange>, Error> {
        let revisit = record.kind() == RecordKind::Revisit;
        let original = if revisit { self.originals.find(&record).map(|(_, at)| at) } else { None };
        if !record.holds_http() || (revisit && original.is_none()) {
            return Ok(None);
        }
        let read = |at: RecordRef| self.archive.read_at(at);
        let frames =
            record.id().and_then(|id| self.frames.get(id)).copied().map(read).transpose()?;
        let request = self.pairs.request_of(&self.pairs.link(&record)).map(read).transpose()?;
        let payload = original.map(read).transpose()?;
        match content::exchange(record, request, payload, &mut self.budget.borrow_mut()) {
            Ok(exchange) => Ok(Some(LocatedExchange {
                at,
                exchange,
                frames: frames.map(read_frames).transpose()?,
            })),
            Err(crate::Error::Http(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// What may come out of an archive, all together.
pub(super) fn budget_of(archive: &Archive) -> Budget {
    // What cannot be read has no length, and fails at once.
    Budget::of_contents(archive.source().length().unwrap_or(0))
}

fn read_frames(mut record: Record) -> Result<Vec<Frame>, Error> {
    let block = record.read_block(1 << 30)?;
    let lines = block.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

pub(super) fn damaged(archive: &Archive, error: crate::Error) -> Error {
    if error.is_damage() {
        return Error::Damaged { path: archive.path().to_owned(), damage: error.to_string() };
    }
    error.into()
}
