//! The state of each part in the process that follows a run.
//!
//! A `Track` begins with the files of earlier submissions, and then takes in the parts' status
//! files and the scheduler's lists. `Track::view` sums it up for `decide`.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use tokio::time::{Duration, Instant};

use crate::decide::{JobView, PartView};
use crate::folder::ClusterFolder;
use crate::plan::Plan;
use crate::slurm::{Job, JobState};
use crate::status::{PartState, PartStatus, StatusFiles};
use crate::submissions::{Submission, last_of};

/// The state of a part that is followed.
pub(crate) struct Track {
    /// The number of its last submission; 0 if it was never submitted.
    pub(crate) submission: u32,
    /// Whether an earlier command submitted it.
    pub(crate) is_inherited: bool,
    /// The time of that submission, or a moment that is as long ago.
    pub(crate) submitted_at: Instant,
    pub(crate) status: Option<PartStatus>,
    /// The status of each of its processes, by the names of the files.
    statuses: BTreeMap<String, PartStatus>,
    /// The state in which its job was last listed, and since when. The state is none if the job was
    /// not listed.
    listing: Option<(Option<JobState>, Instant)>,
    /// The time of its last new status.
    news_at: Instant,
    pub(crate) end: Option<End>,
    /// The number of submissions in a row in which no episode was added.
    pub(crate) tries: u32,
    /// The number of its episodes at its last submission.
    pub(crate) episodes_before: usize,
    /// The names of its episodes that were reported.
    pub(crate) told_episodes: BTreeSet<String>,
    /// The time to submit it again.
    pub(crate) again_at: Option<Instant>,
}

/// The end of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Done,
    Cancelled,
    /// It was given up, for this reason.
    GivenUp(String),
}

/// Returns all parts of a plan by their numbers, as far as the files tell.
pub(crate) fn tracks(
    plan: &Plan,
    submissions: &[Submission],
    now: Instant,
) -> BTreeMap<u32, Track> {
    let track = |part: u32| {
        let last = last_of(submissions, part);
        // Negative if the machine that submitted it has a clock that is ahead of this one's.
        let age = last.map_or(0, |last| Timestamp::now().duration_since(last.at).as_secs());
        let age = Duration::from_secs(age.try_into().unwrap_or(0));
        Track {
            submission: last.map_or(0, |last| last.number),
            is_inherited: last.is_some(),
            // An `Instant` may begin with this machine's start, which the submission may precede.
            submitted_at: now.checked_sub(age).unwrap_or(now),
            status: None,
            statuses: BTreeMap::new(),
            listing: None,
            news_at: now,
            end: None,
            tries: 0,
            episodes_before: 0,
            told_episodes: BTreeSet::new(),
            again_at: last.is_none().then_some(now),
        }
    };
    (1..=plan.parts.len() as u32).map(|part| (part, track(part))).collect()
}

impl Track {
    /// Reads the status of the part in its last submission. An unreadable file is read the next
    /// time.
    pub(crate) fn hear(
        &mut self,
        folder: &ClusterFolder,
        files: &StatusFiles,
        part: u32,
        now: Instant,
    ) {
        for (name, status) in PartStatus::read_all(folder, files, part, self.submission) {
            if self.statuses.get(&name) == Some(&status) {
                continue;
            }
            self.news_at = now;
            self.statuses.insert(name, status.clone());
            // Of two processes, the one that goes on counts, and what is played is played.
            let is_over = |known: &PartStatus| known.state == PartState::Ended;
            let is_first = !self.status.as_ref().is_some_and(is_over);
            if is_first || is_over(&status) {
                self.status = Some(status);
            }
        }
    }

    /// Notes the state of its job in a list that was asked for after it was submitted.
    pub(crate) fn list(&mut self, job: Option<&Job>, at: Instant) {
        if at < self.submitted_at {
            return;
        }
        let state = job.map(|job| &job.state);
        if self.listing.as_ref().is_none_or(|(known, _)| known.as_ref() != state) {
            self.listing = Some((state.cloned(), at));
        }
    }

    /// Returns whether its status or episodes may have changed since they were read. A job that
    /// waits has no news, but only if Slurm answers.
    pub(crate) fn may_have_news(&self, slurm_answers: bool) -> bool {
        let waits = slurm_answers && matches!(self.listing, Some((Some(JobState::Waiting), _)));
        self.end.is_none() && self.submission > 0 && (!waits || self.status.is_some())
    }

    /// Notes that it was submitted again.
    pub(crate) fn note_submission(&mut self, submission: u32, now: Instant) {
        (self.submission, self.submitted_at, self.news_at) = (submission, now, now);
        (self.status, self.again_at, self.episodes_before) = (None, None, self.told_episodes.len());
        (self.statuses, self.listing) = (BTreeMap::new(), None);
        self.is_inherited = false;
    }

    /// Returns the input of a decision, with the scheduler's list of jobs and the time of that
    /// list.
    pub(crate) fn view<'a>(
        &'a self,
        job: Option<&'a Job>,
        listed: Option<Instant>,
        now: Instant,
    ) -> PartView<'a> {
        let job = match (job, listed) {
            // A list from before the submission does not have it.
            (_, None) => JobView::NoAnswer,
            (_, Some(at)) if at < self.submitted_at => JobView::NoAnswer,
            (None, Some(_)) => JobView::Absent,
            (Some(job), Some(_)) => JobView::Listed(&job.state, &job.node),
        };
        let from = if self.status.is_some() { self.news_at } else { self.submitted_at };
        let since = self.listing.as_ref().map_or(from, |(_, at)| from.max(*at));
        PartView { job, status: self.status.as_ref(), silent: now.saturating_duration_since(since) }
    }

    /// Returns its activity, if it plays.
    pub(crate) fn doing(&self) -> Option<String> {
        let status =
            self.status.as_ref().filter(|status| self.end.is_none() && status.state.is_alive())?;
        Some(match (&status.state, &status.doing) {
            (PartState::Checking, _) => format!("{}: checking it", status.node),
            (_, Some(doing)) => format!("{}: {doing}", status.node),
            (_, None) => status.node.clone(),
        })
    }
}

/// Returns a summary of all parts: `parts: 3 play on n1 and n2, 5 wait (Resources), 12 done`.
pub(crate) fn overview<'a>(
    tracks: &BTreeMap<u32, Track>,
    jobs: impl Fn(u32) -> Option<&'a Job>,
) -> String {
    let (mut playing, mut waiting, mut done, mut lost) = (0, 0, 0, 0);
    let (mut nodes, mut reasons) = (BTreeSet::new(), BTreeSet::new());
    for (part, track) in tracks {
        match &track.end {
            Some(End::Done) => done += 1,
            Some(_) => lost += 1,
            None if track.doing().is_some() => {
                playing += 1;
                nodes.extend(track.status.as_ref().map(|status| status.node.as_str()));
            }
            None => {
                waiting += 1;
                let job = jobs(*part)
                    // Slurm's `None` means that it gives no reason.
                    .filter(|job| job.state == JobState::Waiting && job.reason != "None");
                reasons.extend(job.map(|job| job.reason.as_str()));
            }
        }
    }
    let mut words = Vec::new();
    if playing > 0 {
        words.push(format!("{playing} on {}", nodes.into_iter().collect::<Vec<_>>().join(", ")));
    }
    if waiting > 0 {
        let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
        words.push(if reasons.is_empty() {
            format!("{waiting} wait")
        } else {
            format!("{waiting} wait ({reasons})")
        });
    }
    for (count, what) in [(done, "done"), (lost, "lost")] {
        if count > 0 {
            words.push(format!("{count} {what}"));
        }
    }
    format!("parts: {}", words.join(", "))
}

/// The beginnings of Slurm's reasons for a job that waits because no node is fit for it.
const NO_NODE: [&str; 4] = ["ReqNodeNotAvail", "BadConstraints", "Nodes required", "PartitionDown"];

/// Returns the reason why a job waits, if no node is fit for it.
pub(crate) fn no_node(job: &Job) -> Option<&str> {
    NO_NODE.iter().any(|start| job.reason.starts_with(start)).then_some(job.reason.as_str())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::decide::{Decision, decide};

    fn plan(parts: usize) -> Plan {
        Plan {
            format: crate::status::FORMAT,
            token: "0f".to_owned(),
            program: "/sandbox".into(),
            program_digest: String::new(),
            folder: "/".into(),
            files: BTreeMap::new(),
            images: BTreeMap::new(),
            parts: vec![Vec::new(); parts],
        }
    }

    fn submission(number: u32, parts: &[u32]) -> Submission {
        Submission { number, parts: parts.to_vec(), at: Timestamp::now(), job: None }
    }

    #[test]
    fn parts_that_were_never_submitted_are_due() {
        let now = Instant::now();
        let tracks = tracks(&plan(3), &[submission(1, &[1, 2]), submission(2, &[2])], now);
        let of: Vec<(u32, bool)> =
            tracks.values().map(|track| (track.submission, track.again_at.is_some())).collect();
        assert_eq!(of, [(1, false), (2, false), (0, true)]);
    }

    #[test]
    fn a_list_from_before_a_submission_says_nothing_of_it() {
        let now = Instant::now();
        let mut tracks = tracks(&plan(1), &[], now);
        let Some(track) = tracks.get_mut(&1) else { panic!("a part") };
        track.note_submission(1, now);
        let earlier = now.checked_sub(Duration::from_secs(1));
        assert_eq!(track.view(None, earlier, now).job, JobView::NoAnswer);
        assert_eq!(track.view(None, None, now).job, JobView::NoAnswer);
        assert_eq!(track.view(None, Some(now), now).job, JobView::Absent);
    }

    fn job(state: JobState) -> Job {
        let (name, array, node) = (String::new(), "1".to_owned(), "n1".to_owned());
        Job { name, array, part: Some(1), state, node, reason: "Resources".to_owned() }
    }

    #[test]
    fn a_job_that_waits_for_a_node_that_cannot_be_had_is_told_from_one_in_the_queue() {
        let waiting = |reason: &str| Job { reason: reason.to_owned(), ..job(JobState::Waiting) };
        for (reason, is_told) in [
            ("ReqNodeNotAvail, UnavailableNodes:n3", true),
            (
                "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
                true,
            ),
            ("Resources", false),
            ("Priority", false),
        ] {
            assert_eq!(no_node(&waiting(reason)).is_some(), is_told, "{reason}");
        }
    }

    /// The silence of a part counts from when its job runs, however long it has waited.
    #[test]
    fn a_part_that_has_waited_is_not_silent() {
        let start = Instant::now();
        let after = |seconds: u64| start + Duration::from_secs(seconds);
        let mut tracks = tracks(&plan(1), &[], start);
        let Some(track) = tracks.get_mut(&1) else { panic!("a part") };
        track.note_submission(1, start);
        let mut decided = |state: JobState, at: u64| {
            let job = job(state);
            track.list(Some(&job), after(at));
            decide(&track.view(Some(&job), Some(after(at)), after(at)))
        };
        assert_eq!(decided(JobState::Waiting, 3_600), Decision::Wait);
        assert_eq!(decided(JobState::Running, 3_605), Decision::Wait);
        assert_eq!(decided(JobState::Running, 3_700), Decision::Wait);
        assert_eq!(decided(JobState::Waiting, 9_000), Decision::Wait);
        assert_eq!(decided(JobState::Running, 9_005), Decision::Wait);
        assert!(matches!(decided(JobState::Running, 9_186), Decision::CancelAndAgain { .. }));
        assert_eq!(decided(JobState::Completing, 9_200), Decision::Wait);
        assert_eq!(decided(JobState::Completing, 9_229), Decision::Wait);
        assert!(matches!(decided(JobState::Completing, 9_231), Decision::CancelAndAgain { .. }));
    }

    /// A job that was started twice has two processes, and each a file of its own.
    #[test]
    fn of_two_processes_the_one_that_goes_on_is_heard() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = ClusterFolder::of(camino::Utf8Path::from_path(temporary.path()).unwrap());
        folder.create().unwrap();
        let now = Instant::now();
        let mut tracks = tracks(&plan(1), &[submission(1, &[1])], now);
        let Some(track) = tracks.get_mut(&1) else { panic!("a part") };
        let mut heard = |restarts: u32, node: &str, beat: u64, state: PartState| {
            let (node, job) = (node.to_owned(), String::new());
            let path = folder.status_of(1, 1, restarts, &node);
            let format = crate::status::FORMAT;
            let status =
                PartStatus { format, part: 1, submission: 1, node, job, beat, doing: None, state };
            status.write(&path).unwrap();
            track.hear(&folder, &StatusFiles::list(&folder), 1, now);
            track.status.clone().unwrap().node
        };
        assert_eq!(heard(0, "n1", 1, PartState::Playing), "n1");
        assert_eq!(heard(1, "n2", 1, PartState::Checking), "n2");
        assert_eq!(heard(0, "n1", 2, PartState::Ended), "n1");
        assert_eq!(heard(1, "n2", 2, PartState::Interrupted), "n1");
    }

    #[test]
    fn the_parts_are_counted_in_words() {
        let now = Instant::now();
        let mut tracks = tracks(&plan(4), &[submission(1, &[1, 2, 3, 4])], now);
        let waiting = job(JobState::Waiting);
        for (part, track) in &mut tracks {
            let node = "n1".to_owned();
            track.status = (*part == 1).then(|| PartStatus {
                format: crate::status::FORMAT,
                part: 1,
                submission: 1,
                node,
                job: String::new(),
                beat: 1,
                doing: Some("tea-1".to_owned()),
                state: PartState::Playing,
            });
            track.end = match part {
                3 => Some(End::Done),
                4 => Some(End::GivenUp(String::new())),
                _ => None,
            };
        }
        let words = overview(&tracks, |part| (part == 2).then_some(&waiting));
        assert_eq!(words, "parts: 1 on n1, 1 wait (Resources), 1 done, 1 lost");
        assert_eq!(tracks[&1].doing().as_deref(), Some("n1: tea-1"));
    }
}
