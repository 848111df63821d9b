//! Prepares an episode's pages and workers before their first script runs: the world's clock and
//! randomness, the device, and the recording of the order of events or of a person's input.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cdp::connection::{Cdp, SessionId};
use crate::cdp::targets::{Command, Preparation, TargetSetup};
use crate::clock::virtual_time;
use crate::launch::device::page_overrides;
use crate::{Capture, Determinism, Device, Error, Launch, Session, inject, order};

/// Returns the preparation of an episode's targets, in a browser with these settings.
pub(super) fn setup(
    launch: &Launch,
    determinism: Option<Determinism>,
    context: Option<String>,
    user_agent: Option<Value>,
    download_folder: PathBuf,
) -> TargetSetup {
    let clock_shift = determinism.filter(|_| launch.attach_mode).map(virtual_time::clock_shift);
    let script = determinism
        .as_ref()
        .map(|determinism| inject::page(determinism, clock_shift, launch.keeps_order));
    let preparation = EpisodePreparation {
        world: determinism.map(|determinism| World { determinism, clock_shift }),
        script,
        keeps_order: launch.keeps_order,
        device: launch.device.clone(),
        capture: launch.capture.clone(),
    };
    TargetSetup {
        context,
        is_world: determinism.is_some(),
        clock_shift,
        page_clock: launch.in_flight.as_ref().map(|in_flight| in_flight.page_clock().clone()),
        downloads: launch.downloads,
        download_folder,
        user_agent,
        preparation: Box::new(preparation),
    }
}

impl Session {
    /// The user agent and languages for servers and scripts, where they differ from the browser's
    /// own.
    pub(super) async fn user_agent_override(&self) -> Result<Option<Value>, Error> {
        const METHOD: &str = "Browser.getVersion";
        let Device { user_agent, locale, .. } = &self.launch.device;
        let name = match user_agent {
            Some(name) => name.clone(),
            None if *locale == self.chromium.locale => return Ok(None),
            None => {
                let version = self.cdp().call(None, METHOD, json!({})).await?;
                let name = version.get("userAgent").and_then(Value::as_str);
                name.ok_or(Error::Shape { method: METHOD, field: "userAgent" })?.to_owned()
            }
        };
        Ok(Some(json!({ "userAgent": name, "acceptLanguage": locale })))
    }
}

#[derive(Debug)]
struct EpisodePreparation {
    world: Option<World>,
    /// The script for documents.
    script: Option<String>,
    keeps_order: bool,
    device: Device,
    /// The sender for a person's inputs.
    capture: Option<Capture>,
}

/// The clock and randomness of the scripts.
#[derive(Debug, Clone, Copy)]
struct World {
    determinism: Determinism,
    /// How far clocks are shifted from the machine's, in milliseconds; `None` where virtual time
    /// replaces them.
    clock_shift: Option<f64>,
}

impl EpisodePreparation {
    fn is_frozen(&self) -> bool {
        self.world.is_some_and(|world| world.clock_shift.is_none())
    }
}

impl Preparation for EpisodePreparation {
    fn page_overrides(&self) -> Vec<Command> {
        page_overrides(&self.device)
    }

    fn page_scripts(&self) -> Vec<Command> {
        const METHOD: &str = "Page.addScriptToEvaluateOnNewDocument";
        let mut commands = Vec::new();
        if let Some(script) = &self.script {
            commands.push((METHOD, json!({ "source": script, "runImmediately": true })));
        }
        if self.keeps_order && self.is_frozen() {
            let source = order::CHANGES.replace("ORDER_MARK", order::MARK);
            let script =
                json!({ "source": source, "worldName": order::WORLD, "runImmediately": true });
            commands.push((METHOD, script));
        }
        if let Some(capture) = &self.capture {
            commands.extend(Capture::commands());
            commands.extend(capture.hold_command());
        }
        commands
    }

    fn worker_script(&self, kind: &str, url: &str, ordinal: usize, page_clock: f64) -> String {
        let Some(World { determinism, clock_shift }) = &self.world else { return String::new() };
        match clock_shift {
            Some(shift) => inject::running_worker(determinism, url, ordinal, *shift),
            None => {
                let now = virtual_time::script_time(*determinism, page_clock);
                inject::worker(determinism, kind, url, ordinal, now)
            }
        }
    }

    fn worklet_script(&self, url: &str, page_clock: f64) -> String {
        let Some(World { determinism, clock_shift }) = &self.world else { return String::new() };
        let now = virtual_time::script_time(*determinism, page_clock);
        inject::worklet(determinism, url, now, *clock_shift)
    }

    fn stop_clock(&self, cdp: &Cdp, session: &SessionId, clock: f64) {
        virtual_time::stop(cdp, session, clock);
    }

    fn stop_clock_if_own(&self, cdp: &Cdp, session: &SessionId, clock: f64) {
        virtual_time::stop_if_own(cdp, session, clock);
    }

    fn on_attached(&self, session: &SessionId, parent: Option<&SessionId>, target: &Value) {
        if let Some(capture) = &self.capture {
            capture.on_attached(session, parent, target);
        }
    }

    fn on_event(&self, cdp: &Cdp, session: Option<&SessionId>, method: &str, params: &Value) {
        if let Some(capture) = &self.capture {
            capture.on_event(cdp, session, method, params);
        }
    }

    fn holds_requests(&self) -> bool {
        self.capture.as_ref().is_some_and(Capture::holds)
    }
}
