//! Images of others, from a registry, pinned by content.
//!
//! The registry is asked for the digest behind the name first, so that a changed image is refused before a byte of it
//! is fetched. What is fetched is the digest and not the name; the name becomes a tag of it. A connection
//! that breaks within a layer is taken up again by the engine. What is left of a pull that was interrupted is the engine's
//! to keep: the next one fetches what is missing, which with Docker 20.10 is everything.

use bollard::query_parameters::{CreateImageOptionsBuilder, TagImageOptionsBuilder};
use futures_util::StreamExt;

use crate::engine::UNHURRIED;
use crate::lock::Lock;
use crate::reference::Reference;
use crate::{Engine, Error, Event, OnEvent};

/// What became of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullResult {
    /// The image's digest in the registry.
    pub digest: String,
    /// Whether it was here already.
    pub present: bool,
}

/// Pulls an image and pins its digest in `lock`; with `update`, whatever was pinned before.
///
/// # Errors
/// When the registry has another digest than the lock, or cannot be reached, or the disk is full.
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

/// The digest that the registry has under a name now.
pub(crate) async fn digest_of(engine: &Engine, name: &str) -> Result<String, Error> {
    let asked = engine.docker().inspect_registry_image(name, None).await;
    let answer = asked.map_err(Error::of_engine(format!("ask the registry for {name}")))?;
    answer.descriptor.digest.ok_or_else(|| Error::Refused {
        doing: format!("ask the registry for {name}"),
        why: "it names no digest".to_owned(),
    })
}

/// Fetches an image, layer by layer. It is named by digest, or with its tag.
pub(crate) async fn fetch(engine: &Engine, name: &str, on: &OnEvent) -> Result<(), Error> {
    let docker = engine.docker().clone().with_timeout(UNHURRIED);
    let options = CreateImageOptionsBuilder::new().from_image(name).build();
    let mut answer = std::pin::pin!(docker.create_image(Some(options), None, None));
    while let Some(said) = answer.next().await {
        let said = said.map_err(Error::of_engine(format!("pull {name}")))?;
        let (Some(id), Some(doing)) = (said.id, said.status) else { continue };
        let count = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
        let bytes = said.progress_detail.and_then(|at| count(at.current).zip(count(at.total)));
        on(Event::Layer { id: &id, doing: &doing, bytes });
    }
    Ok(())
}

/// Whether the engine has the image of this digest under this name.
async fn has(engine: &Engine, exact: &str) -> Result<bool, Error> {
    let image = engine.image(exact).await?;
    // The engine leaves out the registry where it is its default one.
    Ok(image.is_some_and(|image| {
        let digests = image.repo_digests.unwrap_or_default();
        digests.iter().any(|digest| exact == digest || exact.ends_with(&format!("/{digest}")))
    }))
}
