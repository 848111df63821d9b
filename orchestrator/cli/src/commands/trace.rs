//! `sandbox trace`: a run's episodes, step by step in a browser.

use camino::Utf8PathBuf;
use results::server::Page;

use crate::commands::open_page::{self, StepPage};
use crate::commands::show;
use crate::failure::{OrFail as _, Outcome};
use crate::options::DataFolder;
use crate::packed_run::OpenRun;
use crate::trust::{SiteVariables, Trust};

/// Write pages that show the episodes of a run step by step
///
/// Each page has a time line, a strip of screenshots, and panels for the page, the model's calls,
/// requests, console messages and the score. The pages are files beside the results. They load
/// nothing but the screenshots there. Those of a packed run are served as with --open.
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
    /// Print or open the URL of this step
    #[arg(long, value_name = "N", requires = "episode")]
    step: Option<u32>,
    /// Open the frozen world at the page of the step in a window, with sites in their initial
    /// state. Prints what to do if there is no display
    #[arg(long, requires = "step", conflicts_with = "open")]
    open_page: bool,
    /// With --open-page, the folder of the suite [default: the one that was played]
    #[arg(long, value_name = "DIR", requires = "open_page")]
    suite: Option<Utf8PathBuf>,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    variables: SiteVariables,
    #[command(flatten)]
    data: DataFolder,
}

impl Trace {
    /// Prints where the page is.
    pub(crate) async fn run(self) -> Outcome {
        let run = OpenRun::open(&self.run).await?;
        let fragment = self.step.map(|step| format!("#step={step}")).unwrap_or_default();
        if let (true, Some(step), Some(episode)) = (self.open_page, self.step, &self.episode) {
            let page = StepPage { run: run.path(), episode, step, suite: self.suite.as_deref() };
            return open_page::open(&page, &self.trust, &self.variables, &self.data).await;
        }
        let page = self.episode.as_deref().map_or(Page::Episodes, Page::Episode);
        if self.open {
            return show::open(run.path(), page, &fragment, "").await;
        }
        if run.is_copy() {
            return show::serve_page(run.path(), page, &fragment).await;
        }
        let path = match &self.episode {
            Some(episode) => results::viewer::write_episode(&self.run, episode)?,
            None => results::viewer::write(&self.run)?,
        };
        if fragment.is_empty() {
            println!("{path}");
        } else {
            // A path has no fragment, but a URL has.
            let path = path.canonicalize_utf8().or_environment("find the page")?;
            println!("file://{}{fragment}", path.as_str().replace('%', "%25"));
        }
        Ok(())
    }
}
