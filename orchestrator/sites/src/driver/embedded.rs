//! Driver for sites inside our own process. Each instance has a Unix socket that only its owner
//! reaches.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use doors::unix;
use embedded_sites::desk::Directory;
use embedded_sites::{
    Clock as Reads, Files, Golden, Options, Passwords, desk, forum, itsm, turkingbench,
};
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::net::UnixListener;
use tokio::task::AbortHandle;

use super::{Driver, InstanceRuntime, refuse};
use crate::clock::Clock;
use crate::content::{Content, blocking};
use crate::instance::Instance;
use crate::manifest::{Application, folder_at};
use crate::{Error, Site, SiteTarget};

/// The embedded application with its settings.
#[derive(Clone)]
enum EmbeddedApp {
    Forum(Golden),
    Desk(Golden, Directory),
    TurkingBench(Golden, turkingbench::Library),
    Itsm(Golden, itsm::Data),
    Files(Files),
    Hosts(Files),
}

pub(crate) struct Embedded {
    served: EmbeddedApp,
    start_of_time: Option<Timestamp>,
    name: String,
    /// The passwords of the manifest's accounts.
    passwords: Passwords,
    /// The folder of the sockets.
    instances: Utf8PathBuf,
}

impl Embedded {
    /// Desk sites show what `directory` lists. `folder` is where golden databases are kept,
    /// `instances` that of the sockets.
    pub(crate) async fn new(
        site: &Site,
        application: Application,
        folder: Utf8PathBuf,
        instances: Utf8PathBuf,
        directory: Directory,
    ) -> Result<Embedded, Error> {
        let site = site.clone();
        let start_of_time = site.clock;
        let name = site.name.clone();
        let accounts = site.accounts.values();
        let passwords =
            Arc::new(accounts.map(|own| (own.username.clone(), own.password.clone())).collect());
        let open = move || {
            Ok(match &application {
                Application::Forum => EmbeddedApp::Forum(Golden::open(folder)?),
                Application::Desk => EmbeddedApp::Desk(Golden::open(folder)?, directory),
                Application::TurkingBench(tasks) => {
                    let tasks = folder_of(&site, "turkingbench", tasks)?;
                    EmbeddedApp::TurkingBench(
                        Golden::open(folder)?,
                        turkingbench::Library::open(&tasks)?,
                    )
                }
                Application::Itsm => {
                    EmbeddedApp::Itsm(Golden::open(folder)?, itsm::Data::open(None)?)
                }
                Application::ItsmOf(data) => {
                    let data = folder_of(&site, "itsm", data)?;
                    let data = itsm::Data::open(Some(data.as_std_path()))?;
                    EmbeddedApp::Itsm(Golden::open(folder)?, data)
                }
                Application::Static(files) => EmbeddedApp::Files(Files::open(
                    folder_of(&site, "static", files)?.as_std_path(),
                )?),
                Application::Hosts(files) => EmbeddedApp::Hosts(Files::open(
                    folder_of(&site, "hosts", files)?.as_std_path(),
                )?),
            })
        };
        Ok(Embedded { served: blocking(open).await?, start_of_time, name, passwords, instances })
    }

    async fn start(&self, id: u32) -> Result<Instance, Error> {
        let (clock, reads) = match self.start_of_time {
            Some(start) => {
                let shared = Arc::new(Mutex::new(start));
                let read = Arc::clone(&shared);
                let reads = Reads::new(move || *read.lock());
                (Clock::Shared(shared), reads)
            }
            None => (Clock::Real, Reads::new(Timestamp::now)),
        };
        let (served, passwords) = (self.served.clone(), Arc::clone(&self.passwords));
        let begin = move || {
            let options = Options::new(reads);
            let instance = match served {
                EmbeddedApp::Forum(golden) => forum::start(&golden, &options)?,
                EmbeddedApp::Desk(golden, directory) => desk::start(&golden, &options, &directory)?,
                EmbeddedApp::TurkingBench(golden, library) => {
                    turkingbench::start(&golden, &options, &library)?
                }
                EmbeddedApp::Itsm(golden, data) => {
                    itsm::start(&golden, &options.with_passwords(passwords), &data)?
                }
                EmbeddedApp::Files(files) => {
                    return Ok((files.router(options.clock), Content::Elsewhere));
                }
                EmbeddedApp::Hosts(files) => {
                    return Ok((files.router_by_host(options.clock), Content::Elsewhere));
                }
            };
            Ok((instance.router(), Content::Embedded(instance)))
        };
        let (router, content) = blocking(begin).await?;
        let socket = self.instances.join(format!("{}-{id}.sock", self.name));
        let listener = listen(&socket).map_err(Error::of_file("listen at", &socket))?;
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        let machine = Box::new(Server { serving: serving.abort_handle(), socket: socket.clone() });
        Ok(Instance::new(id, SiteTarget::Socket(socket), clock, content, machine))
    }
}

impl Driver for Embedded {
    fn start(&self, id: u32) -> BoxFuture<'_, Result<Instance, Error>> {
        self.start(id).boxed()
    }
}

/// Resolves a folder that a manifest names.
fn folder_of(site: &Site, key: &str, folder: &str) -> Result<Utf8PathBuf, Error> {
    folder_at(&site.folder, folder).map_err(|why| Error::Volume {
        site: site.name.clone(),
        manifest: site.file(),
        key: format!("embedded.{key}"),
        why,
    })
}

/// Listens at a new socket.
fn listen(socket: &Utf8Path) -> std::io::Result<UnixListener> {
    socket.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let listener = unix::bind(socket.as_std_path())?;
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}

/// The server task, and its socket.
struct Server {
    serving: AbortHandle,
    socket: Utf8PathBuf,
}

impl Server {
    fn end(&self) {
        self.serving.abort();
        // It may be gone with its folder.
        let _ = std::fs::remove_file(&self.socket);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

impl InstanceRuntime for Server {
    fn exec<'a>(
        &'a self,
        command: &'a [String],
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, Error>> {
        refuse(command, "the site is part of this program")
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.end();
        future::ready(Ok(())).boxed()
    }
}
