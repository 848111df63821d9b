//! Sites inside our own process, each copy behind a port of its own on loopback.

use std::sync::{Arc, Mutex, PoisonError};

use camino::Utf8PathBuf;
use embedded::desk::Town;
use embedded::{Clock as Reads, Golden, Options, SiteCopy, desk, forum};
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::mpsc::Sender;
use tokio::task::AbortHandle;

use super::{Driver, Machine};
use crate::clock::Clock;
use crate::content::{Content, blocking};
use crate::copy::Copy;
use crate::{Error, Site, Upstream};

/// Which application it is, with what it needs to know.
#[derive(Clone)]
enum Application {
    Forum,
    Desk(Arc<Town>),
}

pub(crate) struct Embedded {
    application: Application,
    golden: Golden,
    start_of_time: Option<Timestamp>,
}

impl Embedded {
    /// `town` is what a desk shows; golden databases are kept in `folder`.
    pub(crate) async fn new(site: &Site, folder: Utf8PathBuf, town: Arc<Town>) -> Result<Embedded, Error> {
        let application = match site.embedded.as_deref() {
            Some("forum") => Application::Forum,
            Some("desk") => Application::Desk(town),
            other => {
                let why = format!("no application is called {:?}: forum or desk", other.unwrap_or(""));
                return Err(Error::Senseless { site: site.name.clone(), why });
            }
        };
        let golden = blocking(move || Ok(Golden::open(folder)?)).await?;
        Ok(Embedded { application, golden, start_of_time: site.clock })
    }

    async fn start(&self, id: u32) -> Result<Copy, Error> {
        let (clock, reads) = match self.start_of_time {
            Some(start) => {
                let shared = Arc::new(Mutex::new(start));
                let read = Arc::clone(&shared);
                let reads = Reads::new(move || *read.lock().unwrap_or_else(PoisonError::into_inner));
                (Clock::Shared(shared), reads)
            }
            None => (Clock::Real, Reads::new(Timestamp::now)),
        };
        let (golden, application) = (self.golden.clone(), self.application.clone());
        let begin = move || {
            let options = Options::new(reads);
            Ok(match application {
                Application::Forum => forum::start(&golden, &options)?,
                Application::Desk(town) => desk::start(&golden, &options, &town)?,
            })
        };
        let application: SiteCopy = blocking(begin).await?;
        let listening = Error::of_file("listen on", "127.0.0.1".into());
        let listener = TcpListener::bind(("127.0.0.1", 0)).await;
        let (listener, address) = listener
            .and_then(|listener| listener.local_addr().map(|address| (listener, address)))
            .map_err(listening)?;
        let router = application.router();
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        let machine = Box::new(Server(serving.abort_handle()));
        Ok(Copy::new(id, Upstream::Address(address), clock, Content::Embedded(application), machine))
    }
}

impl Driver for Embedded {
    fn start(&self, id: u32) -> BoxFuture<'_, Result<Copy, Error>> {
        self.start(id).boxed()
    }
}

/// The task that answers.
struct Server(AbortHandle);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Machine for Server {
    fn exec<'a>(&'a self, command: &'a [String], _: Option<&'a str>) -> BoxFuture<'a, Result<String, Error>> {
        let doing = format!("run {}", command.join(" "));
        future::ready(Err(Error::Refused { doing, why: "the site is part of this program".to_owned() }))
            .boxed()
    }

    fn ended(&self) -> BoxFuture<'_, String> {
        future::pending().boxed()
    }

    fn log(&self, _: usize) -> BoxFuture<'_, Vec<String>> {
        future::ready(Vec::new()).boxed()
    }

    fn follow(&self, _: Option<usize>, _: Sender<String>) -> BoxFuture<'_, ()> {
        future::ready(()).boxed()
    }

    fn memory(&self) -> BoxFuture<'_, Option<u64>> {
        future::ready(None).boxed()
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.0.abort();
        future::ready(Ok(())).boxed()
    }
}
