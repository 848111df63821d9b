//! Decides whose fault it is when an episode breaks. No other place decides that.
//!
//! ```text
//! before the agent was heard   -> the machine's: a browser that does not start, a site, a disk
//! an error of the agent        -> `agents::Error::fault` says
//! the browser or a page breaks -> the agent's, once it was heard, unless a site or a disk failed too
//! a probe, a page or a rule gives no score
//!                              -> the agent's, once it was heard, unless a site or a disk failed too
//! a scorer's program that was not started or could not tell, a site that ended
//!                              -> the machine's
//! everything else              -> the machine's
//! ```
//!
//! An episode that failed by the machine's fault may be played again (`--retry-errors`). A failure
//! that an agent can cause at will may not, because the agent would have as many attempts as it
//! likes. The agents of this program never do so. For them a broken browser is the machine's fault.

use results::{AgentFailure, Outcome};
use scoring::ScoreError;

use super::deadline::NotScored;
use crate::environment::EnvironmentError;

/// The possible causes of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspect {
    /// Nobody but the machine: no agent was heard yet, or it is one of this program.
    Machine,
    /// The agent too.
    Agent,
}

/// Returns the outcome for an error of the machine.
pub(crate) fn machine(error: &dyn std::error::Error) -> Outcome {
    Outcome::Error { message: message(error) }
}

/// Returns the outcome for a failure of the agent.
pub(crate) fn agent(reason: AgentFailure, error: &dyn std::error::Error) -> Outcome {
    Outcome::AgentFailed { reason, message: message(error) }
}

/// Returns the outcome for an error of an agent.
pub(crate) fn of_agent_error(error: &agents::Error) -> Outcome {
    match error.fault() {
        Some(fault) => agent(fault.into(), error),
        None => machine(error),
    }
}

/// Returns the outcome for an environment that broke. `check` tells whether everything that the
/// episode depends on is still there.
pub(crate) fn of_environment(
    error: &EnvironmentError,
    check: Result<(), EnvironmentError>,
    suspect: Suspect,
) -> Outcome {
    match (suspect, check) {
        // It is the cause of what the page could not do.
        (_, Err(lost)) if !lost.is_of_browser() => machine(&lost),
        (Suspect::Machine, _) => machine(error),
        (Suspect::Agent, _) if error.is_of_browser() => agent(reason(error), error),
        (Suspect::Agent, _) if error.is_of_evidence() => agent(AgentFailure::NotScored, error),
        (Suspect::Agent, _) => machine(error),
    }
}

/// Returns the outcome for a world that did not respond in time.
pub(crate) fn of_hang(
    error: &dyn std::error::Error,
    check: Result<(), EnvironmentError>,
    suspect: Suspect,
) -> Outcome {
    match (suspect, check) {
        // It is the cause of what the page could not do.
        (_, Err(lost)) if !lost.is_of_browser() => machine(&lost),
        (Suspect::Machine, _) => machine(error),
        (Suspect::Agent, _) => agent(AgentFailure::PageHung, error),
    }
}

/// Returns the outcome for an episode whose scoring did not end.
pub(crate) fn of_no_score(why: &NotScored, suspect: Suspect) -> Outcome {
    match (suspect, why.reason()) {
        (Suspect::Agent, Some(reason)) => agent(reason, why),
        (Suspect::Machine, _) | (Suspect::Agent, None) => machine(why),
    }
}

/// Returns the outcome for an episode without a score from its scorer.
pub(crate) fn of_score_error(error: &ScoreError, suspect: Suspect) -> Outcome {
    let message = format!("failed to score: {error}");
    match (suspect, error) {
        (Suspect::Machine, _) | (Suspect::Agent, ScoreError::Program(_)) => {
            Outcome::Error { message }
        }
        (Suspect::Agent, _) => Outcome::AgentFailed { reason: AgentFailure::NotScored, message },
    }
}

fn reason(error: &EnvironmentError) -> AgentFailure {
    match error.browser_error() {
        Some(browser::Error::Deadline { .. } | browser::Error::Network(_)) => {
            AgentFailure::PageHung
        }
        _ => AgentFailure::BrowserFailed,
    }
}

fn message(error: &dyn std::error::Error) -> String {
    format!("failed to {}", error_text::with_causes(error))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Returns the failure for which the agent is blamed; none if it is not.
    fn kind(outcome: Outcome) -> Option<AgentFailure> {
        match outcome {
            Outcome::AgentFailed { reason, .. } => Some(reason),
            _ => None,
        }
    }

    fn error(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> EnvironmentError {
        EnvironmentError::while_doing("act in the browser")(source)
    }

    #[test]
    fn what_an_agent_can_cause_is_never_the_machines_fault() {
        let gone = || error(browser::Error::Gone { waiting_for: "a reply".to_owned() });
        let late = || {
            let waited = Duration::from_secs(30);
            error(browser::Error::Deadline { condition: "a reply".to_owned(), waited })
        };
        let site = || error("the site has ended");
        let of =
            |error: EnvironmentError, check, suspect| kind(of_environment(&error, check, suspect));
        assert_eq!(of(gone(), Ok(()), Suspect::Agent), Some(AgentFailure::BrowserFailed));
        assert_eq!(of(gone(), Err(gone()), Suspect::Agent), Some(AgentFailure::BrowserFailed));
        assert_eq!(of(late(), Ok(()), Suspect::Agent), Some(AgentFailure::PageHung));
        assert_eq!(of(late(), Err(site()), Suspect::Agent), None);
        assert_eq!(of(site(), Ok(()), Suspect::Agent), None);
        assert_eq!(of(gone(), Ok(()), Suspect::Machine), None);
        // What is gone is the cause, and is told.
        for suspect in [Suspect::Machine, Suspect::Agent] {
            let told = of_environment(&late(), Err(site()), suspect);
            assert!(
                matches!(told, Outcome::Error { message } if message.contains("the site has ended"))
            );
        }
        let hang = |check, suspect| kind(of_hang(&late(), check, suspect));
        assert_eq!(hang(Ok(()), Suspect::Agent), Some(AgentFailure::PageHung));
        assert_eq!(hang(Err(site()), Suspect::Agent), None);
        assert_eq!(hang(Ok(()), Suspect::Machine), None);
    }

    #[test]
    fn a_probe_that_an_agent_can_break_is_no_error_to_be_tried_again() {
        let (site, probe, why) = ("shop".to_owned(), "order".to_owned(), "status 404".to_owned());
        let answer = || {
            let (site, probe, why) = (site.clone(), probe.clone(), why.clone());
            error(sites::Error::ProbeAnswer { site, probe, why })
        };
        let unasked = || {
            let (site, probe, why) = (site.clone(), probe.clone(), why.clone());
            error(sites::Error::Probe { site, probe, why })
        };
        let page =
            || EnvironmentError::of_evidence("look at what was done", "a script threw".to_owned());
        let lost = || Err(error("the site has ended"));
        let of =
            |error: EnvironmentError, check, suspect| kind(of_environment(&error, check, suspect));
        let not_scored = Some(AgentFailure::NotScored);
        assert_eq!(of(answer(), Ok(()), Suspect::Agent), not_scored);
        assert_eq!(of(page(), Ok(()), Suspect::Agent), not_scored);
        assert_eq!(of(answer(), lost(), Suspect::Agent), None);
        assert_eq!(of(answer(), Ok(()), Suspect::Machine), None);
        assert_eq!(of(page(), Ok(()), Suspect::Machine), None);
        assert_eq!(of(unasked(), Ok(()), Suspect::Agent), None);
    }

    #[test]
    fn what_a_machine_lacks_for_scoring_is_no_loss_of_the_agent() {
        let late = NotScored::TooLong(Duration::from_secs(10));
        let no_thread = NotScored::NoThread("too many".to_owned());
        let no_score = |why, suspect| kind(of_no_score(why, suspect));
        assert_eq!(no_score(&late, Suspect::Agent), Some(AgentFailure::ScoringTooLong));
        assert_eq!(no_score(&NotScored::BrokeDown, Suspect::Agent), Some(AgentFailure::NotScored));
        assert_eq!(no_score(&NotScored::BrokeDown, Suspect::Machine), None);
        assert_eq!(no_score(&no_thread, Suspect::Agent), None);
        let of = |error: ScoreError, suspect| kind(of_score_error(&error, suspect));
        let program = || ScoreError::Program("it ended with exit code 127".to_owned());
        let broke_down = || ScoreError::ProgramBrokeDown("it did not end within 60 s".to_owned());
        assert_eq!(of(program(), Suspect::Agent), None);
        assert_eq!(of(broke_down(), Suspect::Agent), Some(AgentFailure::NotScored));
        assert_eq!(of(broke_down(), Suspect::Machine), None);
        assert_eq!(
            of(ScoreError::Raised("ValueError"), Suspect::Agent),
            Some(AgentFailure::NotScored)
        );
    }
}
