//! Scores attempts that were saved elsewhere, and the episodes of a run, without playing anything.

mod attempts;
mod fields;
mod traces;

use std::time::Duration;

pub use attempts::{ChosenAttempts, choose_attempts};
use camino::Utf8Path;
pub use fields::{
    FieldScores, FieldsError, LineError, Means, TaskScores, UnscoredLine, score_fields,
};
use jiff::Timestamp;
use llm_client::Model;
use results::{EpisodeId, EpisodeRecord, Outcome, RunFolder, RunRecord};
use results::{Summary, fingerprint};
use scoring::mode::ScoringMode;
use tasks::saved::SavedAttempt;
use tasks::{Suite, Task};
pub use traces::{TraceScores, TracesError, score_traces};

use crate::Error;
use crate::episode::blame::Suspect;
use crate::episode::deadline;
use crate::episode::scored::score_episode;
use crate::run::task_records;

/// Scores attempts at tasks of a benchmark. Several attempts at one task are its repeats; a task
/// without any is left out of the means.
pub async fn score_saved(
    benchmark: &str,
    tasks: &[Task],
    saved: &[SavedAttempt],
    scoring_mode: ScoringMode,
    judge: &Model,
) -> Summary {
    let mut episodes = Vec::new();
    for task in tasks {
        for (attempt, saved) in saved.iter().filter(|saved| saved.is_of(task)).enumerate() {
            episodes.push(episode(task, attempt as u32 + 1, saved, scoring_mode, judge).await);
        }
    }
    let repeat = episodes.iter().map(|episode| episode.repeat).max().unwrap_or(1);
    let agent = "what was saved".to_owned();
    let record = RunRecord::new(benchmark, String::new(), agent, repeat, task_records(tasks));
    let run = RunRecord { scoring_mode, ..record };
    Summary::of(Utf8Path::new(""), &run, &episodes)
}

async fn episode(
    task: &Task,
    repeat: u32,
    saved: &SavedAttempt,
    scoring_mode: ScoringMode,
    judge: &Model,
) -> EpisodeRecord {
    let mut assessment = saved.assessment(&task.scorer).by(scoring_mode);
    let outcome = match saved {
        SavedAttempt { infeasible: true, .. } => Outcome::Infeasible,
        SavedAttempt { answer: Some(_), .. } => Outcome::Answered,
        _ => Outcome::Stopped,
    };
    let goal = task.goal.to_string();
    let within = deadline::of_episode(Duration::MAX);
    let scored =
        score_episode(&mut assessment, &goal, outcome.clone(), judge, Suspect::Agent, within).await;
    let id = EpisodeId { task: task.id.clone(), repeat };
    let mut record = EpisodeRecord {
        answer: saved.answer.clone(),
        judgements: assessment.conduct().judgements.clone(),
        steps: saved.steps.len() as u32,
        ..EpisodeRecord::new(&id, outcome, Timestamp::UNIX_EPOCH)
    };
    scored.write_to(&mut record);
    record
}

/// Scores the episodes of a run again, by the rules of a suite that has its tasks. An episode that
/// ended in an error stays one.
///
/// # Errors
/// When the run cannot be read or written, or the suite lacks one of its tasks.
pub async fn score_again(
    folder: &Utf8Path,
    suite: &Suite,
    scoring_mode: ScoringMode,
    judge: &Model,
) -> Result<Summary, Error> {
    let run = RunFolder::open(folder)?;
    run.rewrite(&RunRecord { scoring_mode, ..run.run()? })?;
    for mut record in run.episodes()? {
        let outcome = match &record.outcome {
            // Only the score of these was missing, which other rules may give.
            Outcome::AgentFailed { reason, .. } if reason.is_of_scoring() => match record.answer {
                Some(_) => Outcome::Answered,
                None => Outcome::Stopped,
            },
            outcome if outcome.failure().is_some() => continue,
            outcome => outcome.clone(),
        };
        let task = suite.task(&record.task)?;
        let files = run.episode(&record.id());
        let mut assessment = files.score_state(&task.scorer)?.by(scoring_mode);
        let goal = record.goal.clone().unwrap_or_else(|| task.goal.to_string());
        let within = deadline::of_episode(Duration::MAX);
        let scored =
            score_episode(&mut assessment, &goal, outcome, judge, Suspect::Agent, within).await;
        scored.write_to(&mut record);
        record.judgements = assessment.conduct().judgements.clone();
        record.fingerprint = fingerprint::of_episode(&record, &files.steps()?, &files.requests()?)?;
        files.write_score_state(&assessment)?;
        files.rewrite(&record)?;
    }
    Ok(Summary::read(folder)?)
}
