//! Service workers that are starting, installing or activating. The browser starts a service worker
//! by itself, at some time after its script has come.

use std::collections::HashMap;

use serde_json::Value;

/// The service workers that are not at work yet.
#[derive(Debug, Default)]
pub(crate) struct ServiceWorkers {
    /// By the ids of their versions.
    starting: HashMap<String, ServiceWorker>,
    /// How many scripts of service workers the browser has requested.
    script_count: u64,
}

#[derive(Debug)]
struct ServiceWorker {
    /// False once its installation has turned out to need the page's own time.
    waited_for: bool,
    starting: bool,
}

impl ServiceWorkers {
    /// Takes in the parameters of `ServiceWorker.workerVersionUpdated`.
    pub(crate) fn on_versions(&mut self, params: &Value) {
        let versions = params.get("versions").and_then(Value::as_array);
        versions.into_iter().flatten().for_each(|version| self.on_version(version));
    }

    fn on_version(&mut self, version: &Value) {
        let text = |name: &str| version.get(name).and_then(Value::as_str).unwrap_or_default();
        let settled = matches!(text("status"), "installed" | "activated" | "redundant");
        let starting = text("runningStatus") == "starting";
        if settled && !starting {
            self.starting.remove(text("versionId"));
        } else {
            let worker = self.starting.entry(text("versionId").to_owned()).or_insert_with(|| {
                self.script_count += u64::from(text("status") == "new");
                ServiceWorker { waited_for: true, starting }
            });
            worker.starting = starting;
        }
    }

    /// How many scripts of service workers the browser has requested.
    pub(crate) fn script_count(&self) -> u64 {
        self.script_count
    }

    /// Whether one of them is waited for.
    pub(crate) fn are_waited_for(&self) -> bool {
        self.starting.values().any(|worker| worker.waited_for)
    }

    /// Whether the browser is still bringing one of them up, which needs nothing of the page. One
    /// whose script has failed is new and stopped for ever: no event tells of that.
    pub(crate) fn is_one_starting(&self) -> bool {
        self.starting.values().any(|worker| worker.waited_for && worker.starting)
    }

    /// Stops waiting for the present ones: what they do during installation may need the page's own
    /// time.
    pub(crate) fn stop_waiting(&mut self) {
        self.starting.values_mut().for_each(|worker| worker.waited_for = false);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_is_waited_for_from_its_beginning_until_it_is_at_work() {
        let mut workers = ServiceWorkers::default();
        let tell = |workers: &mut ServiceWorkers, status: &str, running: &str| {
            let version = json!({ "versionId": "0", "status": status, "runningStatus": running });
            workers.on_versions(&json!({ "versions": [version] }));
            workers.are_waited_for()
        };
        assert!(tell(&mut workers, "new", "stopped"));
        assert!(!workers.is_one_starting(), "its script may never come");
        assert!(tell(&mut workers, "new", "starting"));
        assert!(workers.is_one_starting(), "its thread is not there yet");
        assert!(tell(&mut workers, "installing", "running"));
        assert!(!workers.is_one_starting());
        assert!(!tell(&mut workers, "activated", "running"));
        assert!(tell(&mut workers, "activated", "starting"), "after it was stopped");
        assert_eq!(workers.script_count(), 1);
        assert!(!tell(&mut workers, "activated", "running"));
        assert!(!tell(&mut workers, "redundant", "stopped"));
        tell(&mut workers, "installing", "running");
        workers.stop_waiting();
        assert!(!workers.are_waited_for(), "its installation waits for something else");
    }
}
