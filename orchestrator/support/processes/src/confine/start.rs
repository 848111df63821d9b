//! Starting programs by a keeper.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;
use tokio::time::timeout;

use super::keeper::{PLAN, PLAN_DESCRIPTOR, PLAN_HANDED};
use super::{Confinement, Host, KEEPER, Level, Network, Plan, doors};
use crate::group::{Group, kill_rest_of};

/// How long a keeper may take to end all that its program has started.
const ENDS_WITHIN: Duration = Duration::from_secs(15);
/// How long a keeper may take to end that was killed.
const KILLED_WITHIN: Duration = Duration::from_secs(5);
/// How long it may take to find out how far programs can be confined.
const TRIED_WITHIN: Duration = Duration::from_secs(60);

/// What starts programs, and how far it confines them here.
#[derive(Debug, Clone)]
pub struct Helper {
    program: Option<PathBuf>,
    confinement: Confinement,
    why: Option<String>,
}

/// A program that is to be started by a plan. By default it is started as it is.
#[derive(Debug, Clone, Default)]
pub struct Confined {
    helper: Option<PathBuf>,
    plan: Plan,
}

impl Helper {
    /// Finds out how far the system lets programs be confined. `program` is one that has the
    /// commands [`KEEPER`] and [`super::ROOM`].
    pub async fn find(program: Option<&Path>, wanted: Level) -> Helper {
        let had =
            |confinement| Helper { program: program.map(Path::to_owned), confinement, why: None };
        let wanted = match wanted {
            Level::Off => return had(Confinement::Off),
            Level::On => Confinement::Hidden,
            Level::Strict => Confinement::Strict,
        };
        let mut why = None;
        for level in [wanted, Confinement::Hidden] {
            let network = (level == Confinement::Strict).then(Network::default);
            let plan = Plan { network, ..Plan::default() };
            match try_out(had(level).plan(plan)).await {
                Ok(()) => return Helper { why, ..had(level) },
                Err(error) => why = why.or(Some(error)),
            }
        }
        Helper { why, ..had(Confinement::Unavailable) }
    }

    /// What confines nothing, where there is no program to do so.
    pub fn none() -> Helper {
        Helper {
            program: None,
            confinement: Confinement::Unavailable,
            why: Some("there is no helper".to_owned()),
        }
    }

    /// How far it confines programs.
    pub fn confinement(&self) -> Confinement {
        self.confinement
    }

    /// Why that is less than was asked for.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// A program that sees what this plan lets it, as far as the system can hold it.
    pub fn plan(&self, mut plan: Plan) -> Confined {
        if self.confinement.hides() {
            plan.hidden.extend(doors::of_user());
        }
        Confined {
            helper: self.program.clone(),
            plan: Plan { level: Some(self.confinement), ..plan },
        }
    }
}

async fn try_out(confined: Confined) -> Result<(), String> {
    let mut command = confined.command(OsStr::new("true"));
    command.env_clear().envs(crate::minimal()).stdin(Stdio::null()).stdout(Stdio::null());
    confined.add_plan(&mut command);
    let mut command = tokio::process::Command::from(command);
    let output = timeout(TRIED_WITHIN, command.kill_on_drop(true).output()).await;
    let output = output.map_err(|_| format!("it has not ended after {TRIED_WITHIN:?}"))?;
    let output = output.map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

impl Confined {
    /// A command that starts this program; its arguments are to follow. Whoever sets its
    /// environment adds the plan afterwards.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        match &self.helper {
            Some(helper) => {
                let mut command = Command::new(helper);
                command.arg(KEEPER).arg(program);
                command
            }
            None => Command::new(program),
        }
    }

    /// Adds what it is to reach of the network, where it does not reach all of it.
    pub fn reach(&mut self, host: Option<Host>) {
        if let Some(network) = &mut self.plan.network {
            network.hosts.extend(host);
        }
    }

    /// Tells the keeper its plan, by a descriptor that the program does not have: a variable would
    /// be too small for one that names many files.
    pub fn add_plan(&self, command: &mut Command) {
        if self.helper.is_none() {
            return;
        }
        // Paths that are no text cannot be hidden; the keeper refuses to start without a plan.
        let plan = serde_json::to_string(&self.plan).unwrap_or_default();
        let handed = in_memory(&plan).and_then(|file| {
            let mapping = FdMapping { parent_fd: file.into(), child_fd: PLAN_DESCRIPTOR };
            command.fd_mappings(vec![mapping]).map(drop).map_err(io::Error::other)
        });
        match handed {
            Ok(()) => command.env(PLAN, PLAN_HANDED),
            Err(error) => {
                tracing::debug!(%error, "a plan is handed on as a variable");
                command.env(PLAN, plan)
            }
        };
    }

    /// The tree of the program that was started as this child, as the leader of a process group.
    pub fn tree(&self, child: &Child) -> Tree {
        match self.helper {
            Some(_) => Tree(Group::of_keeper(child.id())),
            None => Tree(Group::of(child.id())),
        }
    }
}

/// A file that is nowhere but in memory, to be read from its beginning.
fn in_memory(text: &str) -> io::Result<File> {
    let mut file = File::from(memfd_create("plan", MemfdFlags::CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// A program with all that it starts. Dropping it ends them.
#[derive(Debug)]
pub struct Tree(Group);

impl Tree {
    /// Ends it, and waits until nothing of it is left.
    pub async fn end(&mut self, child: &mut Child) {
        self.end_within(child, ENDS_WITHIN).await;
    }

    /// Asks it to end, and kills it where it has not within this time: a keeper that is stopped
    /// hears nothing. The namespaces of a keeper that is killed end with it.
    async fn end_within(&mut self, child: &mut Child, within: Duration) {
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let Some(leader) = leader else { return self.0.kill_rest() };
        self.0.kill();
        if timeout(within, child.wait()).await.is_ok() {
            // A keeper that was asked before it listened leaves its program in its group.
            return kill_rest_of(leader);
        }
        tracing::warn!(
            ?within,
            "a program did not end with all that it has started, and is killed"
        );
        // Not reaped, so that its id is its own. Where there are no namespaces, the program is in
        // this group.
        let _ = kill_process_group(leader, Signal::KILL);
        if timeout(KILLED_WITHIN, child.wait()).await.is_err() {
            tracing::warn!(within = ?KILLED_WITHIN, "a program that was killed did not end");
        }
    }

    /// Begins to end it.
    pub fn kill(&mut self) {
        self.0.kill();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::{WaitId, WaitIdOptions, kill_process, waitid};

    use super::*;

    fn started(group: fn(Option<u32>) -> Group) -> (Child, Tree) {
        let mut command = tokio::process::Command::new("sleep");
        let child = command.arg("600").process_group(0).spawn().unwrap();
        let tree = Tree(group(child.id()));
        (child, tree)
    }

    #[tokio::test]
    async fn a_keeper_that_is_stopped_is_killed() {
        let (mut child, mut tree) = started(Group::of_keeper);
        let id = Pid::from_raw(child.id().unwrap().cast_signed()).unwrap();
        kill_process(id, Signal::STOP).unwrap();
        waitid(WaitId::Pid(id), WaitIdOptions::STOPPED).unwrap();
        tree.end_within(&mut child, Duration::from_millis(50)).await;
        assert_eq!(child.try_wait().unwrap().and_then(|status| status.signal()), Some(9));
    }

    #[tokio::test]
    async fn what_was_reaped_is_not_ended_again() {
        for group in [Group::of, Group::of_keeper] {
            let (mut child, mut tree) = started(group);
            child.kill().await.unwrap();
            tree.end(&mut child).await;
        }
    }
}
