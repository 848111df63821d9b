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
use crate::finish::{self, EmptyRecording};
use crate::gateway_options::{self, Deadline, LiveWeb, MAX_BODY, RedactOptions};
use crate::options::DataFolder;
use crate::{interrupt, out, progress, units};

/// Record the live web into a snapshot
///
/// Opens the URLs in Chromium, follows links up to --depth and --pages, and writes one WACZ file.
/// Ctrl-C stops the recording and finishes the snapshot.
#[derive(clap::Args)]
pub(crate) struct Record {
    /// Pages to visit, in order
    #[arg(value_name = "URL", required_unless_present_any = ["listen", "manual"], value_parser = web_address)]
    urls: Vec<Url>,
    /// Snapshot to write
    #[arg(short, long, value_name = "FILE.wacz")]
    output: Utf8PathBuf,
    /// Replace the snapshot if it exists
    #[arg(long)]
    force: bool,
    /// Title of the snapshot [default: its first URL]
    #[arg(long)]
    title: Option<String>,

    /// Follow links up to this many steps
    #[arg(long, default_value_t = 0, help_heading = "Crawl")]
    depth: u32,
    /// Visit at most this many pages
    #[arg(long, default_value_t = 100, help_heading = "Crawl")]
    pages: usize,
    /// Follow links to this host too, besides those of the URLs; `*.HOST` includes all names below
    /// it
    #[arg(long, value_name = "HOST", help_heading = "Crawl")]
    include: Vec<String>,
    /// Pause between two pages of one host; a bare number is milliseconds
    #[arg(long, value_name = "TIME", default_value = "1000ms", value_parser = units::milliseconds, help_heading = "Crawl")]
    delay: Duration,
    /// Ignore robots.txt
    #[arg(long, help_heading = "Crawl")]
    ignore_robots: bool,
    /// How long one page may take to load and settle
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::seconds, help_heading = "Crawl")]
    page_timeout: Duration,
    /// Load each page twice, and learn which parts of its requests change on their own, such as
    /// time stamps and random tokens. Replay ignores these parts. `sandbox snapshot rules` shows
    /// and edits them
    #[arg(long, conflicts_with_all = ["manual", "listen"], help_heading = "Crawl")]
    learn: bool,

    /// Open a window and browse by hand
    #[arg(long, conflicts_with_all = ["depth", "listen"], help_heading = "Other ways")]
    manual: bool,
    /// Save the cookies, localStorage and sessionStorage of the end of the recording too. Chromium
    /// starts with them when it replays the snapshot. Anybody who has the snapshot has them
    #[arg(long, conflicts_with_all = ["listen", "credentials", "cookies"], help_heading = "Other ways")]
    state: bool,
    /// Open no browser; record the traffic of clients that use this proxy address
    #[arg(long, value_name = "ADDR:PORT", conflicts_with = "urls", help_heading = "Other ways")]
    listen: Option<SocketAddr>,

    #[command(flatten)]
    data: DataFolder,
    #[command(flatten, next_help_heading = "Live web")]
    live: LiveWeb,
    /// Larger bodies pass, but are not recorded; a bare number is bytes
    #[arg(long, value_name = "SIZE", default_value = MAX_BODY, value_parser = units::bytes, help_heading = "Live web")]
    max_body: u64,
    #[command(flatten)]
    deadline: Deadline,
    #[command(flatten, next_help_heading = "Redaction")]
    redact: RedactOptions,
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
        let empty = if self.listen.is_some() { EmptyRecording::Snapshot } else { EmptyRecording::Failure };
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
        self.deadline.apply(&mut config);
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
            delay: self.delay,
            robots: !self.ignore_robots,
            page_deadline: self.page_timeout,
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
pub(crate) fn web_address(text: &str) -> Result<Url, String> {
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
