//! Whose fault it is when an episode breaks: decided here, and nowhere else.
//!
//! ```text
//! before the agent was heard   -> the machine's: a browser that does not start, a site, a disk
//! an error of the agent        -> `agents::Error::fault` says
//! the browser or a page breaks -> the agent's, once it was heard, unless a site or a disk failed too
//! everything else              -> the machine's
//! ```
//!
//! What is the machine's fault may be played again (`--retry-errors`). What an agent can cause at
//! will may not: it would have as many attempts as it likes. The agents of this program have no
//! such wish, so that for them a broken browser is the machine's fault.

use super::environment::EnvironmentError;
use crate::results::{AgentFailure, Outcome};

/// Who can have caused that something breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspect {
    /// Nobody but the machine: no agent was heard yet, or it is one of this program.
    Machine,
    /// The agent too.
    Agent,
}

/// The outcome for an error of the machine.
pub(crate) fn machine(error: &dyn std::error::Error) -> Outcome {
    Outcome::Error { message: message(error) }
}

/// The outcome for what the agent did.
pub(crate) fn agent(reason: AgentFailure, error: &dyn std::error::Error) -> Outcome {
    Outcome::AgentFailed { reason, message: message(error) }
}

/// The outcome for an error of an agent.
pub(crate) fn of_agent_error(error: &agents::Error) -> Outcome {
    match error.fault() {
        Some(fault) => agent(fault.into(), error),
        None => machine(error),
    }
}

/// The outcome for an environment that broke; `check` says whether all that the episode hangs on is
/// still there.
pub(crate) fn of_environment(
    error: &EnvironmentError,
    check: Result<(), EnvironmentError>,
    suspect: Suspect,
) -> Outcome {
    match (suspect, check) {
        (Suspect::Machine, _) => machine(error),
        (Suspect::Agent, Err(lost)) if !lost.is_of_browser() => machine(&lost),
        (Suspect::Agent, _) if error.is_of_browser() => agent(reason(error), error),
        (Suspect::Agent, _) => machine(error),
    }
}

/// The outcome for a world that did not come back in time.
pub(crate) fn of_hang(
    error: &dyn std::error::Error,
    check: Result<(), EnvironmentError>,
    suspect: Suspect,
) -> Outcome {
    match (suspect, check) {
        (Suspect::Machine, _) => machine(error),
        (Suspect::Agent, Err(lost)) if !lost.is_of_browser() => machine(&lost),
        (Suspect::Agent, _) => agent(AgentFailure::PageHung, error),
    }
}

fn reason(error: &EnvironmentError) -> AgentFailure {
    match error.browser_error() {
        Some(browser::Error::Deadline { .. } | browser::Error::Network(_)) => AgentFailure::PageHung,
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
        let kind = |outcome: Outcome| match outcome {
            Outcome::AgentFailed { reason, .. } => Some(reason),
            _ => None,
        };
        let of = |error: EnvironmentError, check, suspect| kind(of_environment(&error, check, suspect));
        assert_eq!(of(gone(), Ok(()), Suspect::Agent), Some(AgentFailure::BrowserFailed));
        assert_eq!(of(gone(), Err(gone()), Suspect::Agent), Some(AgentFailure::BrowserFailed));
        assert_eq!(of(late(), Ok(()), Suspect::Agent), Some(AgentFailure::PageHung));
        assert_eq!(of(late(), Err(site()), Suspect::Agent), None);
        assert_eq!(of(site(), Ok(()), Suspect::Agent), None);
        assert_eq!(of(gone(), Ok(()), Suspect::Machine), None);
        let hang = |check, suspect| kind(of_hang(&late(), check, suspect));
        assert_eq!(hang(Ok(()), Suspect::Agent), Some(AgentFailure::PageHung));
        assert_eq!(hang(Err(site()), Suspect::Agent), None);
        assert_eq!(hang(Ok(()), Suspect::Machine), None);
    }
}
