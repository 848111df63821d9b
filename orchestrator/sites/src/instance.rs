//! One running instance of a site, whatever runs it.

use std::net::SocketAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use url::Url;

use crate::clock::Clock;
use crate::content::Content;
use crate::driver::Machine;
use crate::quota::Quota;
use crate::{Error, Site};

/// Where the gateway finds an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Upstream {
    /// On this machine, in plain HTTP.
    Address(SocketAddr),
    /// A site that is not ours, by its URL.
    Url(Url),
}

impl std::fmt::Display for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Upstream::Address(address) => address.fmt(f),
            Upstream::Url(url) => url.fmt(f),
        }
    }
}

/// An instance that was started.
pub(crate) struct Instance {
    /// Its number within its site, counted from 1; never used again.
    pub(crate) id: u32,
    pub(crate) upstream: Upstream,
    pub(crate) clock: Clock,
    pub(crate) content: Content,
    pub(crate) machine: Box<dyn Machine>,
    /// What it may write to this machine's disk.
    quota: Option<Quota>,
    /// How it ended, once it has.
    pub(crate) ended: watch::Sender<Option<Arc<Error>>>,
}

impl Instance {
    pub(crate) fn new(
        id: u32,
        upstream: Upstream,
        clock: Clock,
        content: Content,
        machine: Box<dyn Machine>,
    ) -> Instance {
        Instance { id, upstream, clock, content, machine, quota: None, ended: watch::Sender::new(None) }
    }

    /// One that is ended when it writes more than that.
    pub(crate) fn held_to(self, quota: Quota) -> Instance {
        Instance { quota: Some(quota), ..self }
    }

    /// Waits until it ends, by itself or because it may not go on, and says how.
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

    /// Whether its state can be put back under the running application. That of sidecars is not
    /// seen.
    pub(crate) fn restores(&self, site: &Site) -> bool {
        self.content.restores() && !site.driver.has_sidecars()
    }

    /// Puts the state and the clock back, and says in what the state still differs from the golden
    /// one.
    pub(crate) async fn restore(&self, site: &Site) -> Result<Option<String>, Error> {
        self.set_clock_back(site)?;
        let put_back = async {
            self.put_back(site).await?;
            self.machine.put_back().await
        };
        match put_back.await {
            Ok(None) => self.content.difference().await,
            // What the application has done cannot be put back.
            Err(Error::State(error)) => Ok(Some(error.into_drift()?)),
            other => other,
        }
    }

    /// Puts the state back and empties caches.
    pub(crate) async fn put_back(&self, site: &Site) -> Result<(), Error> {
        self.content.restore().await?;
        for command in &site.state.flush {
            self.machine.exec(&command.exec, command.user.as_deref()).await?;
        }
        Ok(())
    }

    /// The clock as it is at the start of every episode.
    pub(crate) fn set_clock_back(&self, site: &Site) -> Result<(), Error> {
        site.clock.map_or(Ok(()), |start| self.clock.set(start))
    }
}
