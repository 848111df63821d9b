//! Leaves out nodes that lack something, or on which parts fail.

use tokio::time::Instant;

use super::Follower;
use crate::follow::tracks::End;
use crate::status::{LACKING, PartState, PartStatus};
use crate::submit::log;
use crate::{slurm, submissions};

/// The number of parts that may fail on a node before it is left out.
const STRIKES: u32 = 2;

impl Follower<'_> {
    /// Notes that a part could not be played on its node.
    pub(crate) async fn strike(&mut self, part: u32, why: &str) {
        let Some(PartStatus { node, state: PartState::Failed { code: LACKING, .. }, .. }) =
            self.tracks[&part].status.clone()
        else {
            return;
        };
        let strikes = self.strikes.entry(node.clone()).or_default();
        *strikes += 1;
        if *strikes >= STRIKES && !self.unfit.contains_key(&node) {
            self.note_unfit(part, &node, why).await;
        }
    }

    pub(crate) async fn leave_out(
        &mut self,
        part: u32,
        node: String,
        problem: String,
        now: Instant,
    ) {
        let submission = self.tracks[&part].submission;
        match self.unfit.get(&node) {
            // It was left out when the part was submitted, and got it nevertheless.
            Some((_, until)) if submission > *until => return self.again(part, problem, now).await,
            Some(_) => {}
            None => self.note_unfit(part, &node, &problem).await,
        }
        if let Some(track) = self.tracks.get_mut(&part).filter(|track| track.end.is_none()) {
            track.again_at = Some(now);
        }
    }

    /// Leaves a node out from now on. If that was the last one, the parts are given up.
    async fn note_unfit(&mut self, part: u32, node: &str, problem: &str) {
        let last = self.tracks.values().map(|track| track.submission).max().unwrap_or_default();
        self.unfit.insert(node.to_owned(), (problem.to_owned(), last));
        let log = log(self.folder, part, self.tracks[&part].submission);
        self.warn(&format!("node {node} is left out: {problem} (part {part}, {log})"));
        // Those that are named here take the place of the user's.
        let excluded = [self.submitter.excluded(), &self.excluded()].concat().join(",");
        for submission in submissions::read(self.folder).unwrap_or_default() {
            let Some(job) = submission.job else { continue };
            // Refused where none of its parts waits any more.
            if let Err(error) = slurm::exclude(&job, &excluded).await {
                tracing::debug!(%error, job, "keeping a job away from a node");
            }
        }
        let mut nodes = slurm::nodes(self.submitter.partition()).await.unwrap_or_default();
        let others = slurm::names_in(self.submitter.excluded()).await.unwrap_or_default();
        nodes.retain(|node| !others.contains(node));
        if nodes.is_empty() || !nodes.iter().all(|node| self.unfit.contains_key(node)) {
            return;
        }
        self.cancel_all().await;
        let why = self.unfit.iter().map(|(node, (problem, _))| format!("{node}: {problem}"));
        let why =
            format!("no node that is up is left for it ({})", why.collect::<Vec<_>>().join("; "));
        for track in self.tracks.values_mut().filter(|track| track.end.is_none()) {
            track.end = Some(End::GivenUp(why.clone()));
        }
    }

    pub(crate) fn excluded(&self) -> Vec<String> {
        self.unfit.keys().cloned().collect()
    }

    /// Returns the nodes that are left out, with the reasons, each after a semicolon.
    pub(crate) fn left_out(&self) -> String {
        self.unfit.iter().map(|(node, (problem, _))| format!("; {node}: {problem}")).collect()
    }
}
