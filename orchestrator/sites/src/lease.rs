//! Exclusive use of an instance until it is handed back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::timeout;

use crate::instance::Instance;
use crate::manifest::Host;
use crate::pool::{LAST_WORDS, LeaseReturn, Message};
use crate::{ApiClient, Error, LoginSession, Site, SiteTarget, probe};

/// The timeout for an instance to accept a connection.
const ACCEPTS: Duration = Duration::from_secs(10);
/// The maximum delay between the end of an instance and its notification.
const NOTIFIED_WITHIN: Duration = Duration::from_secs(10);

/// Exclusive use of a pristine instance of a site.
///
/// Dropping a lease hands the instance back as changed.
pub struct Lease {
    instance: Arc<Instance>,
    back: LeaseReturn,
    /// Whether the pool must be notified when this is dropped.
    held: bool,
}

impl Lease {
    pub(crate) fn new(instance: Arc<Instance>, back: LeaseReturn) -> Lease {
        Lease { instance, back, held: true }
    }

    /// Cancels a lease that nobody received.
    pub(crate) fn revoke(mut self) {
        self.held = false;
    }

    /// The site, as its manifest describes it.
    pub fn site(&self) -> &Site {
        &self.back.site
    }

    /// The number of the instance within its site.
    pub fn instance(&self) -> u32 {
        self.instance.id
    }

    /// The target for requests to the site's hosts.
    pub fn upstream(&self) -> SiteTarget {
        self.instance.upstream.clone()
    }

    /// The target for requests to one of the site's hosts. A host with its own port gets that port.
    pub fn upstream_of(&self, host: &Host) -> SiteTarget {
        if let Some(led) = host.port.and_then(|port| self.instance.ports.get(&port)) {
            return led.clone();
        }
        match (self.upstream(), host.port) {
            (SiteTarget::Address(address), Some(port)) => {
                SiteTarget::Address((address.ip(), port).into())
            }
            (upstream, _) => upstream,
        }
    }

    /// Sets the site's wall clock, forwards or back. Does nothing for a site without `clock` in its
    /// manifest: it uses real time.
    ///
    /// # Errors
    /// When the clock file cannot be written.
    pub fn set_clock(&self, now: Timestamp) -> Result<(), Error> {
        self.instance.clock.set(now)
    }

    /// Returns the cookies and headers with which a browser is logged in as an account of the
    /// manifest. The log-in is done once for each account and cached. A cached log-in is verified
    /// with the manifest's `check`, and renewed if the check fails.
    ///
    /// Call this before the episode's first request: if a log-in changes the state, the state is
    /// restored afterwards.
    ///
    /// # Errors
    /// When there is no such account, or the site rejects it.
    pub async fn login(&self, account: &str) -> Result<LoginSession, Error> {
        self.health()?;
        self.explain(self.back.log_ins.log_in(self.site(), &self.instance, account).await)
    }

    /// Evaluates a probe of the manifest. Parameters that the probe does not name are ignored.
    ///
    /// # Errors
    /// When there is no such probe, a parameter is missing, or the probe returns no value.
    pub async fn probe(
        &self,
        name: &str,
        parameters: &BTreeMap<String, Value>,
    ) -> Result<Value, Error> {
        self.health()?;
        self.explain(probe::ask(self.site(), &self.instance, name, parameters).await)
    }

    /// Returns a client of the site's API, as an account of the manifest.
    ///
    /// # Errors
    /// When there is no such account.
    pub fn api_client(&self, account: &str) -> Result<ApiClient, Error> {
        ApiClient::new(self.site(), &self.instance.upstream, account)
    }

    /// Returns the first difference between the state and the golden state; `None` if the state is
    /// not accessible.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn difference(&self) -> Result<Option<String>, Error> {
        self.instance.content.difference().await
    }

    /// A digest of the state, if it is accessible: equal states have equal digests.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub async fn digest(&self) -> Result<Option<String>, Error> {
        self.instance.content.digest().await
    }

    /// Checks whether the instance still runs.
    ///
    /// # Errors
    /// How it ended, with its last output lines.
    pub fn health(&self) -> Result<(), Error> {
        match &*self.instance.ended.borrow() {
            None => Ok(()),
            Some(error) => Err(Error::Shared(Arc::clone(error))),
        }
    }

    /// Checks now whether the instance still runs. The notification of its end arrives a moment
    /// after its requests fail, so this check waits for it.
    ///
    /// # Errors
    /// As [`Lease::health`], and when it accepts no connection.
    pub async fn check(&self) -> Result<(), Error> {
        let accepts = self.accepts().await;
        // A process that ends closes its connections before its listeners, so it may still accept.
        if accepts && !self.instance.machine.is_exiting() {
            return self.health();
        }
        match timeout(NOTIFIED_WITHIN, self.ended()).await {
            Ok(error) => Err(error),
            // Its process id is that of another process here: it belongs to another machine.
            Err(_) if accepts => self.health(),
            Err(_) => {
                let (id, name) = (self.instance.id, &self.site().name);
                let condition = format!("instance {id} of `{name}` to accept a connection");
                Err(Error::Deadline { within: ACCEPTS, condition })
            }
        }
    }

    async fn accepts(&self) -> bool {
        let upstream = &self.instance.upstream;
        let is_ours = !matches!(upstream, SiteTarget::Url(_));
        !is_ours || matches!(timeout(ACCEPTS, upstream.connect()).await, Ok(Ok(_)))
    }

    /// Checks whether the instance is unchanged since it became ready, as far as its driver knows.
    pub(crate) async fn examine(&self) -> Result<(), Error> {
        self.health()?;
        let Some(why) = self.instance.machine.fault().await else { return Ok(()) };
        let log = self.instance.machine.log(LAST_WORDS).await;
        Err(Error::Died { site: self.site().name.clone(), instance: self.instance.id, why, log })
    }

    /// Waits until the instance has ended unexpectedly. Returns how it ended.
    pub async fn ended(&self) -> Error {
        self.ending().await
    }

    /// Like [`Lease::ended`], as a future that does not borrow the lease.
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

    /// Hands the instance back; `changed` says whether a request may have changed something.
    /// Returns at once: the reset runs in the background.
    pub async fn hand_back(mut self, changed: bool) {
        self.give(changed);
    }

    fn give(&mut self, changed: bool) {
        if std::mem::take(&mut self.held) {
            // If the receiver is gone, everything has been stopped.
            let _ = self.back.actor.send(Message::HandBack { id: self.instance.id, changed });
        }
    }

    /// If the instance has ended, replaces an error by the error of its end.
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
        write!(
            f,
            "Lease({} instance {} at {})",
            self.site().name,
            self.instance.id,
            self.instance.upstream
        )
    }
}
