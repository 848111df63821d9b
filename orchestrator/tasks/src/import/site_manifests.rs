//! The manifests of WebArena's sites and of its relatives'. The published ones come with the
//! program: an import needs no folder of them beside it.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Import, ImportError, NewSuite, SkippedTask};
use crate::WorldSpec;

/// The text of a manifest below `sites/`.
macro_rules! manifests {
    ($benchmark:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../sites/", $benchmark, "/", $name, "/site.yaml")))),*]
    };
}

/// WebArena's, which are WebChoreArena's, too.
const WEBARENA: &[(&str, &str)] = manifests! {
    "webarena":
    "gitlab",
    "homepage",
    "map",
    "map-bike",
    "map-car",
    "map-foot",
    "map-search",
    "map-tiles",
    "reddit",
    "shopping",
    "shopping_admin",
    "wikipedia",
};

/// Those that VisualWebArena has set up in its own way.
const VISUALWEBARENA: &[(&str, &str)] = manifests! {
    "visualwebarena":
    "classifieds",
    "homepage",
    "reddit",
    "shopping",
    "wikipedia",
};

/// The smaller ones of WebArena-Verified.
const WEBARENA_VERIFIED: &[(&str, &str)] = manifests! {
    "webarena-verified":
    "gitlab",
    "homepage",
    "map",
    "reddit",
    "shopping",
    "shopping_admin",
    "wikipedia",
};

/// The maker of the sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteSet {
    /// WebArena's, and WebChoreArena's.
    WebArena,
    /// VisualWebArena's.
    VisualWebArena,
    /// WebArena-Verified's.
    WebArenaVerified,
}

impl SiteSet {
    /// The folder below `sites/` that has the manifests in the repository.
    pub fn folder(self) -> &'static str {
        match self {
            SiteSet::WebArena => "webarena",
            SiteSet::VisualWebArena => "visualwebarena",
            SiteSet::WebArenaVerified => "webarena-verified",
        }
    }

    /// A manifest by the name of its site. VisualWebArena's own tests have sites of WebArena
    /// besides.
    pub fn manifest(self, site: &str) -> Option<&'static str> {
        let own = match self {
            SiteSet::WebArena => WEBARENA,
            SiteSet::VisualWebArena => VISUALWEBARENA,
            SiteSet::WebArenaVerified => WEBARENA_VERIFIED,
        };
        let others = if self == SiteSet::VisualWebArena { WEBARENA } else { &[] };
        own.iter().chain(others).find(|(name, _)| *name == site).map(|(_, text)| *text)
    }
}

/// The folder with the manifests of a suite's sites.
#[derive(Debug)]
pub enum SiteManifests {
    /// In a folder, which stays where it is.
    Folder(Utf8PathBuf),
    /// In the program; those that tasks name are written into the suite's folder.
    Built(SiteSet),
}

impl SiteManifests {
    /// Those of a folder; without one those below `sites/`, and where there are none the published
    /// ones.
    ///
    /// # Errors
    /// When the folder is none.
    pub fn find(folder: Option<Utf8PathBuf>, of: SiteSet) -> Result<SiteManifests, ImportError> {
        let usual = Utf8Path::new("sites").join(of.folder());
        match folder.or_else(|| usual.is_dir().then_some(usual)) {
            None => Ok(SiteManifests::Built(of)),
            Some(folder) if folder.is_dir() => {
                let found = folder.canonicalize_utf8();
                found
                    .map(SiteManifests::Folder)
                    .map_err(|source| ImportError::Read { path: folder, source })
            }
            Some(folder) => Err(ImportError::Unusable(format!(
                "{folder} is no folder with manifests of sites; name it with --sites"
            ))),
        }
    }

    /// A suite on these sites. Tasks on a site that nothing describes could not be played, and are
    /// left out.
    pub fn suite(&self, name: &str, world: WorldSpec, mut import: Import) -> NewSuite {
        self.leave_out_without_site(&mut import);
        let manifests = match self {
            SiteManifests::Folder(_) => Vec::new(),
            SiteManifests::Built(published) => {
                let names: BTreeSet<&String> =
                    import.tasks.iter().flat_map(|task| &task.sites).collect();
                let text =
                    |name: &String| Some((name.clone(), published.manifest(name)?.to_owned()));
                names.into_iter().filter_map(text).collect()
            }
        };
        NewSuite { manifests, ..NewSuite::new(name, world, import) }
    }

    fn leave_out_without_site(&self, import: &mut Import) {
        let reason = |site: &str| match self {
            SiteManifests::Folder(folder) => format!("its site {site} has no manifest in {folder}"),
            SiteManifests::Built(_) => {
                format!(
                    "its site {site} is none of the published ones; name the folder of its manifest with --sites"
                )
            }
        };
        import.tasks.retain(|task| match task.sites.iter().find(|site| !self.has(site)) {
            Some(site) => {
                import.skipped.push(SkippedTask { id: task.id.clone(), reason: reason(site) });
                false
            }
            None => true,
        });
    }

    /// Whether there is one for this site.
    pub fn has(&self, site: &str) -> bool {
        match self {
            SiteManifests::Folder(folder) => folder.join(site).join("site.yaml").is_file(),
            SiteManifests::Built(published) => published.manifest(site).is_some(),
        }
    }

    /// Returns the folder as the suite names it.
    pub fn folder(&self) -> Utf8PathBuf {
        match self {
            SiteManifests::Folder(folder) => folder.clone(),
            SiteManifests::Built(_) => "sites".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_repository_has_comes_with_the_program() {
        for published in [SiteSet::WebArena, SiteSet::VisualWebArena, SiteSet::WebArenaVerified] {
            let folder = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites");
            let folder = SiteManifests::Folder(folder.join(published.folder()));
            let SiteManifests::Folder(path) = &folder else { panic!("{folder:?}") };
            let mut sites = 0;
            for entry in path.read_dir_utf8().expect("a folder") {
                let entry = entry.expect("an entry");
                if entry.path().is_dir() {
                    assert!(
                        SiteManifests::Built(published).has(entry.file_name()),
                        "{}",
                        entry.path()
                    );
                    assert!(folder.has(entry.file_name()));
                    sites += 1;
                }
            }
            assert!(sites > 4, "{path}");
        }
        assert!(SiteManifests::Built(SiteSet::VisualWebArena).has("gitlab"));
        assert!(!SiteManifests::Built(SiteSet::WebArena).has("classifieds"));
    }
}
