//! `sandbox up`: a town of sites, in the background.

use std::fs::OpenOptions;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ::town::{Client, Folder, TownStatus};
use camino::Utf8Path;
use indicatif::{MultiProgress, ProgressBar};
use sites::Site;
use sites::manifest::DriverKind;
use tokio_util::sync::CancellationToken;

use super::serve::Plan;
use super::table;
use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::{engine, interrupt, progress};

/// How often the town is asked while it comes up.
const ASK: Duration = Duration::from_millis(100);
/// How long all of it may take. A site has a deadline of its own, which comes first.
const WITHIN: Duration = Duration::from_secs(900);

/// How long a container engine that does not answer is waited for: it may be starting anew.
const ENGINE: Duration = Duration::from_secs(15);

/// What makes images, and what brings them.
const BUILD: &str = "`sandbox build` makes them, `sandbox load` brings them from a file";

/// The exit code of a town's process that finds another one there.
pub(super) const OTHER_IS_UP: i32 = 5;

/// Bring up sites, each under its own name, and leave them running
///
/// Without names, all sites of the folder whose images are there; without a container engine, those that need none. What
/// is left out is named. What is up already stays.
/// Ctrl-C takes down what has come up so far.
#[derive(clap::Args)]
pub(crate) struct Up {
    #[command(flatten)]
    plan: Plan,
    /// Print the status as one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataFolder,
}

impl Up {
    /// Starts the town where there is none, waits until its sites can be used, and shows them.
    pub(crate) async fn run(self) -> Outcome {
        let stop = interrupt::token();
        let client = super::client(&self.data)?;
        let mut child = None;
        let wanted = match client.status().await {
            Ok(status) => self.among(&status)?,
            Err(::town::Error::NotUp) => {
                let sites = self.reachable().await?;
                let names: Vec<String> = sites.iter().map(|site| site.name.clone()).collect();
                child = Some(self.spawn(&names)?);
                names
            }
            Err(error) => return Err(super::failure(error)),
        };
        let status = match wait(&client, child.as_mut(), &super::folder(&self.data)?, &wanted, &stop).await {
            Ok(Some(status)) => status,
            Ok(None) => {
                if child.is_some() {
                    super::down::end(&self.data).await?;
                }
                return Err(Failure::Interrupted("interrupted; nothing was left running".to_owned()));
            }
            Err(failure) => return Err(failure),
        };
        if self.json {
            println!("{}", serde_json::to_string_pretty(&status).expect("a status is plain data"));
        } else {
            println!("{}", table::of(&status, progress::columns()));
        }
        if status.is_up() {
            return Ok(());
        }
        let failed: Vec<&str> =
            status.sites.iter().filter(|site| !site.is_up()).map(|site| site.name.as_str()).collect();
        Err(Failure::No(format!(
            "{} of {} sites did not come up: {}; `sandbox logs SITE` tells more, `sandbox reset SITE` tries again",
            failed.len(),
            status.sites.len(),
            failed.join(", ")
        )))
    }

    /// The sites that are wanted of a town that is up.
    fn among(&self, status: &TownStatus) -> Result<Vec<String>, Failure> {
        let there: Vec<String> = status.sites.iter().map(|site| site.name.clone()).collect();
        let Some(missing) = self.plan.names.iter().find(|name| !there.contains(name)) else {
            return Ok(if self.plan.names.is_empty() { there } else { self.plan.names.clone() });
        };
        Err(Failure::Environment(anyhow::anyhow!(
            "the town that is up is without `{missing}` (it has {}); `sandbox down` ends it",
            there.join(", ")
        )))
    }

    /// The sites to bring up: those named, or all that this machine can run.
    async fn reachable(&self) -> Result<Vec<Site>, Failure> {
        let sites = self.plan.sites.load(&self.plan.names)?;
        let (contained, others): (Vec<Site>, Vec<Site>) =
            sites.into_iter().partition(|site| site.driver == DriverKind::Docker);
        if contained.is_empty() {
            return Ok(others);
        }
        match engine::connect().await {
            Ok(_) if !self.plan.names.is_empty() => Ok(contained.into_iter().chain(others).collect()),
            Ok(engine) => {
                let (there, missing) = by_image(&engine, contained).await?;
                if there.is_empty() && others.is_empty() {
                    let none = anyhow::anyhow!("no image is there of {}; {BUILD}", missing.join(", "));
                    return Err(Failure::Environment(none));
                }
                if !missing.is_empty() {
                    eprintln!("without {}, whose images are not there; {BUILD}", missing.join(", "));
                }
                Ok(there.into_iter().chain(others).collect())
            }
            Err(Failure::Environment(error)) if self.plan.names.is_empty() && !others.is_empty() => {
                let left: Vec<&str> = contained.iter().map(|site| site.name.as_str()).collect();
                eprintln!("without {}: {error:#}", left.join(", "));
                Ok(others)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Starts the process that holds the town.
    fn spawn(&self, names: &[String]) -> Result<Child, Failure> {
        let folder = super::folder(&self.data)?;
        folder.make().map_err(super::failure)?;
        // The town empties it once it knows that it is the only one.
        let log = OpenOptions::new().append(true).create(true).open(folder.log());
        let log = log.or_environment(format!("write {}", folder.log()))?;
        let again = log.try_clone().or_environment("share the log")?;
        let program = std::env::current_exe().or_environment("find this program")?;
        let mut command = Command::new(program);
        command.args(["serve-town", "--sites", self.plan.sites.path().as_str()]);
        command.args(["--data", self.data.path()?.as_str()]);
        command.args(["--reset-listen", &self.plan.reset_listen.to_string()]);
        if let Some(listen) = self.plan.listen {
            command.args(["--listen", &listen.to_string()]);
        }
        // In a group of its own: an interrupt on the terminal is for this command.
        command.args(names).stdin(Stdio::null()).stdout(log).stderr(again).process_group(0);
        command.spawn().or_environment("start the town")
    }
}

/// The sites whose images are there, and the names of the others.
async fn by_image(engine: &images::Engine, sites: Vec<Site>) -> Result<(Vec<Site>, Vec<String>), Failure> {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for site in sites {
        let beside = site.beside.values().map(|companion| &companion.image);
        let mut all = true;
        for image in site.image.iter().chain(beside) {
            all &= engine.has(image).await.map_err(engine::failure)?;
        }
        if all { there.push(site) } else { missing.push(site.name) }
    }
    Ok((there, missing))
}

/// Waits until the sites can be used or have been given up. None is an interrupt.
async fn wait(
    client: &Client,
    mut child: Option<&mut Child>,
    folder: &Folder,
    wanted: &[String],
    stop: &CancellationToken,
) -> Result<Option<TownStatus>, Failure> {
    let bars = Bars::new(wanted);
    let began = Instant::now();
    let mut ask = tokio::time::interval(ASK);
    let mut answered = began;
    loop {
        match client.status().await {
            Ok(status) => {
                bars.show(&status);
                match &status.engine {
                    None => answered = Instant::now(),
                    Some(problem) if answered.elapsed() > ENGINE => {
                        let failed = anyhow::anyhow!("failed to {problem}; {}", super::ENGINE_CURE);
                        return Err(Failure::Environment(failed));
                    }
                    Some(_) => {}
                }
                if status.is_settled() {
                    return Ok(Some(status));
                }
            }
            Err(::town::Error::NotUp) => {}
            Err(error) => return Err(super::failure(error)),
        }
        let ended = child.as_mut().map_or(Ok(None), |child| child.try_wait());
        if let Some(ended) = ended.or_environment("wait for the town")? {
            if ended.code() != Some(OTHER_IS_UP) {
                return Err(last_words(&folder.log(), ended.code()));
            }
            // Somebody else was faster. Theirs is as good.
            child = None;
        }
        if began.elapsed() > WITHIN {
            return Err(Failure::Environment(anyhow::anyhow!("the town was not up within {WITHIN:?}")));
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(None),
            _ = ask.tick() => {}
        }
    }
}

/// Why the town ended, as it told its log, with the exit code that it chose.
fn last_words(log: &Utf8Path, code: Option<i32>) -> Failure {
    let said = std::fs::read_to_string(log).unwrap_or_default();
    let why = said.lines().rev().find_map(|line| line.strip_prefix("sandbox: "));
    let why = why.map_or_else(|| format!("the town ended; {log} says why"), str::to_owned);
    match code {
        Some(1) => Failure::No(why),
        Some(2) => Failure::Input(anyhow::anyhow!(why)),
        _ => Failure::Environment(anyhow::anyhow!(why)),
    }
}

/// A line for each site: what it is still waiting for.
struct Bars {
    lines: Vec<(String, ProgressBar)>,
    _all: MultiProgress,
}

impl Bars {
    fn new(names: &[String]) -> Bars {
        let all = MultiProgress::new();
        let lines = names.iter().map(|name| (name.clone(), all.add(progress::spinner(name)))).collect();
        Bars { lines, _all: all }
    }

    fn show(&self, status: &TownStatus) {
        for site in &status.sites {
            let Some((_, bar)) = self.lines.iter().find(|(name, _)| *name == site.name) else { continue };
            if site.is_up() {
                bar.finish_and_clear();
            } else if let Some(problem) = &site.problem {
                bar.set_message(format!("{}: failed to {problem}", site.name));
            } else if let Some(condition) = site.waits_for() {
                bar.set_message(format!("{}: waits for {condition}", site.name));
            }
        }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        for (_, bar) in &self.lines {
            bar.finish_and_clear();
        }
    }
}
