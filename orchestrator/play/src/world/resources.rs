//! The shared state of a run's workers: opened snapshots, the certificate authority, and the group
//! of sites from which each episode leases its instances.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use gateway::{CertificateAuthority, Config, Gateway, Routes, Visit};
use sites::SiteGroup;
use tasks::{Suite, Task, WorldSpec};

use crate::consent::SuiteFiles;
use crate::environment::EnvironmentError;
use crate::evidence::programs::ScorerPrograms;
use crate::options::{LiveFill, Options};
use crate::progress::Progress;
use crate::world::snapshot_set::WorldSnapshots;

/// The least memory of a browser, in bytes. Fewer workers are better than browsers with less.
const LEAST_BROWSER: u64 = 700 << 20;

/// The state that the workers of a run share.
#[derive(Clone)]
pub struct WorldResources {
    /// The snapshots of each world of a task, by their paths.
    recorded: Arc<BTreeMap<Vec<Utf8PathBuf>, WorldSnapshots>>,
    pub(super) town: Option<SiteGroup>,
    pub(super) authority: Arc<CertificateAuthority>,
    pub(super) confinement: ScorerPrograms,
    /// The files that may be read for the suite.
    pub(super) files: SuiteFiles,
    /// The memory limit of each browser, in bytes, if the run sets one.
    pub(super) browser_memory: Option<u64>,
    /// Whether the order of events is kept.
    pub(super) keeps_order: bool,
    /// The way to the live web, if it fills in what the snapshots lack.
    live: Option<Arc<LiveFill>>,
}

impl WorldResources {
    /// Opens the snapshots of the worlds of these tasks.
    pub async fn open(
        suite: &Suite,
        tasks: &[Task],
        town: Option<SiteGroup>,
        options: &Options,
        progress: &Progress,
    ) -> Result<WorldResources, EnvironmentError> {
        let authority = CertificateAuthority::in_memory()
            .map_err(EnvironmentError::while_doing("make a certificate authority"))?;
        let mut worlds: Vec<WorldSpec> =
            tasks.iter().map(|task| task.world(&suite.world)).collect();
        // Worlds may differ in other keys. A set of snapshots is opened once for all of them.
        worlds.sort_by(|a, b| a.snapshots.cmp(&b.snapshots));
        worlds.dedup_by(|a, b| a.snapshots == b.snapshots);
        let cache = options.index_cache.clone();
        let live = options.fill.clone().map(Arc::new);
        let fill = live.clone();
        let progress = Arc::clone(progress);
        let open = move |spec: WorldSpec| {
            let recorded =
                WorldSnapshots::open(&spec, cache.as_deref(), fill.as_deref(), &progress)?;
            Ok::<_, EnvironmentError>((spec.snapshots, recorded))
        };
        // Opening reads whole indexes, and may build them first.
        let opened = tokio::task::spawn_blocking(move || {
            worlds.into_iter().map(open).collect::<Result<BTreeMap<_, _>, _>>()
        });
        let recorded =
            opened.await.map_err(EnvironmentError::while_doing("open the snapshots"))??;
        let own = options.unpacked.as_deref().unwrap_or(&suite.folder);
        Ok(WorldResources {
            recorded: Arc::new(recorded),
            town,
            authority: Arc::new(authority),
            confinement: ScorerPrograms::by(options),
            files: SuiteFiles::of(own, &options.agreed),
            browser_memory: options
                .memory
                .map(|all| (all / options.workers.max(1) as u64).max(LEAST_BROWSER)),
            keeps_order: options.keep_order,
            live,
        })
    }

    /// Starts a gateway with these routes.
    pub(super) async fn gateway(&self, routes: Routes) -> Result<Gateway, EnvironmentError> {
        let mut config = match &self.live {
            Some(live) => Config { ca: self.authority.clone(), routes, ..live.live.clone() },
            None => Config::new(self.authority.clone(), routes),
        };
        let sites = self.town.iter().flat_map(SiteGroup::sites);
        config.extra_roots.extend(sites.filter_map(|site| site.authority_file()));
        Gateway::start(config).await.map_err(EnvironmentError::while_doing("start the gateway"))
    }

    /// Begins a visit for an episode, if the live web is recorded.
    pub(super) fn visit(&self) -> Option<Visit> {
        self.live.as_ref().map(|live| Visit::new(live.ask_again))
    }

    /// Requests again, from the live web, what the episode of a gateway has changed, if that is
    /// recorded.
    pub(super) async fn ask_again(&self, gateway: &Gateway) {
        if let Some(live) = &self.live {
            gateway.ask_again(&live.recorder).await;
        }
    }

    /// Returns the snapshots of a world.
    pub(crate) fn recorded(&self, spec: &WorldSpec) -> Result<&WorldSnapshots, EnvironmentError> {
        let lacking = || format!("nobody has opened {:?}", spec.snapshots);
        let recorded = self.recorded.get(&spec.snapshots);
        recorded.ok_or_else(|| EnvironmentError::while_doing("find a task's snapshots")(lacking()))
    }
}
