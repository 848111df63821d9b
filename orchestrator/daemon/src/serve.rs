//! The main function of the daemon: start, serve, stop.

use std::fs;
use std::future::Future;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use camino::Utf8PathBuf;
use doors::Admission;
use gateway::{Config, Gateway};
use host_check::{Guard, Key};
use parking_lot::Mutex;
use sites::{Event, Events, Options, Site, SiteGroup};
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;

use crate::control::{self, ControlState};
use crate::site_router::{self, SiteRouter};
use crate::{Error, Folder, clocks, full_reset};

/// The interval at which the memory of instances is measured.
const MEASURE: Duration = Duration::from_secs(3);

/// The settings of a daemon.
pub struct DaemonOptions {
    /// The folder with the socket, lock and log.
    pub folder: Folder,
    /// The folder with the manifests of its sites. More sites can be added from it.
    pub manifests: Utf8PathBuf,
    /// The sites to start.
    pub sites: Vec<Site>,
    /// The settings of the site group.
    pub group: Options,
    /// The settings of the gateway; the daemon sets the routes.
    pub gateway: Config,
    /// The address of the server for full resets.
    pub reset: SocketAddr,
    /// The key that its clients must send.
    pub key: Key,
    /// The direct addresses of sites.
    pub direct: DirectSettings,
}

/// The direct addresses of sites that programs reach without the proxy.
#[derive(Debug, Clone)]
pub struct DirectSettings {
    /// Who may come in there.
    pub admission: Admission,
    /// How many instances of each of these sites have an address of their own.
    pub instances: usize,
}

/// One address for each site, at which nobody comes in.
impl Default for DirectSettings {
    fn default() -> DirectSettings {
        DirectSettings { admission: Admission::Peer(Arc::new(|_| false)), instances: 1 }
    }
}

/// Runs the sites until `stop` is cancelled or a command requests it. Everything is removed
/// afterwards.
///
/// # Errors
/// When another daemon is running, an address is in use, or the sites cannot be started or removed.
pub async fn serve(
    options: DaemonOptions,
    events: Events,
    stop: CancellationToken,
) -> Result<(), Error> {
    let DaemonOptions { folder, manifests, sites, group, mut gateway, reset, key, direct } =
        options;
    let certificate = gateway.ca.certificate_path().map(ToOwned::to_owned);
    gateway.extra_roots.extend(sites.iter().filter_map(Site::authority_file));
    folder.make()?;
    let lock = folder.lock()?;
    folder.begin_log()?;
    folder.clear()?;
    let resets = TcpListener::bind(reset)
        .await
        .map_err(|source| Error::Listen { address: reset, source })?;
    let reset = resets.local_addr().map_err(|source| Error::Listen { address: reset, source })?;
    let guard = Guard::new(reset, key);
    let gateway = Gateway::start(gateway).await?;
    let browsers = folder.gateway();
    gateway.listen_at(&browsers).map_err(Error::file("listen at", &browsers))?;
    let socket = folder.socket();
    let control = UnixListener::bind(&socket).map_err(Error::file("listen at", &socket))?;
    // Whoever can write to the socket can stop the daemon and log in as any account.
    for socket in [&socket, &browsers] {
        fs::set_permissions(socket, fs::Permissions::from_mode(0o600))
            .map_err(Error::file("shut", socket))?;
    }

    if sites.iter().any(|site| site.driver.container().is_some()) {
        folder.note_containers()?;
    }
    // The start is not cancelled half-way: the resources that it has created on the container
    // engine by then would remain there.
    let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&warnings);
    let events: Events = Arc::new(move |event: &Event| {
        kept.lock().extend(event.warning());
        events(event);
    });
    let counts = site_router::counts(&sites, direct.instances);
    let group = match SiteGroup::start_each(sites, &counts, group, events).await {
        Ok(group) => group,
        Err(error) => {
            if !error.is_gone() {
                folder.forget_containers()?;
            }
            folder.clear()?;
            return Err(error.into());
        }
    };
    let router = SiteRouter::new(group.clone(), gateway, direct, stop.clone());
    router.route_new_sites();
    let state = ControlState {
        router: router.clone(),
        folder: folder.clone(),
        manifests,
        certificate,
        reset: guard.url(),
        warnings,
        stop: stop.clone(),
    };
    let control = host_check::serve(control, control::router(state), ended(&stop));
    let guarded = guard.before(full_reset::router(router.clone()), IntoResponse::into_response);
    let resets = host_check::serve(resets, guarded, ended(&stop));
    let ticking = async {
        let mut ticks = tokio::time::interval(clocks::TICK);
        loop {
            ticks.tick().await;
            router.tick();
        }
    };
    // An engine takes a second to measure a container. A status request must not wait for this.
    let measuring = async {
        let mut ticks = tokio::time::interval(MEASURE);
        loop {
            ticks.tick().await;
            group.measure().await;
        }
    };
    tokio::select! {
        () = measuring => {}
        _ = async { tokio::join!(control, resets) } => {}
        () = ticking => {}
        () = stop.cancelled() => {}
    }
    let stopped = group.stop().await;
    if stopped.is_ok() {
        folder.forget_containers()?;
    }
    folder.clear()?;
    drop(lock);
    Ok(stopped?)
}

fn ended(stop: &CancellationToken) -> impl Future<Output = ()> + Send + use<> {
    stop.clone().cancelled_owned()
}
