//! The manners of a crawl: a pause between the pages of a host, longer for one that asks for it,
//! and its robots.txt.

use std::collections::HashMap;
use std::time::Duration;

use browser::Session;
use tokio::time::Instant;
use url::Url;

use crate::robots::Robots;
use crate::{RecordingGateway, visit};

/// Our name in robots.txt.
const AGENT: &str = "sandbox";
/// The longest pause between two pages of a host that asks to come back later.
const MAX_DELAY: Duration = Duration::from_secs(60);
/// The first such pause where the user wants none.
const MIN_SLOW_DELAY: Duration = Duration::from_millis(250);

/// The rules and the pace of a crawl's hosts.
pub(crate) struct Politeness {
    delay: Duration,
    /// Pauses of hosts that have asked to come back later.
    delays: HashMap<String, Duration>,
    /// When the next page of a host may be loaded.
    next: HashMap<String, Instant>,
    robots: HashMap<String, Robots>,
}

impl Politeness {
    pub(crate) fn new(delay: Duration) -> Politeness {
        Politeness { delay, delays: HashMap::new(), next: HashMap::new(), robots: HashMap::new() }
    }

    /// Waits until the pause for the host of `url` is over.
    #[expect(clippy::disallowed_methods, reason = "the pause is the point: it spares the site")]
    pub(crate) async fn wait(&mut self, url: &Url) {
        let host = url.host_str().unwrap_or_default().to_owned();
        let delay = self.delays.get(&host).copied().unwrap_or(self.delay);
        let now = Instant::now();
        let at = self.next.get(&host).copied().unwrap_or(now).max(now);
        self.next.insert(host, at + delay);
        tokio::time::sleep(at - now).await;
    }

    /// Doubles the pause for the host of `url`, from the next page on.
    pub(crate) fn slow_down(&mut self, url: &Url) {
        let host = url.host_str().unwrap_or_default().to_owned();
        let delay = self.delays.entry(host.clone()).or_insert(self.delay);
        *delay = (*delay * 2).clamp(MIN_SLOW_DELAY, MAX_DELAY);
        self.next.insert(host, Instant::now() + *delay);
    }

    /// Halves the pause for the host of `url` again: it has answered.
    pub(crate) fn speed_up(&mut self, url: &Url) {
        if let Some(delay) = url.host_str().and_then(|host| self.delays.get_mut(host)) {
            *delay = (*delay / 2).max(self.delay);
        }
    }

    /// Whether the site's robots.txt allows a page.
    pub(crate) async fn allows(
        &mut self,
        session: &mut Session,
        studio: &RecordingGateway,
        url: &Url,
        deadline: Duration,
    ) -> bool {
        let origin = url.origin().ascii_serialization();
        if !self.robots.contains_key(&origin) {
            let text = visit::text_of(
                session,
                studio.in_flight(),
                &format!("{origin}/robots.txt"),
                deadline,
            )
            .await;
            // A site whose robots.txt cannot be read allows everything.
            self.robots.insert(origin.clone(), Robots::parse(&text.unwrap_or_default(), AGENT));
        }
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        self.robots[&origin].allows(path)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_asks_for_it_gets_longer_and_longer_pauses() {
        let url = Url::parse("https://a.test/").unwrap();
        let mut politeness = Politeness::new(Duration::ZERO);
        let mut delays = Vec::new();
        for _ in 0..10 {
            politeness.slow_down(&url);
            delays.push(politeness.delays["a.test"]);
        }
        assert_eq!(delays[..2], [MIN_SLOW_DELAY, MIN_SLOW_DELAY * 2]);
        assert_eq!(delays.last(), Some(&MAX_DELAY));
        politeness.speed_up(&url);
        assert_eq!(politeness.delays["a.test"], MAX_DELAY / 2);
    }
}
