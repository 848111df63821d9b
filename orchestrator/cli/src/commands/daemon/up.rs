//! `sandbox up`: starts sites in the background.

use std::fs::OpenOptions;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use camino::Utf8Path;
use daemon::{Client, DaemonStatus, Folder, RequestedSites};
use indicatif::{MultiProgress, ProgressBar};
use sites::Site;
use tokio_util::sync::CancellationToken;

use super::serve::Plan;
use super::table;
use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::options::gateway_options;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;
use crate::trust::Trust;

/// Start sites, each under its own host name, and leave them running
///
/// Without names, starts all sites of the folder that have an image. Without a container engine,
/// starts those that need none. Prints the sites that it leaves out. Sites that are up already stay
/// as they are, and others are added to them. All sites are from one folder. Ctrl-C stops the sites
/// that this command has started. If sites were up before, the new ones keep starting.
#[derive(clap::Args)]
pub(crate) struct Up {
    #[command(flatten)]
    plan: Plan,
    /// Print the status as one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    data: DataFolder,
}

impl Up {
    /// Starts the daemon where there is none, waits until its sites can be used, and shows them.
    pub(crate) async fn run(self) -> Outcome {
        let stop = interrupt::token();
        let status = self.bring_up(&super::client(&self.data)?, &stop).await?;
        for warning in &status.warnings {
            out::warn(warning);
        }
        if self.json {
            out::json(&status);
        } else {
            println!("{}{}", table::of(&status, progress::columns()), ways_in(&status));
        }
        if status.is_up() {
            return Ok(());
        }
        let failed: Vec<&str> = status
            .sites
            .iter()
            .filter(|site| !site.is_up())
            .map(|site| site.name.as_str())
            .collect();
        Err(Failure::Negative(format!(
            "failed to start {} of {} sites: {}; `sandbox logs SITE` shows why, `sandbox reset SITE` tries again",
            failed.len(),
            status.sites.len(),
            failed.join(", ")
        )))
    }

    /// Starts what is not up, and waits for it.
    async fn bring_up(
        &self,
        client: &Client,
        stop: &CancellationToken,
    ) -> Result<DaemonStatus, Failure> {
        let mut child = None;
        let wanted = match client.status().await {
            Ok(status) => self.add_to(client, &status).await?,
            Err(daemon::Error::NotUp) => {
                let sites = super::load(self.plan.sites.path(), &self.plan.names)?;
                let sites = self.startable(sites, false).await?;
                child = Some(self.spawn(&sites)?);
                sites
            }
            Err(error) => return Err(error.into()),
        };
        let status = self.settled(client, child, &wanted, stop).await?;
        let is_there = |name: &String| status.sites.iter().any(|site| site.name == *name);
        if wanted.iter().all(is_there) {
            return Ok(status);
        }
        // Somebody else was faster, with other sites.
        let wanted = self.add_to(client, &status).await?;
        self.settled(client, None, &wanted, stop).await
    }

    /// Waits until the sites can be used or have been given up, unless it is interrupted.
    async fn settled(
        &self,
        client: &Client,
        mut child: Option<Child>,
        wanted: &[String],
        stop: &CancellationToken,
    ) -> Result<DaemonStatus, Failure> {
        let folder = super::folder(&self.data)?;
        if let Some(status) = wait(client, child.as_mut(), &folder, wanted, stop).await? {
            return Ok(status);
        }
        let said = if child.is_some() {
            daemon::end(&folder).await?;
            "interrupted; nothing is left running"
        } else {
            "interrupted; the sites keep starting: `sandbox status` shows them, `sandbox down` stops them"
        };
        Err(Failure::Interrupted(said.to_owned()))
    }

    /// Fails where other sites are up than those meant, or elsewhere.
    fn check_places(&self, status: &DaemonStatus) -> Outcome {
        if let (Some(there), Some(here)) = (&status.manifests, self.plan.sites.full_path()?)
            && *there != here
        {
            return Err(Failure::Environment(format!(
                "failed to start the sites of {here}: those of {there} are up; stop them with `sandbox down`, or \
                 keep others apart from them with --data DIR"
            )));
        }
        let addresses = [
            ("proxy", "--listen", self.plan.listening.listen, &status.proxy),
            ("server for full resets", "--reset-listen", self.plan.reset_listen, &status.reset),
        ];
        for (what, flag, requested, there) in addresses {
            if requested.is_some_and(|requested| !daemon::is_at(requested, there)) {
                let requested =
                    requested.map(|requested| requested.to_string()).unwrap_or_default();
                return Err(Failure::Environment(format!(
                    "failed to use {flag} {requested}: sites are up already, and their {what} is at {there}; stop them \
                     with `sandbox down`"
                )));
            }
        }
        if let Some(requested) = self.plan.instances
            && requested.get() != status.instances
        {
            return Err(Failure::Environment(format!(
                "failed to use --instances {requested}: sites are up already, with {} of each; stop them with \
                 `sandbox down`",
                status.instances
            )));
        }
        Ok(())
    }

    /// Adds what is wanted to the sites that are up; gives the names of all that are wanted.
    async fn add_to(&self, client: &Client, status: &DaemonStatus) -> Result<Vec<String>, Failure> {
        self.check_places(status)?;
        let up: Vec<&str> = status.sites.iter().map(|site| site.name.as_str()).collect();
        let names = &self.plan.names;
        if !names.is_empty() && names.iter().all(|name| up.contains(&name.as_str())) {
            return Ok(names.clone());
        }
        let folder = status.manifests.as_deref().unwrap_or(self.plan.sites.path());
        let mut sites = super::load(folder, names)?;
        sites.retain(|site| !up.contains(&site.name.as_str()));
        let added = self.startable(sites, true).await?;
        if !added.is_empty() {
            client.add(&added).await?;
        }
        Ok(match names.as_slice() {
            [] => up.into_iter().map(str::to_owned).chain(added).collect(),
            names => names.to_vec(),
        })
    }

    /// The names of the sites that this machine can run. Where sites were named and are to be
    /// `added` to others, all of them have to be among those; where none is up yet, there has to be
    /// one.
    async fn startable(&self, sites: Vec<Site>, added: bool) -> Result<Vec<String>, Failure> {
        let list = play::consent::of_sites(&sites, &self.plan.variables.given)?;
        self.trust.agree(&format!("the sites of {}", self.plan.sites.path()), &list, &self.data)?;
        let requested = RequestedSites { named: !self.plan.names.is_empty(), added };
        Ok(daemon::startable(sites, requested, &|what| out::warn(&what)).await?)
    }

    /// Starts the process that holds the daemon.
    fn spawn(&self, names: &[String]) -> Result<Child, Failure> {
        let folder = super::folder(&self.data)?;
        folder.make()?;
        // The daemon empties it once it knows that it is the only one.
        let log = OpenOptions::new().append(true).create(true).open(folder.log());
        let log = log.or_environment(format!("write {}", folder.log()))?;
        let again = log.try_clone().or_environment("share the log")?;
        let program = std::env::current_exe().or_environment("find this program")?;
        let mut command = Command::new(program);
        command.args(["serve-sites", "--color=never", "--sites", self.plan.sites.path().as_str()]);
        command.args(["--data", self.data.path()?.as_str()]);
        for (flag, address) in
            [("--listen", self.plan.listening.listen), ("--reset-listen", self.plan.reset_listen)]
        {
            if let Some(address) = address {
                command.args([flag, &address.to_string()]);
            }
        }
        if let Some(instances) = self.plan.instances {
            command.args(["--instances", &instances.to_string()]);
        }
        if self.plan.listening.no_key {
            command.arg("--no-key");
        }
        for variable in &self.plan.variables.given {
            // By its name alone: others can read a command line.
            command.args(["--site-env", &variable.name]).env(&variable.name, &variable.value);
        }
        // In a group of its own: an interrupt on the terminal is for this command.
        command.args(names).stdin(Stdio::null()).stdout(log).stderr(again).process_group(0);
        command.spawn().or_environment("start the background process")
    }
}

/// How a browser gets to the sites.
fn ways_in(status: &DaemonStatus) -> String {
    let Some(site) = status.sites.iter().find(|site| site.is_up()) else { return String::new() };
    let own = format!("\n\n`sandbox open {}` opens a browser on it.", site.name);
    let Some(certificate) = status.certificate.as_deref() else { return own };
    let Some(others) = gateway_options::ways_through(&status.proxy, certificate) else {
        return own;
    };
    format!("{own} Others reach the sites through the proxy:\n{others}")
}

/// Waits until the sites can be used or have been given up. None is an interrupt.
async fn wait(
    client: &Client,
    child: Option<&mut Child>,
    folder: &Folder,
    wanted: &[String],
    stop: &CancellationToken,
) -> Result<Option<DaemonStatus>, Failure> {
    let bars = Bars::new(wanted);
    match daemon::settle(client, child, stop, &mut |status| bars.show(status)).await {
        Err(daemon::Error::Ended { code }) => Err(last_words(&folder.log(), code)),
        settled => Ok(settled?),
    }
}

/// The failure of the background process, by the last error in its log and its exit code.
fn last_words(log: &Utf8Path, code: Option<i32>) -> Failure {
    let said = std::fs::read_to_string(log).unwrap_or_default();
    let why = said.lines().rev().find_map(|line| line.strip_prefix(out::ERROR));
    let why =
        why.map_or_else(|| format!("failed to start the sites; {log} says why"), str::to_owned);
    match code {
        Some(1) => Failure::Negative(why),
        Some(2) => Failure::Input(why),
        _ => Failure::Environment(why),
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
        let lines =
            names.iter().map(|name| (name.clone(), all.add(progress::spinner(name)))).collect();
        Bars { lines, _all: all }
    }

    fn show(&self, status: &DaemonStatus) {
        for site in &status.sites {
            let Some((_, bar)) = self.lines.iter().find(|(name, _)| *name == site.name) else {
                continue;
            };
            if site.is_up() {
                bar.finish_and_clear();
            } else if let Some(problem) = &site.problem {
                progress::say(bar, format!("{}: failed to {problem}", site.name));
            } else if let Some(condition) = site.waits_for() {
                progress::say(bar, format!("{}: waits for {condition}", site.name));
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
