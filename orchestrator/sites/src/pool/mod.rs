//! Pools: the instances of one site, and their leases.
//!
//! One task, the actor in `supervisor`, owns every transition. Everybody else sends it messages.
//! Slow work (start, restore, stop) runs in separate tasks, which report the result to the actor.
//!
//! ```text
//!            start            conditions hold            lease
//!  (nothing) ----> Starting ------------------> Ready <----------> Leased
//!                     |                           ^                  | handed back
//!                     | fails: after a pause,     |    restored      v
//!                     | at most three times       +------------- Recycling
//!                     v                                              | policy, drift or failure
//!                 given up            (nothing) <---- Leaving <------+
//! ```
//!
//! A running instance may end by itself in any phase. It is then removed, and another one is
//! started.

mod supervisor;
mod work;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, oneshot, watch};
pub(crate) use work::LAST_WORDS;

use crate::driver::Driver;
use crate::instance::Instance;
use crate::login::LoginSessions;
use crate::{Error, Events, Lease, Site, SiteState, SiteStatus, follow};

type Reply<T> = oneshot::Sender<Result<T, Arc<Error>>>;

/// The messages to the actor.
pub(crate) enum Message {
    /// A client requests a lease.
    Lease(Reply<Lease>),
    /// A leased instance is handed back.
    HandBack { id: u32, changed: bool },
    /// A starting instance waits for a condition.
    Waits { id: u32, condition: String },
    /// The start of an instance succeeded or failed.
    Started { id: u32, result: Result<Arc<Instance>, Error>, took: Duration },
    /// A restore finished, with the remaining difference, or failed.
    Restored { id: u32, result: Result<Option<String>, Error>, took: Duration },
    /// An instance was removed.
    Gone { id: u32, took: Duration },
    /// An instance ended unexpectedly.
    Ended { id: u32, error: Error },
    /// The measured memory of an instance.
    Memory { id: u32, bytes: u64 },
    /// Make all unleased instances pristine again.
    Reset(Reply<()>),
    /// Remove all instances.
    Stop(oneshot::Sender<()>),
}

/// The settings of a pool.
pub(crate) struct PoolSettings {
    pub(crate) site: Arc<Site>,
    pub(crate) driver: Arc<dyn Driver>,
    /// How many instances can be leased at the same time.
    pub(crate) instances: usize,
    pub(crate) events: Events,
    /// Limits how many instances of all sites start at the same time.
    pub(crate) gate: Arc<Semaphore>,
    /// The number of sites that have neither had a ready instance nor been given up.
    pub(crate) unproven: watch::Sender<usize>,
}

/// A handle on the instances of one site.
#[derive(Clone)]
pub(crate) struct Pool {
    site: Arc<Site>,
    actor: mpsc::UnboundedSender<Message>,
    status: watch::Receiver<SiteStatus>,
    instances: watch::Receiver<Vec<Arc<Instance>>>,
}

impl Pool {
    /// Begins to start instances.
    pub(crate) fn open(settings: PoolSettings) -> Pool {
        let site = Arc::clone(&settings.site);
        let (actor, inbox) = mpsc::unbounded_channel();
        let (status, instances) = supervisor::run(settings, inbox, actor.downgrade());
        Pool { site, actor, status, instances }
    }

    pub(crate) fn site(&self) -> &Arc<Site> {
        &self.site
    }

    pub(crate) fn status(&self) -> SiteStatus {
        self.status.borrow().clone()
    }

    /// All running instances, the oldest first.
    pub(crate) fn instances(&self) -> Vec<Arc<Instance>> {
        self.instances.borrow().clone()
    }

    /// The future output of all instances, after the last lines of the running ones.
    pub(crate) fn follow(&self, lines: usize) -> mpsc::Receiver<(u32, String)> {
        follow::follow(self.instances.clone(), lines)
    }

    /// Waits until an instance is ready, or the site has failed.
    pub(crate) async fn settled(&self) -> SiteStatus {
        let mut status = self.status.clone();
        let settled = status.wait_for(|status| status.state != SiteState::Starting).await;
        settled.map(|status| status.clone()).unwrap_or_else(|_| self.status())
    }

    pub(crate) async fn lease(&self, within: Duration) -> Result<Lease, Error> {
        let leasing = async {
            loop {
                let (reply, answer) = oneshot::channel();
                self.tell(Message::Lease(reply))?;
                let lease = self.unwrap(answer.await)?;
                // The instance may have ended since it became ready, without a notification yet.
                let Err(error) = lease.examine().await else { return Ok(lease) };
                self.tell(Message::Ended { id: lease.instance(), error })?;
            }
        };
        match tokio::time::timeout(within, leasing).await {
            Ok(leased) => leased,
            Err(_) => Err(Error::Deadline { within, condition: self.wanting() }),
        }
    }

    pub(crate) async fn reset(&self) -> Result<(), Error> {
        let (reply, answer) = oneshot::channel();
        self.tell(Message::Reset(reply))?;
        self.unwrap(answer.await)
    }

    pub(crate) async fn stop(&self) {
        let (reply, answer) = oneshot::channel();
        if self.tell(Message::Stop(reply)).is_ok() {
            let _ = answer.await;
        }
    }

    /// Measures the memory of every instance.
    pub(crate) async fn measure(&self) {
        for instance in self.instances() {
            if let Some(bytes) = instance.machine.memory().await {
                let _ = self.tell(Message::Memory { id: instance.id, bytes });
            }
        }
    }

    fn tell(&self, message: Message) -> Result<(), Error> {
        self.actor.send(message).map_err(|_| Error::Stopped(self.site.name.clone()))
    }

    fn unwrap<T>(
        &self,
        answer: Result<Result<T, Arc<Error>>, oneshot::error::RecvError>,
    ) -> Result<T, Error> {
        match answer {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(shared)) => Err(Error::Shared(shared)),
            Err(_) => Err(Error::Stopped(self.site.name.clone())),
        }
    }

    /// The condition that a lease waits for, as text.
    fn wanting(&self) -> String {
        let status = self.status();
        let states: Vec<String> = status
            .instances
            .iter()
            .map(|instance| {
                let phase = format!("{:?}", instance.phase).to_lowercase();
                match &instance.condition {
                    Some(condition) => {
                        format!("instance {} is {phase}, waiting for {condition}", instance.id)
                    }
                    None => format!("instance {} is {phase}", instance.id),
                }
            })
            .collect();
        let states = if states.is_empty() { "there is none".to_owned() } else { states.join("; ") };
        let problem =
            status.problem.map(|problem| format!("; last failed to {problem}")).unwrap_or_default();
        format!("a free instance of {}: {states}{problem}", self.site.name)
    }
}

/// The handles that leases share with their pool.
#[derive(Clone)]
pub(crate) struct LeaseReturn {
    pub(crate) site: Arc<Site>,
    pub(crate) actor: mpsc::UnboundedSender<Message>,
    pub(crate) log_ins: Arc<LoginSessions>,
}
