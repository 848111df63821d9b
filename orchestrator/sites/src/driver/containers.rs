//! The containers of one instance: the application's container and its sidecars.

use std::sync::{Arc, OnceLock};

use camino::Utf8PathBuf;
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use tokio::sync::mpsc::Sender;

use super::InstanceRuntime;
use super::container::Container;
use super::leftovers::Leftovers;
use crate::Error;
use crate::content::{blocking, remove_folder};
use crate::engine::Monitor;
use crate::network::{self, Network};
use crate::relay::Relay;
use crate::state::Access;

/// The parts of an instance that must be removed. It is filled in while the instance is being
/// created, so that a failed start can be undone.
pub(crate) struct Containers {
    monitor: Arc<Monitor>,
    /// The folder with the state and the clock.
    folder: Utf8PathBuf,
    /// The instance's own network, if it has several containers.
    pub(crate) network: Option<Network>,
    /// The sidecars, by the host names that the application uses.
    pub(crate) sidecars: Vec<(String, Container)>,
    /// The application's container; `None` until it is created.
    pub(crate) main: Option<Container>,
    /// The relays to the application, if it has no network.
    pub(crate) relays: Vec<Relay>,
    /// The users who can access restored temporary files; `None` if these files are in the
    /// container's own root file system.
    pub(crate) access: Option<Access>,
    /// The temporary files and processes that it had when it became ready.
    leftovers: OnceLock<Leftovers>,
}

impl Containers {
    pub(crate) fn new(monitor: &Arc<Monitor>, folder: Utf8PathBuf) -> Containers {
        Containers {
            monitor: Arc::clone(monitor),
            folder,
            network: None,
            sidecars: Vec::new(),
            main: None,
            relays: Vec::new(),
            access: None,
            leftovers: OnceLock::new(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Container> {
        self.main.iter().chain(self.sidecars.iter().map(|(_, container)| container))
    }

    async fn exec(&self, command: &[String], user: Option<&str>) -> Result<String, Error> {
        match &self.main {
            Some(main) => main.exec(command, user).await,
            None => Err(Error::Refused {
                doing: format!("run {} in a container", command.join(" ")),
                why: "there is none".to_owned(),
            }),
        }
    }

    /// Waits for the first container that ends: an instance that lacks a part is unusable.
    async fn ended(&self) -> String {
        let main = self.main.iter().map(|main| main.ended().boxed());
        let sidecars = self.sidecars.iter().map(|(name, container)| {
            async move { format!("lost its `{name}`, which {}", container.ended().await) }.boxed()
        });
        let relays = self.relays.iter().map(|relay| {
            async move {
                relay.ended().await;
                "lost the process that leads to it".to_owned()
            }
            .boxed()
        });
        // `select_all` panics without a future.
        let all = main.chain(sidecars).chain(relays).chain([future::pending().boxed()]);
        let (why, ..) = future::select_all(all).await;
        why
    }

    async fn fault(&self) -> Option<String> {
        let main = future::join_all(self.main.iter().map(Container::fault));
        let sidecars = self.sidecars.iter().map(|(name, container)| async move {
            container.fault().await.map(|why| format!("lost its `{name}`, which {why}"))
        });
        let (main, sidecars) = future::join(main, future::join_all(sidecars)).await;
        main.into_iter().chain(sidecars).flatten().next()
    }

    async fn settle(&self) {
        let (Some(access), Some(main)) = (self.access, &self.main) else { return };
        let Some(pid) = main.process().await else { return };
        let kept = self.folder.join("temporary");
        let remember = blocking(move || Ok(Leftovers::remember(pid, &kept, access)));
        match remember.await {
            Ok(Some(leftovers)) => drop(self.leftovers.set(leftovers)),
            _ => tracing::debug!("a container's temporary files and processes are not to be seen"),
        }
    }

    async fn put_back(&self) -> Result<Option<String>, Error> {
        match self.leftovers.get() {
            Some(leftovers) => leftovers.put_back().await,
            None => Ok(None),
        }
    }

    async fn log(&self, lines: usize) -> Vec<String> {
        let mut said = match &self.main {
            Some(main) => main.log(lines).await,
            None => Vec::new(),
        };
        for (name, container) in &self.sidecars {
            said.extend(
                container.log(lines).await.into_iter().map(|line| format!("{name}: {line}")),
            );
        }
        said
    }

    async fn follow(&self, lines: Option<usize>, tell: Sender<String>) {
        let main = self.main.iter().map(|main| (String::new(), main));
        let sidecars =
            self.sidecars.iter().map(|(name, container)| (format!("{name}: "), container));
        let all = main.chain(sidecars).map(|(before, container)| {
            let tell = &tell;
            async move { container.follow(lines, &before, tell).await }
        });
        future::join_all(all).await;
    }

    async fn memory(&self) -> Option<u64> {
        let parts = future::join_all(self.all().map(Container::memory)).await;
        let known: Vec<u64> = parts.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    pub(crate) async fn stop(&self) -> Result<(), Error> {
        let removed = future::join_all(self.all().map(Container::stop)).await;
        removed.into_iter().collect::<Result<(), Error>>()?;
        if let Some(network) = &self.network {
            network::remove(&self.monitor, network).await?;
        }
        remove_folder(&self.folder).await
    }
}

impl InstanceRuntime for Containers {
    fn exec<'a>(
        &'a self,
        command: &'a [String],
        user: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, Error>> {
        self.exec(command, user).boxed()
    }

    fn ended(&self) -> BoxFuture<'_, String> {
        self.ended().boxed()
    }

    fn fault(&self) -> BoxFuture<'_, Option<String>> {
        self.fault().boxed()
    }

    fn is_exiting(&self) -> bool {
        self.all().any(Container::is_exiting)
    }

    fn settle(&self) -> BoxFuture<'_, ()> {
        self.settle().boxed()
    }

    fn put_back(&self) -> BoxFuture<'_, Result<Option<String>, Error>> {
        self.put_back().boxed()
    }

    fn log(&self, lines: usize) -> BoxFuture<'_, Vec<String>> {
        self.log(lines).boxed()
    }

    fn follow(&self, lines: Option<usize>, tell: Sender<String>) -> BoxFuture<'_, ()> {
        self.follow(lines, tell).boxed()
    }

    fn memory(&self) -> BoxFuture<'_, Option<u64>> {
        self.memory().boxed()
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), Error>> {
        self.stop().boxed()
    }
}
