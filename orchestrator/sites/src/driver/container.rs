//! One container that was created: what is asked of it while it lives, and how it ends. A copy of a site has one or
//! several, which [`super::containers`] keeps together.

use std::net::IpAddr;
use std::time::Duration;

use bollard::Docker;
use bollard::container::LogOutput;
use bollard::errors::Error as Api;
use bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use bollard::models::ContainerState;
use bollard::query_parameters::{
    InspectContainerOptions, LogsOptionsBuilder, RemoveContainerOptionsBuilder, StatsOptionsBuilder,
    WaitContainerOptionsBuilder,
};
use futures_util::StreamExt;
use images::Engine;
use tokio::sync::mpsc::Sender;
use tokio::time::{MissedTickBehavior, interval};

use crate::Error;
use crate::follow::whole_lines;

/// How long a command of the manifest may take.
const COMMAND: Duration = Duration::from_secs(300);

/// How often an engine that is gone is looked for.
const LOOK: Duration = Duration::from_millis(250);

/// A container may live for weeks.
const UNHURRIED: Duration = Duration::from_secs(365 * 24 * 3600);

pub(crate) struct Container {
    docker: Docker,
    id: String,
}

impl Container {
    pub(crate) fn new(engine: &Engine, id: String) -> Container {
        Container { docker: engine.docker().clone(), id }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Its address within a network, which the host reaches without a port being published.
    pub(crate) async fn address(&self, network: &str) -> Result<IpAddr, Error> {
        let doing = "find the address of a container";
        let inspected = self.docker.inspect_container(&self.id, None::<InspectContainerOptions>).await;
        let inspected = inspected.map_err(Error::of_engine(doing))?;
        let networks = inspected.network_settings.and_then(|settings| settings.networks).unwrap_or_default();
        let address =
            networks.get(network).and_then(|endpoint| endpoint.ip_address.clone()).unwrap_or_default();
        address.parse().map_err(|_| {
            let state = inspected.state.unwrap_or_default();
            Error::Refused { doing: doing.to_owned(), why: format!("it {}", obituary(&state)) }
        })
    }

    pub(crate) async fn exec(&self, command: &[String], user: Option<&str>) -> Result<String, Error> {
        let doing = || format!("run {} in a container", command.join(" "));
        let options = CreateExecOptions {
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            cmd: Some(command.to_vec()),
            user: user.map(str::to_owned),
            ..Default::default()
        };
        let run = async {
            let created =
                self.docker.create_exec(&self.id, options).await.map_err(Error::of_engine(doing()))?;
            let started = self.docker.start_exec(&created.id, None::<StartExecOptions>).await;
            let (mut said, mut complaints) = (Vec::new(), Vec::new());
            if let StartExecResults::Attached { mut output, .. } =
                started.map_err(Error::of_engine(doing()))?
            {
                while let Some(piece) = output.next().await {
                    match piece.map_err(Error::of_engine(doing()))? {
                        LogOutput::StdErr { message } => complaints.extend_from_slice(&message),
                        other => said.extend_from_slice(&other.into_bytes()),
                    }
                }
            }
            let ended = self.docker.inspect_exec(&created.id).await.map_err(Error::of_engine(doing()))?;
            match ended.exit_code {
                Some(0) => Ok(String::from_utf8_lossy(&said).into_owned()),
                code => {
                    let complaint = String::from_utf8_lossy(&complaints);
                    let code = code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
                    Err(Error::Refused { doing: doing(), why: format!("{code}: {}", complaint.trim()) })
                }
            }
        };
        tokio::time::timeout(COMMAND, run)
            .await
            .unwrap_or_else(|_| Err(Error::Deadline { within: COMMAND, condition: doing() }))
    }

    pub(crate) async fn ended(&self) -> String {
        let unhurried = self.docker.clone().with_timeout(UNHURRIED);
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // The wait ends with the container, or when the engine does; what is left is asked for afterwards.
            let options = WaitContainerOptionsBuilder::default().condition("not-running").build();
            let _ = Box::pin(unhurried.wait_container(&self.id, Some(options))).next().await;
            match self.docker.inspect_container(&self.id, None::<InspectContainerOptions>).await {
                Ok(inspected) => {
                    let state = inspected.state.unwrap_or_default();
                    if state.running != Some(true) {
                        return obituary(&state);
                    }
                }
                Err(Api::DockerResponseServerError { status_code: 404, .. }) => {
                    return "was removed by somebody else".to_owned();
                }
                Err(error) => tracing::debug!(%error, "waiting for the engine to answer again"),
            }
            look.tick().await;
        }
    }

    pub(crate) async fn log(&self, lines: usize) -> Vec<String> {
        let options =
            LogsOptionsBuilder::default().stdout(true).stderr(true).tail(&lines.to_string()).build();
        let mut pieces = Box::pin(self.docker.logs(&self.id, Some(options)));
        let mut said = String::new();
        while let Some(Ok(piece)) = pieces.next().await {
            said.push_str(&piece.to_string());
        }
        said.lines().map(str::to_owned).collect()
    }

    /// As [`super::Machine::follow`], with something before each line.
    pub(crate) async fn follow(&self, lines: Option<usize>, before: &str, tell: &Sender<String>) {
        let tail = lines.map_or("all".to_owned(), |lines| lines.to_string());
        let options =
            LogsOptionsBuilder::default().stdout(true).stderr(true).tail(&tail).follow(true).build();
        let unhurried = self.docker.clone().with_timeout(UNHURRIED);
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
        let options = StatsOptionsBuilder::default().stream(false).one_shot(true).build();
        let stats = Box::pin(self.docker.stats(&self.id, Some(options))).next().await?.ok()?.memory_stats?;
        // Pages of files that can be dropped at any time do not count; the two kinds of control groups name them differently.
        let pages = stats.stats.unwrap_or_default();
        let cache = ["total_inactive_file", "inactive_file"].iter().find_map(|name| pages.get(*name));
        Some(stats.usage?.saturating_sub(cache.copied().unwrap_or(0)))
    }

    pub(crate) async fn stop(&self) -> Result<(), Error> {
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        match self.docker.remove_container(&self.id, Some(options)).await {
            // Gone, or being removed by somebody else.
            Ok(()) | Err(Api::DockerResponseServerError { status_code: 404 | 409, .. }) => Ok(()),
            Err(error) => Err(Error::of_engine("remove a container")(error)),
        }
    }
}

/// How a container ended, as in "it ...".
fn obituary(state: &ContainerState) -> String {
    if state.oom_killed == Some(true) {
        return "was killed: it used more memory than its `limits.memory`".to_owned();
    }
    let complaint = state.error.as_deref().filter(|error| !error.is_empty());
    match (state.exit_code.unwrap_or_default(), complaint) {
        (137, None) => "was killed".to_owned(),
        (code, None) => format!("ended with exit code {code}"),
        (code, Some(why)) => format!("ended with exit code {code}: {why}"),
    }
}
