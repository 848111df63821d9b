//! An instance that is somebody's, until it is handed back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::instance::Instance;
use crate::manifest::Host;
use crate::pool::{LAST_WORDS, LeaseReturn, Message};
use crate::{ApiClient, Error, LoginSession, Site, Upstream, probe};

/// How long an instance may take to accept a connection.
const ACCEPTS: Duration = Duration::from_secs(10);
/// How long after an instance has ended it takes at most to hear of it.
const TOLD: Duration = Duration::from_secs(10);

/// A pristine instance of a site, for whoever holds this alone.
///
/// Dropping it is handing it back as changed.
pub struct Lease {
    instance: Arc<Instance>,
    back: LeaseReturn,
    /// Whether somebody has to hear of its end.
    held: bool,
}

impl Lease {
    pub(crate) fn new(instance: Arc<Instance>, back: LeaseReturn) -> Lease {
        Lease { instance, back, held: true }
    }

    /// Nobody took it: it is as if it had never been.
    pub(crate) fn revoke(mut self) {
        self.held = false;
    }

    /// What the manifest says.
    pub fn site(&self) -> &Site {
        &self.back.site
    }

    /// The number of the instance within its site.
    pub fn instance(&self) -> u32 {
        self.instance.id
    }

    /// Where requests for the site's hosts go.
    pub fn upstream(&self) -> Upstream {
        self.instance.upstream.clone()
    }

    /// Where requests for one of the site's hosts go: that, at the port which the host names.
    pub fn upstream_of(&self, host: &Host) -> Upstream {
        match (self.upstream(), host.port) {
            (Upstream::Address(address), Some(port)) => Upstream::Address((address.ip(), port).into()),
            (upstream, _) => upstream,
        }
    }

    /// Sets the site's wall clock, forwards or back. A site whose manifest has no `clock` lives by
    /// real time and takes no notice.
    ///
    /// # Errors
    /// When the clock's file cannot be written.
    pub fn set_clock(&self, now: Timestamp) -> Result<(), Error> {
        self.instance.clock.set(now)
    }

    /// What a browser needs to be this account of the manifest. Done once for each account and
    /// kept; a log-in that was kept is looked at with the manifest's `check` and renewed where that
    /// no longer holds.
    ///
    /// To be called before the episode's first request: where a log-in leaves traces in the state,
    /// the state is put back.
    ///
    /// # Errors
    /// When there is no such account, or the site does not let it in.
    pub async fn login(&self, account: &str) -> Result<LoginSession, Error> {
        self.health()?;
        self.explain(self.back.log_ins.log_in(self.site(), &self.instance, account).await)
    }

    /// Asks a probe of the manifest. Parameters may be more than it names.
    ///
    /// # Errors
    /// When there is no such probe, a parameter of it is missing, or it has no answer.
    pub async fn probe(&self, name: &str, parameters: &BTreeMap<String, Value>) -> Result<Value, Error> {
        self.health()?;
        self.explain(probe::ask(self.site(), &self.instance, name, parameters).await)
    }

    /// Who asks the site's interface for programs, as an account of the manifest.
    ///
    /// # Errors
    /// When there is no such account.
    pub fn caller(&self, account: &str) -> Result<ApiClient, Error> {
        ApiClient::new(self.site(), &self.instance.upstream, account)
    }

    /// The first thing in which the state differs from the golden one; nothing where the state is
    /// not seen.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn difference(&self) -> Result<Option<String>, Error> {
        self.instance.content.difference().await
    }

    /// A digest of the state, where it is seen: equal states have equal digests.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn digest(&self) -> Result<Option<String>, Error> {
        self.instance.content.digest().await
    }

    /// Whether the instance still runs.
    ///
    /// # Errors
    /// How it ended, with its last words.
    pub fn health(&self) -> Result<(), Error> {
        match &*self.instance.ended.borrow() {
            None => Ok(()),
            Some(error) => Err(Error::Shared(Arc::clone(error))),
        }
    }

    /// Whether the instance still runs, looked at now: that it has ended is told a moment after
    /// what was asked of it has failed.
    ///
    /// # Errors
    /// As [`Lease::health`], and when it accepts no connection.
    pub async fn check(&self) -> Result<(), Error> {
        if let Upstream::Address(address) = self.instance.upstream
            && !matches!(timeout(ACCEPTS, TcpStream::connect(address)).await, Ok(Ok(_)))
        {
            let condition =
                format!("instance {} of `{}` to accept a connection", self.instance.id, self.site().name);
            let silent = |_| Error::Deadline { within: ACCEPTS, condition };
            return Err(timeout(TOLD, self.ended()).await.unwrap_or_else(silent));
        }
        self.health()
    }

    /// Whether the instance is what it was when it became ready, as far as whatever runs it knows.
    pub(crate) async fn examine(&self) -> Result<(), Error> {
        self.health()?;
        let Some(why) = self.instance.machine.fault().await else { return Ok(()) };
        let log = self.instance.machine.log(LAST_WORDS).await;
        Err(Error::Died { site: self.site().name.clone(), instance: self.instance.id, why, log })
    }

    /// Waits until the instance has ended by itself; how it did.
    pub async fn ended(&self) -> Error {
        self.ending().await
    }

    /// The same for whoever does not have the lease at hand.
    pub fn ending(&self) -> impl Future<Output = Error> + Send + use<> {
        let (instance, name) = (Arc::clone(&self.instance), self.site().name.clone());
        async move {
            let mut ended = instance.ended.subscribe();
            match ended.wait_for(Option::is_some).await.map(|ended| ended.clone()) {
                Ok(Some(error)) => Error::Shared(error),
                _ => Error::Stopped(name),
            }
        }
    }

    /// Gives the instance back; `changed` if a request may have changed something. Returns at once:
    /// what has to be done for the next one happens in the background.
    pub async fn hand_back(mut self, changed: bool) {
        self.give(changed);
    }

    fn give(&mut self, changed: bool) {
        if std::mem::take(&mut self.held) {
            // Where nobody listens any more, everything has been stopped.
            let _ = self.back.actor.send(Message::HandBack { id: self.instance.id, changed });
        }
    }

    /// What failed because the instance has ended is told by its end.
    fn explain<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.or_else(|error| self.health().and(Err(error)))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.give(true);
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lease({} instance {} at {})", self.site().name, self.instance.id, self.instance.upstream)
    }
}
