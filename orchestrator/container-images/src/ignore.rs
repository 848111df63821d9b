//! Exclusion rules for build contexts.
//!
//! Generated files are excluded (`wheels/`, `program`, `apt/`, `lock.txt`, Python's caches), and
//! everything that `.dockerignore` names. The common part of that file's syntax is supported: one
//! path or pattern on each line, `*` and `?` within a name, `**` for any number of folders, `#` for
//! comments. A named folder is excluded with its content. Exceptions (`!`) are an error, so that
//! they are not misread.

/// The patterns of one folder, each split at its slashes.
#[derive(Debug)]
pub(crate) struct Ignore {
    patterns: Vec<Vec<String>>,
}

/// Files that builds or running programs generate.
const ALWAYS: &str = ".dockerignore\nwheels\nprogram\napt\nlock.txt\n**/__pycache__\n**/*.pyc\n";

impl Ignore {
    /// Parses a `.dockerignore`. The error names the invalid line.
    pub(crate) fn parse(text: &str) -> Result<Ignore, String> {
        let mut patterns = Vec::new();
        for (at, line) in text.lines().enumerate().chain(ALWAYS.lines().enumerate()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.starts_with('!') || line.contains('[') || line.contains('\\') {
                return Err(format!(
                    "line {}: {line}: exceptions, [classes] and \\ are not understood",
                    at + 1
                ));
            }
            let parts = line.split('/').filter(|part| !part.is_empty() && *part != ".");
            patterns.push(parts.map(str::to_owned).collect());
        }
        Ok(Ignore { patterns })
    }

    /// Whether the file or folder at `path`, relative to the context, is excluded. The caller does
    /// not descend into excluded folders.
    pub(crate) fn covers(&self, path: &str) -> bool {
        let path: Vec<&str> = path.split('/').collect();
        self.patterns.iter().any(|pattern| path_matches(pattern, &path))
    }
}

fn path_matches(pattern: &[String], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            path_matches(rest, path) || (!path.is_empty() && path_matches(pattern, &path[1..]))
        }
        (Some((first, rest)), Some((name, below))) => {
            name_matches(first.as_bytes(), name.as_bytes()) && path_matches(rest, below)
        }
        _ => false,
    }
}

fn name_matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            name_matches(rest, name) || (!name.is_empty() && name_matches(pattern, &name[1..]))
        }
        (Some((b'?', rest)), Some((_, below))) => name_matches(rest, below),
        (Some((byte, rest)), Some((other, below))) => byte == other && name_matches(rest, below),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_what_docker_says_they_do() {
        let ignore = Ignore::parse("# notes\n*.md\n/notes/\nassets/**/raw-?.png\n").unwrap();
        let cases = [
            ("README.md", true),
            ("docs/README.md", false), // a pattern without a slash is about the top folder only
            ("notes", true),
            ("assets/raw-1.png", true),
            ("assets/a/b/raw-1.png", true),
            ("assets/raw-12.png", false),
            ("wheels", true),
            ("site/wheels", false),
            ("site/__pycache__", true),
            ("a.pyc", true),
            ("Dockerfile", false),
        ];
        for (path, covered) in cases {
            assert_eq!(ignore.covers(path), covered, "{path}");
        }
    }

    #[test]
    fn what_is_not_understood_is_answered_by_line() {
        assert!(Ignore::parse("a\n!a/b\n").unwrap_err().starts_with("line 2: !a/b"));
    }
}
