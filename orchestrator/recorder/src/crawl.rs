//! The crawler: visits pages from the frontier until it is empty, the page limit is reached, or the
//! user interrupts. It pauses between pages of a host and respects robots.txt.

use std::collections::HashMap;
use std::time::Duration;

use browser::Session;
use snapshots::{Load, Timestamp};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::frontier::{Bounds, Frontier, Visit};
use crate::robots::Robots;
use crate::visit::{self, VisitOutcome};
use crate::{Error, Studio};

/// Our name in robots.txt.
const AGENT: &str = "sandbox";

/// The settings of a crawl.
#[derive(Debug, Clone)]
pub struct Crawl {
    /// The URLs where it starts, in order.
    pub urls: Vec<Url>,
    /// Limits on links and pages.
    pub bounds: Bounds,
    /// Pause between two pages of the same host.
    pub delay: Duration,
    /// Whether to follow only links that the site's robots.txt allows.
    pub robots: bool,
    /// Time limit for one page to load and settle.
    pub page_deadline: Duration,
    /// Whether to load each page twice, to learn which parts of requests change by themselves.
    pub twice: bool,
}

/// The result of a crawl.
#[derive(Debug, Default)]
pub struct CrawlSummary {
    /// Number of pages added to the page list.
    pub pages: usize,
    /// The times of both loads of each page that was loaded twice.
    pub twice: Vec<[Load; 2]>,
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
        /// Its title.
        title: &'a str,
    },
    /// A page was not added to the page list.
    Skipped {
        /// The page.
        url: &'a Url,
        /// Why.
        why: Skip,
    },
}

/// Why a page is missing from the page list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// robots.txt disallows it.
    Robots,
    /// It did not load; the text says why.
    Failed(String),
}

/// Visits pages until the frontier is empty, the page limit is reached or `cancel` fires. `on`
/// receives the progress.
pub async fn crawl(
    session: &mut Session,
    studio: &Studio,
    crawl: &Crawl,
    cancel: &CancellationToken,
    on: &dyn Fn(Event<'_>),
) -> Result<CrawlSummary, Error> {
    let mut frontier = Frontier::new(&crawl.urls, crawl.bounds.clone());
    let mut politeness = Politeness::new(crawl.delay);
    let mut crawled = CrawlSummary::default();
    let mut done = 0;
    while let Some(visit) = frontier.take_next() {
        on(Event::Visiting { url: &visit.url, done, waiting: frontier.waiting() });
        done += 1;
        if crawl.robots
            && visit.depth > 0
            && !politeness.allowed(session, studio, &visit, crawl.page_deadline).await
        {
            on(Event::Skipped { url: &visit.url, why: Skip::Robots });
            continue;
        }
        tokio::select! {
            () = politeness.wait(&visit.url) => {}
            () = cancel.cancelled() => break,
        }
        let started = Timestamp::now();
        let visited = tokio::select! {
            visited = visit::visit(session, studio.in_flight(), &visit.url, crawl.page_deadline) => visited,
            () = cancel.cancelled() => break,
        };
        let first = (started, Timestamp::now());
        match visited? {
            VisitOutcome::Page { page, links } => {
                studio.append_page(&page)?;
                crawled.pages += 1;
                on(Event::Visited { url: &page.url, title: page.title.as_deref().unwrap_or_default() });
                frontier.found(&visit, links);
                if crawl.twice {
                    tokio::select! {
                        () = politeness.wait(&visit.url) => {}
                        () = cancel.cancelled() => break,
                    }
                    let started = Timestamp::now();
                    let again = visit::visit(session, studio.in_flight(), &visit.url, crawl.page_deadline);
                    tokio::select! {
                        again = again => drop(again?),
                        () = cancel.cancelled() => break,
                    }
                    crawled.twice.push([first, (started, Timestamp::now())]);
                }
            }
            VisitOutcome::Failed(why) => on(Event::Skipped { url: &visit.url, why: Skip::Failed(why) }),
        }
    }
    Ok(crawled)
}

/// The politeness of a crawl: a delay between the pages of a host, and its robots.txt.
struct Politeness {
    delay: Duration,
    next: HashMap<String, Instant>,
    robots: HashMap<String, Robots>,
}

impl Politeness {
    fn new(delay: Duration) -> Politeness {
        Politeness { delay, next: HashMap::new(), robots: HashMap::new() }
    }

    /// Waits until the pause for the host of `url` is over.
    #[expect(clippy::disallowed_methods, reason = "the pause is the point: it spares the site")]
    async fn wait(&mut self, url: &Url) {
        let host = url.host_str().unwrap_or_default().to_owned();
        let now = Instant::now();
        let at = self.next.get(&host).copied().unwrap_or(now).max(now);
        self.next.insert(host, at + self.delay);
        tokio::time::sleep(at - now).await;
    }

    async fn allowed(
        &mut self,
        session: &mut Session,
        studio: &Studio,
        visit: &Visit,
        deadline: Duration,
    ) -> bool {
        let origin = visit.url.origin().ascii_serialization();
        if !self.robots.contains_key(&origin) {
            let text =
                visit::text_of(session, studio.in_flight(), &format!("{origin}/robots.txt"), deadline).await;
            // A site whose robots.txt cannot be read allows everything.
            self.robots.insert(origin.clone(), Robots::parse(&text.unwrap_or_default(), AGENT));
        }
        let path = &visit.url[url::Position::BeforePath..url::Position::AfterQuery];
        self.robots[&origin].allows(path)
    }
}
