//! The fonts of pages. They decide the layout, so they may not depend on what else is installed.
//! Every browser gets the configuration in `fonts.conf`. It knows DejaVu's fonts, and for writing
//! systems that DejaVu lacks the Noto fonts that the machine has.

use std::fs;
use std::path::Path;

/// For fontconfig. Without DejaVu's fonts it would leave a page without any.
pub(crate) const CONFIGURATION: &str = include_str!("fonts.conf");

/// The folders of fonts in [`CONFIGURATION`].
const FOLDERS: [&str; 2] = ["/usr/share/fonts", "/usr/local/share/fonts"];
const FILE: &str = "DejaVuSans.ttf";
/// Distributions keep a font two or three folders down.
const MAX_DEPTH: usize = 4;

/// Whether this machine has the fonts in which pages look the same everywhere. Without them pages
/// are shown in the fonts that there are.
pub fn has_fonts() -> bool {
    FOLDERS.iter().any(|folder| holds(Path::new(folder), MAX_DEPTH))
}

fn holds(folder: &Path, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        entry.file_name() == FILE
            || depth > 0 && entry.path().is_dir() && holds(&entry.path(), depth - 1)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_font_is_found_in_the_folder_of_its_distribution() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("truetype/dejavu");
        fs::create_dir_all(&folder).unwrap();
        assert!(!holds(root.path(), MAX_DEPTH));
        fs::write(folder.join(FILE), "").unwrap();
        assert!(holds(root.path(), MAX_DEPTH));
        assert!(
            FOLDERS.iter().all(|folder| CONFIGURATION.contains(&format!("<dir>{folder}</dir>")))
        );
    }
}
