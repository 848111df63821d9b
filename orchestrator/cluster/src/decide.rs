//! Decides about a part, by the scheduler's list of jobs and the part's own status file.
//!
//! The decision is a pure function of both, so that all of its cases are in one table of tests.
//! `follow` carries it out.

use std::time::Duration;

use crate::slurm::JobState;
use crate::status::{BAD_INPUT, PartState, PartStatus};

/// The number of times that a part is submitted again without an episode more.
pub const TRIES: u32 = 3;
/// The interval at which a part that lives writes its status.
pub const BEAT: Duration = Duration::from_secs(3);
/// The time after its last status in which a part may still live although the scheduler lists its
/// job as ended: the file takes a moment to be seen, and a scheduler may give up a node that goes
/// on.
const AFTER_END: Duration = Duration::from_secs(15);
/// The time after a submission in which the scheduler need not list the job yet.
const APPEARS_WITHIN: Duration = Duration::from_secs(30);
/// The time after its last status when a part counts as dead although the scheduler lists its job
/// as running. It is longer than a part waits for an earlier process in its folder.
const SILENCE: Duration = Duration::from_secs(180);
/// The time after which a file that was written on another machine is seen here.
const SEEN_WITHIN: Duration = Duration::from_secs(60);

/// Everything that is known of a part in its last submission.
#[derive(Debug, Clone)]
pub struct PartView<'a> {
    /// Its job.
    pub job: JobView<'a>,
    /// Its own status.
    pub status: Option<&'a PartStatus>,
    /// The time since its last new status, its submission, or the first listing of its job in this
    /// state: the shortest of these. A job may wait for hours before it runs.
    pub silent: Duration,
}

/// The scheduler's view of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobView<'a> {
    /// The scheduler does not answer now.
    NoAnswer,
    /// It does not list the job.
    Absent,
    /// It lists the job in this state, on this node.
    Listed(&'a JobState, &'a str),
}

/// The next step for a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// No step yet.
    Wait,
    /// The part is done: its episodes are played.
    Done,
    /// Its node lacks something: leave the node out, and submit the part again.
    LeaveOut {
        /// The node.
        node: String,
        /// The problem of the node.
        problem: String,
    },
    /// Submit it again.
    Again {
        /// The reason.
        why: String,
    },
    /// Submit it again once its job is cancelled, because the scheduler believes that it runs.
    CancelAndAgain {
        /// The reason.
        why: String,
    },
    /// Leave it: the user has cancelled it.
    Cancelled,
    /// Give it up: it would fail in the same way again.
    GiveUp {
        /// The reason.
        why: String,
    },
}

/// Returns the next step for a part that is not done.
pub fn decide(view: &PartView<'_>) -> Decision {
    let node = || view.status.map_or("", |status| status.node.as_str());
    match view.status.map(|status| &status.state) {
        Some(PartState::Ended) => Decision::Done,
        Some(PartState::Unfit { problems }) => {
            Decision::LeaveOut { node: node().to_owned(), problem: problems.join("; ") }
        }
        Some(PartState::Failed { code: BAD_INPUT, message }) => {
            Decision::GiveUp { why: message.clone() }
        }
        Some(PartState::Failed { message, .. }) => Decision::Again { why: message.clone() },
        Some(PartState::Checking | PartState::Playing | PartState::Interrupted) | None => {
            by_job(view)
        }
    }
}

fn by_job(view: &PartView<'_>) -> Decision {
    let lives = view.status.is_some_and(|status| status.state.is_alive());
    let may_live = lives && view.silent < AFTER_END;
    match view.job {
        JobView::NoAnswer => Decision::Wait,
        JobView::Listed(JobState::Waiting, _) => Decision::Wait,
        JobView::Listed(JobState::Running, node) if view.silent >= SILENCE => {
            Decision::CancelAndAgain {
                why: format!("it has said nothing for {} s on {node}", view.silent.as_secs()),
            }
        }
        JobView::Listed(JobState::Running, _) => Decision::Wait,
        JobView::Listed(JobState::Completing, _) if view.silent < 2 * AFTER_END => Decision::Wait,
        JobView::Listed(JobState::Completing, node) => {
            Decision::CancelAndAgain { why: format!("its job does not end on {node}") }
        }
        _ if may_live => Decision::Wait,
        JobView::Listed(JobState::Cancelled, _) => Decision::Cancelled,
        JobView::Listed(JobState::Ended(_), _)
            if view.status.is_none() && view.silent < SEEN_WITHIN =>
        {
            Decision::Wait
        }
        JobView::Listed(JobState::Ended(state), node)
            if view.status.is_none() && state == "FAILED" =>
        {
            // It could not even say what the node lacks.
            let problem = "its job failed before it could write into the run's folder; is that folder there, \
                           and can it be written?";
            Decision::LeaveOut { node: node.to_owned(), problem: problem.to_owned() }
        }
        JobView::Listed(JobState::Ended(state), node) => {
            Decision::Again { why: format!("its job ended as {state} on {node}") }
        }
        JobView::Absent if view.silent < APPEARS_WITHIN => Decision::Wait,
        JobView::Absent => Decision::Again { why: "Slurm no longer has its job".to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(state: PartState) -> PartStatus {
        let (node, job) = ("n1".to_owned(), "42".to_owned());
        PartStatus {
            format: file_version::Version::FIRST,
            part: 1,
            submission: 1,
            node,
            job,
            beat: 1,
            doing: None,
            state,
        }
    }

    fn decided(job: JobView<'_>, state: Option<PartState>, silent: u64) -> Decision {
        let status = state.map(status);
        decide(&PartView { job, status: status.as_ref(), silent: Duration::from_secs(silent) })
    }

    const NODE_FAIL: &str = "NODE_FAIL";

    #[test]
    fn what_lives_is_never_submitted_again() {
        let ended = JobState::Ended(NODE_FAIL.to_owned());
        let listed = |state| JobView::Listed(state, "n1");
        for (job, state, silent) in [
            (listed(&JobState::Waiting), None, 9_999),
            (listed(&JobState::Running), None, 60),
            (listed(&JobState::Running), Some(PartState::Playing), 179),
            // Its file may not be seen yet.
            (listed(&ended), None, 59),
            // Slurm has given up the node, and the part goes on there.
            (listed(&ended), Some(PartState::Playing), 3),
            (JobView::Absent, Some(PartState::Playing), 3),
            (JobView::Absent, None, 3),
            (listed(&JobState::Completing), Some(PartState::Interrupted), 3),
            (JobView::NoAnswer, Some(PartState::Playing), 9_999),
        ] {
            assert_eq!(
                decided(job, state.clone(), silent),
                Decision::Wait,
                "{job:?} {state:?} {silent}"
            );
        }
    }

    #[test]
    fn what_died_is_submitted_again() {
        let ended = JobState::Ended(NODE_FAIL.to_owned());
        let listed = |state| JobView::Listed(state, "n1");
        for (job, state, silent) in [
            (listed(&ended), Some(PartState::Playing), 16),
            (listed(&ended), None, 60),
            (listed(&ended), Some(PartState::Interrupted), 1),
            (JobView::Absent, Some(PartState::Playing), 31),
            (JobView::Absent, None, 31),
            (JobView::NoAnswer, Some(PartState::Failed { code: 70, message: "x".to_owned() }), 0),
        ] {
            let decision = decided(job, state.clone(), silent);
            assert!(
                matches!(decision, Decision::Again { .. }),
                "{job:?} {state:?} {silent}: {decision:?}"
            );
        }
        for (job, silent) in
            [(listed(&JobState::Running), 180), (listed(&JobState::Completing), 31)]
        {
            let decision = decided(job, Some(PartState::Playing), silent);
            assert!(
                matches!(decision, Decision::CancelAndAgain { .. }),
                "{job:?} {silent}: {decision:?}"
            );
        }
    }

    #[test]
    fn a_node_that_lacks_something_is_left_out() {
        let unfit =
            PartState::Unfit { problems: vec!["no Chromium".to_owned(), "no fonts".to_owned()] };
        let left_out = Decision::LeaveOut {
            node: "n1".to_owned(),
            problem: "no Chromium; no fonts".to_owned(),
        };
        assert_eq!(decided(JobView::NoAnswer, Some(unfit), 0), left_out);
        let failed = JobState::Ended("FAILED".to_owned());
        let decision = decided(JobView::Listed(&failed, "n2"), None, 60);
        assert!(
            matches!(&decision, Decision::LeaveOut { node, .. } if node == "n2"),
            "{decision:?}"
        );
    }

    #[test]
    fn what_somebody_ends_and_what_cannot_be_mended_is_left() {
        let cancelled = JobView::Listed(&JobState::Cancelled, "n1");
        assert_eq!(decided(cancelled, Some(PartState::Interrupted), 0), Decision::Cancelled);
        assert_eq!(decided(cancelled, None, 0), Decision::Cancelled);
        let bad = PartState::Failed { code: 2, message: "x".to_owned() };
        assert_eq!(
            decided(JobView::NoAnswer, Some(bad), 0),
            Decision::GiveUp { why: "x".to_owned() }
        );
        assert_eq!(decided(JobView::NoAnswer, Some(PartState::Ended), 0), Decision::Done);
    }
}
