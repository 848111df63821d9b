//! `sandbox down`: stops the daemon, and removes what dead ones have left.

use results::counted;
use sites::{Leftover, SweepScope};

use crate::failure::{Failure, Outcome};
use crate::options::DataFolder;

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
        let folder = super::folder(&self.data)?;
        let ended = daemon::end(&folder).await?;
        println!("{}", if ended.is_some() { "the sites are down" } else { "no sites were up" });
        folder.sweep().await?;
        let whose = if self.all { SweepScope::All } else { SweepScope::Orphans };
        let Some(swept) = folder.sweep_engine(whose).await? else { return Ok(()) };
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
