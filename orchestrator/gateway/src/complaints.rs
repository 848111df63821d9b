//! Rate limiting of the log. Each kind of complaint is logged once per subject; the number of
//! repetitions is logged at the end.
//!
//! Clients, servers and the machine can repeat the same fault thousands of times. One log line for
//! each would flood the disk.

use std::collections::HashMap;

use parking_lot::Mutex;

/// How many different complaints are distinguished. Further ones are only counted.
const KINDS: usize = 512;

/// The complaints so far.
#[derive(Debug, Default)]
pub(crate) struct Complaints(Mutex<ComplaintCounts>);

#[derive(Debug, Default)]
struct ComplaintCounts {
    logged: HashMap<(&'static str, String), u64>,
    unlogged: u64,
}

impl Complaints {
    /// Counts a complaint. Returns true if it is the first of its kind for this subject and must be
    /// logged.
    pub(crate) fn first(&self, kind: &'static str, subject: &str) -> bool {
        let mut counted = self.0.lock();
        let key = (kind, subject.to_owned());
        if let Some(count) = counted.logged.get_mut(&key) {
            *count += 1;
            return false;
        }
        if counted.logged.len() >= KINDS {
            counted.unlogged += 1;
            return false;
        }
        counted.logged.insert(key, 1);
        true
    }

    /// Logs the counts of repeated complaints, and resets them.
    pub(crate) fn sum_up(&self) {
        let counted = std::mem::take(&mut *self.0.lock());
        for ((kind, subject), times) in counted.logged.into_iter().filter(|(_, times)| *times > 1) {
            tracing::warn!(kind, subject, times, "this happened more than once");
        }
        if counted.unlogged > 0 {
            tracing::warn!(times = counted.unlogged, "other things happened that were not logged");
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
        let firsts = (0..10 * KINDS).filter(|n| complaints.first("many", &n.to_string())).count();
        assert_eq!(firsts, KINDS - 2);
        complaints.sum_up();
        assert!(complaints.first("accept", "EMFILE"), "what was summed up begins anew");
    }
}
