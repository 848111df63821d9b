//! One created container: its operations while it runs, and how it ends. An instance of a site has
//! one or several containers; [`super::containers`] groups them.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bollard::Docker;
use bollard::container::LogOutput;
use bollard::errors::Error as Api;
use bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use bollard::models::{ContainerInspectResponse, ContainerState};
use bollard::query_parameters::{
    InspectContainerOptions, LogsOptionsBuilder, RemoveContainerOptionsBuilder,
    StatsOptionsBuilder, WaitContainerOptionsBuilder,
};
use futures_util::StreamExt;
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::members::Members;
use crate::Error;
use crate::addresses::AddressLease;
use crate::content::blocking;
use crate::engine::Monitor;
use crate::follow::whole_lines;
use crate::owner::{self, Owner};

/// The message for a killed container when the engine does not know the reason yet.
const KILLED: &str = "was killed";
/// How often the engine is queried again for the reason. A busy one takes a second.
const REASONS: u32 = 8;
/// The message for a container that the engine does not know any more.
const REMOVED: &str = "was removed by somebody else";

/// The timeout of a command of the manifest.
const COMMAND: Duration = Duration::from_secs(300);

/// The maximum output of a command in bytes; all of it is held in memory.
const MOST_SAID: usize = 64 << 20;

/// The interval between retries of a failed removal, and between queries for the reason of an end.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);
const REMOVED_WITHIN: Duration = Duration::from_secs(20);

/// The timeout for streams of the engine: a container may run for weeks.
const UNHURRIED: Duration = Duration::from_secs(365 * 24 * 3600);

pub(crate) struct Container {
    monitor: Arc<Monitor>,
    id: String,
    /// Its network, and the lease of its address there.
    network: Option<(String, AddressLease)>,
    /// Its start time, as the engine reports it.
    started: OnceLock<String>,
    /// The id of its first process, if there is such a process on this machine.
    pid: OnceLock<u32>,
}

impl Container {
    /// Wraps a container that was created, with its address in a network if it has one.
    pub(crate) fn new(
        monitor: &Arc<Monitor>,
        id: String,
        network: Option<(String, AddressLease)>,
    ) -> Container {
        let (started, pid) = (OnceLock::new(), OnceLock::new());
        Container { monitor: Arc::clone(monitor), id, network, started, pid }
    }

    /// Its id in the engine.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Its address. The host reaches it directly, without a published port. Without a network, it
    /// is known by the address at which it reaches itself.
    pub(crate) fn address(&self) -> IpAddr {
        match &self.network {
            Some((_, address)) => address.subnet.at(0).into(),
            None => Ipv4Addr::LOCALHOST.into(),
        }
    }

    /// Its first process, which is known to be no other one that has got its id since.
    pub(crate) async fn first_process(&self, image: &str) -> Result<Owner, Error> {
        let refused =
            |why: String| Error::Refused { doing: format!("start a container of {image}"), why };
        let first = self.pid.get().map(|pid| Owner::of(*pid));
        // Only a process that had this id before and after is the container's for sure.
        let still = self.process().await;
        match (self.fault().await, first) {
            (Some(why), _) => Err(refused(format!("it {why}"))),
            (None, Some(first)) if still == Some(first.pid()) => Ok(first),
            (None, _) => {
                Err(refused("the engine names no first process of it on this machine".to_owned()))
            }
        }
    }

    /// Starts it.
    pub(crate) async fn start(&self, image: &str) -> Result<(), Error> {
        let begun = self.begin(image).await;
        // An engine that looks at a process which is ending fails in its own ways (Podman: "read
        // /proc/7/cgroup: no such process"). How the container ended says more.
        if let Err(Error::Refused { doing, .. }) = &begun
            && let Some(how) = self.how_it_ended().await
        {
            return Err(Error::Refused { doing: doing.clone(), why: format!("it {how}") });
        }
        begun
    }

    async fn begin(&self, image: &str) -> Result<(), Error> {
        let doing = || format!("start a container of {image}");
        self.monitor.attend(doing(), self.docker().start_container(&self.id, None)).await?;
        let inspected = self.inspect().await?.map_err(Error::of_engine(doing()))?;
        let started = inspected.state.as_ref().and_then(|state| state.started_at.clone());
        let _ = self.started.set(started.unwrap_or_default());
        if let Some(pid) = pid_of(&inspected).filter(|pid| !owner::is_exiting(*pid)) {
            let _ = self.pid.set(pid);
        }
        match self.judge(&inspected) {
            None => Ok(()),
            Some(why) => Err(Error::Refused { doing: doing(), why: format!("it {why}") }),
        }
    }

    /// How a container that ran has ended, as in "it ..."; `None` if it never ran, or still runs
    /// after a while.
    async fn how_it_ended(&self) -> Option<String> {
        let mut retries = interval(RETRY_INTERVAL);
        for _ in 0..REASONS {
            retries.tick().await;
            if let Ok(Ok(ContainerInspectResponse { state: Some(state), .. })) =
                self.inspect().await
            {
                if has_no_time(state.started_at.as_deref()) {
                    return None;
                }
                if state.running != Some(true) {
                    return self.fault().await;
                }
            }
        }
        None
    }

    fn docker(&self) -> &Docker {
        self.monitor.docker()
    }

    async fn inspect(&self) -> Result<Result<ContainerInspectResponse, Api>, Error> {
        let inspected = self.docker().inspect_container(&self.id, None::<InspectContainerOptions>);
        match self.monitor.attend_raw(inspected).await? {
            // One that Podman has not cleaned up yet.
            Err(Api::JsonDataError { .. } | Api::JsonSerdeError { .. }) => {
                let state = Some(self.monitor.stopped_container(&self.id).await?);
                Ok(Ok(ContainerInspectResponse { state, ..Default::default() }))
            }
            inspected => Ok(inspected),
        }
    }

    /// Returns what is wrong with the container, as in "it ...". A container that was restarted is
    /// no longer valid, because it has lost its memory. A paused or moved container cannot be
    /// reached.
    fn judge(&self, inspected: &ContainerInspectResponse) -> Option<String> {
        let state = inspected.state.clone().unwrap_or_default();
        if state.running != Some(true) {
            return Some(obituary(&state));
        }
        if state.paused == Some(true) {
            return Some("was paused by somebody else".to_owned());
        }
        if self.started.get().is_some_and(|started| state.started_at.as_ref() != Some(started)) {
            return Some("was restarted by somebody else".to_owned());
        }
        let (network, _) = self.network.as_ref()?;
        let networks = inspected.network_settings.as_ref()?.networks.as_ref();
        let found = networks.and_then(|networks| networks.get(network)?.ip_address.clone());
        let here = found.and_then(|found| found.parse::<IpAddr>().ok()) == Some(self.address());
        (!here).then(|| "was taken off its network by somebody else".to_owned())
    }

    /// The process id of its first process on this machine, if the engine reports it.
    pub(crate) async fn process(&self) -> Option<u32> {
        pid_of(&self.inspect().await.ok()?.ok()?)
    }

    /// Whether its first process is ending, if it is on this machine.
    pub(crate) fn is_exiting(&self) -> bool {
        self.pid.get().is_some_and(|pid| owner::is_exiting(*pid))
    }

    /// Returns what is wrong with it now; `None` if nothing is wrong or the engine does not report
    /// it.
    pub(crate) async fn fault(&self) -> Option<String> {
        let mut retries = interval(RETRY_INTERVAL);
        retries.tick().await;
        for _ in 0..REASONS {
            match self.query_fault().await {
                // The engine reports the end before it reports that the memory limit was the
                // reason.
                Some(why) if why == KILLED => drop(retries.tick().await),
                fault => return fault,
            }
        }
        self.query_fault().await
    }

    async fn query_fault(&self) -> Option<String> {
        match self.inspect().await {
            Ok(Ok(inspected)) => self.judge(&inspected),
            Ok(Err(Api::DockerResponseServerError { status_code: 404, .. })) => {
                Some(REMOVED.to_owned())
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "the engine does not tell of a container");
                None
            }
            Err(_) => None,
        }
    }

    pub(crate) async fn exec(
        &self,
        command: &[String],
        user: Option<&str>,
    ) -> Result<String, Error> {
        let doing = || format!("run {} in a container", command.join(" "));
        let options = CreateExecOptions {
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            cmd: Some(command.to_vec()),
            user: user.map(str::to_owned),
            ..Default::default()
        };
        let run = async {
            let created = self
                .docker()
                .create_exec(&self.id, options)
                .await
                .map_err(Error::of_engine(doing()))?;
            let started = self.docker().start_exec(&created.id, None::<StartExecOptions>).await;
            let (mut said, mut complaints) = (Vec::new(), Vec::new());
            if let StartExecResults::Attached { mut output, .. } =
                started.map_err(Error::of_engine(doing()))?
            {
                while let Some(piece) = output.next().await {
                    match piece.map_err(Error::of_engine(doing()))? {
                        LogOutput::StdErr { message } => complaints.extend_from_slice(&message),
                        other => said.extend_from_slice(&other.into_bytes()),
                    }
                    // A command that never stops printing would fill the memory.
                    if said.len() + complaints.len() > MOST_SAID {
                        let why = format!("it prints more than {} MiB", MOST_SAID >> 20);
                        return Err(Error::Refused { doing: doing(), why });
                    }
                }
            }
            let ended =
                self.docker().inspect_exec(&created.id).await.map_err(Error::of_engine(doing()))?;
            match ended.exit_code {
                Some(0) => Ok(String::from_utf8_lossy(&said).into_owned()),
                code => {
                    let complaint = String::from_utf8_lossy(&complaints);
                    let code =
                        code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
                    Err(Error::Refused {
                        doing: doing(),
                        why: format!("{code}: {}", complaint.trim()),
                    })
                }
            }
        };
        // Where the engine dies, its stream may never end.
        tokio::select! {
            ran = tokio::time::timeout(COMMAND, run) => {
                ran.unwrap_or_else(|_| Err(Error::Deadline { within: COMMAND, condition: doing() }))
            }
            gone = self.monitor.is_gone_for(Duration::ZERO) => Err(gone),
        }
    }

    pub(crate) async fn ended(&self) -> String {
        let unhurried = self.docker().clone().with_timeout(UNHURRIED);
        let mut events = self.monitor.listen();
        let mut retries = interval(RETRY_INTERVAL);
        retries.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // The wait ends with the container, or when the engine stops. The state is queried
            // afterwards.
            let options = WaitContainerOptionsBuilder::default().condition("not-running").build();
            tokio::select! {
                _ = StreamExt::into_future(Box::pin(unhurried.wait_container(&self.id, Some(options)))) => {}
                () = self.exited() => {}
                () = events.hears_of(&self.id) => {}
            }
            self.monitor.answers().await;
            if let Some(why) = self.fault().await {
                return why;
            }
            retries.tick().await;
        }
    }

    /// Waits until its first process has ended, where that is known to be on this machine. Podman
    /// tells of the end only once it has cleaned up, and that may fail.
    async fn exited(&self) {
        let Some(pid) = self.pid.get().filter(|_| self.network.is_none()) else {
            return std::future::pending().await;
        };
        let mut polls = interval(RETRY_INTERVAL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !owner::is_exiting(*pid) {
            polls.tick().await;
        }
    }

    pub(crate) async fn log(&self, lines: usize) -> Vec<String> {
        let options = LogsOptionsBuilder::default()
            .stdout(true)
            .stderr(true)
            .tail(&lines.to_string())
            .build();
        let mut pieces = Box::pin(self.docker().logs(&self.id, Some(options)));
        let mut said = String::new();
        let read = async {
            while let Some(Ok(piece)) = pieces.next().await {
                said.push_str(&piece.to_string());
            }
        };
        tokio::select! {
            () = read => {}
            // An engine that hangs would not end the log, either.
            _ = self.monitor.is_gone_for(Duration::ZERO) => {}
        }
        said.lines().map(str::to_owned).collect()
    }

    /// Like [`super::InstanceRuntime::follow`], with a prefix before each line.
    pub(crate) async fn follow(&self, lines: Option<usize>, before: &str, tell: &Sender<String>) {
        let tail = lines.map_or("all".to_owned(), |lines| lines.to_string());
        let options = LogsOptionsBuilder::default()
            .stdout(true)
            .stderr(true)
            .tail(&tail)
            .follow(true)
            .build();
        // An application that is silent for long is no reason to end the stream.
        let unhurried = self.docker().clone().with_timeout(UNHURRIED);
        let mut pieces = Box::pin(unhurried.logs(&self.id, Some(options)));
        let mut read = Vec::new();
        while let Some(Ok(piece)) = pieces.next().await {
            read.extend_from_slice(&piece.into_bytes());
            for line in whole_lines(&mut read) {
                if tell.send(format!("{before}{line}")).await.is_err() {
                    return;
                }
            }
        }
    }

    pub(crate) async fn memory(&self) -> Option<u64> {
        if let Some(pid) = self.pid.get().copied()
            && let Ok(Some(bytes)) =
                blocking(move || Ok(Members::of(pid).and_then(|all| all.memory()))).await
        {
            return Some(bytes);
        }
        let options = StatsOptionsBuilder::default().stream(false).one_shot(true).build();
        let mut stream = Box::pin(self.docker().stats(&self.id, Some(options)));
        let stats = tokio::select! {
            stats = stream.next() => stats?.ok()?.memory_stats?,
            _ = self.monitor.is_gone_for(Duration::ZERO) => return None,
        };
        // Page cache that can be reclaimed at any time does not count. cgroup v1 and v2 use
        // different names for it.
        let pages = stats.stats.unwrap_or_default();
        let cache =
            ["total_inactive_file", "inactive_file"].iter().find_map(|name| pages.get(*name));
        Some(stats.usage?.saturating_sub(cache.copied().unwrap_or(0)))
    }

    pub(crate) async fn stop(&self) -> Result<(), Error> {
        remove(&self.monitor, &self.id, REMOVED_WITHIN).await
    }
}

/// Removes a container by its id. Retries what the engine cannot do at once.
pub(crate) async fn remove(monitor: &Monitor, id: &str, within: Duration) -> Result<(), Error> {
    let began = Instant::now();
    let mut retries = interval(RETRY_INTERVAL);
    loop {
        retries.tick().await;
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        match monitor.attend_raw(monitor.docker().remove_container(id, Some(options))).await? {
            Ok(()) | Err(Api::DockerResponseServerError { status_code: 404, .. }) => return Ok(()),
            // 409: the container is already being removed.
            Err(error) if began.elapsed() < within => {
                tracing::debug!(%error, id, "a container cannot be removed yet");
            }
            Err(error) => return Err(Error::of_engine("remove a container")(error)),
        }
    }
}

/// The id of the first process of a running container, in the engine's view.
fn pid_of(inspected: &ContainerInspectResponse) -> Option<u32> {
    let pid = inspected.state.as_ref()?.pid?;
    u32::try_from(pid).ok().filter(|pid| *pid > 1)
}

/// Whether a time of the engine stands for no time: engines are written in Go, whose zero is this.
fn has_no_time(time: Option<&str>) -> bool {
    time.is_none_or(|time| time.is_empty() || time.starts_with("0001-01-01"))
}

/// Describes how a container ended, as in "it ...".
fn obituary(state: &ContainerState) -> String {
    if state.oom_killed == Some(true) {
        return "was killed: it used more memory than its `limits.memory`".to_owned();
    }
    let complaint = state.error.as_deref().filter(|error| !error.is_empty());
    match (state.exit_code.unwrap_or_default(), complaint) {
        (137, None) => KILLED.to_owned(),
        (code, None) => format!("ended with exit code {code}"),
        (code, Some(why)) => format!("ended with exit code {code}: {why}"),
    }
}
