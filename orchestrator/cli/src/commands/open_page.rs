//! `sandbox trace --open-page`: the frozen world at the page of one step, in a window.

use camino::{Utf8Path, Utf8PathBuf};
use play::Options;
use play::attach::{self, AttachedProgram, AttachedSession, ProgramExit};
use processes::desktop;
use results::{RunFolder, Step};
use tasks::{GoalText, Suite, Task};

use crate::commands::attach::program;
use crate::commands::daemon;
use crate::failure::{Failure, OrFail as _, Outcome};
use crate::options::DataFolder;
use crate::options::confinement;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;
use crate::trust::{SiteVariables, Trust};

/// The step whose page is opened.
pub(crate) struct StepPage<'a> {
    pub(crate) run: &'a Utf8Path,
    pub(crate) episode: &'a str,
    pub(crate) step: u32,
    /// The folder of the suite; by default the one that was played, or `tasks/` and its name.
    pub(crate) suite: Option<&'a Utf8Path>,
}

/// Opens the world of the step's task with the URL of the step as its start page, and waits until
/// it is to end. Nothing is written to the run. Without a display it says what to do.
pub(crate) async fn open(
    page: &StepPage<'_>,
    trust: &Trust,
    variables: &SiteVariables,
    data: &DataFolder,
) -> Outcome {
    let folder = RunFolder::open(page.run)?;
    let (record, episodes) = (folder.run()?, folder.episodes()?);
    let episode = results::viewer::find(&folder, &episodes, page.episode)?;
    let steps = folder.episode(&episode.id()).steps()?;
    let url = url_of(&steps, page.step, page.episode)?;
    let played = folder.inputs()?.map(|inputs| inputs.path(&inputs.suite));
    let usual = || played.unwrap_or_else(|| Utf8Path::new("tasks").join(&record.suite));
    let suite_folder = page.suite.map_or_else(usual, Utf8Path::to_owned);
    let mut suite = play::suites::load_undated(&suite_folder)?;
    suite.task(&episode.task).map_err(Failure::input)?;
    if !desktop::has_display() {
        explain(page, &suite_folder, &episode.task, url);
        return Ok(());
    }
    let agreed =
        trust.agree_to_suite(&mut suite, std::slice::from_ref(&episode.task), variables, data)?;
    let task = suite.task(&episode.task).map_err(Failure::input)?;
    let suite = Suite { tasks: vec![beginning_at(task, url)], ..suite.clone() };
    let site_variables = variables.given.clone();
    let options = Options { agreed, site_variables, ..confinement::of_user(data)? };
    in_window(&suite, &episode.task, options).await
}

/// The URL of a step.
fn url_of<'a>(steps: &'a [Step], number: u32, episode: &str) -> Result<&'a str, Failure> {
    let step = steps.iter().find(|step| step.step == number).ok_or_else(|| {
        Failure::Input(format!("failed to find step {number}: {episode} has {} steps", steps.len()))
    })?;
    if !step.url.starts_with("http") {
        return Err(Failure::Input(format!(
            "failed to open the page of step {number}: {:?} is no address on the web",
            step.url
        )));
    }
    Ok(&step.url)
}

/// The same task, but at this page. Its goal is not read from the page, which is another one.
fn beginning_at(task: &Task, url: &str) -> Task {
    Task {
        start_url: Some(url.to_owned()),
        tabs: Vec::new(),
        setup_script: None,
        goal: GoalText::Words(task.goal.to_string()),
        ..task.clone()
    }
}

async fn in_window(suite: &Suite, task: &str, options: Options) -> Outcome {
    let temporary = processes::temporary::new("page-").or_environment("make a temporary folder")?;
    let out = Utf8PathBuf::try_from(temporary.path().join("world"))
        .or_environment("make a temporary folder")?;
    let options = Options { out: Some(out), headed: true, ..options };
    let stop = interrupt::token();
    let bar = progress::spinner("bringing up the world");
    let on_event = daemon::show_sites(&bar);
    let cancel = &stop;
    let watched = |facts: AttachedSession, _| async move {
        bar.finish_and_clear();
        println!("{}", facts.start_url);
        eprintln!("the page is open in its window; Enter or Ctrl-C closes it");
        program::line(None, cancel).await;
        // Nothing of it is kept.
        ProgramExit::Interrupted
    };
    let by = AttachedProgram { name: "trace", command: &[] };
    attach::play_attached(suite, task, by, &options, &stop, &on_event, watched).await?;
    Ok(())
}

fn explain(page: &StepPage<'_>, suite: &Utf8Path, task: &str, url: &str) {
    out::warn(&"there is no display to open a window on");
    let step = page.step.to_string();
    let words = [
        "sandbox",
        "trace",
        page.run.as_str(),
        page.episode,
        "--step",
        step.as_str(),
        "--open-page",
        "--suite",
        suite.as_str(),
    ];
    eprintln!("on a machine with a display: {}", out::command_line(words));
    let words = ["sandbox", "attach", suite.as_str(), task];
    eprintln!(
        "here: {}, and then open this page over its DevTools address:",
        out::command_line(words)
    );
    println!("{url}");
}
