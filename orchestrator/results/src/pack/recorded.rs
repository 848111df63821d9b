//! The replies that an agent gave in a run, so that they can be given again.

use agents::ActionFormat;
use agents::recorded::{RecordedEpisode, RecordedFailure, RecordedReplies};

use crate::Error;
use crate::stored::{Outcome, RunFolder};

/// The replies of a run's agent.
///
/// # Errors
/// When the run cannot be read.
pub fn recorded_replies(run: &RunFolder) -> Result<RecordedReplies, Error> {
    let record = run.run()?;
    let speech = ActionFormat { dialect: record.dialect, multiaction: record.multiaction };
    let mut replies = RecordedReplies::new(record.agent, speech);
    for episode in run.episodes()? {
        let steps = run.episode(&episode.id()).steps()?;
        let given = steps.into_iter().filter_map(|step| {
            let reason = step.reason;
            Some(speech.read_reply(step.action?, reason))
        });
        let failure = match episode.outcome {
            // Scoring runs again, so it fails again by itself or not at all.
            Outcome::AgentFailed { reason, .. } if reason.is_of_scoring() => None,
            Outcome::AgentFailed { message, .. } => {
                Some(RecordedFailure { message, by_agent: true })
            }
            Outcome::Error { message } => Some(RecordedFailure { message, by_agent: false }),
            _ => None,
        };
        let given = RecordedEpisode { replies: given.collect(), failure };
        replies.add(&episode.task, episode.repeat, given);
    }
    Ok(replies)
}

/// Whether an episode of the run was driven in attach mode, where actions are not seen.
///
/// # Errors
/// When the run cannot be read.
pub fn was_attached(run: &RunFolder) -> Result<bool, Error> {
    let agent = run.run()?.agent;
    // Runs of 0.1 have the command's old name, `env`.
    Ok(["attach", "env"].contains(&agent.split(':').next().unwrap_or_default()))
}
