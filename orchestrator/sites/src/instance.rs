//! One running instance of a site, independent of its driver.

use std::collections::BTreeMap;
use std::sync::Arc;

use doors::SiteTarget;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::content::Content;
use crate::driver::InstanceRuntime;
use crate::quota::Quota;
use crate::{Error, Site};

/// An instance that was started.
pub(crate) struct Instance {
    /// Its number within its site, counted from 1; never reused.
    pub(crate) id: u32,
    pub(crate) upstream: SiteTarget,
    pub(crate) clock: Clock,
    pub(crate) content: Content,
    pub(crate) machine: Box<dyn InstanceRuntime>,
    /// The addresses of its other ports, if not at the address of `upstream`.
    pub(crate) ports: BTreeMap<u16, SiteTarget>,
    /// The disk quota of its folder.
    quota: Option<Quota>,
    /// The reason of its end, once it has ended.
    pub(crate) ended: watch::Sender<Option<Arc<Error>>>,
}

impl Instance {
    pub(crate) fn new(
        id: u32,
        upstream: SiteTarget,
        clock: Clock,
        content: Content,
        machine: Box<dyn InstanceRuntime>,
    ) -> Instance {
        let (ports, quota, ended) = (BTreeMap::new(), None, watch::Sender::new(None));
        Instance { id, upstream, clock, content, machine, ports, quota, ended }
    }

    /// Adds a quota. The instance is ended when it exceeds the quota.
    pub(crate) fn held_to(self, quota: Quota) -> Instance {
        Instance { quota: Some(quota), ..self }
    }

    /// Adds the places of its ports.
    pub(crate) fn with_ports(self, ports: BTreeMap<u16, SiteTarget>) -> Instance {
        Instance { ports, ..self }
    }

    /// Waits until it ends, by itself or because of its quota. Returns how it ended.
    pub(crate) async fn over(&self) -> String {
        let exceeded = async {
            match &self.quota {
                Some(quota) => quota.exceeded().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            why = self.machine.ended() => why,
            why = exceeded => why,
        }
    }

    /// Whether its state can be restored while the application runs. The state of sidecars is not
    /// accessible.
    pub(crate) fn restores(&self, site: &Site) -> bool {
        self.content.restores() && !site.driver.has_sidecars()
    }

    /// Restores the state and the clock. Returns the remaining difference from the golden state.
    pub(crate) async fn restore(&self, site: &Site) -> Result<Option<String>, Error> {
        self.set_clock_back(site)?;
        let put_back = async {
            self.put_back(site).await?;
            self.machine.put_back().await
        };
        match put_back.await {
            Ok(None) => self.content.difference().await,
            // The application has changed the state in a way that cannot be restored.
            Err(Error::State(error)) => Ok(Some(error.into_drift()?)),
            other => other,
        }
    }

    /// Restores the state and flushes caches.
    pub(crate) async fn put_back(&self, site: &Site) -> Result<(), Error> {
        self.content.restore().await?;
        for command in &site.state.flush {
            self.machine.exec(&command.exec, command.user.as_deref()).await?;
        }
        Ok(())
    }

    /// Sets the clock to the start time of an episode.
    pub(crate) fn set_clock_back(&self, site: &Site) -> Result<(), Error> {
        site.clock.map_or(Ok(()), |start| self.clock.set(start))
    }
}
