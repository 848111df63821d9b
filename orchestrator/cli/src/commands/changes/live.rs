//! Records the pages of a suite as they are now.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use gateway::{Redact, WriteGuard};
use play::changes::Verdict;
use recorder::plan::{Budget, Consent, Plan};
use recorder::{CrawlOptions, Event, RecordingGateway, RecordingGatewayOptions, Skip, Tour};
use snapshots::RecordingOptions;
use tasks::Suite;
use url::Url;

use crate::commands::record::consent;
use crate::failure::Failure;
use crate::finish::{self, EmptyRecording};
use crate::options::DataFolder;
use crate::options::gateway_options::{self, Deadline, LiveWeb, MAX_BODY};
use crate::options::units;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

/// How the live web is visited.
#[derive(clap::Args)]
pub(super) struct VisitOptions {
    /// Answer banners about cookies: accept, reject or leave
    #[arg(long, value_name = "HOW", default_value = "accept", value_parser = consent, help_heading = "Live web")]
    consent: Consent,
    /// Pause between two pages of one host; a bare number is milliseconds
    #[arg(long, value_name = "TIME", default_value = "1000ms", value_parser = units::milliseconds, help_heading = "Live web")]
    delay: Duration,
    /// How long one page may take to load and settle
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::seconds, help_heading = "Live web")]
    page_timeout: Duration,
    #[command(flatten, next_help_heading = "Live web")]
    live: LiveWeb,
    #[command(flatten)]
    deadline: Deadline,
}

impl VisitOptions {
    /// Visits the pages and records them into `output`. Those that could not be shown are returned
    /// with the reason.
    pub(super) async fn record(
        &self,
        suite: &Suite,
        urls: &[String],
        (output, is_kept): (&Utf8Path, bool),
        force: bool,
        data: &DataFolder,
    ) -> Result<BTreeMap<String, (Verdict, String)>, Failure> {
        let urls: Vec<Url> = urls.iter().filter_map(|url| Url::parse(url).ok()).collect();
        let mut config = gateway_options::config(data)?;
        self.live.clone().apply(&mut config);
        self.deadline.apply(&mut config);
        let hosts = urls.iter().filter_map(|url| url.host_str().map(str::to_owned));
        config.write_guard = Some(Arc::new(WriteGuard::new(hosts)));
        let title = Some(format!("The pages of {}, visited again", suite.name));
        let recording = RecordingOptions { title, replace: force, ..RecordingOptions::default() };
        let options = RecordingGatewayOptions {
            recording,
            gateway: config,
            redact: Redact::default(),
            body_cap: units::bytes(MAX_BODY).expect("the default is a number of bytes"),
            resume: false,
            behind: None,
        };
        let is_new = !output.exists();
        let studio = RecordingGateway::open(output, options).await?;
        let visited = self.visit(suite, &studio, &urls).await;
        let empty = if is_kept { EmptyRecording::Snapshot } else { EmptyRecording::Temporary };
        match finish::finish(studio, output, &[], empty).await {
            Ok(_) => {}
            Err(Failure::Environment(why)) if is_new && output.exists() => out::warn(&why),
            Err(failure) => return Err(failure),
        }
        visited
    }

    async fn visit(
        &self,
        suite: &Suite,
        studio: &RecordingGateway,
        urls: &[Url],
    ) -> Result<BTreeMap<String, (Verdict, String)>, Failure> {
        let cancel = interrupt::token();
        let bar = progress::bar(urls.len() as u64, "visiting");
        let absent = RefCell::new(BTreeMap::new());
        let show = |event: Event<'_>| match event {
            Event::Visiting { url, done, .. } => {
                bar.set_position(done as u64);
                progress::say(&bar, results::short_url(url.as_str()));
            }
            Event::Visited { .. } => {}
            Event::Skipped { url, why } => {
                let (verdict, why) = match why {
                    Skip::Wall(wall) => (
                        Verdict::Walled,
                        format!("it is behind {}", crate::commands::record::wall_name(wall)),
                    ),
                    Skip::Failed(why) => (Verdict::Gone, why),
                    Skip::Robots => return,
                };
                absent.borrow_mut().insert(url.to_string(), (verdict, why));
            }
        };
        let options = CrawlOptions {
            delay: self.delay,
            robots: true,
            page_deadline: self.page_timeout,
            stay: Duration::ZERO,
            twice: false,
            consent: self.consent,
            pages_per_host: usize::MAX,
            journal: false,
        };
        let plan = Plan::new(suite, &[], Budget::default());
        let device = plan.vantages.first().cloned().unwrap_or_default();
        let tour = Tour { studio, doing: "visit the pages", ask_again: 0, on_lost_state: None };
        let followed = tour.visit(urls, device, options, &cancel, &show).await;
        bar.finish_and_clear();
        followed?;
        if cancel.is_cancelled() {
            return Err(Failure::Interrupted("interrupted; nothing was compared".to_owned()));
        }
        Ok(absent.into_inner())
    }
}
