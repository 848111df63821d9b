//! Selects the sites that this machine can run, from those that should be started.

use container_images::Engine;
use error_text::with_causes;
use sites::Site;
use sites::manifest::ContainerSpec;

use crate::Error;

/// The commands that make or fetch images.
pub(crate) const BUILD: &str =
    "build them with `sandbox images build`, or load them from a file with `sandbox images load`";

/// The sites that the user has asked for.
#[derive(Debug, Clone, Copy)]
pub struct RequestedSites {
    /// Whether the user has named them. Otherwise all that can be started are meant.
    pub named: bool,
    /// Whether they are added to a running daemon.
    pub added: bool,
}

/// Returns the names of the sites that this machine can run. Named sites that are added to a
/// running daemon must all be among them; if no daemon runs, one is enough. `warn` receives the
/// sites that are left out, and the limits that the engine does not support.
///
/// # Errors
/// When those that have to be there lack an image, or no engine can be used.
pub async fn startable(
    sites: Vec<Site>,
    requested: RequestedSites,
    warn: &dyn Fn(&str),
) -> Result<Vec<String>, Error> {
    let RequestedSites { named, added } = requested;
    let name = |site: &Site| site.name.clone();
    let (contained, others): (Vec<Site>, Vec<Site>) =
        sites.into_iter().partition(|site| site.driver.container().is_some());
    let mut startable: Vec<String> = others.iter().map(name).collect();
    if contained.is_empty() {
        return Ok(startable);
    }
    let may_be_none = added || !startable.is_empty();
    let engine = Engine::connect().await;
    if let Ok(engine) = &engine
        && let Ok(Some(missing)) = sites::missing_limits(engine).await
    {
        warn(&missing);
    }
    match engine {
        // What is wrong with them is told by the site, which is tried again by its reset.
        Ok(_) if named && !added => startable.extend(contained.iter().map(name)),
        Ok(engine) => {
            let (there, missing) = by_image(&engine, contained).await?;
            let missing = (!missing.is_empty()).then(|| missing.join(", "));
            if let Some(sites) = missing {
                if named || there.is_empty() && !may_be_none {
                    return Err(Error::NoImages { sites });
                }
                warn(&format!("left out {sites}: there are no images of them; {BUILD}"));
            }
            startable.extend(there.iter().map(name));
        }
        Err(error) if !named && may_be_none => {
            let left: Vec<&str> = contained.iter().map(|site| site.name.as_str()).collect();
            let (left, cure) = (left.join(", "), error.cure());
            warn(&format!("left out {left}: failed to {}; {cure}", with_causes(&error)));
        }
        Err(error) => return Err(container_images::Error::Engine(error).into()),
    }
    startable.sort();
    Ok(startable)
}

/// Returns the sites whose images are present, and the names of the others.
async fn by_image(
    engine: &Engine,
    sites: Vec<Site>,
) -> Result<(Vec<Site>, Vec<String>), container_images::Error> {
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for site in sites {
        let mut all = true;
        for image in site.driver.container().into_iter().flat_map(ContainerSpec::images) {
            all &= engine.has(image).await?;
        }
        if all { there.push(site) } else { missing.push(site.name) }
    }
    Ok((there, missing))
}
