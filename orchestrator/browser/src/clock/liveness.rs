//! Waiting for what may never come.
//!
//! A page need not read an answer, a navigation may come to nothing, a hidden page shows no frames. Such a wait has to end, and where it ends
//! too early, on a machine that is too busy to run the browser, a run does not repeat. So patience is not a matter of time alone: a wait is
//! given up only after [`ROUNDS`] rounds, and between two of them the browser's processes answer a question, however long that takes them. What
//! was on its way to them has had its turn by then.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::{sync::oneshot::Receiver, time::timeout};

use crate::{
    Error,
    cdp::{
        connection::{Answer, Cdp},
        tracker::{Page, State, Watch},
    },
};

const ROUNDS: u32 = 5;

/// The end of a settling as a whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeLimit {
    end: Instant,
    /// The time from the beginning to the end.
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

/// Who is asked, and until when at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LivenessWait<'a> {
    pub(crate) cdp: &'a Cdp,
    pub(crate) watch: &'a Watch,
    pub(crate) page: &'a Page,
    pub(crate) limit: TimeLimit,
}

/// Shares of a wait's time, with a round trip between two of them.
#[derive(Debug)]
pub(crate) struct WaitRounds<'a> {
    wait: LivenessWait<'a>,
    time: Duration,
    round: u32,
}

impl WaitRounds<'_> {
    /// How long to wait this time; the last time it is only a look. None is the end of all patience.
    pub(crate) async fn next(&mut self) -> Result<Option<Duration>, Error> {
        if self.round > 0 && self.round <= ROUNDS {
            self.wait.ping_browser().await?;
        }
        self.round += 1;
        let share = (self.time / ROUNDS).min(self.wait.limit.remaining());
        Ok((self.round <= ROUNDS + 1).then_some(if self.round <= ROUNDS { share } else { Duration::ZERO }))
    }
}

impl<'a> LivenessWait<'a> {
    pub(crate) fn rounds(self, time: Duration) -> WaitRounds<'a> {
        WaitRounds { wait: self, time, round: 0 }
    }

    /// Waits until `ready` holds; false is that it has not come to that.
    pub(crate) async fn until(
        self,
        time: Duration,
        condition: impl Fn(&State) -> String,
        ready: impl Fn(&State) -> bool,
    ) -> Result<bool, Error> {
        let mut rounds = self.rounds(time);
        while let Some(share) = rounds.next().await? {
            match self.watch.until(share, &condition, |state| ready(state).then_some(())).await {
                Ok(()) => return Ok(true),
                Err(Error::Deadline { .. }) if !self.limit.remaining().is_zero() => {}
                // The whole of it is over, and this is what was waited for.
                Err(Error::Deadline { condition, .. }) => {
                    return Err(Error::Deadline { condition, waited: self.limit.whole });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Waits for the answer to a command that was sent; false is that it has not come.
    pub(crate) async fn answer(self, time: Duration, mut answer: Receiver<Answer>) -> Result<bool, Error> {
        let mut rounds = self.rounds(time);
        while let Some(share) = rounds.next().await? {
            if timeout(share, &mut answer).await.is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A question to the network's process and one to the page's.
    async fn ping_browser(self) -> Result<(), Error> {
        self.ping("Network.getCookies", json!({ "urls": ["http://127.0.0.1/"] })).await?;
        self.ping_page().await
    }

    /// A question to the page: what it had to tell has been told when it is answered.
    pub(crate) async fn ping_page(self) -> Result<(), Error> {
        self.ping("Runtime.evaluate", json!({ "expression": "0" })).await
    }

    async fn ping(self, method: &'static str, params: Value) -> Result<(), Error> {
        match self.cdp.call_within(Some(&self.page.session), method, params, self.limit.remaining()).await {
            // A page that has gone away has nothing to wait for.
            Ok(_) | Err(Error::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
