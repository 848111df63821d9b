//! `sandbox show`: a run's report and episodes over HTTP. `--open` of other commands uses it too.

use camino::{Utf8Path, Utf8PathBuf};
use play::suites::all_snapshots;
use processes::desktop::{self, has_display};
use results::server::{Page, RunServer};

use crate::commands::replay;
use crate::failure::{Failure, Outcome};
use crate::options::DataFolder;
use crate::packed_run::OpenRun;
use crate::terminal::interrupt;
use crate::terminal::out;

/// Serve the report and episodes of a run on this machine, for a browser
///
/// Prints the URL of the report and serves it until Ctrl-C, on 127.0.0.1 only. The URL has a key,
/// so that other users of the machine see nothing. Each page shows what is on disk when it is
/// requested, so an unfinished run can be watched. Nothing is written. To look from another
/// machine, forward the port: ssh -L 7575:127.0.0.1:7575 HOST, with --port 7575 here.
#[derive(clap::Args)]
pub(crate) struct Show {
    /// Folder of the run, or file of `sandbox pack`
    run: Utf8PathBuf,
    /// Port to listen on; 0 is a free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Open the report in the desktop's browser if there is a display
    #[arg(long)]
    open: bool,
    /// Folder of the suite of the run. Requests then lead to their recorded headers and bodies in
    /// its snapshots, without cookies and authorization
    #[arg(long, value_name = "DIR")]
    suite: Option<Utf8PathBuf>,
    #[command(flatten)]
    data: DataFolder,
}

impl Show {
    /// Prints where the run is to be seen, and serves it until interrupted.
    pub(crate) async fn run(self) -> Outcome {
        let run = OpenRun::open(&self.run).await?;
        let mut server = RunServer::bind(run.path(), self.port).await?;
        if let Some(suite) = &self.suite {
            let files = all_snapshots(&play::suites::load(suite)?);
            server = server.with_snapshots(replay::open(&files, &self.data)?);
        }
        let url = server.url(Page::Report)?;
        serve(server, url, "", self.open).await
    }
}

/// Serves a run at a free port until interrupted, and opens one of its pages in a browser, at this
/// fragment of its URL.
pub(crate) async fn open(run: &Utf8Path, page: Page<'_>, fragment: &str, label: &str) -> Outcome {
    let server = RunServer::bind(run, 0).await?;
    let url = server.url(page)? + fragment;
    serve(server, url, label, true).await
}

/// The same without a browser.
pub(crate) async fn serve_page(run: &Utf8Path, page: Page<'_>, fragment: &str) -> Outcome {
    let server = RunServer::bind(run, 0).await?;
    let url = server.url(page)? + fragment;
    serve(server, url, "", false).await
}

async fn serve(server: RunServer, url: String, label: &str, open: bool) -> Outcome {
    let serving = async {
        println!("{label}{url}");
        if open && has_display() {
            tokio::spawn(in_browser(url));
        } else {
            explain(open, server.address().port());
        }
        server.serve().await;
        Ok(())
    };
    match interrupt::unless_interrupted(serving, "").await {
        // That is how it ends.
        Err(Failure::Interrupted(_)) => Ok(()),
        ended => ended,
    }
}

/// Says how a person comes to the page, where no browser is opened.
fn explain(wanted: bool, port: u16) {
    if wanted {
        out::warn(&"there is no display to open a browser on; open the URL yourself");
    }
    if std::env::var_os("SSH_CONNECTION").is_some() {
        eprintln!(
            "from your own machine: ssh -L {port}:127.0.0.1:{port} HOST, and then the same URL"
        );
    }
    eprintln!("serving until Ctrl-C");
}

/// Asks the desktop to open a page, and goes on until it is dropped.
pub(crate) async fn in_browser(url: String) {
    match desktop::open(&url).await {
        Ok(_page) => {
            // Some browsers have other temporary files than we.
            eprintln!("if the browser finds no file, open {url} in it");
            // It may read the file at any time.
            std::future::pending().await
        }
        Err(why) => out::warn(&format!("failed to {why}")),
    }
}
