//! The process that a town lives in.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;
use std::{fs, future::Future};

use axum::response::IntoResponse;
use camino::Utf8PathBuf;
use gateway::{Config, Gateway};
use guard::Guard;
use sites::manifest::DriverKind;
use sites::{Events, Options, Site, SiteGroup};
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;

use crate::control::{self, Desk};
use crate::site_router::SiteRouter;
use crate::{Error, Folder, clocks, full_reset};

/// How often the memory of instances is measured.
const MEASURE: Duration = Duration::from_secs(3);

/// What a town is made of.
pub struct Served {
    /// Where it keeps what commands have to find.
    pub folder: Folder,
    /// The folder with the manifests of its sites, from which more may be added.
    pub manifests: Utf8PathBuf,
    /// Its sites.
    pub sites: Vec<Site>,
    /// How they are set up.
    pub options: Options,
    /// Its gateway, whose routes are the town's.
    pub gateway: Config,
    /// Where full resets are asked for.
    pub reset: SocketAddr,
}

/// Serves a town until `stop` is cancelled or a command says so; then nothing of it is left.
///
/// # Errors
/// When a town is up already, something cannot be listened on, or the sites cannot be brought up or removed.
pub async fn serve(served: Served, events: Events, stop: CancellationToken) -> Result<(), Error> {
    let Served { folder, manifests, sites, options, mut gateway, reset } = served;
    let certificate = gateway.ca.certificate_path().map(ToOwned::to_owned);
    gateway.extra_roots.extend(sites.iter().filter_map(Site::authority_file));
    folder.make()?;
    let lock = folder.lock()?;
    folder.begin_log()?;
    folder.clear()?;
    let resets = TcpListener::bind(reset).await.map_err(|source| Error::Listen { address: reset, source })?;
    let reset = resets.local_addr().map_err(|source| Error::Listen { address: reset, source })?;
    let gateway = Gateway::start(gateway).await?;
    let socket = folder.socket();
    let control = UnixListener::bind(&socket).map_err(Error::file("listen at", &socket))?;
    // Who can write to it can stop the town and be anybody in it.
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).map_err(Error::file("shut", &socket))?;

    if sites.iter().any(|site| site.driver == DriverKind::Docker) {
        folder.note_containers()?;
    }
    // Not given up half-way, as what it has made on the container engine by then would be left
    // there.
    let town = match SiteGroup::start(sites, options, events).await {
        Ok(town) => town,
        Err(error) => {
            if !error.is_gone() {
                folder.forget_containers()?;
            }
            folder.clear()?;
            return Err(error.into());
        }
    };
    let router = SiteRouter::new(town.clone(), gateway);
    router.move_in();
    let desk = Desk {
        router: router.clone(),
        folder: folder.clone(),
        manifests,
        certificate,
        reset: format!("http://{reset}"),
        stop: stop.clone(),
    };
    let control = axum::serve(control, control::router(desk)).with_graceful_shutdown(ended(&stop));
    let router = Guard::new(reset).before(full_reset::router(router.clone()), IntoResponse::into_response);
    let resets = axum::serve(resets, router).with_graceful_shutdown(ended(&stop));
    let ticking = async {
        let mut ticks = tokio::time::interval(clocks::TICK);
        loop {
            ticks.tick().await;
            router.tick();
        }
    };
    // An engine takes a second to measure a container, which nobody who asks for the status should wait for.
    let measuring = async {
        let mut ticks = tokio::time::interval(MEASURE);
        loop {
            ticks.tick().await;
            town.measure().await;
        }
    };
    tokio::select! {
        () = measuring => {}
        ended = async { tokio::join!(control, resets) } => {
            if let Err(error) = ended.0.and(ended.1) {
                tracing::warn!(%error, "the town can no longer be talked to, and ends");
            }
        }
        () = ticking => {}
        () = stop.cancelled() => {}
    }
    let stopped = town.stop().await;
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
