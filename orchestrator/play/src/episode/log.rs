//! The log of a run at the level `info`: an episode's begin, each action with its result, and the
//! end. The gateway logs requests, at the level `debug`.

use error_text::in_one_line;
use results::{EpisodeId, EpisodeRecord, Step};

/// The target of the line for an episode's end.
pub const ENDED: &str = "play::ended";

pub(crate) fn begun(id: &EpisodeId, goal: &str) {
    tracing::info!(episode = %id, goal = %in_one_line(goal), "an episode begins");
}

/// A step in which the agent has replied.
pub(crate) fn acted(id: &EpisodeId, step: &Step) {
    let Step { step: number, url, action, error, unsettled, agent_ms, .. } = step;
    tracing::info!(
        episode = %id,
        step = number,
        %url,
        action = action.as_deref().unwrap_or("stop"),
        error,
        unsettled,
        agent_ms,
        "acted"
    );
}

pub(crate) fn ended(record: &EpisodeRecord) {
    tracing::info!(
        target: ENDED,
        episode = %record.id(),
        outcome = record.outcome.kind(),
        score = record.score,
        success = record.success,
        answer = record.answer,
        steps = record.steps,
        requests = record.requests.total(),
        misses = record.requests.miss,
        wall_ms = record.wall_ms,
        error = record.outcome.failure().map(tracing::field::display),
        "an episode has ended"
    );
}
