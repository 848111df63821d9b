//! What the command that follows a run knows of each part.

use std::collections::{BTreeMap, BTreeSet};

use ::cluster::decide::{JobView, PartView};
use ::cluster::folder::ClusterFolder;
use ::cluster::plan::Plan;
use ::cluster::slurm::{Job, JobState};
use ::cluster::status::{PartState, PartStatus};
use ::cluster::submissions::{Submission, last_of};
use jiff::Timestamp;
use tokio::time::{Duration, Instant};

/// A part, as it is followed.
pub(super) struct Track {
    /// The number of its last submission; 0 if it was never submitted.
    pub(super) submission: u32,
    /// Whether an earlier command submitted it.
    pub(super) is_inherited: bool,
    /// When that was, or a moment that is as long ago.
    pub(super) submitted: Instant,
    pub(super) status: Option<PartStatus>,
    /// When it last said something new.
    heard: Instant,
    pub(super) end: Option<End>,
    /// Submissions one after another in which no episode was added.
    pub(super) tries: u32,
    /// How many episodes it had when it was last submitted.
    pub(super) had: usize,
    /// The names of its episodes that were told.
    pub(super) told: BTreeSet<String>,
    /// When it is to be submitted again.
    pub(super) again: Option<Instant>,
}

/// How a part ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Done,
    Cancelled,
    /// Why it was given up.
    GivenUp(String),
}

/// All parts of a plan by their numbers, as far as the files tell.
pub(super) fn tracks(plan: &Plan, submissions: &[Submission], now: Instant) -> BTreeMap<u32, Track> {
    let track = |part: u32| {
        let last = last_of(submissions, part);
        let age = last.map_or(0, |last| Timestamp::now().duration_since(last.at).as_secs());
        let age = Duration::from_secs(age.try_into().unwrap_or(0));
        Track {
            submission: last.map_or(0, |last| last.number),
            is_inherited: last.is_some(),
            submitted: now.checked_sub(age).unwrap_or(now),
            status: None,
            heard: now,
            end: None,
            tries: 0,
            had: 0,
            told: BTreeSet::new(),
            again: last.is_none().then_some(now),
        }
    };
    (1..=plan.parts.len() as u32).map(|part| (part, track(part))).collect()
}

impl Track {
    /// Reads what the part says of itself in its last submission. What cannot be read now is read
    /// the next time.
    pub(super) fn hear(&mut self, folder: &ClusterFolder, part: u32, now: Instant) {
        let Ok(Some(status)) = PartStatus::read(&folder.status_of(part, self.submission)) else { return };
        if self.status.as_ref() != Some(&status) {
            self.heard = now;
        }
        self.status = Some(status);
    }

    /// Notes that it was submitted again.
    pub(super) fn submitted(&mut self, submission: u32, now: Instant) {
        (self.submission, self.submitted, self.heard) = (submission, now, now);
        (self.status, self.again, self.had) = (None, None, self.told.len());
        self.is_inherited = false;
    }

    /// What is known of it, with the scheduler's list of jobs and when that was asked for.
    pub(super) fn view<'a>(
        &'a self,
        job: Option<&'a Job>,
        listed: Option<Instant>,
        now: Instant,
    ) -> PartView<'a> {
        let job = match (job, listed) {
            // A list from before the submission does not have it.
            (_, None) => JobView::NoAnswer,
            (_, Some(at)) if at < self.submitted => JobView::NoAnswer,
            (None, Some(_)) => JobView::Absent,
            (Some(job), Some(_)) => JobView::Listed(&job.state, &job.node),
        };
        let since = if self.status.is_some() { self.heard } else { self.submitted };
        PartView { job, status: self.status.as_ref(), silent: now.saturating_duration_since(since) }
    }

    /// What it is at, if it is at something.
    pub(super) fn doing(&self) -> Option<String> {
        let status = self.status.as_ref().filter(|status| self.end.is_none() && status.state.is_alive())?;
        Some(match (&status.state, &status.doing) {
            (PartState::Checking, _) => format!("{}: checking it", status.node),
            (_, Some(doing)) => format!("{}: {doing}", status.node),
            (_, None) => status.node.clone(),
        })
    }
}

/// How all parts stand, in words: `parts: 3 play on n1 and n2, 5 wait (Resources), 12 done`.
pub(super) fn overview<'a>(tracks: &BTreeMap<u32, Track>, jobs: impl Fn(u32) -> Option<&'a Job>) -> String {
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
                let job = jobs(*part).filter(|job| job.state == JobState::Waiting && job.reason != "None");
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(parts: usize) -> Plan {
        Plan {
            format: ::cluster::status::FORMAT,
            token: "0f".to_owned(),
            program: "/sandbox".into(),
            program_digest: String::new(),
            folder: "/".into(),
            files: BTreeMap::new(),
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
            tracks.values().map(|track| (track.submission, track.again.is_some())).collect();
        assert_eq!(of, [(1, false), (2, false), (0, true)]);
    }

    #[test]
    fn a_list_from_before_a_submission_says_nothing_of_it() {
        let now = Instant::now();
        let mut tracks = tracks(&plan(1), &[], now);
        let Some(track) = tracks.get_mut(&1) else { panic!("a part") };
        track.submitted(1, now);
        let earlier = now.checked_sub(Duration::from_secs(1));
        assert_eq!(track.view(None, earlier, now).job, JobView::NoAnswer);
        assert_eq!(track.view(None, None, now).job, JobView::NoAnswer);
        assert_eq!(track.view(None, Some(now), now).job, JobView::Absent);
    }

    #[test]
    fn the_parts_are_counted_in_words() {
        let now = Instant::now();
        let mut tracks = tracks(&plan(4), &[submission(1, &[1, 2, 3, 4])], now);
        let waiting = Job {
            name: String::new(),
            array: "1".to_owned(),
            part: 2,
            state: JobState::Waiting,
            node: String::new(),
            reason: "Resources".to_owned(),
        };
        for (part, track) in &mut tracks {
            let node = "n1".to_owned();
            track.status = (*part == 1).then(|| PartStatus {
                format: ::cluster::status::FORMAT,
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
