//! The images of the sites of a run: whether this machine has them, and those of the run.
//!
//! ```text
//! an image of the run is here   -> played
//! another one of its name       -> named, and nothing is played
//! none                          -> loaded from --site-images, once; without it, named
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use container_images::{Engine, archive};
use sites::Site;
use tasks::Suite;
use tokio::time::Instant;

use crate::Error;
use crate::lock::PartLock;

/// The time limit for another process of this machine to load the same file.
const LOADED_WITHIN: Duration = Duration::from_secs(3600);
/// The length of a digest in messages: that of Docker's short ids, with the name of the digest.
const SHORT: usize = "sha256:".len() + 12;

/// Ids of images by their full names.
pub type Ids = BTreeMap<String, String>;

/// The images that containers of a run's sites need, and the file that has them.
#[derive(Debug)]
pub struct SiteImages {
    /// The images by the names in manifests.
    needed: BTreeSet<String>,
    archive: Option<Utf8PathBuf>,
}

impl SiteImages {
    /// Returns the images for these tasks.
    ///
    /// # Errors
    /// When a manifest of a site cannot be read.
    pub fn of(
        suite: &Suite,
        tasks: &BTreeSet<&str>,
        archive: Option<&Utf8Path>,
    ) -> Result<SiteImages, Error> {
        let archive = archive.map(Utf8Path::to_owned);
        let Some(manifests) = &suite.world.sites else {
            return Ok(SiteImages { needed: BTreeSet::new(), archive });
        };
        let known =
            Site::load_all(manifests).map_err(|source| play::Error::Manifests { source })?;
        let own = suite.tasks.iter().filter(|task| tasks.contains(task.id.as_str()));
        let names: BTreeSet<&String> = own.flat_map(|task| &task.sites).collect();
        let containers = known.iter().filter(|site| names.contains(&site.name));
        let containers = containers.filter_map(|site| site.driver.container());
        let needed =
            containers.flat_map(|container| container.images().map(str::to_owned)).collect();
        Ok(SiteImages { needed, archive })
    }

    /// Whether no site needs a container.
    pub fn is_empty(&self) -> bool {
        self.needed.is_empty()
    }

    /// Returns the ids of the run's images, as far as this machine knows them: those of the file,
    /// and of its own engine for those that the file does not have.
    ///
    /// # Errors
    /// When the file cannot be read, or the engine does not answer.
    pub async fn known(&self) -> Result<Ids, Error> {
        let mut ids = self.archived().await?;
        ids.retain(|name, _| self.needed.iter().any(|needed| archive::full_name(needed) == *name));
        // A machine that only submits may have no engine.
        let Ok(engine) = Engine::connect().await else { return Ok(ids) };
        for image in &self.needed {
            if let Some(id) = engine.id(image).await? {
                ids.entry(archive::full_name(image)).or_insert(id);
            }
        }
        Ok(ids)
    }

    /// Makes sure that this machine has these images. Returns the ids of all that are needed, or
    /// the problems. `lock` is a file of this machine that only one process holds while it loads.
    ///
    /// # Errors
    /// When the file cannot be read or loaded, or there is no engine.
    pub async fn provide(
        &self,
        expected: &Ids,
        lock: &Utf8Path,
    ) -> Result<Result<Ids, Vec<String>>, Error> {
        let engine = Engine::connect().await.map_err(container_images::Error::Engine)?;
        let archived = self.archived().await?;
        let expected = |name: &str| expected.get(name).or(archived.get(name));
        let (mut ids, mut problems, mut missing) = (Ids::new(), Vec::new(), Vec::new());
        for image in &self.needed {
            let name = archive::full_name(image);
            match (engine.id(image).await?, expected(&name), archived.get(&name)) {
                (Some(here), Some(wanted), _) if here != *wanted => problems.push(other(image, &here, wanted)),
                (Some(here), _, _) => drop(ids.insert(name, here)),
                (None, Some(wanted), Some(there)) if wanted != there => problems.push(format!(
                    "the file of --site-images has {} as {image}, and the run is played with {}",
                    short(there),
                    short(wanted)
                )),
                (None, _, Some(_)) => missing.push((image, name)),
                (None, _, None) => problems.push(format!(
                    "there is no image {image}; load it with `sandbox images load`, or name a file that has it with --site-images"
                )),
            }
        }
        // Nothing is loaded for a run that is not played here.
        if !problems.is_empty() {
            return Ok(Err(problems));
        }
        if let (Some(file), false) = (&self.archive, missing.is_empty()) {
            load(&engine, file, &missing, lock).await?;
        }
        for (image, name) in missing {
            match (engine.id(image).await?, archived.get(&name)) {
                (Some(here), Some(wanted)) if here == *wanted => drop(ids.insert(name, here)),
                (here, _) => problems.push(format!(
                    "{image} is {} after it was loaded from --site-images",
                    here.as_deref().map_or("not there", short)
                )),
            }
        }
        Ok(if problems.is_empty() { Ok(ids) } else { Err(problems) })
    }

    async fn archived(&self) -> Result<Ids, Error> {
        let Some(file) = self.archive.clone().filter(|_| !self.is_empty()) else {
            return Ok(Ids::new());
        };
        let read = tokio::task::spawn_blocking(move || archive::ids(&file)).await;
        let doing = "read the images of the sites";
        Ok(read.map_err(|source| Error::BrokeDown { doing, source })??)
    }
}

/// Loads the file, unless another process has done so in the meantime.
async fn load(
    engine: &Engine,
    file: &Utf8Path,
    missing: &[(&String, String)],
    lock: &Utf8Path,
) -> Result<(), Error> {
    if let Some(folder) = lock.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|source| Error::Machine { doing: format!("create {folder}"), source })?;
    }
    let alone = PartLock::wait(lock, Instant::now() + LOADED_WITHIN).await?;
    if alone.is_none() {
        return Err(Error::Loading { file: file.to_owned(), waited: LOADED_WITHIN });
    }
    let mut is_there = true;
    for (image, _) in missing {
        is_there &= engine.id(image).await?.is_some();
    }
    if is_there {
        return Ok(());
    }
    tracing::info!(%file, "loading the images of the sites");
    let on: container_images::OnEvent = Arc::new(|_| {});
    let loaded = container_images::load::load(engine, file, &on).await?;
    for (image, name) in missing {
        // A file that Podman has saved has names that Docker does not look for.
        let named = loaded.iter().find(|loaded| archive::full_name(loaded) == *name);
        if let (None, Some(named)) = (engine.id(image).await?, named) {
            engine.name(named, name).await?;
        }
    }
    Ok(())
}

/// Returns the problem of a machine with another image than the run's.
pub(crate) fn other(image: &str, here: &str, wanted: &str) -> String {
    format!("{image} is {} here, and the run is played with {}", short(here), short(wanted))
}

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}
