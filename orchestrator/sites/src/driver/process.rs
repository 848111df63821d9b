//! Driver for commands on this machine. Each instance has a port, a state folder and a process
//! group, and a network of its own where the system allows that (`namespace`).
//!
//! The golden state is what the program itself creates in an empty folder until it is ready. It is
//! recorded at the first start. This driver isolates nothing but the network, and limits nothing
//! but the disk. Use containers for these.

use std::collections::BTreeMap;
use std::io::SeekFrom;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::process::{Child, Command};
use tokio::sync::mpsc::Sender;
use tokio::sync::{OnceCell, watch};
use tokio::time::interval;

use super::namespace::{Gate, Namespaces};
use super::{Driver, InstanceRuntime};
use crate::clock::{self, Clock};
use crate::content::{Content, blocking, remove_folder};
use crate::follow::whole_lines;
use crate::instance::Instance;
use crate::manifest::ProcessSpec;
use crate::owner::{self, Owner};
use crate::quota::Quota;
use crate::relay::{self, Relay};
use crate::state::{Access, Golden, Layout, Live};
use crate::{Error, Site, SiteTarget, ready};

const LOG: &str = "log";
/// How many bytes at the end of a log are read to get its last lines.
const LAST_PART: u64 = 1 << 20;
/// The poll interval of a followed log.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct Process {
    site: Arc<Site>,
    spec: ProcessSpec,
    /// The folder with one folder per instance.
    instances: Utf8PathBuf,
    golden: OnceCell<Arc<Golden>>,
    /// Nothing where commands listen on the machine's own loopback.
    namespaces: Option<Namespaces>,
}

impl Process {
    pub(crate) fn new(
        site: Arc<Site>,
        spec: ProcessSpec,
        instances: Utf8PathBuf,
        namespaces: Option<Namespaces>,
    ) -> Process {
        Process { site, spec, instances, golden: OnceCell::new(), namespaces }
    }

    async fn start(&self, id: u32) -> Result<Instance, Error> {
        let folder = self.instances.join(format!("{}-{id}", self.site.name));
        let state = folder.join("state");
        if self.site.state.sqlite.is_empty() && self.site.state.trees.is_empty() {
            return self.run(id, folder, state, None).await;
        }
        let golden = Arc::clone(self.golden.get_or_try_init(|| self.make_golden()).await?);
        self.run(id, folder, state, Some(golden)).await
    }

    /// Runs the program on an empty folder until it is ready, and kills it. The files look as after
    /// a crash, which is also how every replaced instance leaves them.
    async fn make_golden(&self) -> Result<Arc<Golden>, Error> {
        let layout = Layout::of(&self.site.state)?;
        let beside = |what: &str| self.instances.join(format!("{}-{what}", self.site.name));
        let seed = beside("golden");
        let first = self.run(0, beside("first"), seed.clone(), None).await?;
        let ready = ready::wait(&self.site, &first, |_| {}).await;
        let log = first.machine.log(20).await;
        first.machine.stop().await?;
        if let Err(condition) = ready {
            let (site, within) = (self.site.name.clone(), self.site.ready_within.0);
            remove_folder(&seed).await?;
            return Err(Error::NotReady { site, within, condition, log });
        }
        Ok(Arc::new(blocking(move || Ok(Golden::open(&seed, layout)?)).await?))
    }

    async fn run(
        &self,
        id: u32,
        folder: Utf8PathBuf,
        state: Utf8PathBuf,
        golden: Option<Arc<Golden>>,
    ) -> Result<Instance, Error> {
        let site = &self.site;
        let clock = folder.join("clock");
        let made = (golden.clone(), state.clone(), clock.clone());
        blocking(move || {
            std::fs::create_dir_all(&made.2).map_err(Error::of_file("create", &made.2))?;
            match made.0 {
                Some(golden) => Ok(golden.copy_to(&own(made.1))?),
                None => std::fs::create_dir_all(&made.1).map_err(Error::of_file("create", &made.1)),
            }
        })
        .await?;
        let clock = if site.clock.is_some() { Clock::File(clock) } else { Clock::Real };
        site.clock.map_or(Ok(()), |start| clock.set(start))?;

        let runs_in = folder.clone();
        let (env, port) = (self.spec.env.clone(), free_port()?);
        let runner =
            CommandRunner { site: Arc::clone(site), env, folder, state: state.clone(), port };
        let (gate, stdin) = match self.namespaces.is_some().then(Gate::new).transpose() {
            Ok(gate) => gate.unzip(),
            Err(error) => return Err(Error::of_file("run", &runner.folder)(error)),
        };
        let log = runner.folder.join(LOG);
        let file = std::fs::File::create(&log).map_err(Error::of_file("write", &log))?;
        let other = file.try_clone().map_err(Error::of_file("write", &log))?;
        let before = self.namespaces.as_ref().map(Namespaces::starts).unwrap_or_default();
        let mut command = runner.command(before, &self.spec.command)?;
        command.stdin(stdin.map_or_else(Stdio::null, Stdio::from));
        command.stdout(file).stderr(other).process_group(0).kill_on_drop(true);
        let program = self.spec.command.first().cloned().unwrap_or_default();
        let child = command.spawn().map_err(Error::of_file("run", program.as_str().into()))?;
        // Only the child has the other end now.
        drop(command);
        let mut group = Group::watch(child, runner, self.namespaces.clone())?;
        let (upstream, ports) = match self.reach(&mut group, gate).await {
            Ok(reached) => reached,
            Err(error) => {
                let _ = group.stop().await;
                return Err(error);
            }
        };
        let quota = Quota::new(runs_in, &self.spec.limits, golden.as_deref());
        let content = match golden {
            Some(golden) => Content::Folder { golden, live: own(state) },
            None => Content::Elsewhere,
        };
        let instance = Instance::new(id, upstream, clock, content, Box::new(group));
        Ok(instance.with_ports(ports).held_to(quota))
    }

    /// Returns the address of a started command. A command that is held back continues.
    async fn reach(
        &self,
        group: &mut Group,
        gate: Option<Gate>,
    ) -> Result<(SiteTarget, BTreeMap<u16, SiteTarget>), Error> {
        let port = group.runner.port;
        let own = SiteTarget::Address(([127, 0, 0, 1], port).into());
        let (Some(namespaces), Some(mut gate)) = (&self.namespaces, gate) else {
            return Ok((own, BTreeMap::new()));
        };
        if !gate.is_entered().await {
            // It has ended, and its log says why.
            return Ok((own, BTreeMap::new()));
        }
        let wanted = self.site.hosts.iter().filter_map(|host| host.port).chain([port]).collect();
        let (folder, first) = (&group.runner.folder, Owner::of(group.pid));
        let (mut ports, relays) = relay::start(&namespaces.helper, folder, &first, wanted).await?;
        group.relays = relays;
        Ok((ports.remove(&port).unwrap_or(own), ports))
    }
}

impl Driver for Process {
    fn start(&self, id: u32) -> BoxFuture<'_, Result<Instance, Error>> {
        self.start(id).boxed()
    }
}

/// The state of a program that runs as our own user.
fn own(folder: Utf8PathBuf) -> Live {
    Live { folder, access: Access::Own }
}

/// The last part of a log, which may be of any size.
async fn end_of(log: &Utf8Path) -> std::io::Result<Vec<u8>> {
    let mut file = tokio::fs::File::open(log).await?;
    let size = file.metadata().await?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(LAST_PART))).await?;
    let mut said = Vec::new();
    file.take(LAST_PART).read_to_end(&mut said).await?;
    Ok(said)
}

/// Returns a port that nobody listens on at the moment.
fn free_port() -> Result<u16, Error> {
    let listener =
        std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    listener
        .map(|address| address.port())
        .map_err(Error::of_file("find a free port on", "127.0.0.1".into()))
}

/// Runs commands of one instance.
struct CommandRunner {
    site: Arc<Site>,
    env: BTreeMap<String, String>,
    folder: Utf8PathBuf,
    state: Utf8PathBuf,
    port: u16,
}

impl CommandRunner {
    /// A command, as the arguments of these words `before` it.
    fn command(&self, before: Vec<String>, words: &[String]) -> Result<Command, Error> {
        let port = self.port.to_string();
        let fill =
            |word: &String| word.replace("{port}", &port).replace("{state}", self.state.as_str());
        if words.is_empty() {
            let why = "`command` is empty".to_owned();
            return Err(Error::Senseless { site: self.site.name.clone(), why });
        }
        let mut words = before.into_iter().chain(words.iter().map(fill));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).stdin(Stdio::null());
        command.env_clear().envs(processes::minimal());
        // What was agreed to is all that is in its folder: nothing is to come to that.
        command.env("PYTHONDONTWRITEBYTECODE", "1").envs(&self.env);
        command.current_dir(&self.site.folder);
        if self.site.clock.is_some() {
            command.env("SITE_CLOCK_FILE", self.folder.join("clock").join(clock::FILE));
        }
        Ok(command)
    }
}

/// A started program with all its child processes.
struct Group {
    pid: u32,
    runner: CommandRunner,
    ended: watch::Receiver<Option<String>>,
    namespaces: Option<Namespaces>,
    /// The relays to it, if it has a network of its own.
    relays: Vec<Relay>,
}

impl Group {
    fn watch(
        mut child: Child,
        runner: CommandRunner,
        namespaces: Option<Namespaces>,
    ) -> Result<Group, Error> {
        let pid = child.id().unwrap_or_default();
        // The sweep reads this note if we are killed.
        let note = runner.folder.join(owner::PROCESS);
        std::fs::write(&note, Owner::of(pid).to_string())
            .map_err(Error::of_file("write", &note))?;
        let (tell, ended) = watch::channel(None);
        tokio::spawn(async move {
            let why = match child.wait().await {
                Ok(status) => format!("ended with {status}"),
                Err(error) => format!("is lost: {error}"),
            };
            tell.send_replace(Some(why));
        });
        Ok(Group { pid, runner, ended, namespaces, relays: Vec::new() })
    }

    async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        let lost = future::select_all(
            self.relays
                .iter()
                .map(|relay| relay.ended().boxed())
                // `select_all` panics without a future.
                .chain([future::pending().boxed()]),
        );
        tokio::select! {
            biased;
            why = ended.wait_for(Option::is_some) => {
                why.ok().and_then(|why| why.clone()).unwrap_or_default()
            }
            _ = lost => "lost the process that leads to it".to_owned(),
        }
    }

    async fn exec(&self, words: &[String]) -> Result<String, Error> {
        let refused =
            |why: String| Error::Refused { doing: format!("run {}", words.join(" ")), why };
        let before = self.namespaces.as_ref().map(|namespaces| namespaces.enters(self.pid));
        let mut command = self.runner.command(before.unwrap_or_default(), words)?;
        let output = command.kill_on_drop(true).output().await;
        let output = output.map_err(|error| refused(error.to_string()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(refused(format!(
            "{}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        )))
    }

    async fn log(&self, lines: usize) -> Vec<String> {
        let said = end_of(&self.runner.folder.join(LOG)).await.unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let mut last: Vec<String> = said.lines().rev().take(lines).map(str::to_owned).collect();
        last.reverse();
        last
    }

    async fn follow(&self, lines: Option<usize>, tell: Sender<String>) {
        let Ok(mut file) = tokio::fs::File::open(self.runner.folder.join(LOG)).await else {
            return;
        };
        let (mut read, mut skip) = (Vec::new(), lines);
        let mut polls = interval(POLL_INTERVAL);
        loop {
            polls.tick().await;
            // By now the log contains everything that it printed before its end.
            let ended = self.ended.borrow().is_some();
            if file.read_to_end(&mut read).await.is_err() {
                return;
            }
            let fresh = whole_lines(&mut read);
            let known = skip.take().map_or(0, |last| fresh.len().saturating_sub(last));
            for line in fresh.into_iter().skip(known) {
                if tell.send(line).await.is_err() {
                    return;
                }
            }
            if ended {
                return;
            }
        }
    }

    async fn stop(&self) -> Result<(), Error> {
        owner::kill_group(self.pid);
        // A relay that has ended before is no end of the command.
        let _ = self.ended.clone().wait_for(Option::is_some).await;
        remove_folder(&self.runner.folder).await
    }
}

impl InstanceRuntime for Group {
    fn exec<'a>(
        &'a self,
        command: &'a [String],
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, Error>> {
        self.exec(command).boxed()
    }

    fn ended(&self) -> BoxFuture<'_, String> {
        self.ended().boxed()
    }

    fn is_exiting(&self) -> bool {
        owner::is_exiting(self.pid)
    }

    fn log(&self, lines: usize) -> BoxFuture<'_, Vec<String>> {
        self.log(lines).boxed()
    }

    fn follow(&self, lines: Option<usize>, tell: Sender<String>) -> BoxFuture<'_, ()> {
        self.follow(lines, tell).boxed()
    }

    fn memory(&self) -> BoxFuture<'_, Option<u64>> {
        future::ready(owner::memory_of(self.pid)).boxed()
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.stop().boxed()
    }
}
