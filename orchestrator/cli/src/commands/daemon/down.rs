//! `sandbox down`: stops the daemon, and removes what dead ones have left.

use std::time::{Duration, Instant};

use container_images::Engine;
use results::counted;
use sites::{Leftover, SweepScope};

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;

/// How long a daemon may take to end.
const WITHIN: Duration = Duration::from_secs(120);
const ASK: Duration = Duration::from_millis(50);

/// Stop the sites of `sandbox up`, and remove their containers, networks, processes and folders
#[derive(clap::Args)]
pub(crate) struct Down {
    /// Also stop all other sites and runs on this machine that have containers, and remove what
    /// they leave
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    data: DataFolder,
}

impl Down {
    /// Ends it; nothing being up is no error.
    pub(crate) async fn run(self) -> Outcome {
        let ended = end(&self.data).await?;
        println!("{}", if ended.is_some() { "the sites are down" } else { "no sites were up" });
        let folder = super::folder(&self.data)?;
        folder.sweep().await?;
        let engine = match Engine::connect().await {
            Ok(engine) => engine,
            Err(error) if folder.has_containers() => {
                return Err(Failure::Environment(format!(
                    "failed to remove the containers and networks of the sites: {}; once the engine answers, \
                     remove them with `sandbox down`",
                    error_text::with_causes(&error)
                )));
            }
            // Without an engine there is nothing of it.
            Err(_) => return Ok(()),
        };
        let whose = if self.all { SweepScope::All } else { SweepScope::Orphans };
        let swept = match sites::sweep(&engine, whose).await {
            // What others have left does not make this daemon any less down.
            Err(error) if !self.all && !folder.has_containers() => {
                tracing::warn!(%error, "what dead daemons have left could not be removed");
                return Ok(());
            }
            swept => swept.or_environment("remove the containers that were left")?,
        };
        if swept.containers + swept.networks > 0 {
            println!(
                "removed {} and {}",
                counted(swept.containers, "container"),
                counted(swept.networks, "network")
            );
        }
        let ours = |left: &&Leftover| self.all || left.pid.is_some() && left.pid == ended;
        let (ours, others): (Vec<&Leftover>, Vec<&Leftover>) = swept.left.iter().partition(ours);
        others.iter().for_each(|left| tracing::warn!("{left}"));
        if ours.is_empty() {
            return Ok(folder.forget_containers()?);
        }
        let left: Vec<String> = ours.iter().map(|left| by_hand(left)).collect();
        Err(Failure::Environment(format!("failed to remove everything: {}", left.join("; "))))
    }
}

/// What is left, and the command that removes it.
fn by_hand(left: &Leftover) -> String {
    let force = if left.kind == "container" { " --force" } else { "" };
    format!("{left}; `docker {} rm{force} {}` removes it", left.kind, left.name)
}

/// Ends a daemon and waits until nothing is left of it, its process included; which one that was,
/// if there was one and it said so.
pub(super) async fn end(data: &DataFolder) -> Result<Option<u32>, Failure> {
    let folder = super::folder(data)?;
    let client = super::client(data)?;
    let mut ended = None;
    let began = Instant::now();
    let mut ask = tokio::time::interval(ASK);
    while folder.is_held()? || ended.is_some_and(is_alive) {
        if ended.is_none_or(|pid| pid == 0) {
            ended = Some(client.status().await.map_or(0, |status| status.pid));
        }
        match client.stop().await {
            // It has heard, cannot hear yet, or hears no more.
            Ok(()) | Err(daemon::Error::NotUp | daemon::Error::Talk(_)) => {}
            Err(error) => return Err(error.into()),
        }
        if began.elapsed() > WITHIN {
            return Err(Failure::Environment(format!(
                "failed to stop the sites within {WITHIN:?}; run `sandbox down` again"
            )));
        }
        ask.tick().await;
    }
    Ok(ended)
}

/// Whether a process still runs: what it has is removed only when it does not. One that has ended
/// and whose parent has not asked for it yet runs no more.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    pid != 0 && stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
