//! A set of archives that is read as one.

use std::sync::OnceLock;

use super::changing::Changing;
use super::paths::PathTable;
use super::routes::{JointPaths, KeyKind, Routes};
use super::{
    Capture, CaptureKind, Index, IndexError, RequestParts, Summary, build, origin_keys, scan,
    split_text,
};
use crate::matching::{ChangingParts, Key};
use crate::source::Place;
use crate::{Archive, Record, RecordRef};

/// Archives with their indexes. Captures are found in all of them, in recorded order. A revisit in
/// one archive may have its body in another.
///
/// A set of many archives has routes: a look-up asks only the archives that have the key or the
/// host, so that its cost does not grow with their number.
#[derive(Debug, Default)]
pub struct ReplaySet {
    pub(super) members: Vec<Member>,
    pub(super) routes: Option<Routes>,
    /// The rules of the archives about volatile request parts.
    pub(super) rules: ChangingParts,
    pub(super) changing: OnceLock<Changing>,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) archive: Archive,
    pub(super) index: Index,
}

/// A capture of a set, as returned by a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IndexHit {
    /// Number of the archive in the set.
    pub member: u32,
    /// Number of the capture in that archive.
    pub capture: u32,
    /// When it was recorded, in milliseconds since 1970.
    pub at_millis: u64,
    /// The status; 0 if it must be read with [`ReplaySet::capture`].
    pub status: u16,
}

/// A recorded request that is similar to a given one.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRequest {
    /// Its location.
    pub hit: IndexHit,
    /// Its method; [`super::SOCKET`] for a WebSocket connection.
    pub method: String,
    /// Its URL.
    pub url: String,
}

impl ReplaySet {
    /// The archives, each with a summary of its contents.
    pub fn members(&self) -> impl Iterator<Item = (&Archive, Summary)> {
        self.members.iter().map(|member| (&member.archive, member.index.summary()))
    }

    /// How many reads of these archives have failed, because of a disk or a server. What was read
    /// meanwhile may lack something.
    pub fn failures(&self) -> u64 {
        self.members.iter().map(|member| member.archive.source().failures()).sum()
    }

    /// Why a read failed, if one did.
    pub fn last_failure(&self) -> Option<String> {
        self.members.iter().find_map(|member| member.archive.source().last_failure())
    }

    /// Whether one of the archives is an object of a server, so that reading may take a while.
    pub fn is_remote(&self) -> bool {
        self.members
            .iter()
            .any(|member| matches!(member.archive.source().place(), Place::Remote(_)))
    }

    /// Identifies these archives in this state: the [`Index::state`] of each, one a line, in order.
    pub fn state(&self) -> String {
        self.members.iter().map(|member| member.index.state() + "\n").collect()
    }

    /// The captures under an exact key, in recorded order.
    pub fn exact(&self, key: &Key) -> Result<Vec<IndexHit>, IndexError> {
        self.group(KeyKind::Exact, key)
    }

    /// The captures of one archive under an exact key, in recorded order.
    pub fn exact_in(&self, member: u32, key: &Key) -> Result<Vec<IndexHit>, IndexError> {
        Ok(hits(member, self.member(member)?.index.exact(key)?).collect())
    }

    /// The captures under a normalised key, in recorded order.
    pub fn normalised(&self, key: &Key) -> Result<Vec<IndexHit>, IndexError> {
        self.group(KeyKind::Normalised, key)
    }

    fn group(&self, kind: KeyKind, key: &Key) -> Result<Vec<IndexHit>, IndexError> {
        let mut found = Vec::new();
        let mut ask = |number: u32, member: &Member| -> Result<(), IndexError> {
            let entries = match kind {
                KeyKind::Exact => member.index.exact(key)?,
                KeyKind::Normalised => member.index.normalised(key)?,
                KeyKind::Anchor => member.index.anchors(key)?,
            };
            found.extend(hits(number, entries));
            Ok(())
        };
        match &self.routes {
            Some(routes) => {
                for number in routes.archives(kind, key)? {
                    ask(number.into(), self.member(number.into())?)?;
                }
            }
            None => {
                for (number, member) in self.numbered() {
                    ask(number, member)?;
                }
            }
        }
        // The entries of one archive are in recorded order already.
        if self.members.len() > 1 {
            found.sort_by_key(|hit| (hit.at_millis, hit.member));
        }
        Ok(found)
    }

    /// The record locations of a capture.
    pub fn capture(&self, hit: IndexHit) -> Result<Capture, IndexError> {
        self.member(hit.member)?.index.capture(hit.capture)
    }

    /// The method and URL of a capture.
    pub fn request_line(
        &self,
        hit: IndexHit,
        capture: &Capture,
    ) -> Result<(String, String), IndexError> {
        let text = self.member(hit.member)?.index.text(capture)?;
        let (method, url) = split_text(&text);
        Ok((method.to_owned(), url.to_owned()))
    }

    /// The recorded request of a capture, if it was recorded.
    pub fn request(
        &self,
        hit: IndexHit,
        capture: &Capture,
    ) -> Result<Option<RequestParts>, IndexError> {
        let Some(at) = capture.request else { return Ok(None) };
        let mut record = self.read(hit.member, at)?;
        Ok(Some(scan::request_parts(&mut record)?))
    }

    /// The headers of the recorded request of a capture, if it was recorded.
    pub fn request_headers(
        &self,
        hit: IndexHit,
        capture: &Capture,
    ) -> Result<Option<crate::Headers>, IndexError> {
        let Some(at) = capture.request else { return Ok(None) };
        Ok(Some(self.read(hit.member, at)?.request_head()?.headers))
    }

    /// Reads a record of an archive of the set.
    pub fn read(&self, member: u32, at: RecordRef) -> Result<Record, IndexError> {
        Ok(self.member(member)?.archive.read_at(at)?)
    }

    /// The record with the body of a capture: its own, or the one to which its revisit refers, in
    /// any archive of the set. `None` if no archive has it.
    pub fn body_of(
        &self,
        hit: IndexHit,
        capture: &Capture,
    ) -> Result<Option<(u32, RecordRef)>, IndexError> {
        if capture.kind != CaptureKind::Dangling {
            return Ok(Some((hit.member, capture.body)));
        }
        let origin = origin_keys(&self.read(hit.member, capture.response)?);
        let number = |found: &IndexHit| (found.member, found.capture);
        let found = build::origin_of(&origin, |key| self.group(KeyKind::Anchor, key), number)?;
        let Some(found) = found else { return Ok(None) };
        Ok(Some((found.member, self.capture(found)?.response)))
    }

    /// The recorded hosts, in lower case and sorted.
    pub fn hosts(&self) -> Result<Vec<String>, IndexError> {
        if let Some(paths) = self.joint_paths() {
            return paths.hosts();
        }
        let mut hosts = Vec::new();
        for member in &self.members {
            hosts.extend(member.index.hosts()?);
        }
        hosts.sort();
        hosts.dedup();
        Ok(hosts)
    }

    /// Whether anything was recorded for a host (lower-case, IPv6 without brackets) at a port in
    /// its URLs.
    pub fn has_port(&self, host: &str, port: u16) -> Result<bool, IndexError> {
        if let Some(paths) = self.joint_paths() {
            return paths.has_port(host, port);
        }
        for member in &self.members {
            if member.index.has_port(host, port)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Recorded requests near a URL, at most a few times `limit`, in no particular order: those
    /// with the same host and path, and their neighbours among the paths of the host.
    pub fn neighbours(
        &self,
        method: &str,
        url: &str,
        limit: usize,
    ) -> Result<Vec<RecordedRequest>, IndexError> {
        match self.joint_paths() {
            Some(paths) => self.all_recorded(paths.neighbours(method, url, limit)?),
            None => self.of_each(|index| index.neighbours(method, url, limit)),
        }
    }

    /// Recorded requests to a host (lower-case), ordered by path, at most `limit`; in a set of few
    /// archives, at most `limit` per archive.
    pub fn of_host(&self, host: &str, limit: usize) -> Result<Vec<RecordedRequest>, IndexError> {
        match self.joint_paths() {
            Some(paths) => self.all_recorded(paths.of_host(host, limit)?),
            None => self.of_each(|index| index.of_host(host, limit)),
        }
    }

    /// All requests with this method and this response status, in recorded order.
    pub(super) fn captures_of(
        &self,
        method: &str,
        status: u16,
    ) -> Result<Vec<RecordedRequest>, IndexError> {
        let mut found = self.of_each(|index| index.with_status(status))?;
        found.retain(|recorded| recorded.method == method);
        Ok(found)
    }

    /// The captures that a look-up finds in each archive.
    fn of_each(
        &self,
        look_up: impl Fn(&Index) -> Result<Vec<u32>, IndexError>,
    ) -> Result<Vec<RecordedRequest>, IndexError> {
        let mut found = Vec::new();
        for (number, member) in self.numbered() {
            for capture in look_up(&member.index)? {
                found.push(self.recorded(number, capture)?);
            }
        }
        Ok(found)
    }

    fn all_recorded(&self, captures: Vec<(u16, u32)>) -> Result<Vec<RecordedRequest>, IndexError> {
        captures
            .into_iter()
            .map(|(archive, capture)| self.recorded(archive.into(), capture))
            .collect()
    }

    fn recorded(&self, number: u32, capture_number: u32) -> Result<RecordedRequest, IndexError> {
        let index = &self.member(number)?.index;
        let capture = index.capture(capture_number)?;
        let hit = IndexHit {
            member: number,
            capture: capture_number,
            at_millis: capture.at_millis.max(0) as u64,
            status: capture.status,
        };
        let text = index.text(&capture)?;
        let (method, url) = split_text(&text);
        Ok(RecordedRequest { hit, method: method.to_owned(), url: url.to_owned() })
    }

    pub(super) fn numbered(&self) -> impl Iterator<Item = (u32, &Member)> {
        self.members.iter().enumerate().map(|(number, member)| (number as u32, member))
    }

    fn joint_paths(&self) -> Option<JointPaths<'_>> {
        self.routes.as_ref().map(|routes| JointPaths { routes, members: &self.members })
    }

    fn member(&self, number: u32) -> Result<&Member, IndexError> {
        self.members.get(number as usize).ok_or_else(|| {
            let segments = self.members.len();
            IndexError::Archive(crate::Error::NoSuchSegment { segment: number, segments })
        })
    }
}

fn hits(member: u32, entries: Vec<super::row::Entry>) -> impl Iterator<Item = IndexHit> {
    entries.into_iter().map(move |entry| IndexHit {
        member,
        capture: entry.capture,
        at_millis: entry.at_millis,
        status: entry.status,
    })
}
