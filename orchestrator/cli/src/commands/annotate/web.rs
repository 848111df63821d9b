//! Where the pages of an annotation come from: the live web, recorded, or snapshots.

use std::sync::Arc;

use annotate::{Draft, Source, TaskFolder};
use browser::{Determinism, Device, Launch, Session, StorageState};
use camino::Utf8PathBuf;
use gateway::{
    CertificateAuthority, DatePolicy, Gateway, MatchLevel, Replay, ReplayOptions, Routes, Target,
};
use in_flight::InFlight;
use play::browser_state;
use recorder::{RecordingGateway, RecordingGatewayOptions};
use snapshots::RecordingOptions;
use tasks::{DeviceSpec, Suite, WorldSpec};

use super::Annotate;
use crate::commands::replay;
use crate::failure::{Failure, OrFail as _, Outcome};
use crate::finish;
use crate::options::gateway_options;

/// The web that the browser reaches.
pub(super) enum Web {
    /// The live web is recorded into this snapshot.
    Live(Box<RecordingGateway>, Utf8PathBuf),
    /// Snapshots are the web.
    Frozen(Box<Frozen>),
}

pub(super) struct Frozen {
    gateway: Gateway,
    ca: Arc<CertificateAuthority>,
    determinism: Determinism,
    device: Device,
    /// What pages had kept when they were recorded, and what the world begins with.
    states: Vec<StorageState>,
}

impl Annotate {
    /// Opens the recording or the snapshots of a draft.
    pub(super) async fn open_web(
        &mut self,
        draft: &Draft,
        place: &TaskFolder,
    ) -> Result<Web, Failure> {
        let mut config = gateway_options::config(&self.data)?;
        std::mem::take(&mut self.recorded.live).apply(&mut config);
        self.recorded.deadline.apply(&mut config);
        match &draft.source {
            Source::Live(path) => {
                let redact = std::mem::take(&mut self.recorded.redact).into_redact();
                let mut title = draft.start_url.clone();
                if redact.credentials {
                    // There may be a password in its query.
                    title.truncate(title.find(['?', '#']).unwrap_or(title.len()));
                }
                let options = RecordingGatewayOptions {
                    recording: RecordingOptions {
                        title: Some(title),
                        ..RecordingOptions::default()
                    },
                    gateway: config,
                    redact,
                    body_cap: self.recorded.max_body,
                    resume: self.resume,
                    behind: None,
                };
                let studio = RecordingGateway::open(path, options).await?;
                studio.begin_visit(self.recorded.ask_again).await;
                Ok(Web::Live(Box::new(studio), path.clone()))
            }
            Source::Snapshots(files) => {
                let (world, device) = world_of(draft, files, place)?;
                let set = replay::open(files, &self.data)?;
                let mut states = vec![browser_state::recorded_state(&set)];
                if let Some(path) = &world.storage_state {
                    let text = std::fs::read(path).or_input(format!("read {path}"))?;
                    states.push(serde_json::from_slice(&text).or_input(format!("read {path}"))?);
                }
                let options = ReplayOptions {
                    level: level(world.match_level),
                    dates: DatePolicy::Recorded,
                    ..ReplayOptions::default()
                };
                let mut replay = Replay::new(set, options);
                if world.search_pages {
                    replay = replay.with_search(Some(&self.data.indexes()?));
                }
                config.routes = Routes::all(Target::Replay(Arc::new(replay)));
                let ca = Arc::clone(&config.ca);
                let gateway = Gateway::start(config).await.or_environment("start the gateway")?;
                Ok(Web::Frozen(Box::new(Frozen {
                    gateway,
                    ca,
                    determinism: Determinism { clock_start: draft.clock, seed: world.seed },
                    device: play::device::of_task(&world, &device),
                    states,
                })))
            }
        }
    }
}

/// The world of a run of the task, and the device of the task that is edited. A new task has all of
/// its suite's world but for the snapshots and the time.
fn world_of(
    draft: &Draft,
    files: &[Utf8PathBuf],
    place: &TaskFolder,
) -> Result<(WorldSpec, DeviceSpec), Failure> {
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
            let task =
                Suite::load(file).or_input("load the task")?.tasks.pop().ok_or_else(|| {
                    Failure::Input(format!("failed to load the task: {file} has none"))
                })?;
            (task.world(&of_suite), task.device)
        }
        None => (of_suite, DeviceSpec::default()),
    };
    Ok((WorldSpec { snapshots: files.to_vec(), clock: draft.clock, ..world }, device))
}

fn level(level: tasks::MatchLevel) -> MatchLevel {
    match level {
        tasks::MatchLevel::Exact => MatchLevel::Exact,
        tasks::MatchLevel::Normalised => MatchLevel::Normalised,
        tasks::MatchLevel::Fuzzy { threshold } => MatchLevel::Fuzzy { threshold },
    }
}

impl Web {
    /// The settings of a browser that reaches it. Clocks of pages of a snapshot begin at its time.
    pub(super) fn launch(&self) -> Launch {
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

    pub(super) fn in_flight(&self) -> InFlight {
        match self {
            Web::Live(studio, _) => studio.in_flight().clone(),
            Web::Frozen(frozen) => frozen.gateway.in_flight(),
        }
    }

    /// Gives the browser what pages had kept.
    pub(super) async fn restore(&self, session: &mut Session) -> Outcome {
        let Web::Frozen(frozen) = self else { return Ok(()) };
        for state in &frozen.states {
            let given = browser_state::restore(session, state).await;
            given.or_environment("give the browser what pages had kept")?;
        }
        Ok(())
    }

    /// Makes the snapshot of what was recorded.
    pub(super) async fn finish(self) -> Outcome {
        match self {
            Web::Live(studio, path) => {
                let finished =
                    finish::finish(*studio, &path, &[], finish::EmptyRecording::Failure).await?;
                eprintln!("{}", finish::summary(&finished));
            }
            Web::Frozen(frozen) => frozen.gateway.shutdown().await,
        }
        Ok(())
    }

    /// Leaves the recording as it is, to go on with.
    pub(super) async fn keep(self) -> Outcome {
        match self {
            Web::Live(studio, path) => {
                studio.close().await.or_environment(format!("close the recording of {path}"))?;
            }
            Web::Frozen(frozen) => frozen.gateway.shutdown().await,
        }
        Ok(())
    }

    /// Removes what was recorded.
    pub(super) async fn discard(self) -> Outcome {
        match self {
            Web::Live(studio, path) => {
                let doing = format!("remove the recording of {path}");
                let (recording, _) = studio.close().await.or_environment(&doing)?;
                recording.discard().or_environment(&doing)?;
            }
            Web::Frozen(frozen) => frozen.gateway.shutdown().await,
        }
        Ok(())
    }
}
