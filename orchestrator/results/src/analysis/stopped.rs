//! The message for a run that has stopped before its end.

use crate::{Summary, counted};

/// Returns the message for a run that has stopped because of this many failed episodes, whoever is
/// at fault.
pub fn stopped_by_failures(summary: &Summary, most: u64) -> Option<String> {
    let (errors, lost) = (summary.errors, summary.agent_failures);
    if summary.is_complete() || ((errors + lost) as u64) < most {
        return None;
    }
    let failed = [(errors, "error"), (lost, "agent failure")];
    let failed: Vec<String> = failed
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    let again = match errors {
        0 => "",
        _ => ", and --retry-errors to attempt what ended in an error again",
    };
    Some(format!(
        "stopped after {}, {} of {} episodes; continue with --resume --output {}{again}",
        failed.join(" and "),
        summary.episodes,
        summary.planned,
        summary.folder,
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use camino::Utf8Path;
    use jiff::Timestamp;

    use super::*;
    use crate::{AgentFailure, EpisodeId, EpisodeRecord, Outcome, RunRecord};

    /// A run of three episodes, of which these have ended.
    fn run(outcomes: Vec<Outcome>) -> Summary {
        let task = serde_json::json!({ "id": "a", "goal": "x" });
        let tasks = vec![serde_json::from_value(task).unwrap()];
        let record = RunRecord::new("s", String::new(), "gym".to_owned(), 3, tasks);
        let episodes = outcomes.into_iter().zip(1..).map(|(outcome, repeat)| {
            let id = EpisodeId { task: "a".to_owned(), repeat };
            EpisodeRecord::new(&id, outcome, Timestamp::UNIX_EPOCH)
        });
        Summary::of(Utf8Path::new("runs/x"), &record, &episodes.collect::<Vec<_>>())
    }

    #[test]
    fn agent_failures_stop_a_run_as_errors_do() {
        let error = || Outcome::Error { message: "no browser".to_owned() };
        let late =
            || Outcome::AgentFailed { reason: AgentFailure::Late, message: "no reply".to_owned() };
        let said = |outcomes, most| stopped_by_failures(&run(outcomes), most).unwrap_or_default();
        assert_eq!(
            said(vec![late()], 1),
            "stopped after 1 agent failure, 1 of 3 episodes; continue with --resume --output runs/x"
        );
        assert_eq!(
            said(vec![error(), late()], 2),
            "stopped after 1 error and 1 agent failure, 2 of 3 episodes; continue with --resume --output runs/x, \
             and --retry-errors to attempt what ended in an error again"
        );
        // Somebody has interrupted these.
        assert_eq!(said(vec![late(), Outcome::Answered], 2), "");
        assert_eq!(said(vec![late(), late(), error()], 1), "", "it has not stopped before its end");
    }
}
