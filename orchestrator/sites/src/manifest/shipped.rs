//! The manifests that come with this program. Their containers need no consent: who has installed
//! the program has it.

use std::sync::LazyLock;

use include_dir::{Dir, include_dir};

use crate::Site;

static SITES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../sites");

/// The text of every manifest below `sites/`.
static MANIFESTS: LazyLock<Vec<&[u8]>> = LazyLock::new(|| {
    let mut found = Vec::new();
    let mut rest = vec![&SITES];
    while let Some(folder) = rest.pop() {
        rest.extend(folder.dirs());
        let is_manifest = |name: &std::path::Path| name.ends_with("site.yaml");
        found.extend(
            folder.files().filter(|file| is_manifest(file.path())).map(|file| file.contents()),
        );
    }
    found
});

/// Whether a site's manifest is, to the letter, one of this program.
pub fn is_shipped(site: &Site) -> bool {
    std::fs::read(site.file()).is_ok_and(|text| MANIFESTS.iter().any(|known| *known == text))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use camino::Utf8Path;

    use super::*;

    #[test]
    fn a_manifest_that_was_changed_is_somebody_elses() {
        let shop = Site::load(Utf8Path::new("../../sites/shop")).unwrap();
        assert!(is_shipped(&shop));
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap().join("shop");
        std::fs::create_dir(&folder).unwrap();
        let text = std::fs::read_to_string(shop.file()).unwrap();
        std::fs::write(folder.join("site.yaml"), &text).unwrap();
        assert!(is_shipped(&Site::load(&folder).unwrap()), "a copy is the same");
        std::fs::write(folder.join("site.yaml"), text.replace("image: ", "image: evil/")).unwrap();
        assert!(!is_shipped(&Site::load(&folder).unwrap()));
    }
}
