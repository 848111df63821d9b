//! Learns from a recording which request parts are volatile, by comparing two loads of a page.

use std::io::Write;

use super::Recording;
use crate::index::{RequestParts, request_parts};
use crate::matching::{ChangingParts, ReplayRequest, learn};
use crate::wacz::MAX_RULES;
use crate::{Archive, Error, RecordKind, Timestamp};

/// The period of a page load: its requests were sent from the first of these times to the second.
pub type Load = (Timestamp, Timestamp);

/// The file with the learned rules of a recording in progress.
pub(crate) const RULES: &str = "rules.yaml";

/// A recorded request and its URL.
type RequestAtUrl = (String, RequestParts);

impl Recording {
    /// Learns rules from pages that were loaded twice, and stores them for the snapshot. Unreadable
    /// requests are skipped.
    pub fn learn(&self, twice: &[[Load; 2]]) -> Result<ChangingParts, Error> {
        if twice.is_empty() {
            return Ok(ChangingParts::default());
        }
        let mut requests: Vec<[Vec<RequestAtUrl>; 2]> =
            twice.iter().map(|_| Default::default()).collect();
        for (_, mut record) in Archive::open(&self.data_path())?.records().flatten() {
            let (RecordKind::Request, Some(at), Some(url)) =
                (record.kind(), record.date(), record.target_uri().map(|url| url.into_owned()))
            else {
                continue;
            };
            let place = twice.iter().enumerate().find_map(|(page, loads)| {
                loads
                    .iter()
                    .position(|(from, to)| *from <= at && at <= *to)
                    .map(|load| (page, load))
            });
            let Some((page, load)) = place else { continue };
            if let Ok(parts) = request_parts(&mut record) {
                requests[page][load].push((url, parts));
            }
        }
        let mut learned = ChangingParts::default();
        for [first, second] in &requests {
            let rules = learn(&replay_requests(first), &replay_requests(second));
            learned.join(ChangingParts { rules, ..ChangingParts::default() });
        }
        if !learned.rules.is_empty() {
            self.keep(&learned)?;
        }
        Ok(learned)
    }

    fn keep(&self, rules: &ChangingParts) -> Result<(), Error> {
        let path = self.folder.join(RULES);
        let io = |error| Error::io("write", &path, error);
        // Whole or absent, because the process may be killed.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(io)?;
        file.write_all(rules.to_yaml().as_bytes()).map_err(io)?;
        file.persist(&path).map_err(|error| io(error.error))?;
        Ok(())
    }

    /// The learned rules, for the snapshot.
    pub(super) fn rules(&self) -> Result<ChangingParts, Error> {
        let path = self.folder.join(RULES);
        match files::read_text(&path, MAX_RULES) {
            Ok(text) => ChangingParts::from_yaml(&text).map_err(|error| Error::Verification {
                path,
                reason: format!("failed to {error}"),
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(ChangingParts::default())
            }
            Err(error) => Err(Error::io("read", &path, error)),
        }
    }
}

fn replay_requests(requests: &[RequestAtUrl]) -> Vec<ReplayRequest<'_>> {
    requests.iter().map(|(url, parts)| parts.request_at(url)).collect()
}
