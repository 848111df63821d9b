//! `sandbox record`: the live web into one snapshot.

use std::net::SocketAddr;
use std::time::Duration;

use browser::{Launch, Session};
use camino::Utf8PathBuf;
use indicatif::ProgressBar;
use recorder::frontier::Bounds;
use recorder::{Crawl, Event, Skip, Studio, StudioOptions};
use runs::counted;
use snapshots::{Load, RecordingOptions};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::failure::{Failure, OrFail, Outcome};
use crate::finish::{self, Empty};
use crate::gateway_options::{self, LiveWeb, MAX_BODY, Patience, RedactOptions};
use crate::options::DataFolder;
use crate::{interrupt, out, progress};

/// Record the live web into a snapshot
///
/// Opens the URLs in Chromium, follows links as far as --depth and --pages say, and writes one WACZ. Ctrl-C finishes
/// the snapshot properly.
#[derive(clap::Args)]
pub(crate) struct Record {
    /// Pages to visit, in order
    #[arg(value_name = "URL", required_unless_present_any = ["listen", "manual"], value_parser = web_address)]
    urls: Vec<Url>,
    /// The snapshot to write
    #[arg(short, long, value_name = "FILE.wacz")]
    output: Utf8PathBuf,
    /// Replace the snapshot, if it exists
    #[arg(long)]
    force: bool,
    /// Title of the snapshot [default: its first URL]
    #[arg(long)]
    title: Option<String>,

    /// Follow links this many steps
    #[arg(long, default_value_t = 0, help_heading = "Crawl")]
    depth: u32,
    /// Visit at most this many pages
    #[arg(long, default_value_t = 100, help_heading = "Crawl")]
    pages: usize,
    /// Follow links to this host too (`*.` for any name below); by default only the hosts of the URLs given
    #[arg(long, value_name = "HOST", help_heading = "Crawl")]
    include: Vec<String>,
    /// Pause between two pages of one host, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1000, help_heading = "Crawl")]
    delay: u64,
    /// Follow links even where robots.txt asks crawlers not to
    #[arg(long, help_heading = "Crawl")]
    ignore_robots: bool,
    /// How long one page may take to load and settle, in seconds
    #[arg(long, value_name = "S", default_value_t = 60, help_heading = "Crawl")]
    page_timeout: u64,
    /// Load each page twice, and learn which parts of its requests change by themselves: time
    /// stamps, tokens of chance. Replay passes over them; `sandbox snapshot rules` shows and edits
    /// what was learned
    #[arg(long, conflicts_with_all = ["manual", "listen"], help_heading = "Crawl")]
    learn: bool,

    /// Open a window and leave the browsing to you
    #[arg(long, conflicts_with_all = ["depth", "listen"], help_heading = "Other ways")]
    manual: bool,
    /// Keep what pages have stored in the end, too: cookies, localStorage and sessionStorage, which
    /// Chromium has from the start when the snapshot is replayed in it. Whoever has the snapshot
    /// has them
    #[arg(long, conflicts_with_all = ["listen", "credentials", "cookies"], help_heading = "Other ways")]
    state: bool,
    /// Open no browser: record whatever comes through this proxy address
    #[arg(long, value_name = "ADDR:PORT", conflicts_with = "urls", help_heading = "Other ways")]
    listen: Option<SocketAddr>,

    #[command(flatten, next_help_heading = "Live web")]
    live: LiveWeb,
    /// Bodies larger than this many bytes pass but are not recorded
    #[arg(long, value_name = "BYTES", default_value_t = MAX_BODY, help_heading = "Live web")]
    max_body: u64,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten, next_help_heading = "Redaction")]
    redact: RedactOptions,
    #[command(flatten)]
    data: DataFolder,
}

impl Record {
    /// Records until done, closed or interrupted, then finishes the snapshot.
    pub(crate) async fn run(mut self) -> Outcome {
        finish::check_name(&self.output)?;
        let cancel = interrupt::token();
        let studio = self.open_studio().await?;
        let mut twice = Vec::new();
        let recorded = if self.listen.is_some() {
            self.listen(&studio, &cancel).await
        } else {
            self.browse(&studio, &cancel, &mut twice).await
        };
        let empty = if self.listen.is_some() { Empty::Snapshot } else { Empty::Failure };
        // Whatever happened, what was recorded becomes a snapshot.
        let finished = match finish::finish(studio, &self.output, &twice, empty).await {
            // Why there was nothing to record says more.
            Err(Failure::No(_)) if matches!(recorded, Err(Failure::Environment(_))) => return recorded,
            finished => finished?,
        };
        println!("{}", finish::summary(&finished));
        recorded
    }

    async fn open_studio(&mut self) -> Result<Studio, Failure> {
        let mut config = gateway_options::config(&self.data, self.listen)?;
        std::mem::take(&mut self.live).apply(&mut config);
        self.patience.apply(&mut config);
        let mut first = self.urls.first().cloned();
        if self.redact.credentials {
            // There may be a password in it.
            first.iter_mut().for_each(|url| url.set_query(None));
        }
        let title = self.title.clone().or_else(|| first.as_ref().map(Url::to_string));
        let options = StudioOptions {
            recording: RecordingOptions { title, replace: self.force, ..RecordingOptions::default() },
            gateway: config,
            redact: std::mem::take(&mut self.redact).into_redact(),
            body_cap: self.max_body,
            behind: None,
        };
        Ok(Studio::open(&self.output, options).await?)
    }

    async fn listen(&self, studio: &Studio, cancel: &CancellationToken) -> Outcome {
        let address = studio.gateway().local_addr();
        println!("proxy http://{address}");
        eprintln!("{}", gateway_options::instructions(address, studio.ca()));
        eprintln!("recording into {}; Ctrl-C finishes it", self.output);
        cancel.cancelled().await;
        Ok(())
    }

    async fn browse(
        &self,
        studio: &Studio,
        cancel: &CancellationToken,
        twice: &mut Vec<[Load; 2]>,
    ) -> Outcome {
        let spinner = progress::spinner("starting Chromium");
        let mut launch = Launch::new(studio.gateway().local_addr(), studio.ca().spki_sha256_base64());
        launch.headless = !self.manual;
        let mut session = Session::start(&launch).await.or_environment("start the browser")?;
        let outcome = if self.manual {
            spinner.finish_and_clear();
            eprintln!("recording what you browse; close the window or press Ctrl-C to finish");
            recorder::by_hand(&mut session, &self.urls, cancel).await.or_environment("browse")
        } else {
            self.crawl(&mut session, studio, cancel, &spinner, twice).await
        };
        spinner.finish_and_clear();
        if self.state
            && let Err(error) = recorder::keep_state(&mut session, studio).await
        {
            out::warn(&format!(
                "the snapshot has no cookies and storage of the browser: failed to {}; end with Ctrl-C while the \
                 window is open",
                error_text::with_causes(&error)
            ));
        }
        session.close().await.or_environment("close the browser")?;
        outcome
    }

    async fn crawl(
        &self,
        session: &mut Session,
        studio: &Studio,
        cancel: &CancellationToken,
        spinner: &ProgressBar,
        twice: &mut Vec<[Load; 2]>,
    ) -> Outcome {
        let crawl = Crawl {
            urls: self.urls.clone(),
            bounds: Bounds { depth: self.depth, pages: self.pages, include: self.include.clone() },
            delay: Duration::from_millis(self.delay),
            robots: !self.ignore_robots,
            page_deadline: Duration::from_secs(self.page_timeout),
            twice: self.learn,
        };
        let crawled = recorder::crawl(session, studio, &crawl, cancel, &|event| show(spinner, &event))
            .await
            .or_environment("record")?;
        let kept = crawled.pages;
        *twice = crawled.twice;
        if cancel.is_cancelled() {
            return Err(Failure::Interrupted(format!(
                "interrupted; the snapshot holds {}",
                counted(kept, "page")
            )));
        }
        if kept == 0 {
            return Err(Failure::No("failed to record: no page could be loaded".to_owned()));
        }
        Ok(())
    }
}

fn show(spinner: &ProgressBar, event: &Event<'_>) {
    match event {
        Event::Visiting { url, done, waiting } => {
            spinner.set_message(format!("{}, {waiting} to go: {url}", counted(done, "page")));
        }
        Event::Visited { url, title } => tracing::info!(%url, %title, "recorded"),
        Event::Skipped { url, why: Skip::Robots } => {
            spinner.suspend(|| out::warn(&format!("left out: {url}: robots.txt asks crawlers to stay away")));
        }
        Event::Skipped { url, why: Skip::Failed(why) } => {
            spinner.suspend(|| out::warn(&format!("not loaded: {url}: {why}")));
        }
    }
}

/// Reads the address of a page. Without a scheme it is none: `localhost:8000` would be one of the
/// scheme `localhost`.
fn web_address(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        Ok(url) if text.contains("://") => {
            Err(format!("{}: is not recorded; http: and https: are", url.scheme()))
        }
        _ => {
            let plain = format!("http://{text}");
            let host = text.split(['/', ':', '?']).next().unwrap_or_default();
            let local =
                host == "localhost" || host.parse::<std::net::IpAddr>().is_ok() || !host.contains('.');
            let scheme = if local { "http" } else { "https" };
            match Url::parse(&plain) {
                Ok(url) if url.has_host() => Err(format!("the scheme is missing: write {scheme}://{text}")),
                _ => Err("it is no address of a page, such as https://example.org/".to_owned()),
            }
        }
    }
}
