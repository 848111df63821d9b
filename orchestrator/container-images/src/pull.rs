//! Pulls images from a registry and pins them by digest.
//!
//! The registry first resolves the name to a digest, so a changed image is refused before any of it
//! is downloaded. The download uses the digest, and the name becomes a tag of it. The engine
//! resumes a layer after a broken connection. After an interrupted pull, the next one downloads the
//! missing layers; with Docker 20.10 these are all layers.

use bollard::query_parameters::{CreateImageOptionsBuilder, TagImageOptionsBuilder};
use futures_util::StreamExt;

use crate::engine::UNHURRIED;
use crate::lock::Lock;
use crate::reference::Reference;
use crate::{Engine, Error, Event, OnEvent};

/// The result of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullResult {
    /// The image's digest in the registry.
    pub digest: String,
    /// Whether the engine had the image already.
    pub present: bool,
}

/// Pulls an image and pins its digest in `lock`. `update` replaces an existing pin.
///
/// # Errors
/// When the registry's digest differs from the lock, the registry cannot be reached, or the disk is
/// full.
pub async fn pull(
    engine: &Engine,
    image: &str,
    lock: &mut Lock,
    update: bool,
    on: &OnEvent,
) -> Result<PullResult, Error> {
    let reference = Reference::parse(image);
    let name = reference.to_string();
    on(Event::Doing("asking the registry"));
    let found = match &reference.digest {
        Some(digest) => digest.clone(),
        None => digest_of(engine, &name).await?,
    };
    if let Some(pinned) = lock.digest(&name).filter(|pinned| *pinned != found && !update) {
        return Err(Error::Changed { image: name.clone(), pinned: pinned.to_owned(), found });
    }
    let exact = reference.pinned(&found);
    let present = has(engine, &exact).await?;
    if !present {
        fetch(engine, &exact, on).await?;
    }
    if !has(engine, &exact).await? {
        let why = format!("the engine says it is done, but has no {exact}");
        return Err(Error::Refused { doing: format!("pull {name}"), why });
    }
    if let Some(tag) = &reference.tag {
        let options = TagImageOptionsBuilder::new().repo(&reference.name).tag(tag).build();
        let tagged = engine.docker().tag_image(&exact, Some(options)).await;
        tagged.map_err(Error::of_engine(format!("tag {name}")))?;
        lock.pin(&name, &found)?;
    }
    Ok(PullResult { digest: found, present })
}

/// The registry's current digest for a name.
pub(crate) async fn digest_of(engine: &Engine, name: &str) -> Result<String, Error> {
    let inspected = engine.docker().inspect_registry_image(name, None).await;
    let answer = inspected.map_err(Error::of_engine(format!("ask the registry for {name}")))?;
    answer.descriptor.digest.ok_or_else(|| Error::Refused {
        doing: format!("ask the registry for {name}"),
        why: "it names no digest".to_owned(),
    })
}

/// Downloads an image layer by layer. The name has a digest or a tag.
pub(crate) async fn fetch(engine: &Engine, name: &str, on: &OnEvent) -> Result<(), Error> {
    let docker = engine.docker().clone().with_timeout(UNHURRIED);
    let options = CreateImageOptionsBuilder::new().from_image(name).build();
    let mut answer = std::pin::pin!(docker.create_image(Some(options), None, None));
    while let Some(progress) = answer.next().await {
        let progress = progress.map_err(Error::of_engine(format!("pull {name}")))?;
        let (Some(id), Some(doing)) = (progress.id, progress.status) else { continue };
        let count = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
        let bytes = progress.progress_detail.and_then(|at| count(at.current).zip(count(at.total)));
        on(Event::Layer { id: &id, doing: &doing, bytes });
    }
    Ok(())
}

/// Whether the engine has the image of this digest under this name.
async fn has(engine: &Engine, exact: &str) -> Result<bool, Error> {
    let image = engine.image(exact).await?;
    // The engine omits its default registry.
    Ok(image.is_some_and(|image| {
        let digests = image.repo_digests.unwrap_or_default();
        digests.iter().any(|digest| exact == digest || exact.ends_with(&format!("/{digest}")))
    }))
}
