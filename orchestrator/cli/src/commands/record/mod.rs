//! `sandbox record`: the live web into one snapshot.

mod by_hand;
mod messages;
mod rounds;
mod suite;
mod value_parsers;

use std::cell::Cell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use browser::Device;
use camino::{Utf8Path, Utf8PathBuf};
use gateway::{Config, Redact, WriteGuard};
use indicatif::ProgressBar;
pub(crate) use messages::wall_name;
use recorder::frontier::{Bounds, Frontier, Interest};
use recorder::plan::{Budget, Consent, Plan};
use recorder::{
    CrawlOptions, CrawlSummary, Crawler, Event, RecordingGateway, RecordingGatewayOptions, Tour,
    web_address,
};
use results::counted;
use snapshots::RecordingOptions;
use tokio_util::sync::CancellationToken;
use url::Url;
pub(crate) use value_parsers::consent;
use value_parsers::host;

use crate::failure::{Failure, OrFail, Outcome};
use crate::finish::{self, EmptyRecording};
use crate::options::DataFolder;
use crate::options::gateway_options::{self, Listening, RecordedWeb};
use crate::options::units;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

/// Record the live web into a snapshot
///
/// Opens the URLs in Chromium, follows links up to --depth and --pages, and writes one WACZ file.
/// With --suite it visits the pages that the tasks of a suite name, and what lies around them.
/// Ctrl-C stops the recording and finishes the snapshot; one that was killed goes on with --resume.
#[derive(clap::Args)]
pub(crate) struct Record {
    /// Pages to visit, in order
    #[arg(value_name = "URL", required_unless_present_any = ["listen", "manual", "suite", "questions", "plan"], value_parser = web_address)]
    urls: Vec<Url>,
    /// Snapshot to write [default with a suite: the snapshot that its world names, with the date of
    /// today for `{date}`; or web.wacz in its folder]
    #[arg(short, long, value_name = "FILE.wacz", required_unless_present_any = ["suite", "plan", "write_plan"])]
    output: Option<Utf8PathBuf>,
    /// Replace the snapshot if it exists
    #[arg(long)]
    force: bool,
    /// Title of the snapshot [default: its first URL, or the name of the suite]
    #[arg(long)]
    title: Option<String>,
    /// Go on with a recording that was killed, with the same options. Pages that it has are not
    /// visited again
    #[arg(long, conflicts_with = "listen")]
    resume: bool,

    #[command(flatten, next_help_heading = "A whole suite")]
    suite: suite::SuiteOptions,
    #[command(flatten, next_help_heading = "A whole suite")]
    rounds: rounds::RoundOptions,
    /// Let requests that may change something pass to the site of this host, such as all names
    /// below example.com. By default only the sites of the hosts that the suite names get such
    /// requests
    #[arg(long, value_name = "HOST", value_parser = host, help_heading = "A whole suite")]
    allow_writes: Vec<String>,

    /// Follow links up to this many steps [default: 0; with a suite 2]
    #[arg(long, conflicts_with = "plan", help_heading = "Crawl")]
    depth: Option<u32>,
    /// Visit at most this many pages; with a suite for each task [default: 100; with a suite 25]
    #[arg(long, conflicts_with = "plan", help_heading = "Crawl")]
    pages: Option<usize>,
    /// Visit at most this many pages of one host [default: no limit; with a suite 500]
    #[arg(long, value_name = "PAGES", conflicts_with = "plan", help_heading = "Crawl")]
    pages_per_host: Option<usize>,
    /// Answer banners about cookies: accept, reject or leave [default: leave; with a suite accept]
    #[arg(long, value_name = "HOW", conflicts_with = "plan", value_parser = consent, help_heading = "Crawl")]
    consent: Option<Consent>,
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
    /// How long a page is open at least; what it asks for later is not recorded
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = units::seconds, help_heading = "Crawl")]
    stay: Duration,
    /// Load each page twice, and learn which parts of its requests change on their own, such as
    /// time stamps and random tokens. Replay ignores these parts. `sandbox snapshot rules` shows
    /// and edits them
    #[arg(long, conflicts_with = "listen", help_heading = "Crawl")]
    learn: bool,

    /// Open a window and browse by hand; with a suite only the pages behind a CAPTCHA or a log-in,
    /// at the end
    #[arg(long, conflicts_with = "listen", help_heading = "Other ways")]
    manual: bool,
    /// Save the cookies, localStorage and sessionStorage of the end of the recording too. Chromium
    /// starts with them when it replays the snapshot. Anybody who has the snapshot has them
    #[arg(long, conflicts_with_all = ["listen", "credentials", "cookies"], help_heading = "Other ways")]
    state: bool,
    /// Open no browser; record the traffic of clients that use this proxy address
    #[arg(long, value_name = "ADDR:PORT", conflicts_with_all = ["urls", "suite", "questions", "plan"], help_heading = "Other ways")]
    listen: Option<SocketAddr>,
    /// With --listen, ask for no key, and let in every program of this user on this machine, and
    /// nobody else
    #[arg(long, requires = "listen", help_heading = "Other ways")]
    no_key: bool,

    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    recorded: RecordedWeb,
}

impl Record {
    /// Records until done, closed or interrupted, then finishes the snapshot.
    pub(crate) async fn run(mut self) -> Outcome {
        let mut plan = self.plan()?;
        if let Some(plan) = &mut plan {
            if self.suite.only_writes(plan, self.force)? {
                return Ok(());
            }
            if self.output.is_none() {
                let is_added_to = self.rounds.are_wanted() && !self.force;
                recorder::suite::choose_version(plan, is_added_to, self.resume)
                    .map_err(Failure::input)?;
            }
        }
        let output = match (&self.output, &plan) {
            (Some(output), _) => output.clone(),
            (None, Some(plan)) => recorder::suite::default_output(plan).map_err(Failure::input)?,
            (None, None) => {
                return Err(Failure::Input(
                    "failed to plan: name a suite with --suite, or a file with --questions"
                        .to_owned(),
                ));
            }
        };
        out::is_a_path(&output)?;
        finish::check_name(&output)?;
        if self.manual && plan.is_some() {
            by_hand::check_display()?;
        } else if self.manual && (self.resume || self.learn || self.depth.is_some()) {
            return Err(Failure::Input(
                "failed to use --manual with --resume, --learn or --depth: they need a suite, or pages that are \
                 visited by themselves"
                    .to_owned(),
            ));
        }
        if plan.is_none() && !self.allow_writes.is_empty() {
            return Err(Failure::Input(
                "failed to use --allow-writes: only recordings of a suite stop requests".to_owned(),
            ));
        }
        let guard = plan.as_ref().map(|plan| self.write_guard(plan));
        let config = self.gateway_config(guard.clone())?;
        let redact = std::mem::take(&mut self.recorded.redact).into_redact();
        let suite = plan.as_ref().and_then(|plan| Some((plan, plan.suite.as_deref()?)));
        let rounds = suite.map(|(plan, suite)| rounds::Rounds {
            plan,
            suite,
            output: &output,
            live: config.clone(),
            redact: redact.clone(),
            body_cap: self.recorded.max_body,
            ask_again: self.recorded.ask_again,
        });
        if let Some(rounds) = &rounds {
            self.rounds.check(rounds)?;
        } else if self.rounds.are_wanted() {
            return Err(Failure::Input(
                "failed to use --agent: it plays a suite; name one with --suite".to_owned(),
            ));
        }
        if !(self.rounds.are_wanted() && output.exists() && !self.force) {
            self.record(config, redact, &output, plan.as_ref()).await?;
        }
        if let Some(rounds) = rounds.filter(|_| self.rounds.are_wanted()) {
            self.rounds.play(&rounds).await?;
        }
        if let Some(guard) = guard {
            messages::print_stopped(&guard);
        }
        if let Some(plan) = &plan {
            suite::print_end(plan, &output);
        }
        Ok(())
    }

    /// Records until done, closed or interrupted, then finishes the snapshot.
    async fn record(
        &self,
        config: Config,
        redact: Redact,
        output: &Utf8Path,
        plan: Option<&Plan>,
    ) -> Outcome {
        let cancel = interrupt::token();
        let guard = config.write_guard.clone();
        let studio = self.open_studio(config, redact, output, plan).await?;
        let mut summary = CrawlSummary::default();
        let recorded = if self.listen.is_some() {
            self.listen(&studio, output, &cancel).await
        } else {
            self.browse(&studio, plan, &cancel, &mut summary).await
        };
        let recorded = match (plan, recorded) {
            (Some(plan), Ok(())) if self.manual => {
                self.hand_over(&studio, plan, guard.as_deref(), &mut summary, &cancel).await
            }
            (_, recorded) => recorded,
        };
        // What a killed recording holds is enough, and an agent may get behind every log-in.
        let empty = if self.listen.is_some() || studio.is_resumed() || self.rounds.are_wanted() {
            EmptyRecording::Snapshot
        } else {
            EmptyRecording::Failure
        };
        let has_some = studio.is_resumed() || studio.report().recorded > 0;
        if let (Some(_), Err(Failure::Environment(why))) = (plan, &recorded)
            && has_some
        {
            // A suite takes hours. It goes on where it was.
            return Err(Failure::Environment(format!(
                "{why}; what is recorded so far is kept: go on with --resume"
            )));
        }
        // Whatever happened, what was recorded becomes a snapshot.
        let finished = match finish::finish(studio, output, &summary.twice, empty).await {
            // Why there was nothing to record says more.
            Err(Failure::Negative(_)) if matches!(recorded, Err(Failure::Environment(_))) => {
                return recorded;
            }
            finished => finished?,
        };
        messages::print_walls(&summary, output);
        println!("{}", finish::summary(&finished));
        recorded
    }

    fn gateway_config(&mut self, guard: Option<Arc<WriteGuard>>) -> Result<Config, Failure> {
        let mut config = gateway_options::config(&self.data)?;
        if self.listen.is_some() {
            Listening { listen: self.listen, no_key: self.no_key }
                .apply(&mut config, &self.data)?;
        }
        std::mem::take(&mut self.recorded.live).apply(&mut config);
        self.recorded.deadline.apply(&mut config);
        config.write_guard = guard;
        Ok(config)
    }

    /// The guard of a suite's recording: the hosts that the suite names may be written to.
    fn write_guard(&self, plan: &Plan) -> Arc<WriteGuard> {
        let hosts = plan.hosts().into_keys().chain(self.allow_writes.iter().cloned());
        Arc::new(WriteGuard::new(hosts))
    }

    async fn open_studio(
        &self,
        config: Config,
        redact: Redact,
        output: &Utf8Path,
        plan: Option<&Plan>,
    ) -> Result<RecordingGateway, Failure> {
        let mut first = self.urls.first().cloned();
        // The title is for everybody who gets the file. A URL that cannot have a user has none.
        first.iter_mut().for_each(|url| {
            let _ = url.set_password(None).and_then(|()| url.set_username(""));
        });
        if redact.credentials {
            // There may be a password in it.
            first.iter_mut().for_each(|url| url.set_query(None));
        }
        let suite = plan.and_then(|plan| plan.suite.as_ref()?.file_name());
        let of_suite = suite.map(|name| format!("The web of {name}"));
        let title = self.title.clone().or(of_suite).or_else(|| first.as_ref().map(Url::to_string));
        let options = RecordingGatewayOptions {
            recording: RecordingOptions {
                title,
                replace: self.force,
                ..RecordingOptions::default()
            },
            gateway: config,
            redact,
            body_cap: self.recorded.max_body,
            resume: self.resume,
            behind: None,
        };
        Ok(RecordingGateway::open(output, options).await?)
    }

    /// The plan of a suite, if one is recorded.
    fn plan(&self) -> Result<Option<Plan>, Failure> {
        let mut budget = Budget::default();
        budget.depth = self.depth.unwrap_or(budget.depth);
        budget.pages_per_task = self.pages.unwrap_or(budget.pages_per_task);
        budget.pages_per_host = self.pages_per_host.unwrap_or(budget.pages_per_host);
        self.suite.plan(budget, self.consent.unwrap_or_default())
    }

    async fn listen(
        &self,
        studio: &RecordingGateway,
        output: &Utf8Path,
        cancel: &CancellationToken,
    ) -> Outcome {
        gateway_options::announce(studio.gateway(), studio.ca());
        eprintln!("recording into {output}; Ctrl-C finishes it");
        cancel.cancelled().await;
        Ok(())
    }

    async fn browse(
        &self,
        studio: &RecordingGateway,
        plan: Option<&Plan>,
        cancel: &CancellationToken,
        summary: &mut CrawlSummary,
    ) -> Outcome {
        let visits = plan.map(|plan| plan.tasks.len() * plan.vantages.len());
        let spinner = match visits {
            Some(visits) => progress::described(visits as u64, "starting Chromium"),
            None => progress::spinner("starting Chromium"),
        };
        if !self.manual || plan.is_some() {
            let crawled = self.crawl(studio, plan, cancel, &spinner).await;
            spinner.finish_and_clear();
            *summary = crawled?;
            return match ended(summary, cancel) {
                // Maybe a person, or an agent, gets past what stands in front of all of them.
                Err(Failure::Negative(_))
                    if (self.manual || self.rounds.are_wanted()) && !summary.walls.is_empty() =>
                {
                    Ok(())
                }
                ended => ended,
            };
        }
        let tour = self.tour(studio, true);
        let mut session = tour.start(Device::default(), true).await?;
        spinner.finish_and_clear();
        eprintln!("recording what you browse; close the window or press Ctrl-C to finish");
        let browsed =
            recorder::by_hand(&mut session, &self.urls, cancel).await.or_environment("browse");
        tour.end(session).await?;
        browsed
    }

    /// The browsers of the recording. A crawl does nothing that it would have to look after, and
    /// who gets past a wall neither.
    fn tour<'a>(&self, studio: &'a RecordingGateway, acts: bool) -> Tour<'a> {
        let ask_again = if acts && !self.suite.is_wanted() { self.recorded.ask_again } else { 0 };
        let on_lost_state = self.state.then_some(&warn_of_lost_state as &dyn Fn(&recorder::Error));
        Tour { studio, doing: "record", ask_again, on_lost_state }
    }

    async fn crawl(
        &self,
        studio: &RecordingGateway,
        plan: Option<&Plan>,
        cancel: &CancellationToken,
        spinner: &ProgressBar,
    ) -> Result<CrawlSummary, Failure> {
        let consent = match plan {
            Some(plan) => plan.consent,
            None => self.consent.unwrap_or(Consent::Leave),
        };
        let pages_per_host = plan
            .map_or(self.pages_per_host.unwrap_or(usize::MAX), |plan| plan.budget.pages_per_host);
        let options = CrawlOptions {
            delay: self.delay,
            robots: !self.ignore_robots,
            page_deadline: self.page_timeout,
            stay: self.stay,
            twice: self.learn,
            consent,
            pages_per_host,
            journal: !studio.is_redacting(),
        };
        let now = Cell::new((0, ""));
        let show = |event: Event<'_>| messages::show(spinner, &event, now.get());
        let mut crawler = Crawler::new(studio, options, cancel, &show).or_environment("record")?;
        let tour = self.tour(studio, false);
        match plan {
            None => {
                let bounds = Bounds {
                    depth: self.depth.unwrap_or(0),
                    pages: self.pages.unwrap_or(100),
                    include: self.include.clone(),
                };
                let frontier = Frontier::new(&self.urls, bounds, Interest::default());
                tour.follow(&mut crawler, frontier, Device::default()).await?;
            }
            Some(plan) => {
                tour.follow_plan(&mut crawler, plan, &self.include, cancel, &now).await?;
            }
        }
        Ok(crawler.into_summary())
    }
}

fn warn_of_lost_state(error: &recorder::Error) {
    out::warn(&format!(
        "the snapshot has no cookies and storage of the browser: failed to {}; end with Ctrl-C while the \
         window is open",
        error_text::with_causes(error)
    ));
}

/// What a crawl has come to.
fn ended(summary: &CrawlSummary, cancel: &CancellationToken) -> Outcome {
    if cancel.is_cancelled() {
        return Err(Failure::Interrupted(format!(
            "interrupted; the snapshot holds {}",
            counted(summary.pages, "page")
        )));
    }
    if summary.pages == 0 {
        return Err(Failure::Negative("failed to record: no page could be loaded".to_owned()));
    }
    Ok(())
}
