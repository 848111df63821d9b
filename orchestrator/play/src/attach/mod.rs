//! Attach mode: an episode that any program drives, over the DevTools address of the
//! browser, or by WebDriver.
//!
//! ```text
//! world up, start page open -> handed over -> the program does as it likes -> ended -> scored -> kept
//!                                  |           (addresses are noted)            |
//!                                  +------ interrupted: as if never begun <-----+
//! ```
//!
//! The program is a black box. Seen of it are the addresses that tabs come to, the requests at the
//! gateway, the state of the sites, and the answer. The scorer judges by these as in a run. Actions
//! on single elements are not seen, so key nodes that need an element's value are not reached.
//! Page time runs on in attach mode: see `browser::Launch::attach_mode`.

mod answer_file;
pub mod program;
mod watch;

use std::path::PathBuf;

use actions::Action;
use agents::ActionFormat;
use browser::{DevToolsAddress, ObservationOptions, ScreenshotOptions};
use jiff::Timestamp;
use processes::confine::Confined;
use results::suite_digest::Digests;
use results::{
    AgentFailure, Conditions, EpisodeFolder, EpisodeId, EpisodeRecord, Outcome, Phase, RunFolder,
    RunRecord,
};
use scoring::Moment;
use scoring::mode::ScoringMode;
use serde::Serialize;
use sites::SiteGroup;
use tasks::{Suite, Task};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::attach::watch::{LAST_OBSERVATION, WatchError, keep_picture, note, watch};
use crate::confinement::{Places, Programs};
use crate::environment::{Environment, EnvironmentError};
use crate::episode::blame::{self, Suspect};
use crate::episode::log;
use crate::episode::trace::Trace;
use crate::run;
use crate::run::HostFacts;
use crate::world::World;
use crate::world::{running_sites, start_pages};
use crate::{Error, Options, Progress};

/// Everything that the attached program needs to know, as it is printed for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttachedSession {
    /// Id of the task.
    pub task: String,
    /// The instruction to the agent.
    pub goal: String,
    /// The page that is open.
    pub start_url: String,
    /// The address of the browser's DevTools: `http://127.0.0.1:PORT/KEY`.
    pub cdp: String,
    /// The WebSocket of the browser as a whole, for clients that begin with that.
    pub ws: String,
    /// The address for WebDriver clients, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webdriver: Option<String>,
    /// The time at which the world began.
    pub clock: Timestamp,
    /// The seed of all randomness in pages.
    pub seed: u64,
    /// File for the answer; to be there when the episode ends.
    pub answer_file: String,
}

/// The program that drives the browser.
#[derive(Debug, Clone, Copy)]
pub struct AttachedProgram<'a> {
    /// The name that stands for the agent in the results.
    pub name: &'a str,
    /// Its command line; empty if the user starts the program.
    pub command: &'a [String],
}

/// The way in which a program has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramExit {
    /// The program ended in good order. The answer is absent if it wrote that into the file.
    Left {
        /// The answer.
        answer: Option<String>,
    },
    /// The program failed: the reason, such as `run the command: it ended with exit status 1`.
    Failed(String),
    /// The time limit was reached first.
    TimedOut,
    /// The user interrupted it. The episode counts as never begun.
    Interrupted,
}

/// Prepares an episode of a task, hands it to `program`, and scores the state in which the program
/// leaves it. The program is started confined. Returns `None` if it was interrupted.
///
/// # Errors
/// When the world cannot be brought up, or results cannot be written.
pub async fn play_attached<P, F>(
    suite: &Suite,
    id: &str,
    by: AttachedProgram<'_>,
    options: &Options,
    interrupt: &CancellationToken,
    progress: &Progress,
    program: P,
) -> Result<Option<(RunFolder, EpisodeRecord)>, Error>
where
    P: FnOnce(AttachedSession, Confined) -> F,
    F: Future<Output = ProgramExit>,
{
    let AttachedProgram { name, command } = by;
    let task = suite.task(id)?;
    if options.webdriver {
        browser::can_serve_webdriver()
            .map_err(EnvironmentError::while_doing("hand the browser over"))
            .map_err(|source| Error::World { source })?;
    }
    let only = std::slice::from_ref(task);
    let alone = Options { workers: 1, repeat: 1, ..options.clone() };
    let running = running_sites::open(suite, only, &alone, interrupt, progress).await?;
    let played = async {
        let machine = HostFacts::of(running.as_ref(), options.headed).await?;
        let programs = Programs::of(suite, options, Vec::new());
        let programs = if command.is_empty() { None } else { Some(programs.await) };
        let town = running.as_ref().map(|running| running.town.clone());
        let record =
            run::record(suite, only, name.to_owned(), 1, &machine, &mut Digests::default())?;
        let confinement = programs.as_ref().map(Programs::confinement);
        // Without a command, whoever has the address is a program of the user's.
        let of_program =
            confinement.map_or_else(results::Confinement::default, |had| Some(had).into());
        let conditions = Some(Conditions::attached(task, of_program));
        let record = RunRecord { conditions, confinement, ..record };
        let run = RunFolder::create(&run::out(suite, "attach", options, record.started), &record)?;
        let id = EpisodeId { task: task.id.clone(), repeat: 1 };
        let folder = run.begin_episode(&id)?;
        // Once the browser runs: what is not there yet could not be hidden.
        let confined = |downloads: PathBuf| {
            let places = Places { answer: folder.program_folder()?, downloads };
            let line = command.join(" ");
            let of_run = run.path().as_std_path();
            Ok::<_, Error>(
                programs.map(|programs| programs.in_episode(&line, of_run, &folder, Some(&places))),
            )
        };
        let coming = tokio::select! {
            biased;
            () = interrupt.cancelled() => None,
            coming = bring_up(suite, task, town, options, progress) => Some(coming),
        };
        let record = match coming {
            None => None,
            Some(Err(error)) => {
                run.discard()?;
                return Err(error);
            }
            Some(Ok(mut world)) => {
                let played = async {
                    let confined = confined(world.session().downloads_folder())?;
                    let program = |session: AttachedSession| {
                        let mut confined = confined.unwrap_or_default();
                        for door in
                            [Some(&session.cdp), session.webdriver.as_ref()].into_iter().flatten()
                        {
                            let host = door.trim_start_matches("http://").split('/').next();
                            confined.reach(host.and_then(|host| host.parse().ok()));
                        }
                        program(session, confined)
                    };
                    play(&mut world, suite, task, &folder, options.webdriver, program).await
                };
                let played = played.await;
                run::close(world).await;
                played?
            }
        };
        match record {
            None => {
                run.discard()?;
                Ok(None)
            }
            Some((mut trace, outcome, started)) => {
                let record =
                    trace.conclude(&id, outcome, started, &options.judge, Suspect::Agent).await?;
                folder.write_score_state(&trace.assessment)?;
                run.keep(folder, &record, &trace.steps, &trace.requests)?;
                Ok(Some((run, record)))
            }
        }
    };
    let played = played.await;
    if let Some(running) = running {
        running_sites::stop(&running.town).await;
    }
    played
}

/// Brings up a world and opens the task's start page.
async fn bring_up(
    suite: &Suite,
    task: &Task,
    town: Option<SiteGroup>,
    options: &Options,
    progress: &Progress,
) -> Result<World, Error> {
    let tasks = std::slice::from_ref(task);
    let shared = start_pages::open(suite, tasks, town, options, progress).await?;
    let world = World::bring_up_attached(&suite.world, task, shared, options).await;
    let mut world = world.map_err(|source| Error::World { source })?;
    world.keep_network(options.keep_network || task.scorer.needs().traffic);
    match world.begin(task).await {
        Ok(()) => Ok(world),
        Err(source) => {
            run::close(world).await;
            Err(Error::World { source })
        }
    }
}

type EpisodeResult = (Trace, Outcome, Timestamp);

async fn play<P, F>(
    world: &mut World,
    suite: &Suite,
    task: &Task,
    folder: &EpisodeFolder,
    webdriver: bool,
    program: P,
) -> Result<Option<EpisodeResult>, Error>
where
    P: FnOnce(AttachedSession) -> F,
    F: Future<Output = ProgramExit>,
{
    let started = Timestamp::now();
    let mut trace = Trace::new(task, ScoringMode::default());
    let outcome = run_program(world, suite, task, folder, webdriver, &mut trace, program).await;
    // Also after an error: the instance is not ours, and nobody puts it back.
    trace.session.teardown().await;
    Ok(outcome?.map(|outcome| (trace, outcome, started)))
}

async fn run_program<P, F>(
    world: &mut World,
    suite: &Suite,
    task: &Task,
    folder: &EpisodeFolder,
    webdriver: bool,
    trace: &mut Trace,
    program: P,
) -> Result<Option<Outcome>, Error>
where
    P: FnOnce(AttachedSession) -> F,
    F: Future<Output = ProgramExit>,
{
    let goal = trace.begin_task(world).await.map_err(|source| Error::World { source })?;
    trace.take_requests(world);
    let session = session(world, suite, task, goal, folder, webdriver).await?;
    let answer = session.answer_file.clone();
    log::begun(&EpisodeId { task: task.id.clone(), repeat: 1 }, &session.goal);
    trace.begin_step_at(session.start_url.clone(), world.elapsed()).await;
    let mut known = 0;
    keep_picture(world, folder, trace, known).await?;
    trace.enter_phase(Phase::Agent);
    let watched = watch(world, folder, trace, &mut known, program(session)).await;
    let watched = match watched {
        Err(WatchError::Results(error)) => return Err(error),
        Err(WatchError::World(error)) => Err(error),
        Ok(ending) => Ok(ending),
    };
    trace.enter_phase(Phase::Ending);
    // Nothing is read while the program can still reach the pages.
    let reclaimed = world.session().reclaim().await;
    let watched = match reclaimed {
        Err(error) if watched.is_ok() => {
            Err(EnvironmentError::while_doing("take the pages back")(error))
        }
        _ => watched,
    };
    let outcome = match watched {
        Ok(ProgramExit::Interrupted) => return Ok(None),
        Ok(ProgramExit::TimedOut) => {
            let check = world.check().await;
            check.map_or_else(
                |error| blame::of_environment(&error, Ok(()), Suspect::Agent),
                |()| Outcome::TimedOut,
            )
        }
        Ok(ProgramExit::Failed(why)) => {
            Outcome::AgentFailed { reason: AgentFailure::Left, message: format!("failed to {why}") }
        }
        Ok(ProgramExit::Left { answer: given }) => {
            let given = given.map_or_else(|| answer_file::read(&answer), |given| Ok(Some(given)));
            match given {
                Err(message) => Outcome::AgentFailed { reason: AgentFailure::Unreadable, message },
                Ok(given) => match leave(world, folder, trace, known, given.as_deref()).await {
                    Ok(outcome) => outcome,
                    Err(error) => blame_world(world, &error).await,
                },
            }
        }
        Err(error) => blame_world(world, &error).await,
    };
    trace.take_requests(world);
    Ok(Some(outcome))
}

/// Returns the outcome for a world that broke while a program had the browser.
async fn blame_world(world: &mut World, error: &EnvironmentError) -> Outcome {
    let check = world.check().await;
    blame::of_environment(error, check, Suspect::Agent)
}

/// Returns everything that the program needs to know, once the pages are ready for it.
async fn session(
    world: &mut World,
    suite: &Suite,
    task: &Task,
    goal: String,
    folder: &EpisodeFolder,
    webdriver: bool,
) -> Result<AttachedSession, Error> {
    let answer_file = folder.program_folder()?.join("answer.txt");
    let answer_file =
        answer_file.into_os_string().into_string().map_err(|path| results::Error::Read {
            path: path.to_string_lossy().into_owned().into(),
            source: std::io::Error::other("its path is no UTF-8"),
        })?;
    let (devtools, webdriver) = serve(world.session(), webdriver)
        .await
        .map_err(EnvironmentError::while_doing("hand the browser over"))
        .map_err(|source| Error::World { source })?;
    Ok(AttachedSession {
        task: task.id.clone(),
        goal,
        start_url: task.start_url.clone().unwrap_or_else(|| "about:blank".to_owned()),
        cdp: devtools.url,
        ws: devtools.socket,
        webdriver,
        clock: task.world(&suite.world).clock,
        seed: suite.world.seed,
        answer_file,
    })
}

/// Opens the addresses of the browser and returns them.
async fn serve(
    session: &mut browser::Session,
    webdriver: bool,
) -> Result<(DevToolsAddress, Option<String>), browser::Error> {
    let devtools = session.serve_devtools().await?;
    let webdriver = if webdriver { Some(session.serve_webdriver().await?) } else { None };
    Ok((devtools, webdriver))
}

/// Lets the page settle, observes it once more, and reads the answer.
async fn leave(
    world: &mut World,
    folder: &EpisodeFolder,
    trace: &mut Trace,
    mut known: usize,
    answer: Option<&str>,
) -> Result<Outcome, EnvironmentError> {
    if let Err(error) = world.settle().await {
        tracing::info!(%error, "the page did not come to rest");
    }
    if let Err(error) = trace.collect(Moment::Settled, world).await {
        tracing::info!(%error, "the page has nothing to say");
    }
    let urls = world.session().navigations_since(known);
    note(world, trace, &mut known, urls).await;
    match timeout(LAST_OBSERVATION, last_observation(world, folder, trace)).await {
        Ok(Ok(())) => {}
        // There may be nothing left to look at.
        Ok(Err(error)) => tracing::info!(%error, "no last look was had"),
        Err(_) => tracing::info!("the last look took too long"),
    }
    let outcome = match answer.map(str::trim).filter(|answer| !answer.is_empty()) {
        None if trace.over => Outcome::Done,
        None => Outcome::Stopped,
        Some(text) => match ActionFormat::default().read(text).as_deref() {
            Ok([Action::Infeasible { .. }]) => {
                trace.infeasible().await;
                Outcome::Infeasible
            }
            _ => trace.answer_with(text.to_owned()).await,
        },
    };
    world.keep_time()?;
    trace.take_network(world, folder).map_err(EnvironmentError::while_doing("keep the network"))?;
    trace.collect(Moment::End, world).await?;
    world.check().await?;
    Ok(outcome)
}

async fn last_observation(
    world: &mut World,
    folder: &EpisodeFolder,
    trace: &mut Trace,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let observation = world.observe(&ObservationOptions::default()).await?;
    let number = trace.begin_step(&observation).await;
    let png = world.screenshot(&ScreenshotOptions::default()).await?;
    trace.current().screenshot = Some(folder.write_screenshot(number, &png)?);
    Ok(())
}
