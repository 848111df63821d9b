//! The open door: an episode that any program drives, over the browser's own DevTools address.
//!
//! ```text
//! world up, start page open -> handed over -> the program does as it likes -> ended -> scored -> kept
//!                                  |           (addresses are noted)            |
//!                                  +------ interrupted: as if never begun <-----+
//! ```
//!
//! What such a program does is its own; seen of it are the addresses that tabs come to, the requests at the gateway, the state of the sites and
//! the answer. From these the task's scorer judges as in a run; what is done to single elements is not seen, so key nodes that ask for the value
//! of one are not reached. A world with an open door has time that runs on: see `browser::Launch::open`.

use std::time::Duration;

use agents::Speech;
use browser::{Action, Look, Picture};
use jiff::Timestamp;
use serde::Serialize;
use sites::Town;
use tasks::scoring::rules::Rules;
use tasks::{Suite, Task};
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;

use crate::environment::{Environment, EnvironmentError};
use crate::results::{EpisodeFolder, EpisodeId, EpisodeRecord, Outcome, Phase, RunFolder};
use crate::run::Sites;
use crate::suite_digest::Digests;
use crate::trace::Trace;
use crate::world::World;
use crate::{Error, Options, Progress, log, run, starts, town};

/// How often the sites' clocks are brought up to the world's.
const TICK: Duration = Duration::from_secs(1);
/// How long a page that a tab has come to is waited for, for its picture.
const ARRIVAL: Duration = Duration::from_secs(5);
/// How soon a picture that was refused is asked for again.
const AGAIN: Duration = Duration::from_millis(50);
/// How long the last look at the page may take.
const LAST_LOOK: Duration = Duration::from_secs(20);

/// What a program needs to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// Id of the task.
    pub task: String,
    /// What is to be done.
    pub goal: String,
    /// The page that is open.
    pub start_url: String,
    /// Where the browser's DevTools are: `http://127.0.0.1:PORT`.
    pub cdp: String,
    /// Where the gateway is, for requests besides the browser's: `http://127.0.0.1:PORT`.
    pub proxy: String,
    /// File with the certificate that clients of the gateway have to trust, as PEM. It is gone when the episode has ended.
    pub ca: String,
    /// The time at which the world began.
    pub clock: Timestamp,
    /// What all randomness of pages is derived from.
    pub seed: u64,
    /// File for the answer; to be there when the episode ends.
    pub answer_file: String,
}

/// How a program has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// In good order, with an answer where it did not write it into the file.
    Left {
        /// The answer.
        answer: Option<String>,
    },
    /// Not in good order: the reason, such as `run the command: it ended with exit status 1`.
    Failed(String),
    /// It was not done in time.
    TimedOut,
    /// The episode is to be as if it had never begun.
    Interrupted,
}

/// Prepares an episode of a task, hands it to `program`, and scores the state in which that leaves it. `name` stands for the agent in the
/// results. Gives nothing where it was interrupted.
///
/// # Errors
/// When the world cannot be brought up, or results cannot be written.
pub async fn hold_open<P, F>(
    suite: &Suite,
    id: &str,
    name: &str,
    options: &Options,
    interrupt: &CancellationToken,
    progress: &Progress,
    program: P,
) -> Result<Option<(RunFolder, EpisodeRecord)>, Error>
where
    P: FnOnce(Facts) -> F,
    F: Future<Output = Ending>,
{
    let task = suite.task(id)?;
    let only = std::slice::from_ref(task);
    let alone = Options { workers: 1, repeat: 1, ..options.clone() };
    let ground = town::open(suite, only, &alone, interrupt, progress).await?;
    let held = async {
        let sites = Sites::of(ground.as_ref()).await?;
        let town = ground.as_ref().map(|ground| ground.town.clone());
        let record = run::record(suite, only, name.to_owned(), 1, &sites, &mut Digests::default())?;
        let run = RunFolder::create(&run::out(suite, "env", options, record.started), &record)?;
        let id = EpisodeId { task: task.id.clone(), repeat: 1 };
        let folder = run.begin_episode(&id)?;
        let coming = tokio::select! {
            biased;
            () = interrupt.cancelled() => None,
            coming = bring_up(suite, task, town, options) => Some(coming),
        };
        let record = match coming {
            None => None,
            Some(Err(error)) => {
                run.discard()?;
                return Err(error);
            }
            Some(Ok(mut world)) => {
                let played = play(&mut world, suite, task, &folder, program).await;
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
                let record = trace.conclude(&id, task, outcome, started, &options.judge).await?;
                folder.write_score_state(&trace.score)?;
                run.keep(folder, &record, &trace.steps, &trace.requests)?;
                Ok(Some((run, record)))
            }
        }
    };
    let held = held.await;
    if let Some(ground) = ground {
        town::stop(&ground.town).await;
    }
    held
}

/// A world with the task's start page open.
async fn bring_up(suite: &Suite, task: &Task, town: Option<Town>, options: &Options) -> Result<World, Error> {
    let tasks = std::slice::from_ref(task);
    let shared = starts::open(&suite.world, tasks, town, options).await?;
    let world = World::open_up(&suite.world, task, shared, options).await;
    let mut world = world.map_err(|source| Error::World { source })?;
    world.keep_network(options.keep_network || task.scorer.wants_network());
    match world.begin(task).await {
        Ok(()) => Ok(world),
        Err(source) => {
            run::close(world).await;
            Err(Error::World { source })
        }
    }
}

type Played = (Trace, Outcome, Timestamp);

async fn play<P, F>(
    world: &mut World,
    suite: &Suite,
    task: &Task,
    folder: &EpisodeFolder,
    program: P,
) -> Result<Option<Played>, Error>
where
    P: FnOnce(Facts) -> F,
    F: Future<Output = Ending>,
{
    let started = Timestamp::now();
    let mut trace = Trace::new(task, Rules::default());
    let outcome = hand_over(world, suite, task, folder, &mut trace, program).await;
    trace.guest.leave().await;
    Ok(outcome?.map(|outcome| (trace, outcome, started)))
}

async fn hand_over<P, F>(
    world: &mut World,
    suite: &Suite,
    task: &Task,
    folder: &EpisodeFolder,
    trace: &mut Trace,
    program: P,
) -> Result<Option<Outcome>, Error>
where
    P: FnOnce(Facts) -> F,
    F: Future<Output = Ending>,
{
    let goal = trace.prepare(world, task).await.map_err(|source| Error::World { source })?;
    trace.take_requests(world);
    let facts = facts(world, suite, task, goal, folder).await?;
    let (ca, answer) = (facts.ca.clone(), facts.answer_file.clone());
    log::begun(&EpisodeId { task: task.id.clone(), repeat: 1 }, &facts.goal);
    trace.came_to(task, facts.start_url.clone(), world.elapsed());
    let mut known = 0;
    keep_picture(world, folder, trace, known).await?;
    trace.turn(Phase::Agent);
    let watched = watch(world, task, folder, trace, &mut known, program(facts)).await;
    let watched = match watched {
        Err(Lost::Results(error)) => return Err(error),
        Err(Lost::World(error)) => Err(error),
        Ok(ending) => Ok(ending),
    };
    trace.turn(Phase::Ending);
    // A certificate that stands for nothing any more.
    let _ = std::fs::remove_file(ca);
    let outcome = match watched {
        Ok(Ending::Interrupted) => return Ok(None),
        Ok(Ending::TimedOut) => Outcome::TimedOut,
        Ok(Ending::Failed(why)) => failed(&why),
        Ok(Ending::Left { answer: given }) => {
            let given = given.or_else(|| std::fs::read_to_string(&answer).ok());
            match leave(world, task, folder, trace, known, given.as_deref()).await {
                Ok(outcome) => outcome,
                Err(error) => failed(&error),
            }
        }
        Err(error) => failed(&error),
    };
    trace.take_requests(world);
    Ok(Some(outcome))
}

fn failed(why: &dyn std::fmt::Display) -> Outcome {
    Outcome::Error { message: format!("failed to {why}") }
}

/// Hands the pages over.
async fn facts(
    world: &mut World,
    suite: &Suite,
    task: &Task,
    goal: String,
    folder: &EpisodeFolder,
) -> Result<Facts, Error> {
    let path = folder.path();
    let path = path.canonicalize_utf8().map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let (ca, answer_file) = (path.join("ca.crt"), path.join("answer.txt"));
    std::fs::write(&ca, world.certificate()).map_err(|source| Error::Write { path: ca.clone(), source })?;
    let cdp = world.session().serve_devtools().await;
    let cdp = cdp.map_err(EnvironmentError::while_doing("hand the browser over"));
    Ok(Facts {
        task: task.id.clone(),
        goal,
        start_url: task.start_url.clone().unwrap_or_else(|| "about:blank".to_owned()),
        cdp: cdp.map_err(|source| Error::World { source })?,
        proxy: format!("http://{}", world.proxy()),
        ca: ca.into(),
        clock: task.world(&suite.world).clock,
        seed: suite.world.seed,
        answer_file: answer_file.into(),
    })
}

/// Notes what the program does until it has left.
async fn watch(
    world: &mut World,
    task: &Task,
    folder: &EpisodeFolder,
    trace: &mut Trace,
    known: &mut usize,
    program: impl Future<Output = Ending>,
) -> Result<Ending, Lost> {
    tokio::pin!(program);
    let mut ticks = interval(TICK);
    let mut gone = false;
    loop {
        tokio::select! {
            biased;
            visited = world.session().wait_for_navigations(*known), if !gone => match visited {
                Ok(urls) => {
                    note(world, task, trace, known, urls);
                    let picture = keep_picture(world, folder, trace, *known);
                    tokio::pin!(picture);
                    tokio::select! {
                        biased;
                        ending = &mut program => return Ok(ending),
                        kept = picture => kept?,
                    }
                }
                // The program has closed it, which is its right.
                Err(error) => {
                    tracing::info!(%error, "the browser is gone");
                    gone = true;
                }
            },
            ending = &mut program => return Ok(ending),
            _ = ticks.tick() => world.keep_time()?,
        }
    }
}

/// What ends the watch before the program has left.
enum Lost {
    World(EnvironmentError),
    Results(Error),
}

impl From<EnvironmentError> for Lost {
    fn from(error: EnvironmentError) -> Lost {
        Lost::World(error)
    }
}

impl From<Error> for Lost {
    fn from(error: Error) -> Lost {
        Lost::Results(error)
    }
}

/// Takes a picture of the page that a tab has come to, for the step that this is. There is none
/// where it is gone before it is there.
async fn keep_picture(
    world: &mut World,
    folder: &EpisodeFolder,
    trace: &mut Trace,
    known: usize,
) -> Result<(), Error> {
    let taken = timeout(LAST_LOOK, async {
        let mut looks = interval(AGAIN);
        loop {
            looks.tick().await;
            if !world.session().wait_for_network_idle(known, ARRIVAL).await.unwrap_or(false) {
                return None;
            }
            // Chromium refuses while it puts the new document in the old one's place.
            if let Ok(png) = world.screenshot(&Picture::default()).await {
                return Some(png);
            }
        }
    });
    let Ok(Some(png)) = taken.await else { return Ok(()) };
    if world.session().navigations_since(known).is_empty() {
        let step = trace.current();
        step.screenshot = Some(folder.write_screenshot(step.step, &png)?);
    }
    Ok(())
}

fn note(world: &mut World, task: &Task, trace: &mut Trace, known: &mut usize, urls: Vec<String>) {
    *known += urls.len();
    for url in urls {
        // What was asked for until now, the page itself included, came of what was done on the page before.
        trace.take_requests(world);
        tracing::info!(task = task.id, %url, "a page was opened");
        trace.came_to(task, url, world.elapsed());
    }
}

/// Lets arrive what is still on its way, looks once more, and takes the answer.
async fn leave(
    world: &mut World,
    task: &Task,
    folder: &EpisodeFolder,
    trace: &mut Trace,
    mut known: usize,
    answer: Option<&str>,
) -> Result<Outcome, EnvironmentError> {
    if let Err(error) = world.settle().await {
        tracing::info!(%error, "the page did not come to rest");
    }
    if let Err(error) = trace.hear(world, task).await {
        tracing::info!(%error, "the page has nothing to say");
    }
    let urls = world.session().navigations_since(known);
    note(world, task, trace, &mut known, urls);
    match timeout(LAST_LOOK, last_look(world, task, folder, trace)).await {
        Ok(Ok(())) => {}
        // There may be nothing left to look at.
        Ok(Err(error)) => tracing::info!(%error, "no last look was had"),
        Err(_) => tracing::info!("the last look took too long"),
    }
    let outcome = match answer.map(str::trim).filter(|answer| !answer.is_empty()) {
        None if trace.over => Outcome::Done,
        None => Outcome::Stopped,
        Some(text) => match Speech::default().read(text).as_deref() {
            Ok([Action::Infeasible { .. }]) => {
                trace.gave_up(task);
                Outcome::Infeasible
            }
            _ => trace.answered(task, text.to_owned()),
        },
    };
    world.keep_time()?;
    trace.take_network(world, task, folder).map_err(EnvironmentError::while_doing("keep the network"))?;
    trace.look(world, task).await?;
    world.check().await?;
    Ok(outcome)
}

async fn last_look(
    world: &mut World,
    task: &Task,
    folder: &EpisodeFolder,
    trace: &mut Trace,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let observation = world.observe(&Look::default()).await?;
    let number = trace.saw(task, &observation);
    let png = world.screenshot(&Picture::default()).await?;
    trace.current().screenshot = Some(folder.write_screenshot(number, &png)?);
    Ok(())
}
