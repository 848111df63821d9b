//! Writes the first task of a new suite, by the recordings or sites that are its world.

use camino::{Utf8Path, Utf8PathBuf};
use sites::Site;
use snapshots::Page;
use snapshots::index::ReplaySet;
use tasks::scaffold::{Scaffold, quoted};
use url::Url;

/// An error in writing the first task of a suite.
#[derive(Debug, thiserror::Error)]
#[error("{doing}")]
pub struct ScaffoldError {
    /// The action that failed, as a verb.
    doing: String,
    /// The cause.
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl ScaffoldError {
    fn while_doing<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        doing: impl Into<String>,
    ) -> impl FnOnce(E) -> ScaffoldError {
        |source| ScaffoldError { doing: doing.into(), source: source.into() }
    }
}

/// Makes a task on the first page of recordings, for a suite in `folder`.
///
/// # Errors
/// When a recording cannot be read, or has no page.
pub fn of_snapshots(folder: &Utf8Path, files: &[Utf8PathBuf]) -> Result<Scaffold, ScaffoldError> {
    let set = ReplaySet::open(files, None, &mut |_, _| {})
        .map_err(ScaffoldError::while_doing("open the snapshots"))?;
    let documents =
        set.html_documents().map_err(ScaffoldError::while_doing("look for documents"))?;
    // Rather a page of the list, which a browser has shown, than any document.
    let listed = set.pages().find(|page| documents.iter().any(|document| document.url == page.url));
    let page = listed.or_else(|| documents.into_iter().next()).ok_or_else(|| {
        ScaffoldError::while_doing("find a page to begin at")(
            "no HTML document was recorded with status 200 and a body",
        )
    })?;
    let mut world = String::from("  snapshots:\n");
    for file in files {
        let path =
            path_from(folder, file).map_err(ScaffoldError::while_doing(format!("find {file}")))?;
        world += &format!("    - {}\n", quoted(path.as_str()));
    }
    let Page { url, ts, title, .. } = page;
    world += &format!("  clock: {}\n", ts);
    let title = title.filter(|title| !title.trim().is_empty());
    let host = Url::parse(&url).ok().and_then(|url| url.host_str().map(str::to_owned));
    Ok(Scaffold { world, start_url: url, title, sites: host.into_iter().collect() })
}

/// Makes a task on the start page of the first of these sites, whose manifests are in folders of
/// `manifests`, for a suite in `folder`.
///
/// # Errors
/// When a manifest cannot be read.
pub fn of_sites(
    folder: &Utf8Path,
    manifests: &Utf8Path,
    names: &[String],
) -> Result<Scaffold, ScaffoldError> {
    let load = |name: &String| {
        Site::load(&manifests.join(name))
            .map_err(ScaffoldError::while_doing(format!("read the site {name}")))
    };
    let sites = names.iter().map(load).collect::<Result<Vec<Site>, ScaffoldError>>()?;
    let path = path_from(folder, manifests)
        .map_err(ScaffoldError::while_doing(format!("find {manifests}")))?;
    let start_url = sites.first().map(Site::address).unwrap_or_default();
    let clock = sites.first().and_then(|site| site.clock).unwrap_or_else(jiff::Timestamp::now);
    let world = format!("  sites: {}\n  clock: {clock}\n", quoted(path.as_str()));
    Ok(Scaffold { world, start_url, title: None, sites: names.to_vec() })
}

/// Returns the path of `to` relative to a folder.
fn path_from(folder: &Utf8Path, to: &Utf8Path) -> std::io::Result<Utf8PathBuf> {
    let (folder, to) = (folder.canonicalize_utf8()?, to.canonicalize_utf8()?);
    let shared =
        folder.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(shared).map(|_| "..");
    Ok(up.chain(to.components().skip(shared).map(|part| part.as_str())).collect())
}
