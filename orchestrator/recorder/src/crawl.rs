//! The crawler: visits pages from a frontier until it is empty, its limits are reached, or the user
//! interrupts. It pauses between pages of a host and respects robots.txt.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use browser::{AccessBarrier, Session};
use snapshots::{Load, Timestamp};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::frontier::{Frontier, Visit};
use crate::journal::{Journal, Outcome};
use crate::plan::Consent;
use crate::politeness::Politeness;
use crate::visit::{self, VisitOptions, VisitOutcome};
use crate::{Error, RecordingGateway};

/// How many times a page is tried whose server asks to come back later.
const MAX_TRIES: u32 = 4;

/// The settings of a crawl.
#[derive(Debug, Clone)]
pub struct CrawlOptions {
    /// Pause between two pages of the same host.
    pub delay: Duration,
    /// Whether to follow only links that the site's robots.txt allows.
    pub robots: bool,
    /// Time limit for one page to load and settle.
    pub page_deadline: Duration,
    /// How long a page is open at least. What it asks for later is not recorded.
    pub stay: Duration,
    /// Whether to load each page twice, to learn which parts of requests change by themselves.
    pub twice: bool,
    /// The answer to banners about cookies.
    pub consent: Consent,
    /// Maximum number of pages of one host.
    pub pages_per_host: usize,
    /// Whether the visits are written down beside the recording, so that a killed crawl can go on.
    /// Their addresses are not redacted.
    pub journal: bool,
}

/// The result of a crawl.
#[derive(Debug, Default)]
pub struct CrawlSummary {
    /// Number of pages in the page list.
    pub pages: usize,
    /// The times of both loads of each page that was loaded twice.
    pub twice: Vec<[Load; 2]>,
    /// Pages that something stands in front of, by host.
    pub walls: BTreeMap<String, BTreeSet<(AccessBarrier, String)>>,
    /// Hosts with more pages than are visited.
    pub full_hosts: BTreeSet<String>,
}

/// Progress of a crawl, for display.
#[derive(Debug)]
pub enum Event<'a> {
    /// A page starts to load.
    Visiting {
        /// The page.
        url: &'a Url,
        /// Number of pages visited so far.
        done: usize,
        /// Number of pages queued.
        waiting: usize,
    },
    /// A page was loaded and added to the page list.
    Visited {
        /// The final URL, after redirects.
        url: &'a str,
        title: &'a str,
    },
    /// A page was not added to the page list.
    Skipped {
        /// The page.
        url: &'a Url,
        why: Skip,
    },
}

/// Why a page is missing from the page list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// robots.txt disallows it.
    Robots,
    /// Something stands in front of it. What it showed is not in the snapshot.
    Wall(AccessBarrier),
    /// It did not load; the text says why.
    Failed(String),
}

/// How a try to visit a page has ended.
enum Ended {
    /// With the times of both loads, where the page was loaded twice.
    Over(Outcome, Option<[Load; 2]>),
    /// The server asks to come back later.
    Later,
    Interrupted,
}

/// A crawler of one recording.
pub struct Crawler<'a> {
    studio: &'a RecordingGateway,
    options: CrawlOptions,
    cancel: &'a CancellationToken,
    on: &'a dyn Fn(Event<'_>),
    politeness: Politeness,
    journal: Journal,
    pages_of_host: HashMap<String, usize>,
    /// The addresses that have been counted, of this profile.
    counted: HashSet<Url>,
    tries: HashMap<Url, u32>,
    vantage: usize,
    summary: CrawlSummary,
}

impl<'a> Crawler<'a> {
    /// A crawler that records in this studio. `on` receives the progress; `cancel` ends the crawl
    /// between two pages or in the midst of one.
    ///
    /// # Errors
    /// When the journal cannot be opened.
    pub fn new(
        studio: &'a RecordingGateway,
        options: CrawlOptions,
        cancel: &'a CancellationToken,
        on: &'a dyn Fn(Event<'_>),
    ) -> Result<Crawler<'a>, Error> {
        let mut journal =
            if options.journal { Journal::open(&studio.folder()?)? } else { Journal::in_memory() };
        let summary = CrawlSummary { twice: journal.take_twice(), ..CrawlSummary::default() };
        Ok(Crawler {
            studio,
            politeness: Politeness::new(options.delay),
            options,
            cancel,
            on,
            journal,
            pages_of_host: HashMap::new(),
            counted: HashSet::new(),
            tries: HashMap::new(),
            vantage: 0,
            summary,
        })
    }

    /// Goes on in another browser. It visits every page again.
    pub fn next_vantage(&mut self) {
        self.vantage += 1;
        self.pages_of_host.clear();
        self.counted.clear();
        self.tries.clear();
    }

    /// The result so far.
    pub fn into_summary(self) -> CrawlSummary {
        self.summary
    }

    /// Visits pages until the frontier is empty, its limit is reached, or the crawl is interrupted.
    ///
    /// # Errors
    /// When the browser is gone, or the recording cannot be written.
    pub async fn follow(
        &mut self,
        session: &mut Session,
        mut frontier: Frontier,
    ) -> Result<(), Error> {
        while !self.cancel.is_cancelled()
            && let Some(visit) = frontier.take_next()
        {
            let known = self.journal.outcome(self.vantage, &visit.url).cloned();
            // Robots may not follow a link to a page that the user has named.
            let known = known.filter(|outcome| visit.depth > 0 || *outcome != Outcome::Robots);
            if let Some(outcome) = known {
                self.take_in(&visit, &outcome, &mut frontier);
                continue;
            }
            let host = visit.url.host_str().unwrap_or_default().to_owned();
            let of_host = self.pages_of_host.get(&host).copied().unwrap_or(0);
            if visit.depth > 0 && of_host >= self.options.pages_per_host {
                self.summary.full_hosts.insert(host);
                frontier.uncount();
                continue;
            }
            (self.on)(Event::Visiting {
                url: &visit.url,
                done: self.counted.len(),
                waiting: frontier.waiting(),
            });
            match self.visit(session, &visit).await? {
                Ended::Over(outcome, twice) => {
                    self.take_in(&visit, &outcome, &mut frontier);
                    self.summary.twice.extend(twice);
                    self.journal.add(self.vantage, &visit.url, outcome, twice)?;
                }
                Ended::Later => frontier.give_back(visit),
                Ended::Interrupted => break,
            }
        }
        Ok(())
    }

    /// Counts a visit, and follows what its page leads to.
    fn take_in(&mut self, visit: &Visit, outcome: &Outcome, frontier: &mut Frontier) {
        // Tasks share pages, which count once.
        let is_new = self.counted.insert(visit.url.clone());
        let host = visit.url.host_str().unwrap_or_default().to_owned();
        match outcome {
            Outcome::Page(survey) => {
                if is_new {
                    *self.pages_of_host.entry(host).or_default() += 1;
                    self.summary.pages += 1;
                }
                frontier.found(visit, survey);
            }
            Outcome::Wall(wall) => {
                self.summary.walls.entry(host).or_default().insert((*wall, visit.url.to_string()));
            }
            Outcome::Robots => frontier.uncount(),
            Outcome::Failed(_) => {}
        }
    }

    async fn visit(&mut self, session: &mut Session, visit: &Visit) -> Result<Ended, Error> {
        let skipped = |why: Skip| (self.on)(Event::Skipped { url: &visit.url, why });
        // The user asks for seeds; robots.txt rules over what the crawl finds by itself.
        if self.options.robots
            && visit.depth > 0
            && !self
                .politeness
                .allows(session, self.studio, &visit.url, self.options.page_deadline)
                .await
        {
            skipped(Skip::Robots);
            return Ok(Ended::Over(Outcome::Robots, None));
        }
        let Some((outcome, load)) = self.load(session, &visit.url).await? else {
            return Ok(Ended::Interrupted);
        };
        match outcome {
            VisitOutcome::Page { page, survey } => {
                self.politeness.speed_up(&visit.url);
                self.studio.append_page(&page)?;
                let title = page.title.as_deref().unwrap_or_default();
                (self.on)(Event::Visited { url: &page.url, title });
                // The differences between two loads show which requests change by themselves.
                let mut twice = None;
                if self.options.twice {
                    match self.load(session, &visit.url).await? {
                        Some((VisitOutcome::Page { .. }, again)) => twice = Some([load, again]),
                        Some((VisitOutcome::Wall(_) | VisitOutcome::Busy(_), again)) => {
                            // The first load was the page. A second one that is not must not be
                            // recorded beside it.
                            self.studio.leave_out(again)?;
                            self.politeness.slow_down(&visit.url);
                        }
                        Some((VisitOutcome::Failed(_), _)) => {}
                        None => return Ok(Ended::Interrupted),
                    }
                }
                Ok(Ended::Over(Outcome::Page(survey), twice))
            }
            VisitOutcome::Wall(wall) => {
                self.studio.leave_out(load)?;
                skipped(Skip::Wall(wall));
                Ok(Ended::Over(Outcome::Wall(wall), None))
            }
            VisitOutcome::Busy(status) => {
                self.studio.leave_out(load)?;
                self.politeness.slow_down(&visit.url);
                let tries = self.tries.entry(visit.url.clone()).or_default();
                *tries += 1;
                if *tries < MAX_TRIES {
                    return Ok(Ended::Later);
                }
                let why = format!("the server answers with status {status}, {MAX_TRIES} times");
                skipped(Skip::Failed(why.clone()));
                Ok(Ended::Over(Outcome::Failed(why), None))
            }
            VisitOutcome::Failed(why) => {
                skipped(Skip::Failed(why.clone()));
                Ok(Ended::Over(Outcome::Failed(why), None))
            }
        }
    }

    /// Waits for the host's turn and loads a page. Also returns when that was; `None` when the
    /// crawl is interrupted.
    async fn load(
        &mut self,
        session: &mut Session,
        url: &Url,
    ) -> Result<Option<(VisitOutcome, Load)>, Error> {
        tokio::select! {
            () = self.politeness.wait(url) => {}
            () = self.cancel.cancelled() => return Ok(None),
        }
        let CrawlOptions { page_deadline: deadline, stay, consent, .. } = self.options;
        let options = VisitOptions { deadline, stay, consent };
        let started = Timestamp::now();
        tokio::select! {
            visited = visit::visit(session, self.studio.in_flight(), url, options) => {
                Ok(Some((visited?, (started, Timestamp::now()))))
            }
            () = self.cancel.cancelled() => Ok(None),
        }
    }
}
