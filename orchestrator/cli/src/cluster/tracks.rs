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
            (PartState::Checking, _) => format!("checking {}", status.node),
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
