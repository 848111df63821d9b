//! The service processes of a browser: network, storage and GPU.
//!
//! If one ends, Chromium silently starts another. Its pending work is lost: a page that was loading
//! has no style sheets, or shows an error. Such a page looks like any other. So the processes are
//! listed when the browser starts, and must run as long as it does.

use serde_json::json;

use crate::Error;
use crate::cdp::connection::Cdp;

/// Parts of their command lines. Other processes come and go, such as image decoders.
const SERVICES: [(&str, &str); 3] = [
    ("network.mojom.NetworkService", "network"),
    ("storage.mojom.StorageService", "storage"),
    ("--type=gpu-process", "graphics"),
];

/// The service processes of one browser.
#[derive(Debug, Default)]
pub(crate) struct ServiceProcesses {
    services: Vec<ServiceProcess>,
    /// The id of the browser's own process.
    pub(crate) browser: Option<u32>,
}

#[derive(Debug)]
struct ServiceProcess {
    id: u64,
    /// A part of its command line.
    marker: &'static str,
    what: &'static str,
}

impl ServiceProcesses {
    /// Lists the present ones.
    pub(crate) async fn find(cdp: &Cdp) -> Result<ServiceProcesses, Error> {
        let reply = cdp.call(None, "SystemInfo.getProcessInfo", json!({})).await?;
        let ids = reply["processInfo"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["id"].as_u64());
        let service = |id| {
            let (marker, what) = SERVICES.into_iter().find(|(marker, _)| is_running(id, marker))?;
            Some(ServiceProcess { id, marker, what })
        };
        let services = ids.filter_map(service).collect();
        let mut processes = reply["processInfo"].as_array().into_iter().flatten();
        let browser =
            processes.find(|one| one["type"] == "browser").and_then(|one| one["id"].as_u64());
        Ok(ServiceProcesses { services, browser: browser.and_then(|id| u32::try_from(id).ok()) })
    }

    /// Checks that all of them still run, but for one that we have ended ourselves: its end is a
    /// page's fault.
    pub(crate) fn check(&self, ended: Option<u64>) -> Result<(), Error> {
        let mut needed = self.services.iter().filter(|service| Some(service.id) != ended);
        match needed.find(|service| !is_running(service.id, service.marker)) {
            Some(ServiceProcess { what, .. }) => Err(Error::ServiceEnded { what }),
            None => Ok(()),
        }
    }
}

/// Whether the process with this id has this part on its command line. A process that has ended and
/// was not reaped has no command line.
fn is_running(id: u64, marker: &str) -> bool {
    std::fs::read(format!("/proc/{id}/cmdline"))
        .is_ok_and(|line| line.windows(marker.len()).any(|piece| piece == marker.as_bytes()))
}
