//! Notes what a program does in attach mode until it has left: the pages that tabs come to, each
//! with a picture.

use std::time::Duration;

use browser::ScreenshotOptions;
use results::EpisodeFolder;
use tokio::time::{interval, timeout};

use crate::Error;
use crate::attach::ProgramExit;
use crate::environment::{Environment, EnvironmentError};
use crate::episode::trace::Trace;
use crate::world::World;

/// The interval at which the sites' clocks follow the world's.
const TICK: Duration = Duration::from_secs(1);
/// The time limit for a page to load before its picture is taken.
const ARRIVAL: Duration = Duration::from_secs(5);
/// The pause before a picture that failed is tried again.
const AGAIN: Duration = Duration::from_millis(50);
/// The time limit for the last observation of the page.
pub(super) const LAST_OBSERVATION: Duration = Duration::from_secs(20);

/// Notes what the program does until it has left.
pub(super) async fn watch(
    world: &mut World,
    folder: &EpisodeFolder,
    trace: &mut Trace,
    known: &mut usize,
    program: impl Future<Output = ProgramExit>,
) -> Result<ProgramExit, WatchError> {
    tokio::pin!(program);
    let mut ticks = interval(TICK);
    let mut gone = false;
    loop {
        tokio::select! {
            biased;
            visited = world.session().wait_for_navigations(*known), if !gone => match visited {
                Ok(urls) => {
                    note(world, trace, known, urls).await;
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

/// An error that ends the watch before the program has ended.
pub(super) enum WatchError {
    World(EnvironmentError),
    Results(Error),
}

impl From<EnvironmentError> for WatchError {
    fn from(error: EnvironmentError) -> WatchError {
        WatchError::World(error)
    }
}

impl From<Error> for WatchError {
    fn from(error: Error) -> WatchError {
        WatchError::Results(error)
    }
}

/// Takes a picture of the page that a tab has navigated to, for this step. There is none if the
/// page is gone before it has loaded.
pub(super) async fn keep_picture(
    world: &mut World,
    folder: &EpisodeFolder,
    trace: &mut Trace,
    known: usize,
) -> Result<(), Error> {
    let taken = timeout(LAST_OBSERVATION, async {
        let mut polls = interval(AGAIN);
        loop {
            polls.tick().await;
            if !world.session().wait_for_network_idle(known, ARRIVAL).await.unwrap_or(false) {
                return None;
            }
            // Chromium refuses while it puts the new document in the old one's place.
            if let Ok(png) = world.screenshot(&ScreenshotOptions::default()).await {
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

pub(super) async fn note(
    world: &mut World,
    trace: &mut Trace,
    known: &mut usize,
    urls: Vec<String>,
) {
    *known += urls.len();
    for url in urls {
        // What was asked for until now, the page itself included, came of what was done on the page
        // before.
        trace.take_requests(world);
        tracing::info!(task = trace.task_id(), %url, "a page was opened");
        trace.begin_step_at(url, world.elapsed()).await;
    }
}
