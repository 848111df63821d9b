//! The processes that a browser has besides itself and its pages: the network's, the storage's, the graphics card's.
//!
//! When one of them ends, Chromium starts another and says nothing; what was on its way is lost, and a page that was loading is left without its
//! style sheets or ends as an error. Such a page looks like any other. So the processes are noted when an episode begins, and have to be there
//! as long as it lasts.

use serde_json::json;

use crate::{Error, cdp::connection::Cdp};

/// What is on the command lines of those that are meant: others come and go, such as one that decodes a picture.
const SERVICES: [(&str, &str); 3] = [
    ("network.mojom.NetworkService", "network"),
    ("storage.mojom.StorageService", "storage"),
    ("--type=gpu-process", "graphics"),
];

/// The processes of one browser.
#[derive(Debug, Default)]
pub(crate) struct ServiceProcesses(Vec<ServiceProcess>);

#[derive(Debug)]
struct ServiceProcess {
    id: u64,
    /// A piece of its command line.
    marker: &'static str,
    what: &'static str,
}

impl ServiceProcesses {
    /// Those that run now.
    pub(crate) async fn find(cdp: &Cdp) -> Result<ServiceProcesses, Error> {
        let reply = cdp.call(None, "SystemInfo.getProcessInfo", json!({})).await?;
        let ids = reply["processInfo"].as_array().into_iter().flatten().filter_map(|one| one["id"].as_u64());
        let service = |id| {
            let (marker, what) = SERVICES.into_iter().find(|(marker, _)| is_running(id, marker))?;
            Some(ServiceProcess { id, marker, what })
        };
        Ok(ServiceProcesses(ids.filter_map(service).collect()))
    }

    /// Whether all of them still run.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.0.iter().find(|service| !is_running(service.id, service.marker)) {
            Some(ServiceProcess { what, .. }) => Err(Error::ServiceEnded { what }),
            None => Ok(()),
        }
    }
}

/// Whether a process with this on its command line runs under this number. One that has ended and was not reaped has no command line.
fn is_running(id: u64, marker: &str) -> bool {
    std::fs::read(format!("/proc/{id}/cmdline"))
        .is_ok_and(|line| line.windows(marker.len()).any(|piece| piece == marker.as_bytes()))
}
