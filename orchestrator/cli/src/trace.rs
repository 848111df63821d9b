//! `sandbox trace`: a run's episodes, step by step in a browser.

use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use crate::failure::{Failure, Outcome};
use crate::run::classify;

/// Write pages that show a run's episodes step by step
///
/// Each step has its screenshot with what was acted on, the action and the agent's reason, what changed on the page, the requests with how they were
/// answered, and what it earned. The pages are files beside the results and ask for nothing but the screenshots there.
#[derive(clap::Args)]
pub(crate) struct Trace {
    /// The folder of a run
    run: Utf8PathBuf,
    /// One episode, such as rail-01-2 for the second attempt at rail-01; a task stands for its first. Without it all of them, and a list
    episode: Option<String>,
    /// Open the page with the desktop's browser (xdg-open)
    #[arg(long)]
    open: bool,
}

impl Trace {
    /// Prints where the page is.
    pub(crate) fn run(self) -> Outcome {
        let path = match &self.episode {
            Some(episode) => runs::viewer::write_episode(&self.run, episode),
            None => runs::viewer::write(&self.run),
        };
        let path = path.map_err(classify)?;
        println!("{path}");
        if self.open { open(&path) } else { Ok(()) }
    }
}

fn open(path: &Utf8Path) -> Outcome {
    let cure = format!("open {path} in a browser yourself");
    let opened = Command::new("xdg-open").arg(path).stdin(Stdio::null()).stdout(Stdio::null()).status();
    match opened {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            Err(Failure::Environment(anyhow::anyhow!("run xdg-open: it ended with {status}; {cure}")))
        }
        Err(error) => Err(Failure::Environment(anyhow::anyhow!("run xdg-open: {error}; {cure}"))),
    }
}
