//! What the log is told: each kind of complaint once, with its subject, and how often it came at
//! the end.
//!
//! What clients, servers and the machine do wrong they do by the thousand, and a log of a line each
//! would be an attack on the disk.

use std::collections::HashMap;

use parking_lot::Mutex;

/// Different complaints that are told apart; further ones are only counted.
const KINDS: usize = 512;

/// What was complained about so far.
#[derive(Debug, Default)]
pub(crate) struct Complaints(Mutex<ComplaintCounts>);

#[derive(Debug, Default)]
struct ComplaintCounts {
    told: HashMap<(&'static str, String), u64>,
    untold: u64,
}

impl Complaints {
    /// Counts a complaint; whether it is the first of its kind about this subject, and is to be
    /// logged.
    pub(crate) fn first(&self, kind: &'static str, subject: &str) -> bool {
        let mut counted = self.0.lock();
        let key = (kind, subject.to_owned());
        if let Some(count) = counted.told.get_mut(&key) {
            *count += 1;
            return false;
        }
        if counted.told.len() >= KINDS {
            counted.untold += 1;
            return false;
        }
        counted.told.insert(key, 1);
        true
    }

    /// Logs how often those came that came more than once, and forgets them.
    pub(crate) fn sum_up(&self) {
        let counted = std::mem::take(&mut *self.0.lock());
        for ((kind, subject), times) in counted.told.into_iter().filter(|(_, times)| *times > 1) {
            tracing::warn!(kind, subject, times, "this happened more than once");
        }
        if counted.untold > 0 {
            tracing::warn!(times = counted.untold, "other things happened that were not logged");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_first_once_and_there_is_an_end_to_kinds() {
        let complaints = Complaints::default();
        assert!(complaints.first("accept", "EMFILE"));
        assert!(!complaints.first("accept", "EMFILE"));
        assert!(complaints.first("accept", "ENFILE"));
        let told = (0..10 * KINDS).filter(|n| complaints.first("many", &n.to_string())).count();
        assert_eq!(told, KINDS - 2);
        complaints.sum_up();
        assert!(complaints.first("accept", "EMFILE"), "what was summed up begins anew");
    }
}
