//! Waits for events that may never come.
//!
//! A page need not read a response, a navigation may come to nothing, a hidden page draws no
//! frames. Such a wait needs an end. If it ends too early, on a machine that is too busy to run the
//! browser, the run does not repeat. So time alone does not end it: a wait has [`ROUNDS`] rounds,
//! and between two of them the browser's processes answer a ping, however long that takes. By then
//! they have handled what was on its way to them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::oneshot::Receiver;
use tokio::time::timeout;

use crate::Error;
use crate::cdp::connection::{Cdp, Reply};
use crate::cdp::tracker::{BrowserState, FOREVER, Page, Tracker};
use crate::clock::blocked::BlockWatch;
use crate::clock::state::ClockState;

const ROUNDS: u32 = 5;

/// The deadline of one call of [`Session::settle`](crate::Session::settle).
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeLimit {
    end: Instant,
    /// The time from the beginning to the deadline.
    pub(crate) whole: Duration,
}

impl TimeLimit {
    pub(crate) fn after(whole: Duration) -> Self {
        Self { end: Instant::now() + whole, whole }
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }
}

/// The page to ping, and the deadline of the wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LivenessWait<'a> {
    pub(crate) cdp: &'a Cdp,
    pub(crate) tracker: &'a Tracker,
    pub(crate) page: &'a Page,
    pub(crate) limit: TimeLimit,
}

/// Parts of a wait's time, with a ping between two of them.
#[derive(Debug)]
pub(crate) struct WaitRounds<'a> {
    wait: LivenessWait<'a>,
    time: Duration,
    round: u32,
}

impl WaitRounds<'_> {
    /// How long to wait in this round; the last round is only a check. `None` ends the wait.
    pub(crate) async fn next(&mut self) -> Result<Option<Duration>, Error> {
        if self.round > 0 && self.round <= ROUNDS {
            self.wait.ping_browser().await?;
        }
        self.round += 1;
        let share = (self.time / ROUNDS).min(self.wait.limit.remaining());
        Ok((self.round <= ROUNDS + 1).then_some(if self.round <= ROUNDS {
            share
        } else {
            Duration::ZERO
        }))
    }
}

impl<'a> LivenessWait<'a> {
    pub(crate) fn rounds(self, time: Duration) -> WaitRounds<'a> {
        WaitRounds { wait: self, time, round: 0 }
    }

    /// Tells whether the page waits for a response in a script.
    pub(crate) fn block_watch(self) -> BlockWatch<'a> {
        BlockWatch::new(self.tracker, self.cdp, &self.page.session)
    }

    /// Waits until `ready` is true. Returns false if it did not become true.
    pub(crate) async fn until(
        self,
        time: Duration,
        condition: impl Fn(&BrowserState) -> String,
        ready: impl Fn(&BrowserState) -> bool,
    ) -> Result<bool, Error> {
        let mut rounds = self.rounds(time);
        while let Some(share) = rounds.next().await? {
            match self.tracker.wait_for(share, &condition, |state| ready(state).then_some(())).await
            {
                Ok(()) => return Ok(true),
                Err(Error::Deadline { .. }) if !self.limit.remaining().is_zero() => {}
                // The deadline has passed, and this is the condition that did not come true.
                Err(Error::Deadline { condition, .. }) => {
                    return Err(Error::Deadline { condition, waited: self.limit.whole });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Waits for the reply to a command. Returns false if it did not come.
    pub(crate) async fn answer(
        self,
        time: Duration,
        mut answer: Receiver<Reply>,
    ) -> Result<bool, Error> {
        let mut rounds = self.rounds(time);
        while let Some(share) = rounds.next().await? {
            if timeout(share, &mut answer).await.is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A round trip to the network process and one to the page.
    async fn ping_browser(self) -> Result<(), Error> {
        self.ping_network().await?;
        self.ping_page().await
    }

    /// A round trip to the network process, which a page's script cannot delay.
    pub(crate) async fn ping_network(self) -> Result<(), Error> {
        self.ping("Network.getCookies", json!({ "urls": ["http://127.0.0.1/"] })).await
    }

    /// A round trip to the page. The page's earlier events have come when it is answered.
    ///
    /// A page that is being replaced answers only afterwards. While responses are held back, that
    /// would be never.
    pub(crate) async fn ping_page(self) -> Result<(), Error> {
        let condition = |_: &BrowserState| "the page to be replaced".to_owned();
        let is_held = |state: &BrowserState| {
            state.part::<ClockState>().holds_responses
                && state.traffic.is_navigating(&self.page.target)
        };
        let held = self.tracker.wait_for(FOREVER, condition, |state| is_held(state).then_some(()));
        tokio::select! {
            biased;
            held = held => held,
            answer = self.ping("Runtime.evaluate", json!({ "expression": "0" })) => answer,
        }
    }

    async fn ping(self, method: &'static str, params: Value) -> Result<(), Error> {
        match self
            .cdp
            .call_within(Some(&self.page.session), method, params, self.limit.remaining())
            .await
        {
            // A page that has gone has nothing to wait for.
            Ok(_) | Err(Error::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::{Determinism, Launch, Session};

    #[tokio::test]
    async fn a_page_that_waits_for_a_held_response_is_not_waited_for() {
        // Connections are taken, and never answered.
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
        let launch =
            Launch { determinism: Some(world), ..Launch::new(proxy.local_addr().unwrap(), "") };
        let session = Session::start(&launch).await.unwrap();
        let page = session.tracker.lock().active().unwrap();
        let url = json!({ "url": "http://never.test/" });
        let _answer = session.cdp().send(Some(&page.session), "Page.navigate", url);
        let condition = |_: &BrowserState| "the page to be replaced".to_owned();
        let navigates =
            |state: &BrowserState| state.traffic.is_navigating(&page.target).then_some(());
        session.tracker.wait_for(Duration::from_secs(20), condition, navigates).await.unwrap();
        session.tracker.lock().part_mut::<ClockState>().holds_responses = true;
        let wait = session.liveness_wait(&page, TimeLimit::after(Duration::from_secs(5)));
        wait.ping_page().await.unwrap();
        session.tracker.lock().part_mut::<ClockState>().holds_responses = false;
        session.close().await.unwrap();
    }
}
