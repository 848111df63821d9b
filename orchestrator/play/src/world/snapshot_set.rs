//! The snapshots of a world, opened: the routes to them, and the browser state that was recorded
//! with them.

use std::sync::Arc;

use browser::StorageState;
use camino::Utf8Path;
use gateway::{DatePolicy, Fill, Replay, ReplayOptions, Routes, Target};
use snapshots::index::ReplaySet;
use tasks::WorldSpec;

use crate::environment::EnvironmentError;
use crate::options::LiveFill;
use crate::progress::{Event, Progress};
use crate::world::browser_state::recorded_state;

/// The opened snapshots of a world.
#[derive(Debug, Default)]
pub(crate) struct WorldSnapshots {
    pub(crate) routes: Routes,
    /// The recorded hosts.
    pub(crate) hosts: Vec<String>,
    pub(crate) browser_state: StorageState,
    /// The snapshots, if there are any.
    set: Option<Arc<ReplaySet>>,
}

/// Counts the failed reads of an episode's snapshots. To the agent an unread response looks like a
/// page that fails.
#[derive(Default)]
pub(crate) struct FailedReads {
    set: Option<Arc<ReplaySet>>,
    before: u64,
}

impl FailedReads {
    /// Starts to count.
    pub(crate) fn of(snapshots: &WorldSnapshots) -> FailedReads {
        let set = snapshots.set.clone();
        FailedReads { before: set.as_ref().map_or(0, |set| set.failures()), set }
    }

    /// Returns an error if a read failed. It may have been one of an episode beside this one.
    pub(crate) fn check(&self) -> Result<(), EnvironmentError> {
        match self.set.as_ref().filter(|set| set.failures() != self.before) {
            Some(set) => Err(EnvironmentError::while_doing("read the snapshots")(
                set.last_failure().unwrap_or_default(),
            )),
            None => Ok(()),
        }
    }
}

impl WorldSnapshots {
    /// Opens the snapshots of a world, with their indexes in the folder `cache`; without one,
    /// indexes are built into temporary files.
    ///
    /// There is a route for every recorded host, and for the search engines that their pages are
    /// searched in the place of. What has none is refused, and shows as such: it is not a page that
    /// the recording lacks, it is outside the world. With a recorder for what is missing, every
    /// host has a route.
    pub(crate) fn open(
        spec: &WorldSpec,
        cache: Option<&Utf8Path>,
        fill: Option<&LiveFill>,
        progress: &Progress,
    ) -> Result<WorldSnapshots, EnvironmentError> {
        if spec.snapshots.is_empty() {
            return Ok(WorldSnapshots::default());
        }
        if let Some(path) = spec.snapshots.iter().find(|path| path.as_str().contains(tasks::DATE)) {
            return Err(EnvironmentError::while_doing("open the snapshots")(format!(
                "no version of {path} is there; record one with `sandbox record --suite`"
            )));
        }
        let set = ReplaySet::open(&spec.snapshots, cache, &mut |_, _| {})
            .map_err(EnvironmentError::while_doing("open the snapshots"))?;
        let hosts = set
            .hosts()
            .map_err(EnvironmentError::while_doing("list the hosts of the snapshots"))?;
        let browser_state = recorded_state(&set);
        let options = ReplayOptions {
            level: spec.match_level,
            states: spec.state,
            dates: DatePolicy::Recorded,
            list_nearest: false,
            ..ReplayOptions::default()
        };
        let mut replay = Replay::new(set, options);
        if spec.search_pages {
            replay = replay.with_search(cache).with_site_search(spec.site_search.clone());
        }
        // Before any episode, as the first one's page would wait for it.
        let mut tell = |at: search::IndexProgress| progress(Event::Indexing(&at));
        let search = replay.search().map_or(Ok(()), |search| search.prepare(&mut tell));
        search.map_err(EnvironmentError::while_doing(
            "index the recorded pages for searches, which `search_pages: false` of a world leaves out",
        ))?;
        if let Some(why) = replay.set().last_failure() {
            return Err(EnvironmentError::while_doing("read the snapshots")(why));
        }
        let set = Some(Arc::clone(replay.set()));
        if let Some(live) = fill {
            let fill = Fill::of_visits(replay, Arc::clone(&live.recorder));
            let fill = if live.whole { fill.whole() } else { fill };
            let routes = Routes::all(Target::Fill(Arc::new(fill)));
            return Ok(WorldSnapshots { routes, hosts, browser_state, set });
        }
        let engines = search::hosts().filter(|_| spec.search_pages).map(str::to_owned);
        let replay = Arc::new(replay);
        let mut routes = Routes::new();
        for host in hosts.iter().cloned().chain(engines) {
            if let Err(error) = routes.add(&host, Target::Replay(replay.clone())) {
                tracing::warn!(%error, "a recorded host cannot be reached");
            }
        }
        Ok(WorldSnapshots { routes, hosts, browser_state, set })
    }
}
