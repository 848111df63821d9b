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

/// Whether a site's manifest is, to the letter, one of this program. A suite that was imported
/// before 0.2 has a copy with `about`, the older name of `description`.
pub fn is_shipped(site: &Site) -> bool {
    let Ok(text) = std::fs::read_to_string(site.file()) else { return false };
    let renamed = text.replacen("\nabout: ", "\ndescription: ", 1);
    let is_ours = |text: &str| MANIFESTS.contains(&text.as_bytes());
    is_ours(&text) || is_ours(&renamed)
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
        let older = text.replace("\ndescription: ", "\nabout: ");
        assert_ne!(older, text);
        std::fs::write(folder.join("site.yaml"), &older).unwrap();
        assert!(is_shipped(&Site::load(&folder).unwrap()), "so is one of an earlier release");
        std::fs::write(folder.join("site.yaml"), text.replace("image: ", "image: evil/")).unwrap();
        assert!(!is_shipped(&Site::load(&folder).unwrap()));
    }
}
