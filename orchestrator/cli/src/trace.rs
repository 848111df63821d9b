//! `sandbox trace`: a run's episodes, step by step in a browser.

use camino::Utf8PathBuf;
use runs::server::Page;

use crate::failure::Outcome;
use crate::packed_run::OpenRun;
use crate::show;

/// Write pages that show the episodes of a run step by step
///
/// Each step has its screenshot with the element acted on, the action, the agent's reason, the
/// changes on the page, the requests with their answers, and the reward. The pages are files beside
/// the results. They load nothing but the screenshots there. Those of a packed run are served as
/// with --open.
#[derive(clap::Args)]
pub(crate) struct Trace {
    /// Folder of the run, or file of `sandbox pack`
    run: Utf8PathBuf,
    /// One episode, such as rail-01-2 for the second attempt at rail-01. A task stands for its
    /// first episode [default: all episodes, and a list]
    episode: Option<String>,
    /// Serve the pages on this machine until Ctrl-C instead of writing them. Prints the URL, and
    /// opens the desktop's browser if there is a display
    #[arg(long)]
    open: bool,
}

impl Trace {
    /// Prints where the page is.
    pub(crate) async fn run(self) -> Outcome {
        let run = OpenRun::open(&self.run).await?;
        let page = self.episode.as_deref().map_or(Page::Episodes, Page::Episode);
        if self.open {
            return show::open(run.path(), page, "").await;
        }
        if run.is_temporary() {
            return show::serve_page(run.path(), page).await;
        }
        let path = match &self.episode {
            Some(episode) => runs::viewer::write_episode(&self.run, episode),
            None => runs::viewer::write(&self.run),
        };
        println!("{}", path?);
        Ok(())
    }
}
