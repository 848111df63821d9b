//! WebArena-Verified: answers and network events, judged without a model.
//!
//! A task's `eval` has one or more entries. The one of answers compares what the agent reports as
//! JSON; those of network events look for requests in the HAR file of the run. Both read expected
//! and actual values as typed (dates, amounts, addresses of pages) and then compare them. The
//! reference is the package `webarena-verified` 1.2.3: scores, states and texts are its own, though
//! of several differences it names them in any order. Texts of exceptions are its own where a task
//! causes them; for files that are broken they say the same in other words.
//!
//! Not scored here: the type `full_address`, which takes a trained model of addresses; no task of
//! the benchmark uses it.

mod body;
mod compare;
mod config;
mod jsonpath;
mod network;
mod node;
mod report;
mod response;
mod rule;
mod schema;
mod site;
mod task;
mod trace;
mod types;

pub use config::Config;
use config::Derender;
use jiff::civil::Date;
use python_compat::url::SplitResult;
pub use report::{Assertion, EvaluatorResult, Status, TaskResult};
pub use rule::{EvaluationReport, State, VerifiedTask};
use site::Site;
use task::Evaluator;
pub use task::{DatasetError, Task, read};
use thiserror::Error;
use trace::Event;
use types::Reading;

/// An exception of the published code.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
struct PythonException(String);

impl PythonException {
    fn new(text: &str) -> PythonException {
        PythonException(text.to_owned())
    }

    fn too_long(pattern: &str) -> PythonException {
        PythonException(format!("the pattern '{pattern}' takes too long"))
    }
}

/// The files of one task in a run.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The agent's answer.
    pub agent_response: &'a [u8],
    /// A HAR file, or the lines of Playwright's `trace.network`.
    pub network: &'a [u8],
}

/// The context of evaluators.
struct Context<'a> {
    task: &'a Task,
    config: &'a Config,
    today: Date,
}

impl<'a> Context<'a> {
    fn derender(&self, strict: bool) -> Derender<'a> {
        Derender { config: self.config, sites: &self.task.sites, strict }
    }

    /// With the addresses of sites replaced, unless that is not asked for.
    fn reading(&self, derender: Option<bool>) -> Reading<'a> {
        Reading { derender: derender.map(|strict| self.derender(strict)), today: self.today }
    }
}

/// Scores a task. As in the package, dates that leave something open are completed from today.
pub fn evaluate(task: &Task, config: &Config, run: &Run<'_>) -> TaskResult {
    let today = jiff::Zoned::now().date();
    let evaluated = prepare(task, config, run).map(|(answer, events, config)| {
        let context = Context { task, config: &config, today };
        task.eval
            .iter()
            .map(|rule| evaluate_one(rule, &answer, &events, &context))
            .collect::<Vec<_>>()
    });
    let (evaluators_results, error_msg) = match evaluated {
        Ok(results) => (results, None),
        Err(raised) => {
            (Vec::new(), Some(format!("Failed to evaluate task {}: {raised}", task.task_id)))
        }
    };
    let is = |status: Status| move |result: &EvaluatorResult| result.status == status;
    let status = match error_msg {
        Some(_) => Status::Error,
        None if evaluators_results.iter().any(is(Status::Error)) => Status::Error,
        None if evaluators_results.iter().all(is(Status::Success)) => Status::Success,
        None => Status::Failure,
    };
    TaskResult {
        task_id: task.task_id,
        intent_template_id: task.intent_template_id,
        sites: task.sites.iter().map(|site| site.name().to_owned()).collect(),
        task_revision: task.revision,
        status,
        score: f64::from(u8::from(status == Status::Success)),
        evaluators_results,
        error_msg,
    }
}

/// Reads the files, and makes up for addresses that the configuration lacks.
fn prepare(
    task: &Task,
    config: &Config,
    run: &Run<'_>,
) -> Result<(String, Vec<Event>, Config), PythonException> {
    let answer = std::str::from_utf8(run.agent_response)
        .map_err(|error| PythonException(format!("the agent's response is not UTF-8: {error}")))?;
    // As files are read in Python.
    let answer = answer.replace("\r\n", "\n").replace('\r', "\n");
    let events = trace::read(run.network)?;
    let config =
        if config.knows(&task.sites) { config.clone() } else { guessed(task, config, &events)? };
    Ok((answer, events, config))
}

/// The first relevant events say where the sites are.
fn guessed(task: &Task, config: &Config, events: &[Event]) -> Result<Config, PythonException> {
    let mut urls = Vec::new();
    for event in events {
        if event.is_relevant()? {
            urls.push(event.url()?);
        }
    }
    let mut addresses = Vec::new();
    for (at, site) in task.sites.iter().enumerate() {
        let Some(url) = urls.get(at).or(urls.first().filter(|_| at == 0)).or(urls.last()) else {
            return Err(PythonException::new(
                "Invalid config: environments missing and network trace unavailable",
            ));
        };
        let parsed = SplitResult::of(url).ok_or_else(|| {
            PythonException::new(
                "Failed to correct eval config from network trace: Invalid IPv6 URL",
            )
        })?;
        let admin = if *site == Site::ShoppingAdmin { "/admin" } else { "" };
        addresses.push((*site, format!("{}://{}{admin}", parsed.scheme, parsed.netloc)));
    }
    Ok(config.with_addresses(addresses))
}

fn evaluate_one(
    rule: &Evaluator,
    answer: &str,
    events: &[Event],
    context: &Context<'_>,
) -> EvaluatorResult {
    let (evaluator_name, should_not_exist, assertions) = match rule {
        Evaluator::Response(rule) => {
            ("AgentResponseEvaluator", None, response::evaluate(answer, rule, context))
        }
        Evaluator::Network(rule) => {
            let assertions = network::evaluate(events, rule, context);
            ("NetworkEventEvaluator", Some(rule.should_not_exist), assertions)
        }
    };
    let (status, assertions, error_msg) = match assertions {
        Ok(assertions) if assertions.is_empty() => (Status::Success, assertions, None),
        Ok(assertions) => (Status::Failure, assertions, None),
        Err(raised) => {
            let task = context.task.task_id;
            let text = format!(
                "Error during evaluation with evaluator {evaluator_name} for task {task}: {raised}"
            );
            (Status::Error, Vec::new(), Some(text))
        }
    };
    let score = f64::from(u8::from(status == Status::Success));
    EvaluatorResult { evaluator_name, status, score, assertions, error_msg, should_not_exist }
}
