//! The evidence of rules besides the steps of an agent: the trait [`Evidence`], and the types of
//! its questions and answers.
//!
//! They belong to no benchmark. A benchmark's folder uses them; nothing here uses a benchmark's.

mod instance;
pub(crate) mod pages;
mod program;
mod site;
pub mod tables;

use std::future::Future;

pub use instance::{Session, User, Visit};
pub use pages::{Fetch, FetchResponse, PageEvidence, Pages, PictureEvidence};
pub use program::{Decision, ProgramCheck, ProgramExit, Undecided};
use serde_json::Value;
pub use site::ProbeQuestion;
use tables::Tables;

/// The world of an episode, as rules ask it: pages and servers, sites, programs, what passed over
/// the network, and a ServiceNow instance.
pub trait Evidence: Pages + Send {
    /// The tables of a ServiceNow instance.
    type Tables: Tables<Error = Self::Error> + Send;

    /// Reads a value from a site by one of its probes.
    fn probe(
        &mut self,
        question: ProbeQuestion<'_>,
    ) -> impl Future<Output = Result<Value, Self::Error>> + Send;

    /// Runs a program that is given the agent's answer, and returns its decision, or why it made
    /// none.
    fn decide(
        &mut self,
        program: &ProgramCheck,
        answer: Option<&str>,
    ) -> impl Future<Output = Result<Result<Decision, Undecided>, Self::Error>> + Send;

    /// All that passed over the network until the agent ended, as HAR; nothing where it was not
    /// kept.
    fn traffic(&self) -> Option<&[u8]>;

    /// The instance on which the task was set up; nothing where it was not.
    fn servicenow(&mut self) -> impl Future<Output = Option<Session<Self::Tables>>> + Send;

    /// Returns the agent's last message that was not its answer.
    fn last_message(&self) -> Option<&str>;

    /// The error of a rule that lacks what nobody but its world can lack.
    fn failure(doing: &'static str, why: String) -> Self::Error;

    /// The error of a rule that cannot read what it has been given: the agent may have left it so.
    fn unreadable(doing: &'static str, why: String) -> Self::Error;
}
