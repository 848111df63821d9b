//! A set of archives that is read as one.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};

use super::changing::Changing;
use super::{
    BuildProgress, Capture, CaptureKind, Index, IndexError, RequestParts, Summary, origin_keys, scan,
    split_text,
};
use crate::matching::{ChangingParts, Key};
use crate::{Archive, Record, RecordRef};

/// Archives with their indexes. Captures are found in all of them, in recorded order. A revisit in
/// one archive may have its body in another.
#[derive(Debug, Default)]
pub struct ReplaySet {
    members: Vec<Member>,
    /// The rules of the archives about volatile request parts.
    pub(super) rules: ChangingParts,
    pub(super) changing: OnceLock<Changing>,
}

#[derive(Debug)]
struct Member {
    archive: Archive,
    index: Index,
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
    /// Opens archives, each with its index in `cache`. A missing or outdated index is built.
    /// Without a cache folder it is built in a temporary file. `progress` receives the archive that
    /// is being indexed.
    pub fn open(
        paths: &[Utf8PathBuf],
        cache: Option<&Utf8Path>,
        progress: &mut dyn FnMut(&Utf8Path, BuildProgress),
    ) -> Result<ReplaySet, IndexError> {
        let members = paths.iter().map(|path| {
            let archive = Archive::open(path)?;
            let mut tell = |done| progress(path, done);
            let index = match cache {
                Some(cache) => Index::open_or_build(&archive, cache, &mut tell)?,
                None => Index::build_unnamed(&archive, &mut tell)?,
            };
            let damaged = index.summary().damaged;
            if damaged > 0 {
                tracing::warn!(%path, damaged, "damaged records are as good as not recorded; `sandbox snapshot verify` names them");
            }
            Ok(Member { archive, index })
        });
        let members = members.collect::<Result<Vec<_>, IndexError>>()?;
        let mut rules = ChangingParts::default();
        for Member { archive, .. } in &members {
            match archive.changing_parts() {
                Ok(parts) => rules.join(parts.unwrap_or_default()),
                Err(error) => tracing::warn!(%error, "replaying without the rules of a snapshot"),
            }
        }
        Ok(ReplaySet { members, rules, changing: OnceLock::new() })
    }

    /// The archives, each with a summary of its contents.
    pub fn members(&self) -> impl Iterator<Item = (&Archive, Summary)> {
        self.members.iter().map(|member| (&member.archive, member.index.summary()))
    }

    /// Identifies these archives in this state: the [`Index::state`] of each, one a line, in order.
    pub fn state(&self) -> String {
        self.members.iter().map(|member| member.index.state() + "\n").collect()
    }

    /// The captures under an exact key, in recorded order.
    pub fn exact(&self, key: &Key) -> Result<Vec<IndexHit>, IndexError> {
        self.group(|index| index.exact(key))
    }

    /// The captures of one archive under an exact key, in recorded order.
    pub fn exact_in(&self, member: u32, key: &Key) -> Result<Vec<IndexHit>, IndexError> {
        Ok(hits(member, self.member(member)?.index.exact(key)?).collect())
    }

    /// The captures under a normalised key, in recorded order.
    pub fn normalised(&self, key: &Key) -> Result<Vec<IndexHit>, IndexError> {
        self.group(|index| index.normalised(key))
    }

    fn group(
        &self,
        look_up: impl Fn(&Index) -> Result<Vec<super::row::Entry>, IndexError>,
    ) -> Result<Vec<IndexHit>, IndexError> {
        let mut found = Vec::new();
        for (number, member) in self.members.iter().enumerate() {
            found.extend(hits(number as u32, look_up(&member.index)?));
        }
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
    pub fn request_line(&self, hit: IndexHit, capture: &Capture) -> Result<(String, String), IndexError> {
        let text = self.member(hit.member)?.index.text(capture)?;
        let (method, url) = split_text(&text);
        Ok((method.to_owned(), url.to_owned()))
    }

    /// The recorded request of a capture, if it was recorded.
    pub fn request(&self, hit: IndexHit, capture: &Capture) -> Result<Option<RequestParts>, IndexError> {
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
    pub fn body_of(&self, hit: IndexHit, capture: &Capture) -> Result<Option<(u32, RecordRef)>, IndexError> {
        if capture.kind != CaptureKind::Dangling {
            return Ok(Some((hit.member, capture.body)));
        }
        let origin = origin_keys(&self.read(hit.member, capture.response)?);
        for (number, member) in self.members.iter().enumerate() {
            if number as u32 == hit.member {
                continue;
            }
            if let Some(found) = member.index.origin_of(&origin)? {
                return Ok(Some((number as u32, found.response)));
            }
        }
        Ok(None)
    }

    /// The recorded hosts, in lower case and sorted.
    pub fn hosts(&self) -> Result<Vec<String>, IndexError> {
        let mut hosts = Vec::new();
        for member in &self.members {
            hosts.extend(member.index.hosts()?);
        }
        hosts.sort();
        hosts.dedup();
        Ok(hosts)
    }

    /// Whether anything was recorded for a host (lower-case) at a port in its URLs.
    pub fn has_port(&self, host: &str, port: u16) -> Result<bool, IndexError> {
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
        self.recorded(|index| index.neighbours(method, url, limit))
    }

    /// Recorded requests to a host (lower-case), at most `limit` per archive, ordered by path.
    pub fn of_host(&self, host: &str, limit: usize) -> Result<Vec<RecordedRequest>, IndexError> {
        self.recorded(|index| index.of_host(host, limit))
    }

    /// All requests with this method and this response status, in recorded order.
    pub(super) fn captures_of(&self, method: &str, status: u16) -> Result<Vec<RecordedRequest>, IndexError> {
        let mut found = self.recorded(|index| index.with_status(status))?;
        found.retain(|recorded| recorded.method == method);
        Ok(found)
    }

    fn recorded(
        &self,
        look_up: impl Fn(&Index) -> Result<Vec<u32>, IndexError>,
    ) -> Result<Vec<RecordedRequest>, IndexError> {
        let mut found = Vec::new();
        for (number, member) in self.members.iter().enumerate() {
            for capture_number in look_up(&member.index)? {
                let capture = member.index.capture(capture_number)?;
                let hit = IndexHit {
                    member: number as u32,
                    capture: capture_number,
                    at_millis: capture.at_millis.max(0) as u64,
                    status: capture.status,
                };
                let text = member.index.text(&capture)?;
                let (method, url) = split_text(&text);
                found.push(RecordedRequest { hit, method: method.to_owned(), url: url.to_owned() });
            }
        }
        Ok(found)
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
