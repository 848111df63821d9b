//! The manifests of the published sites, which come with the program: an import needs no folder of
//! them beside it.

use camino::Utf8PathBuf;

/// The text of a manifest below `sites/`.
macro_rules! manifests {
    ($benchmark:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../../sites/", $benchmark, "/", $name, "/site.yaml")))),*]
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
const VERIFIED: &[(&str, &str)] = manifests! {
    "webarena-verified":
    "gitlab",
    "homepage",
    "map",
    "reddit",
    "shopping",
    "shopping_admin",
    "wikipedia",
};

/// Whose sites they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Published {
    WebArena,
    VisualWebArena,
    Verified,
}

impl Published {
    /// The folder below `sites/` that has the manifests in the repository.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Published::WebArena => "webarena",
            Published::VisualWebArena => "visualwebarena",
            Published::Verified => "webarena-verified",
        }
    }

    /// A manifest by the name of its site. VisualWebArena's own tests have sites of WebArena
    /// besides.
    pub(super) fn manifest(self, site: &str) -> Option<&'static str> {
        let own = match self {
            Published::WebArena => WEBARENA,
            Published::VisualWebArena => VISUALWEBARENA,
            Published::Verified => VERIFIED,
        };
        let others = if self == Published::VisualWebArena { WEBARENA } else { &[] };
        own.iter().chain(others).find(|(name, _)| *name == site).map(|(_, text)| *text)
    }
}

/// Where the manifests of a suite's sites are.
#[derive(Debug)]
pub(super) enum Manifests {
    /// In a folder, which stays where it is.
    Folder(Utf8PathBuf),
    /// In the program; those that tasks name are written into the suite's folder.
    Built(Published),
}

impl Manifests {
    /// Whether there is one for this site.
    pub(super) fn has(&self, site: &str) -> bool {
        match self {
            Manifests::Folder(folder) => folder.join(site).join("site.yaml").is_file(),
            Manifests::Built(published) => published.manifest(site).is_some(),
        }
    }

    /// What the suite says of where they are.
    pub(super) fn folder(&self) -> Utf8PathBuf {
        match self {
            Manifests::Folder(folder) => folder.clone(),
            Manifests::Built(_) => "sites".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_repository_has_comes_with_the_program() {
        for published in [Published::WebArena, Published::VisualWebArena, Published::Verified] {
            let folder = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites");
            let folder = Manifests::Folder(folder.join(published.folder()));
            let Manifests::Folder(path) = &folder else { panic!("{folder:?}") };
            let mut sites = 0;
            for entry in path.read_dir_utf8().expect("a folder") {
                let entry = entry.expect("an entry");
                if entry.path().is_dir() {
                    assert!(Manifests::Built(published).has(entry.file_name()), "{}", entry.path());
                    assert!(folder.has(entry.file_name()));
                    sites += 1;
                }
            }
            assert!(sites > 4, "{path}");
        }
        assert!(Manifests::Built(Published::VisualWebArena).has("gitlab"));
        assert!(!Manifests::Built(Published::WebArena).has("classifieds"));
    }
}
