//! One episode: observe, ask the agent, act, let the page settle, until there is an end.

pub(crate) mod blame;
pub(crate) mod deadline;
mod early_stop;
pub mod log;
pub(crate) mod scored;
pub(crate) mod trace;

use std::time::Duration;

use actions::Action;
use agents::{Agent, Goal, GoalImage, Reply, Role, View};
use browser::ScreenshotOptions;
use camino::Utf8Path;
use jiff::Timestamp;
use llm_client::Model;
use results::{
    AgentFailure, EpisodeFolder, EpisodeId, EpisodeRecord, Outcome, Phase, Request, Step,
};
use scoring::mode::ScoringMode;
use scoring::{Fetch, Moment};
use tasks::Task;

use crate::environment::{Environment, EnvironmentError, NotActed};
use crate::episode::blame::Suspect;
use crate::episode::early_stop::Replies;
use crate::episode::trace::Trace;
use crate::evidence::workarena_session::WorkArenaSession;
use crate::{Error, Limits};

/// How much longer than its agent an episode waits for a reply.
const GRACE: Duration = Duration::from_secs(2);
/// The time limit for an agent to shut down.
const LEAVE_WITHIN: Duration = Duration::from_secs(10);

/// The input of an episode besides the environment and the agent.
pub struct EpisodeSpec<'a> {
    /// The episode's id.
    pub id: &'a EpisodeId,
    /// The task.
    pub task: &'a Task,
    /// The folder of its files.
    pub folder: &'a EpisodeFolder,
    /// Its limits.
    pub limits: Limits,
    /// WorkArena's instance, if the task is one of WorkArena's. The caller tears it down.
    pub session: WorkArenaSession,
    /// Whether to take a screenshot of each step.
    pub screenshots: bool,
    /// Whether to write cookies and storage with the results.
    pub keep_storage: bool,
    /// Whether to write the traffic with the results.
    pub keep_network: bool,
    /// Whether published bugs are reproduced.
    pub scoring_mode: ScoringMode,
    /// The model that judges criteria which the scorer's rules leave open.
    pub judge: &'a Model,
    /// Called before the agent's n-th action, with the score so far, if that is known. The agent of
    /// a run does not get it.
    pub on_step: &'a (dyn Fn(u32, Option<f64>) + Send + Sync),
}

/// An episode that has ended.
pub struct EpisodeResult {
    /// Its record.
    pub record: EpisodeRecord,
    /// The steps of the agent.
    pub steps: Vec<Step>,
    /// The requests of the pages.
    pub requests: Vec<Request>,
    /// The environment is in no state to be used again.
    pub spent: bool,
    /// The reason why its agent could not be started at all.
    pub unstartable: Option<String>,
}

/// An error that ends an episode.
#[derive(Debug, thiserror::Error)]
enum EpisodeError {
    #[error("{0}")]
    Agent(#[from] agents::Error),
    #[error("get a reply from the agent within {} s", .after.as_secs_f64())]
    AgentHangs { after: Duration },
    #[error("{doing} within {} s: the browser or a site hangs", .after.as_secs_f64())]
    WorldHangs { doing: &'static str, after: Duration },
    #[error("give the agent the screenshots that it asked for: the run takes none")]
    NoScreenshots,
    #[error("{0}")]
    Environment(#[from] EnvironmentError),
    #[error("{0}")]
    Results(#[from] results::Error),
}

/// The result of carrying out a reply.
enum ReplyOutcome {
    /// The message to the agent, with its next observation.
    Continue(Option<String>),
    Ended(Outcome),
}

/// Plays an episode to its end and scores it. Fails only if results cannot be written. Any other
/// failure is the episode's outcome.
pub async fn play<E: Environment>(
    environment: &mut E,
    agent: &mut dyn Agent,
    attempt: &EpisodeSpec<'_>,
) -> Result<EpisodeResult, Error> {
    let started = Timestamp::now();
    let mut trace = Trace::new(attempt.task, attempt.scoring_mode);
    trace.session = attempt.session.clone();
    trace.scoring_within = deadline::of_episode(attempt.limits.episode);
    environment.keep_network(attempt.keep_network || attempt.task.scorer.needs().traffic);
    let whole = async {
        let outcome = drive(environment, agent, attempt, &mut trace).await?;
        trace.enter_step_phase(Phase::Ending);
        trace.take_network(environment, attempt.folder)?;
        trace.collect(Moment::End, environment).await?;
        trace.take_requests(environment);
        if attempt.keep_storage {
            attempt.folder.write_storage(&environment.storage_state().await?)?;
        }
        environment.check().await?;
        Ok(outcome)
    };
    let driven = tokio::time::timeout(attempt.limits.episode, whole).await;
    let suspect = if trace.agent_was_heard && !agent.is_built_in() {
        Suspect::Agent
    } else {
        Suspect::Machine
    };
    let unstartable = match &driven {
        Ok(Err(EpisodeError::Agent(error @ agents::Error::Start { .. }))) => {
            Some(error.to_string())
        }
        _ => None,
    };
    let (outcome, spent) = match driven {
        Ok(Ok(outcome)) => (outcome, false),
        Ok(Err(EpisodeError::Results(error))) => return Err(error.into()),
        Ok(Err(EpisodeError::Agent(error))) => (blame::of_agent_error(&error), false),
        Ok(Err(error @ EpisodeError::AgentHangs { .. })) => {
            (blame::agent(AgentFailure::Late, &error), false)
        }
        Ok(Err(error @ EpisodeError::NoScreenshots)) => {
            (blame::agent(AgentFailure::Unsupported, &error), false)
        }
        Ok(Err(EpisodeError::Environment(error))) => {
            let check = check(environment, attempt.limits.step).await;
            (blame::of_environment(&error, check, suspect), true)
        }
        Ok(Err(error @ EpisodeError::WorldHangs { .. })) => {
            let check = check(environment, attempt.limits.step).await;
            (blame::of_hang(&error, check, suspect), true)
        }
        // A server that does not answer takes the time of an episode.
        Err(_) => match check(environment, attempt.limits.step).await {
            Ok(()) => (Outcome::TimedOut, true),
            Err(error) if suspect == Suspect::Agent && error.is_of_browser() => {
                (Outcome::TimedOut, true)
            }
            Err(error) => (blame::machine(&error), true),
        },
    };
    trace.take_requests(environment);
    trace.add_calls(agent.take_calls());
    if tokio::time::timeout(LEAVE_WITHIN, agent.end(outcome.kind())).await.is_err() {
        tracing::warn!(within = ?LEAVE_WITHIN, "the agent did not take leave and was dropped");
    }
    let record = trace.conclude(attempt.id, outcome, started, attempt.judge, suspect).await?;
    attempt.folder.write_calls(&trace.calls)?;
    attempt.folder.write_console(&trace.console)?;
    attempt.folder.write_order(&trace.order)?;
    attempt.folder.write_score_state(&trace.assessment)?;
    Ok(EpisodeResult { record, steps: trace.steps, requests: trace.requests, spent, unstartable })
}

/// Writes the record of an episode that never began, for lack of an environment or of an agent.
pub(crate) async fn never_began(
    id: &EpisodeId,
    task: &Task,
    error: &(dyn std::error::Error + Send + Sync),
) -> Result<EpisodeResult, Error> {
    let mut trace = Trace::new(task, ScoringMode::default());
    let outcome = blame::machine(error);
    let record =
        trace.conclude(id, outcome, Timestamp::now(), &Model::default(), Suspect::Machine).await?;
    Ok(EpisodeResult {
        record,
        steps: Vec::new(),
        requests: Vec::new(),
        spent: true,
        unstartable: None,
    })
}

/// Checks that everything the episode depends on is still there. Without an answer in time it
/// counts as there.
async fn check<E: Environment>(
    environment: &mut E,
    within: Duration,
) -> Result<(), EnvironmentError> {
    tokio::time::timeout(within, environment.check()).await.unwrap_or(Ok(()))
}

async fn drive<E: Environment>(
    environment: &mut E,
    agent: &mut dyn Agent,
    attempt: &EpisodeSpec<'_>,
    trace: &mut Trace,
) -> Result<Outcome, EpisodeError> {
    environment.begin(attempt.task).await?;
    let words = trace.begin_task(environment).await?;
    let goal = Goal::of(attempt.task, words, images(environment, attempt).await?);
    trace.add_message(Role::User, &goal.text);
    log::begun(attempt.id, &goal.text);
    trace.agent_was_heard = true;
    let options = replied(attempt.limits.answer, agent.begin(&goal)).await?;
    if !attempt.screenshots && options.screenshot != ScreenshotOptions::default() {
        return Err(EpisodeError::NoScreenshots);
    }
    trace.whole_page = options.screenshot.full_page;
    trace.take_requests(environment);
    trace.take_order(environment).await?;
    let mut last_error: Option<String> = environment.take_crash();
    trace.crashes.extend(last_error.clone());
    let mut replies = Replies::default();
    loop {
        trace.enter_step_phase(Phase::Looking);
        let observing = async {
            let observation = environment.observe(&options).await?;
            let png = if attempt.screenshots {
                Some(environment.screenshot(&options.screenshot).await?)
            } else {
                environment.render_frame().await?;
                None
            };
            Ok((observation, png))
        };
        let (mut observation, png) =
            in_time("look at the page", attempt.limits.step, observing).await?;
        let number = trace.begin_step(&observation).await;
        trace.current().downloads = attempt.folder.keep_downloads(&mut observation.downloads)?;
        let screenshot =
            png.map(|png| attempt.folder.write_screenshot(number, &png)).transpose()?;
        let path = screenshot.as_ref().map(|name| attempt.folder.path().join(name));
        trace.current().screenshot = screenshot;
        // Before the limits: the last action may have reached the goal.
        if trace.over {
            return Ok(Outcome::Done);
        }
        if number > attempt.task.max_steps {
            return Ok(Outcome::MaxSteps);
        }
        if replies.are_stuck(attempt.task.early_stop) {
            return Ok(Outcome::Stuck);
        }
        (attempt.on_step)(number, trace.current().score);
        for said in attempt.task.messages.iter().filter(|said| said.step.get() == number) {
            trace.add_message(Role::User, &said.says);
        }
        trace.enter_step_phase(Phase::Agent);
        let view = View {
            step: number,
            observation: &observation,
            chat: &trace.chat,
            last_action_error: last_error.as_deref(),
            screenshot: path.as_deref().map(Utf8Path::as_std_path),
        };
        let replied = replied(attempt.limits.answer, agent.next(&goal, view)).await;
        // Before a failed reply ends the episode, because its calls have a cost, too.
        let calls = agent.take_calls();
        let fault = calls.last().and_then(|call| call.fault);
        trace.add_calls(calls);
        trace.enter_step_phase(Phase::Acting);
        let (actions, text, reason) = match replied? {
            Reply::Stop { reason } => {
                trace.current().reason = reason;
                log::acted(attempt.id, trace.current());
                return Ok(trace.stopped().await);
            }
            Reply::Act { actions, text, reason } => (actions, text, reason),
        };
        replies.add(actions.as_deref().ok());
        let step = trace.current();
        step.action = Some(text);
        step.reason = reason;
        last_error = match actions {
            Ok(actions) => {
                let acting = carry_out(environment, &actions, trace);
                match in_time("act and let the page settle", attempt.limits.step, acting).await? {
                    ReplyOutcome::Continue(error) => error,
                    ReplyOutcome::Ended(outcome) => {
                        log::acted(attempt.id, trace.current());
                        return Ok(outcome);
                    }
                }
            }
            // What is wrong with the reply says more than what cannot be read of it.
            Err(error) => Some(match fault {
                Some(fault) => format!("{fault}: failed to {error}"),
                None => format!("failed to {error}"),
            }),
        };
        trace.current().error = last_error.clone();
        log::acted(attempt.id, trace.current());
    }
}

/// Waits for the agent's reply, somewhat longer than its limit: an agent that watches its own time
/// then ends first, and its error says better what was not done.
async fn replied<T>(
    after: Duration,
    reply: impl Future<Output = Result<T, agents::Error>>,
) -> Result<T, EpisodeError> {
    match tokio::time::timeout(after + GRACE, reply).await {
        Ok(replied) => Ok(replied?),
        Err(_) => Err(EpisodeError::AgentHangs { after }),
    }
}

/// Waits for the world in a step, up to the limit.
async fn in_time<T>(
    doing: &'static str,
    after: Duration,
    work: impl Future<Output = Result<T, EpisodeError>>,
) -> Result<T, EpisodeError> {
    tokio::time::timeout(after, work)
        .await
        .unwrap_or(Err(EpisodeError::WorldHangs { doing, after }))
}

/// Gets the pictures of the goal, as files that the agent may open.
async fn images<E: Environment>(
    environment: &mut E,
    attempt: &EpisodeSpec<'_>,
) -> Result<Vec<GoalImage>, EpisodeError> {
    let mut images = Vec::new();
    for (place, url) in attempt.task.goal_images.iter().enumerate() {
        let lacking = |why: String| {
            let doing = EnvironmentError::while_doing("get a picture that belongs to the goal");
            EpisodeError::Environment(doing(format!("{url}: {why}")))
        };
        let answer = environment.fetch(&Fetch::get(url)).await?.map_err(lacking)?;
        if answer.status != 200 {
            return Err(lacking(format!("the answer has status {}", answer.status)));
        }
        let path = attempt.folder.write_goal_image(place + 1, url, &answer.body)?;
        images.push(GoalImage { url: url.clone(), path: path.into() });
    }
    Ok(images)
}

/// Carries out one action after the other, up to the first that fails or ends the episode.
async fn carry_out<E: Environment>(
    environment: &mut E,
    actions: &[Action],
    trace: &mut Trace,
) -> Result<ReplyOutcome, EpisodeError> {
    for (before, action) in actions.iter().enumerate() {
        match action {
            Action::Answer { text } => {
                return Ok(ReplyOutcome::Ended(trace.answer_with(text.clone()).await));
            }
            Action::Infeasible { .. } => {
                trace.infeasible().await;
                return Ok(ReplyOutcome::Ended(Outcome::Infeasible));
            }
            Action::Stop => return Ok(ReplyOutcome::Ended(trace.stopped().await)),
            Action::Say { text } => {
                trace.add_message(Role::Assistant, text);
                trace.last_message = Some(text.clone());
            }
            _ => {}
        }
        if let Some(message) = perform(environment, action, trace).await? {
            let message = match actions.len() {
                1 => message,
                all => format!(
                    "action {} of {all}, `{action}`, and those after it: {message}",
                    before + 1
                ),
            };
            return Ok(ReplyOutcome::Continue(Some(message)));
        }
        // The page has ended the episode. Later actions of this reply have nothing to act on.
        if trace.over {
            break;
        }
    }
    Ok(ReplyOutcome::Continue(None))
}

/// Performs an action and lets the page settle. Returns the message to the agent.
async fn perform<E: Environment>(
    environment: &mut E,
    action: &Action,
    trace: &mut Trace,
) -> Result<Option<String>, EpisodeError> {
    trace.note_points(action);
    let message = match environment.act(action).await {
        Ok(acted) => {
            trace.note_element(acted).await;
            let step = trace.current();
            // Of several actions, the last one for which the receiver is known.
            step.receiver = environment.receiver().or(step.receiver.take());
            None
        }
        Err(NotActed::Refused(message)) => Some(message),
        Err(NotActed::Broken(error)) => return Err(error.into()),
    };
    let unsettled = environment.settle().await?;
    let crash = environment.take_crash();
    trace.crashes.extend(crash.clone());
    let message = message.or(crash);
    let step = trace.current();
    step.unsettled = step.unsettled.take().or(unsettled);
    trace.collect(Moment::Settled, environment).await?;
    trace.take_requests(environment);
    trace.take_order(environment).await?;
    Ok(message)
}
