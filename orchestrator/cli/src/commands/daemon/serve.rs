//! The process that `sandbox up` leaves behind, in which the daemon lives.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZero;
use std::sync::Arc;

use camino::Utf8PathBuf;
use daemon::{DaemonOptions, DirectSettings};
use host_check::Key;

use super::SitesFolder;
use crate::failure::{OrFail as _, Outcome};
use crate::options::DataFolder;
use crate::options::gateway_options::{self, Listening};
use crate::terminal::interrupt;
use crate::trust::SiteVariables;

/// Where BrowserGym's users have their reset server.
const RESET: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7565);

/// Hold the sites until told to end (what `sandbox up` runs in the background)
#[derive(clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    plan: Plan,
    #[command(flatten)]
    data: DataFolder,
}

/// Which sites a daemon has, and where it can be reached.
#[derive(clap::Args)]
pub(crate) struct Plan {
    /// Sites to start
    #[arg(value_name = "SITE")]
    pub(super) names: Vec<String>,
    #[command(flatten)]
    pub(super) sites: SitesFolder,
    #[command(flatten)]
    pub(super) listening: Listening,
    /// Address of the server for full resets, as in WA_FULL_RESET [default: 127.0.0.1:7565]
    #[arg(long, value_name = "ADDR:PORT")]
    pub(super) reset_listen: Option<SocketAddr>,
    /// Instances of each site that programs take for a server of their own (`itsm`), each with an
    /// address [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub(super) instances: Option<NonZero<usize>>,
    #[command(flatten)]
    pub(super) variables: SiteVariables,
}

impl Serve {
    /// Serves until told to end.
    pub(crate) async fn run(self) -> Outcome {
        let manifests = self.plan.sites.path();
        let sites = super::load(manifests, &self.plan.names)?;
        let manifests = manifests.canonicalize_utf8().or_input(format!("read {manifests}"))?;
        let folder = super::folder(&self.data)?;
        let group = sites::Options {
            instances: 1,
            folder: Utf8PathBuf::from(folder.path()),
            listed: Vec::new(),
            name: "up".to_owned(),
            helper: crate::commands::keep::helper(),
            variables: self.plan.variables.given,
        };
        let mut gateway = gateway_options::config(&self.data)?;
        self.plan.listening.apply(&mut gateway, &self.data)?;
        let reset = self.plan.reset_listen.unwrap_or(RESET);
        let key = Key::of_file(&self.data.server_key(None)?, "reset")
            .or_environment("make the key of the server for full resets")?;
        let instances = self.plan.instances.map_or(1, NonZero::get);
        let direct = DirectSettings { admission: gateway_options::of_user(), instances };
        let options =
            DaemonOptions { folder, manifests, sites, group, gateway, reset, key, direct };
        let events = Arc::new(|event: &sites::Event| {
            if let Some(warning) = event.warning() {
                tracing::warn!("{warning}");
            } else if let Some(text) = event.words() {
                tracing::info!("{text}");
            }
        });
        match daemon::serve(options, events, interrupt::token()).await {
            Err(daemon::Error::AlreadyUp) => std::process::exit(daemon::OTHER_IS_UP),
            ended => Ok(ended?),
        }
    }
}
