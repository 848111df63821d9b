//! The names of members: which are allowed, and how they are written to a tar.

/// Maximum length of a path.
pub(super) const LONGEST: usize = 1024;
/// Maximum length of one part, as file systems have it.
const LONGEST_PART: usize = 255;

/// Whether a path names a file below the folder in which it is unpacked.
pub(super) fn is_inside(path: &str) -> bool {
    let fits =
        |part: &str| !part.is_empty() && part != "." && part != ".." && part.len() <= LONGEST_PART;
    path.len() <= LONGEST && !path.contains(['\\', '\0']) && path.split('/').all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_inside() {
        for path in ["run/run.json", "a", "a/b c/%2E", "..a/b..", "ä/ö"] {
            assert!(is_inside(path), "{path}");
        }
        let long = "x/".repeat(600) + "x";
        let part = "x".repeat(256);
        for path in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../x",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "a\\b",
            "a\0",
            &long,
            &part,
        ] {
            assert!(!is_inside(path), "{path}");
        }
    }
}
