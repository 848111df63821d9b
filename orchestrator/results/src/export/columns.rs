//! The columns of an exported table.

use jiff::Timestamp;

use crate::stored::{EpisodeRecord, ModelUsage, Phase, RunRecord, TaskRecord};

/// An episode with its run and task.
pub(super) struct Row<'a> {
    pub(super) run: &'a RunRecord,
    pub(super) task: Option<&'a TaskRecord>,
    pub(super) record: &'a EpisodeRecord,
}

/// A column: its name and its values.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) values: Values,
}

/// The values of a column, as a function of rows.
pub(super) enum Values {
    Text(fn(&Row<'_>) -> Option<String>),
    Whole(fn(&Row<'_>) -> Option<u64>),
    Fraction(fn(&Row<'_>) -> Option<f64>),
    Truth(fn(&Row<'_>) -> bool),
    Time(fn(&Row<'_>) -> Timestamp),
    List(fn(&Row<'_>) -> Vec<String>),
}

const fn column(name: &'static str, values: Values) -> Column {
    Column { name, values }
}

/// All columns in order; `FORMAT.md` explains them. Add new ones at the end.
pub(super) const COLUMNS: &[Column] = &[
    column("suite", Values::Text(|row| Some(row.run.suite.clone()))),
    column("agent", Values::Text(|row| Some(row.run.agent.clone()))),
    column("task", Values::Text(|row| Some(row.record.task.clone()))),
    column("repeat", Values::Whole(|row| Some(row.record.repeat.into()))),
    column(
        "goal",
        Values::Text(|row| row.record.goal.clone().or(row.task.map(|task| task.goal.clone()))),
    ),
    column("outcome", Values::Text(|row| Some(row.record.outcome.kind().to_owned()))),
    column("error", Values::Text(error)),
    column("answer", Values::Text(|row| row.record.answer.clone())),
    column("score", Values::Fraction(|row| row.record.score)),
    column("success", Values::Truth(|row| row.record.success)),
    column("unjudged", Values::Truth(|row| row.record.score.is_none())),
    column("steps", Values::Whole(|row| Some(row.record.steps.into()))),
    column("requests", Values::Whole(|row| Some(row.record.requests.total()))),
    column("misses", Values::Whole(|row| Some(row.record.requests.miss))),
    column("refused", Values::Whole(|row| Some(row.record.requests.refused))),
    column("failed", Values::Whole(|row| Some(row.record.requests.failed))),
    column("exact", Values::Whole(|row| Some(row.record.requests.exact))),
    column("normalised", Values::Whole(|row| Some(row.record.requests.normalised))),
    column("fuzzy", Values::Whole(|row| Some(row.record.requests.fuzzy))),
    column("synthesised", Values::Whole(|row| Some(row.record.requests.synthesised))),
    column("live", Values::Whole(|row| Some(row.record.requests.live))),
    column("other_state", Values::Whole(|row| Some(row.record.requests.other_state))),
    column("guessed", Values::Whole(|row| Some(row.record.requests.guessed))),
    column("search", Values::Whole(|row| Some(row.record.requests.search))),
    column("site", Values::Whole(|row| Some(row.record.requests.site))),
    column("refused_hosts", Values::List(|row| row.record.refused_hosts.iter().cloned().collect())),
    column("started", Values::Time(|row| row.record.started)),
    column("wall_ms", Values::Whole(|row| Some(row.record.wall_ms))),
    column("opening_ms", Values::Whole(|row| time(row, Phase::Opening))),
    column("looking_ms", Values::Whole(|row| time(row, Phase::Looking))),
    column("agent_ms", Values::Whole(|row| time(row, Phase::Agent))),
    column("acting_ms", Values::Whole(|row| time(row, Phase::Acting))),
    column("ending_ms", Values::Whole(|row| time(row, Phase::Ending))),
    column("fingerprint", Values::Text(|row| Some(row.record.fingerprint.clone()))),
    column(
        "sites",
        Values::List(|row| row.task.map(|task| task.sites.clone()).unwrap_or_default()),
    ),
    column("tags", Values::List(|row| row.task.map(|task| task.tags.clone()).unwrap_or_default())),
    column("rules", Values::Text(|row| Some(row.run.scoring_mode.to_string()))),
    column("dialect", Values::Text(|row| Some(row.run.dialect.to_string()))),
    column("suite_digest", Values::Text(|row| Some(row.run.suite_digest.clone()))),
    column("sandbox", Values::Text(|row| Some(row.run.sandbox.clone()))),
    column("model_calls", Values::Whole(|row| row.record.models.as_ref().map(|spent| spent.calls))),
    column(
        "prompt_tokens",
        Values::Whole(|row| row.record.models.as_ref().map(|spent| spent.prompt_tokens)),
    ),
    column(
        "completion_tokens",
        Values::Whole(|row| row.record.models.as_ref().map(|spent| spent.completion_tokens)),
    ),
    column("cost", Values::Fraction(|row| row.record.models.as_ref().and_then(|spent| spent.cost))),
    column("model", Values::Text(|row| row.record.models.as_ref().and_then(ModelUsage::named))),
    column("judge", Values::Text(|row| row.record.judging.as_ref().and_then(ModelUsage::named))),
    column(
        "judge_calls",
        Values::Whole(|row| row.record.judging.as_ref().map(|spent| spent.calls)),
    ),
    column(
        "judge_cost",
        Values::Fraction(|row| row.record.judging.as_ref().and_then(|spent| spent.cost)),
    ),
    column(
        "cached_tokens",
        Values::Whole(|row| row.record.models.as_ref().map(|spent| spent.cached_tokens)),
    ),
    column(
        "reasoning_tokens",
        Values::Whole(|row| row.record.models.as_ref().map(|spent| spent.reasoning_tokens)),
    ),
    column("replies_cut", Values::Whole(|row| row.record.models.as_ref().map(|spent| spent.cut))),
    column(
        "replies_refused",
        Values::Whole(|row| row.record.models.as_ref().map(|spent| spent.refused)),
    ),
    column(
        "replies_empty",
        Values::Whole(|row| row.record.models.as_ref().map(|spent| spent.empty)),
    ),
];

fn time(row: &Row<'_>, phase: Phase) -> Option<u64> {
    row.record.times.map(|times| times.of(phase))
}

/// Returns the error of an episode, or the reason why it has no score.
fn error(row: &Row<'_>) -> Option<String> {
    row.record.outcome.failure().map(str::to_owned).or_else(|| row.record.unjudged.clone())
}
