//! Where the pages of an annotation come from: the live web, recorded, or snapshots.

use std::sync::Arc;

use browser::{Determinism, Device, Launch, Session, StorageState};
use camino::Utf8PathBuf;
use gateway::{
    CertificateAuthority, Config, DatePolicy, Gateway, Redact, Replay, ReplayOptions, Routes,
    Target,
};
use in_flight::InFlight;
use jiff::Timestamp;
use play::browser_state;
use recorder::{RecordingGateway, RecordingGatewayOptions};
use snapshots::RecordingOptions;
use snapshots::index::ReplaySet;
use tasks::{DeviceSpec, Suite, WorldSpec};

use crate::{Draft, Error, TaskFolder};

/// The web that the browser reaches.
pub enum Web {
    /// The live web is recorded into this snapshot.
    Live(Box<RecordingGateway>, Utf8PathBuf),
    /// Snapshots are the web.
    Frozen(Box<Frozen>),
}

/// Snapshots behind a gateway.
pub struct Frozen {
    gateway: Gateway,
    ca: Arc<CertificateAuthority>,
    determinism: Determinism,
    device: Device,
    /// What pages had kept when they were recorded, and what the world begins with.
    states: Vec<StorageState>,
}

/// How the live web is recorded.
#[derive(Debug)]
pub struct LiveOptions {
    /// How it is reached.
    pub gateway: Config,
    /// What is replaced by placeholders.
    pub redact: Redact,
    /// Bodies that have more bytes are not recorded.
    pub body_cap: u64,
    /// How many requests are asked again after a write.
    pub ask_again: usize,
    /// Whether the recording goes on with one that was left.
    pub resume: bool,
}

/// The world in which an annotated task is played.
#[derive(Debug)]
pub struct TaskWorld {
    world: WorldSpec,
    device: DeviceSpec,
}

impl TaskWorld {
    /// The world of a run of the draft's task in these snapshots, and the device of the task that
    /// is edited. A new task has all of its suite's world but for the snapshots and the time.
    ///
    /// # Errors
    /// When the task that is edited cannot be read.
    pub fn of(
        draft: &Draft,
        files: &[Utf8PathBuf],
        place: &TaskFolder,
    ) -> Result<TaskWorld, Error> {
        let usual = || {
            tasks::import::live::world(
                files.to_vec(),
                draft.clock,
                tasks::import::live::BROWSERGYM,
                None,
            )
        };
        let of_suite = place.world.clone().unwrap_or_else(usual);
        let (world, device) = match &draft.edited {
            Some(file) => {
                let suite = Suite::load(file).map_err(|source| Error::EditedTask { source })?;
                let task = suite
                    .tasks
                    .into_iter()
                    .next_back()
                    .ok_or_else(|| Error::NoTask { file: file.clone() })?;
                (task.world(&of_suite), task.device)
            }
            None => (of_suite, DeviceSpec::default()),
        };
        let world = WorldSpec { snapshots: files.to_vec(), clock: draft.clock, ..world };
        Ok(TaskWorld { world, device })
    }
}

impl Web {
    /// Begins the recording of a draft of the live web.
    ///
    /// # Errors
    /// When the recording cannot begin.
    pub async fn record(
        draft: &Draft,
        path: &Utf8PathBuf,
        options: LiveOptions,
    ) -> Result<Web, Error> {
        let LiveOptions { gateway, redact, body_cap, ask_again, resume } = options;
        let mut title = draft.start_url.clone();
        if redact.credentials {
            // There may be a password in its query.
            title.truncate(title.find(['?', '#']).unwrap_or(title.len()));
        }
        let options = RecordingGatewayOptions {
            recording: RecordingOptions { title: Some(title), ..RecordingOptions::default() },
            gateway,
            redact,
            body_cap,
            resume,
            behind: None,
        };
        let studio = RecordingGateway::open(path, options).await?;
        studio.begin_visit(ask_again).await;
        Ok(Web::Live(Box::new(studio), path.clone()))
    }

    /// Opens a world of snapshots, whose clocks begin at `clock`. `config` is that of the gateway
    /// before them; `indexes` is where indexes of their pages are kept.
    ///
    /// # Errors
    /// When the world's file of cookies and storage cannot be read, or no gateway starts.
    pub async fn replay(
        TaskWorld { world, device }: TaskWorld,
        clock: Timestamp,
        set: ReplaySet,
        mut config: Config,
        indexes: &Utf8PathBuf,
    ) -> Result<Web, Error> {
        let mut states = vec![browser_state::recorded_state(&set)];
        if let Some(path) = &world.storage_state {
            let malformed = |why: String| Error::Malformed { path: path.clone(), why };
            let text = std::fs::read(path).map_err(|error| malformed(error.to_string()))?;
            let state = serde_json::from_slice(&text);
            states.push(state.map_err(|error| malformed(error.to_string()))?);
        }
        let options = ReplayOptions {
            level: world.match_level,
            dates: DatePolicy::Recorded,
            ..ReplayOptions::default()
        };
        let mut replay = Replay::new(set, options);
        if world.search_pages {
            replay = replay.with_search(Some(indexes));
        }
        config.routes = Routes::all(Target::Replay(Arc::new(replay)));
        let ca = Arc::clone(&config.ca);
        let gateway = Gateway::start(config).await.map_err(|source| Error::Gateway { source })?;
        Ok(Web::Frozen(Box::new(Frozen {
            gateway,
            ca,
            determinism: Determinism { clock_start: clock, seed: world.seed },
            device: device.in_world(&world),
            states,
        })))
    }

    /// The settings of a browser that reaches it. Clocks of pages of a snapshot begin at its time.
    pub fn launch(&self) -> Launch {
        match self {
            Web::Live(studio, _) => Launch {
                in_flight: Some(studio.in_flight().clone()),
                ..Launch::new(studio.gateway(), studio.ca().spki_sha256_base64())
            },
            Web::Frozen(frozen) => Launch {
                in_flight: Some(frozen.gateway.in_flight()),
                device: frozen.device.clone(),
                determinism: Some(frozen.determinism),
                attach_mode: true,
                ..Launch::new(&frozen.gateway, frozen.ca.spki_sha256_base64())
            },
        }
    }

    /// What is under way between the gateway and its browser.
    pub fn in_flight(&self) -> InFlight {
        match self {
            Web::Live(studio, _) => studio.in_flight().clone(),
            Web::Frozen(frozen) => frozen.gateway.in_flight(),
        }
    }

    /// Gives the browser what pages had kept.
    ///
    /// # Errors
    /// When the browser does not take it.
    pub async fn restore(&self, session: &mut Session) -> Result<(), Error> {
        let Web::Frozen(frozen) = self else { return Ok(()) };
        for state in &frozen.states {
            let given = browser_state::restore(session, state).await;
            given.map_err(|source| Error::Restore { source })?;
        }
        Ok(())
    }

    /// Ends snapshots, and gives the recording that is to be finished, with its path.
    pub async fn into_recording(self) -> Option<(RecordingGateway, Utf8PathBuf)> {
        match self {
            Web::Live(studio, path) => Some((*studio, path)),
            Web::Frozen(frozen) => {
                frozen.gateway.shutdown().await;
                None
            }
        }
    }

    /// Leaves the recording as it is, to go on with.
    ///
    /// # Errors
    /// When it cannot be closed.
    pub async fn keep(self) -> Result<(), Error> {
        let Some((studio, path)) = self.into_recording().await else { return Ok(()) };
        studio
            .close()
            .await
            .map(drop)
            .map_err(|source| Error::Close { path, source: source.into() })
    }

    /// Removes what was recorded.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub async fn discard(self) -> Result<(), Error> {
        let Some((studio, path)) = self.into_recording().await else { return Ok(()) };
        let discarded = match studio.close().await {
            Ok((recording, _)) => recording.discard().map_err(recorder::Error::from),
            Err(error) => Err(error),
        };
        discarded.map_err(|source| Error::Remove { path, source: source.into() })
    }
}
