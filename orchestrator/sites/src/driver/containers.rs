//! The containers of one copy: the application's own, and those that stand beside it.

use camino::Utf8PathBuf;
use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use images::Engine;
use tokio::sync::mpsc::Sender;

use super::Machine;
use super::container::Container;
use crate::Error;
use crate::content::remove_folder;
use crate::network::{self, Network};

/// What of a copy is to be removed, from the first thing on that was made.
pub(crate) struct Containers {
    engine: Engine,
    /// With the state and the clock.
    folder: Utf8PathBuf,
    /// Where there are several.
    pub(crate) network: Option<Network>,
    /// By the names that the application knows them by.
    pub(crate) beside: Vec<(String, Container)>,
    /// The application's own; none until it was made.
    pub(crate) main: Option<Container>,
}

impl Containers {
    pub(crate) fn new(engine: &Engine, folder: Utf8PathBuf) -> Containers {
        Containers { engine: engine.clone(), folder, network: None, beside: Vec::new(), main: None }
    }

    fn all(&self) -> impl Iterator<Item = &Container> {
        self.main.iter().chain(self.beside.iter().map(|(_, container)| container))
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

    /// Waits for the first that ends: a copy that lacks a part is none.
    async fn ended(&self) -> String {
        let main = self.main.iter().map(|main| main.ended().boxed());
        let beside = self.beside.iter().map(|(name, container)| {
            async move { format!("lost its `{name}`, which {}", container.ended().await) }.boxed()
        });
        let (why, ..) = future::select_all(main.chain(beside).chain([future::pending().boxed()])).await;
        why
    }

    async fn log(&self, lines: usize) -> Vec<String> {
        let mut said = match &self.main {
            Some(main) => main.log(lines).await,
            None => Vec::new(),
        };
        for (name, container) in &self.beside {
            said.extend(container.log(lines).await.into_iter().map(|line| format!("{name}: {line}")));
        }
        said
    }

    async fn follow(&self, lines: Option<usize>, tell: Sender<String>) {
        let main = self.main.iter().map(|main| (String::new(), main));
        let beside = self.beside.iter().map(|(name, container)| (format!("{name}: "), container));
        let all = main.chain(beside).map(|(before, container)| {
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
            network::remove(&self.engine, network).await?;
        }
        remove_folder(&self.folder).await
    }
}

impl Machine for Containers {
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
