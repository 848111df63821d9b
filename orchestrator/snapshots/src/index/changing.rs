//! Finds captures by the rules about volatile request parts, see [`ChangingParts`].

use std::collections::HashMap;

use super::{IndexError, IndexHit, RecordedRequest, ReplaySet};
use crate::matching::{ChangingPart, ChangingParts, Key, ReplayRequest};

/// How many captures of a host are examined for its rules.
const OF_A_HOST: usize = 1 << 20;

/// The captures to which the rules of a set apply.
#[derive(Debug, Default)]
pub(super) struct Changing {
    rules: Vec<ChangingPart>,
    /// In recorded order.
    captures: HashMap<Key, Vec<IndexHit>>,
}

/// Captures that differ from a request only in volatile parts.
#[derive(Debug)]
pub struct ChangingMatch {
    /// The key shared by the request and the captures.
    pub key: Key,
    /// The volatile parts, for the ledger.
    pub labels: Vec<String>,
    /// The captures, in recorded order.
    pub hits: Vec<IndexHit>,
}

impl ReplaySet {
    /// The captures that differ from a request only in parts that the archives' rules declare
    /// volatile. The first call reads every capture of the hosts in the rules.
    pub fn changing(
        &self,
        request: &ReplayRequest<'_>,
    ) -> Result<Option<ChangingMatch>, IndexError> {
        if self.rules.rules.is_empty() {
            return Ok(None);
        }
        let changing = match self.changing.get() {
            Some(changing) => changing,
            // Two threads may build it at once. One result is kept.
            None => {
                let built = self.index_changing()?;
                self.changing.get_or_init(|| built)
            }
        };
        for rule in &changing.rules {
            let Some(key) = rule.key(request) else { continue };
            if let Some(hits) = changing.captures.get(&key) {
                return Ok(Some(ChangingMatch { key, labels: rule.labels(), hits: hits.clone() }));
            }
        }
        Ok(None)
    }

    /// The rules of the archives.
    pub fn changing_parts(&self) -> &ChangingParts {
        &self.rules
    }

    fn index_changing(&self) -> Result<Changing, IndexError> {
        let rules = self.rules.rules.clone();
        let mut hosts: Vec<String> = rules.iter().filter_map(ChangingPart::host).collect();
        hosts.sort();
        hosts.dedup();
        let mut captures: HashMap<Key, Vec<IndexHit>> = HashMap::new();
        for host in hosts {
            for recorded in self.of_host(&host, OF_A_HOST)? {
                for key in self.keys(&rules, &recorded)? {
                    captures.entry(key).or_default().push(recorded.hit);
                }
            }
        }
        for hits in captures.values_mut() {
            hits.sort_by_key(|hit| (hit.at_millis, hit.member, hit.capture));
        }
        Ok(Changing { rules, captures })
    }

    /// The keys of a capture under the rules that apply to it.
    fn keys(
        &self,
        rules: &[ChangingPart],
        recorded: &RecordedRequest,
    ) -> Result<Vec<Key>, IndexError> {
        let capture = self.capture(recorded.hit)?;
        let has_body = capture.request_body != [0; 8];
        // An unreadable request record counts as one without a body.
        let parts =
            if has_body { self.request(recorded.hit, &capture).ok().flatten() } else { None };
        let request =
            parts.as_ref().map_or(ReplayRequest::bare(&recorded.method, &recorded.url), |parts| {
                parts.request_at(&recorded.url)
            });
        Ok(rules.iter().filter_map(|rule| rule.key(&request)).collect())
    }
}
