//! The sites of a run: one group of sites for all workers, and for each episode instances of its
//! own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use browser::Cookie;
use daemon::SiteRoutes;
use gateway::Routes;
use jiff::{SignedDuration, Timestamp};
use scoring::{ProbeQuestion, Requirement, Scorer};
use serde_json::Value;
use sites::{ApiClient, Lease, Site, SiteGroup};
use tasks::{Suite, Task};
use tokio_util::sync::CancellationToken;

use crate::consent::{Given, of_suite};
use crate::environment::EnvironmentError;
use crate::world::instances;
use crate::{Error, Event, Options, Progress};

/// The time limit for all sites to become ready.
const READY: Duration = Duration::from_secs(300);
/// The time limit for an episode to lease its instances.
const LEASE: Duration = Duration::from_secs(120);
/// The step of the sites' clocks at every action. A page's own clock moves about as much while it
/// settles, but not by the same milliseconds each time. Sites would then store different times.
const ACTION: SignedDuration = SignedDuration::from_secs(10);

/// The account of a manifest that sets tasks up on an instance.
const ADMINISTRATOR: &str = "admin";

/// The running sites of a run.
pub struct RunningSites {
    /// The sites.
    pub town: SiteGroup,
    /// The number of instances of each site.
    pub instances: BTreeMap<String, usize>,
}

/// Starts the sites that tasks name, in as many instances as there is room for, and waits until
/// they are ready. None if the world has no sites. This runs before anything of a suite is started
/// or read, so consent is checked here.
///
/// # Errors
/// When something was not agreed to, a site lacks what a task asks of it, or one does not start.
pub async fn open(
    suite: &Suite,
    tasks: &[Task],
    options: &Options,
    interrupt: &CancellationToken,
    progress: &Progress,
) -> Result<Option<RunningSites>, Error> {
    let given = Given { variables: &options.site_variables, unpacked: options.unpacked.as_deref() };
    // Before anything of the suite is started.
    options.agreed.check(&of_suite(suite, tasks, given)?)?;
    let Some(manifests) = &suite.world.sites else { return Ok(None) };
    let known = Site::load_all(manifests).map_err(|source| Error::Manifests { source })?;
    for task in tasks {
        check(task, &known).map_err(|message| Error::Task { id: task.id.clone(), message })?;
    }
    let named: BTreeSet<&str> =
        tasks.iter().flat_map(|task| &task.sites).map(String::as_str).collect();
    let needed: Vec<Site> =
        known.iter().filter(|site| named.contains(site.name.as_str())).cloned().collect();
    let instances =
        instances::plan_instances(&needed, tasks, options.repeat, options.workers, options.memory);
    // What the desk lists does not depend on which tasks are run.
    let options = sites::Options {
        instances: options.workers,
        folder: options.town_folder(),
        listed: known,
        name: suite.name.clone(),
        helper: options.helper.clone(),
        variables: options.site_variables.clone(),
    };
    let on_event = Arc::clone(progress);
    let events = Arc::new(move |event: &sites::Event| on_event(Event::Site(event)));
    let town = SiteGroup::start_each(needed, &instances, options, events)
        .await
        .map_err(|source| Error::Sites { source })?;
    let ready = tokio::select! {
        biased;
        () = interrupt.cancelled() => Ok(()),
        ready = town.ready(READY) => ready,
    };
    match ready {
        Ok(()) => Ok(Some(RunningSites { town, instances })),
        Err(source) => {
            stop(&town).await;
            Err(Error::Sites { source })
        }
    }
}

/// Ends all instances. A failure here changes no result.
pub async fn stop(town: &SiteGroup) {
    if let Err(error) = town.stop().await {
        tracing::warn!(%error, "instances of sites were left behind; `sandbox down --all` removes them");
    }
}

/// Checks that the sites have everything that a task needs of them.
fn check(task: &Task, known: &[Site]) -> Result<(), String> {
    let site = |name: &str| known.iter().find(|site| site.name == name);
    for name in &task.sites {
        if site(name).is_none() {
            let names: Vec<&str> = known.iter().map(|site| site.name.as_str()).collect();
            let meant = suggestions::did_you_mean(name, names.iter().copied());
            return Err(format!(
                "there is no site `{name}`{meant}; there are: {}",
                names.join(", ")
            ));
        }
    }
    let listed = |name: &str| {
        let found = task.sites.iter().any(|listed| listed == name).then(|| site(name)).flatten();
        found.ok_or_else(|| format!("`{name}` is not among its sites"))
    };
    for (name, account) in &task.login {
        let known = &listed(name)?.login;
        if !known.contains_key(account) {
            let meant = suggestions::did_you_mean(account, known.keys().map(String::as_str));
            return Err(format!("nobody can log in to `{name}` as `{account}`{meant}"));
        }
    }
    if let Scorer::WorkArena(_) = &task.scorer {
        let instance = task.sites.first().ok_or("`sites` has to name its instance")?;
        if !listed(instance)?.accounts.contains_key(ADMINISTRATOR) {
            return Err(format!("`{instance}` has no account `{ADMINISTRATOR}`, which sets it up"));
        }
    }
    for question in task.scorer.requirements().into_iter().filter_map(Requirement::probe) {
        let known = &listed(question.site)?.probes;
        if !known.contains_key(question.probe) {
            let meant = suggestions::did_you_mean(question.probe, known.keys().map(String::as_str));
            return Err(format!("`{}` has no probe `{}`{meant}", question.site, question.probe));
        }
    }
    Ok(())
}

/// Returns the host on which an episode begins, without a path: that of its first site, or else of
/// its start page.
pub(crate) fn address(task: &Task, leased: &LeasedSites) -> String {
    if let Some(site) = leased.sites.first() {
        return site.lease.site().address().trim_end_matches('/').to_owned();
    }
    let start = task.start_url.as_deref().and_then(|url| url::Url::parse(url).ok());
    start.map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

/// Returns the time of the sites' clocks after so many actions.
pub(crate) fn after(start: Timestamp, actions: u32) -> Timestamp {
    let now =
        i32::try_from(actions).ok().and_then(|actions| start.checked_add(ACTION * actions).ok());
    now.unwrap_or(start)
}

/// The instances that one episode has for itself.
#[derive(Default)]
pub(crate) struct LeasedSites {
    sites: Vec<LeasedSite>,
}

struct LeasedSite {
    lease: Lease,
    routes: SiteRoutes,
    logged_in: bool,
}

impl LeasedSites {
    /// Leases instances of all sites of a task. Returns the browser state of the accounts that are
    /// logged in.
    pub(crate) async fn begin(
        town: &SiteGroup,
        task: &Task,
        clock: Timestamp,
    ) -> Result<(LeasedSites, Vec<(String, Cookie)>), EnvironmentError> {
        let mut leased = LeasedSites::default();
        let mut cookies = Vec::new();
        for name in &task.sites {
            let lease = town
                .lease(name, LEASE)
                .await
                .map_err(EnvironmentError::while_doing("get a copy of a site"))?;
            lease.set_clock(clock).map_err(EnvironmentError::while_doing("set a site's clock"))?;
            let mut headers = Vec::new();
            if let Some(account) = task.login.get(name) {
                let given = lease
                    .login(account)
                    .await
                    .map_err(EnvironmentError::while_doing("log in to a site"))?;
                let url = lease.site().address();
                cookies.extend(given.cookies.into_iter().map(|cookie| (url.clone(), cookie)));
                headers = given.headers;
            }
            let routes = SiteRoutes::new(&lease, &headers);
            let routes = routes.map_err(EnvironmentError::while_doing("reach a site"))?;
            leased.sites.push(LeasedSite {
                lease,
                routes,
                logged_in: task.login.contains_key(name),
            });
        }
        Ok((leased, cookies))
    }

    /// Adds the routes to the instances.
    pub(crate) fn add_routes(&self, routes: &mut Routes) -> Result<(), EnvironmentError> {
        for site in &self.sites {
            site.routes.add_to(routes).map_err(EnvironmentError::while_doing("reach a site"))?;
        }
        Ok(())
    }

    /// Sets all clocks.
    pub(crate) fn set_clocks(&self, now: Timestamp) -> Result<(), EnvironmentError> {
        for site in &self.sites {
            let set = site.lease.set_clock(now);
            set.map_err(EnvironmentError::while_doing("set a site's clock"))?;
        }
        Ok(())
    }

    /// Whether all instances still run.
    pub(crate) fn health(&self) -> Result<(), EnvironmentError> {
        self.sites
            .iter()
            .try_for_each(|site| site.lease.health())
            .map_err(EnvironmentError::while_doing("reach a site"))
    }

    /// Checks as [`LeasedSites::health`] does, but asks every instance now.
    pub(crate) async fn check(&self) -> Result<(), EnvironmentError> {
        for site in &self.sites {
            site.lease.check().await.map_err(EnvironmentError::while_doing("reach a site"))?;
        }
        Ok(())
    }

    /// Reads the state of a site by a probe.
    pub(crate) async fn probe(
        &self,
        question: ProbeQuestion<'_>,
    ) -> Result<Value, EnvironmentError> {
        let site = self.sites.iter().find(|site| site.lease.site().name == question.site);
        let site = site.ok_or_else(|| {
            EnvironmentError::while_doing("read a site's state")(format!(
                "there is no {}",
                question.site
            ))
        })?;
        let answer = site.lease.probe(question.probe, question.params).await;
        answer.map_err(EnvironmentError::while_doing("read a site's state"))
    }

    /// Returns a client of a site's API, as its administrator.
    pub(crate) fn api_client(&self, site: &str) -> Result<ApiClient, EnvironmentError> {
        const DOING: &str = "reach an instance";
        let leased = self.sites.iter().find(|leased| leased.lease.site().name == site);
        let leased = leased.ok_or_else(|| {
            EnvironmentError::while_doing(DOING)(format!("the task has no site `{site}`"))
        })?;
        let caller = leased.lease.api_client(ADMINISTRATOR);
        caller.map_err(EnvironmentError::while_doing(DOING))
    }

    /// Gives all instances back; they are made pristine in the background.
    pub(crate) async fn end(&mut self) {
        for LeasedSite { lease, routes, logged_in } in self.sites.drain(..) {
            lease.hand_back(logged_in || routes.changed()).await;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use camino::Utf8Path;

    use super::*;

    #[test]
    fn what_a_task_asks_of_sites_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::create_dir(folder.join("notes")).unwrap();
        let manifest = "title: Notes\nabout: Notes.\ndriver: embedded\nembedded: forum\nhosts: [notes.test]\n\
            accounts: {ann: {username: ann, password: x}}\nlogin: {ann: {cookie: {a: b}}}\n\
            probes: {all: {query: select 1}}\n";
        std::fs::write(folder.join("notes/site.yaml"), manifest).unwrap();
        let known = Site::load_all(folder).unwrap();
        let judge = |fields: &str| {
            let text = format!("id: a\ngoal: b\n{fields}");
            std::fs::write(folder.join("a.yaml"), text).unwrap();
            std::fs::write(folder.join("suite.yaml"), "world: {clock: 2023-01-01T00:00:00Z}")
                .unwrap();
            let suite = Suite::load(&folder.join("a.yaml")).unwrap();
            check(&suite.tasks[0], &known).err()
        };
        let state = |site: &str, probe: &str| {
            format!("scorer: {{state: {{site: {site}, probe: {probe}, expect: {{count: 0}}}}}}\n")
        };
        let good = format!("sites: [notes]\nlogin: {{notes: ann}}\n{}", state("notes", "all"));
        assert_eq!(judge(&good), None);
        for (fields, wrong) in [
            (
                format!("sites: [shop]\n{}", state("shop", "all")),
                "there is no site `shop`; there are: notes",
            ),
            (state("notes", "all"), "`notes` is not among its sites"),
            (format!("sites: [notes]\n{}", state("notes", "none")), "`notes` has no probe `none`"),
            (
                format!("sites: [notes]\nlogin: {{notes: bob}}\n{}", state("notes", "all")),
                "nobody can log in to `notes` as `bob`",
            ),
        ] {
            assert_eq!(judge(&fields).as_deref(), Some(wrong), "{fields}");
        }
    }
}
