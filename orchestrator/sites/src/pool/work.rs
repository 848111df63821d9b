//! The slow work of a pool: start an instance, restore its state, watch it, remove it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Message;
use crate::driver::Driver;
use crate::instance::Instance;
use crate::manifest::ResetPolicy;
use crate::{Error, Event, Events, Site, ready};

/// How many of an instance's last output lines an error shows.
pub(crate) const LAST_WORDS: usize = 20;

/// How long the first instances of slow sites delay the second instances of other sites.
const PRECEDENCE: Duration = Duration::from_secs(30);

/// The resources that the work on a site's instances needs.
#[derive(Clone)]
pub(super) struct Work {
    pub(super) site: Arc<Site>,
    pub(super) driver: Arc<dyn Driver>,
    pub(super) events: Events,
    pub(super) gate: Arc<Semaphore>,
    pub(super) unproven: watch::Sender<usize>,
    /// Cancelled when the site is being stopped.
    pub(super) stopping: CancellationToken,
}

impl Work {
    /// Starts an instance and waits until it can be leased. An instance that is not the site's
    /// `first` waits for the first instances of the other sites, so that all sites are usable as
    /// early as possible.
    pub(super) async fn start(
        &self,
        id: u32,
        first: bool,
        actor: &mpsc::UnboundedSender<Message>,
    ) -> (Result<Arc<Instance>, Error>, Duration) {
        if !first {
            let mut unproven = self.unproven.subscribe();
            let others = timeout(PRECEDENCE, unproven.wait_for(|left| *left == 0));
            tokio::select! {
                _ = others => {}
                () = self.stopping.cancelled() => {}
            }
        }
        if let Some(condition) = self.driver.lacks() {
            let _ = actor.send(Message::Waits { id, condition });
            self.until_nothing_lacks().await;
        }
        // Instances that all start at once would miss their deadlines.
        let permit = tokio::select! {
            permit = self.gate.acquire() => permit.ok(),
            () = self.stopping.cancelled() => None,
        };
        let began = Instant::now();
        if permit.is_none() || self.stopping.is_cancelled() {
            return (Err(Error::Stopped(self.site.name.clone())), began.elapsed());
        }
        (self.events)(&Event::Starting { site: self.site.name.clone(), instance: id });
        let instance = match self.driver.start(id).await {
            Ok(instance) => Arc::new(instance),
            Err(error) => return (Err(error), began.elapsed()),
        };
        let outcome = tokio::select! {
            outcome = self.make_ready(&instance, actor) => outcome,
            why = instance.over() => Err(self.ended(&instance, why).await),
            () = self.stopping.cancelled() => Err(Error::Stopped(self.site.name.clone())),
        };
        if let Err(error) = outcome {
            self.stop(&instance).await;
            return (Err(error), began.elapsed());
        }
        (Ok(instance), began.elapsed())
    }

    async fn make_ready(
        &self,
        instance: &Instance,
        actor: &mpsc::UnboundedSender<Message>,
    ) -> Result<(), Error> {
        let (site, id) = (&*self.site, instance.id);
        let waiting = |condition: &str| {
            (self.events)(&Event::Waiting {
                site: site.name.clone(),
                instance: id,
                condition: condition.to_owned(),
            });
            let _ = actor.send(Message::Waits { id, condition: condition.to_owned() });
        };
        if let Err(condition) = ready::wait(site, instance, waiting).await {
            let within = site.ready_within.0;
            let log = instance.machine.log(LAST_WORDS).await;
            return Err(Error::NotReady { site: site.name.clone(), within, condition, log });
        }
        for command in site.driver.after_start() {
            instance.machine.exec(&command.exec, command.user.as_deref()).await?;
        }
        if matches!(site.reset, ResetPolicy::Restore | ResetPolicy::WhenDirty)
            && !site.driver.has_sidecars()
        {
            instance.machine.settle().await;
            // The application and our readiness checks may have written something. The restore
            // gives the first lease the same state as later ones.
            if let Some(difference) = instance.restore(site).await? {
                return Err(Error::Drift { site: site.name.clone(), difference });
            }
        }
        Ok(())
    }

    /// Restores the state. Returns the remaining difference from the golden state.
    pub(super) async fn restore(&self, instance: &Instance) -> Result<Option<String>, Error> {
        tokio::select! {
            restored = instance.restore(&self.site) => restored,
            why = instance.machine.ended() => Err(self.ended(instance, why).await),
        }
    }

    /// Waits until the instance ends unexpectedly.
    pub(super) async fn watch(&self, instance: &Instance) -> Error {
        let why = instance.over().await;
        self.ended(instance, why).await
    }

    async fn ended(&self, instance: &Instance, why: String) -> Error {
        let log = instance.machine.log(LAST_WORDS).await;
        Error::Died { site: self.site.name.clone(), instance: instance.id, why, log }
    }

    /// Removes an instance. If that fails, the failure is reported and the end of the group removes
    /// the rest.
    pub(super) async fn stop(&self, instance: &Instance) {
        while let Err(error) = instance.machine.stop().await {
            if error.is_gone() && !self.stopping.is_cancelled() {
                self.until_nothing_lacks().await;
                continue;
            }
            tracing::warn!(site = self.site.name, instance = instance.id, %error, "an instance could not be removed");
            break;
        }
    }

    /// Waits until instances can be started and removed again, or the site is stopped.
    async fn until_nothing_lacks(&self) {
        tokio::select! {
            () = self.driver.lacks_nothing() => {}
            () = self.stopping.cancelled() => {}
        }
    }
}
