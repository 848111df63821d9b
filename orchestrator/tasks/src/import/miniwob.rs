//! MiniWoB++: one page for each task, all of them files. A page makes up its goal when it is told
//! to start, and says itself what was earned.
//!
//! Tasks start and score as those of BrowserGym (`browsergym/miniwob/base.py`): the page's
//! generator of random numbers is seeded, a thousand seconds of page time are allowed, what the
//! page shows to human players is out of sight, and any positive reward counts as 1. Two things
//! differ: pages are not scaled up, and one seed is drawn for all tasks.

use camino::{Utf8Path, Utf8PathBuf};
use scoring::{PageCheck, Scorer};

use super::{Import, ImportError, NewSuite, SkippedTask, reading, task_id};
use crate::{GoalText, Task, WorldSpec};

/// The name of the site that serves the pages, in the world of the suite.
pub const SITE: &str = "miniwob";
/// The host that it is reached by.
pub const HOST: &str = "miniwob.test";
/// The folder with the tasks' pages below the folder that is served.
pub const PAGES: &str = "miniwob";

/// BrowserGym's window, in CSS pixels.
const VIEWPORT: (u32, u32) = (500, 320);
/// The start of page clocks: the year in which most pages with dates play.
const CLOCK: &str = "2016-06-15T09:00:00Z";
/// Enough for the longest solutions known; `book-flight` takes about fifteen actions.
const MAX_STEPS: u32 = 30;

/// Pages that are there and are none of the benchmark's registered environments: they ask for
/// reactions in real time.
const UNREGISTERED: [&str; 5] =
    ["button-delay", "chase-circle", "hover-shape", "moving-items", "simon-says"];

/// Copies of airlines' pages, each in a frame of a page of its own, in the folder `flight` beside
/// the tasks'. They begin and end their episodes by rules of their own, and their scripts name
/// hosts of the public web.
const FLIGHTS: [&str; 3] = ["flight.AA", "flight.Alaska", "flight.Alaska-auto"];

/// The goal is a text, or an object that has it.
const GOAL: &str = "(told => told.utterance ?? told)(core.getUtterance())";
/// A page that is none of the benchmark's has ended the episode with nothing earned.
const DONE: &str = "typeof core === 'undefined' || WOB_DONE_GLOBAL";
const REWARD: &str = "typeof core !== 'undefined' && WOB_RAW_REWARD_GLOBAL > 0";

/// One task for each page; `pages` are the file names in the folder of tasks. Everything random in
/// a page follows from `seed`.
pub fn miniwob(pages: &[String], seed: u64) -> Import {
    let mut names: Vec<&str> = pages.iter().filter_map(|page| page.strip_suffix(".html")).collect();
    names.sort_unstable();
    let skipped = FLIGHTS.iter().map(|name| SkippedTask {
        id: task_id(SITE, name),
        reason: "it is a copy of an airline's pages in a frame, in the folder `flight`".to_owned(),
    });
    let tasks = names.into_iter().map(|name| task(name, seed)).collect();
    Import { tasks, skipped: skipped.collect(), ..Import::default() }
}

/// The suite of the pages in a folder, with the manifest of the site that serves them; and the
/// folder that is served.
///
/// # Errors
/// When the folder has no such pages.
pub fn suite(folder: &Utf8Path, seed: u64) -> Result<(NewSuite, Utf8PathBuf), ImportError> {
    let html = find_html(folder)?;
    let import = miniwob(&names(&html.join(PAGES))?, seed);
    let manifests = vec![(SITE.to_owned(), manifest(&html))];
    Ok((NewSuite { manifests, ..NewSuite::new(SITE, world(seed), import) }, html))
}

/// The world of such a suite; the manifest of its site is in the folder `sites` beside the suite.
pub fn world(seed: u64) -> WorldSpec {
    WorldSpec {
        sites: Some("sites".into()),
        seed,
        viewport: VIEWPORT,
        match_level: crate::MatchLevel::Exact,
        ..WorldSpec::new(CLOCK.parse().expect("the clock is a time"))
    }
}

/// The folder that is served: it has the pages and what they share.
fn find_html(folder: &Utf8Path) -> Result<Utf8PathBuf, ImportError> {
    for inside in ["", "html", "miniwob/html"] {
        let html = folder.join(inside);
        if html.join(PAGES).is_dir() && html.join("core/core.js").is_file() {
            return html.canonicalize_utf8().map_err(reading(&html));
        }
    }
    Err(ImportError::Unusable(format!(
        "{folder} has neither core/core.js nor the folder miniwob; name the folder `html` of the package"
    )))
}

fn names(folder: &Utf8Path) -> Result<Vec<String>, ImportError> {
    let entries = folder.read_dir_utf8().map_err(reading(folder))?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_owned()));
    names.collect::<std::io::Result<_>>().map_err(reading(folder))
}

/// The manifest of the site. A JSON text is a YAML text, too, whatever is in a path.
fn manifest(html: &Utf8Path) -> String {
    let html = serde_json::Value::from(html.as_str());
    format!(
        "title: MiniWoB++
description: Small tasks, one on each page, which reward themselves.
driver: embedded                     # files of yours, served from where they are
embedded: {{static: {html}}}
hosts: [{host}]
ready:
  shared script: {{get: /core/core.js, status: 200, contains: startEpisodeReal}}
reset: never
",
        host = HOST,
    )
}

fn task(name: &str, seed: u64) -> Task {
    let mut tags = Vec::new();
    if UNREGISTERED.contains(&name) {
        tags.push("unregistered".to_owned());
    }
    Task {
        start_url: Some(format!("https://{HOST}/{PAGES}/{name}.html")),
        setup_script: Some(begin(seed)),
        sites: vec![SITE.to_owned()],
        max_steps: MAX_STEPS,
        tags,
        ..Task::new(
            task_id(SITE, name),
            GoalText::Page(GOAL.to_owned()),
            Scorer::Page(PageCheck { reward: REWARD.to_owned(), done: Some(DONE.to_owned()) }),
        )
    }
}

/// Starts the page's episode, with what is there for human players out of sight: rewards,
/// countdown, traces of clicks, the cover with the button that starts the next one, and the goal,
/// which agents have already.
fn begin(seed: u64) -> String {
    format!(
        "Math.seedrandom({seed});
core.EPISODE_MAX_TIME = 1000000;
core.startEpisodeReal();
core.clearTimer();
document.body.removeEventListener('click', core.canvasDrawClick);
document.head.insertAdjacentHTML('beforeend', `<style>
  #reward-display, #click-canvas, #sync-task-cover {{ display: none !important }}
  #query {{ visibility: hidden }}
</style>`);
"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_page_becomes_a_task_that_loads_again() {
        let pages = ["use-slider.html", "click-test.html", "chase-circle.html", "notes.txt"];
        let import = miniwob(&pages.map(str::to_owned), 7);
        let ids: Vec<&str> = import.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["miniwob-chase-circle", "miniwob-click-test", "miniwob-use-slider"]);
        assert_eq!(import.skipped.len(), 3);
        let task = &import.tasks[1];
        assert_eq!(task.start_url.as_deref(), Some("https://miniwob.test/miniwob/click-test.html"));
        assert!(task.setup_script.as_deref().unwrap().starts_with("Math.seedrandom(7);"));
        assert_eq!((import.tasks[0].tags.len(), task.tags.len()), (1, 0));
        let yaml = serde_yaml::to_string(task).unwrap();
        assert_eq!(&serde_yaml::from_str::<Task>(&yaml).unwrap(), task);
        let yaml = serde_yaml::to_string(&world(7)).unwrap();
        assert_eq!(serde_yaml::from_str::<WorldSpec>(&yaml).unwrap(), world(7));
    }
}
