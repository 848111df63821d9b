//! File names for a folder export: readable, safe on any file system, and unique.

use std::collections::HashSet;

/// The name of the file list in a folder.
pub(super) const INDEX: &str = "index.jsonl";

/// The names in use.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// An unused name for the body of `url`.
    pub(super) fn take(&mut self, url: &str, media_type: Option<&str>) -> String {
        free_name(file_name(url, media_type), &mut self.0)
    }
}

/// `host/path` in characters that are valid on every file system. The name never leads out of the
/// folder.
fn file_name(url: &str, media_type: Option<&str>) -> String {
    let parsed = url::Url::parse(url).ok();
    let host = parsed.as_ref().and_then(|url| url.host_str()).unwrap_or("no-host");
    let port = parsed
        .as_ref()
        .and_then(|url| url.port())
        .map(|port| format!("_{port}"))
        .unwrap_or_default();
    let host = safe(&format!("{host}{port}"));
    // No host may take the name of the list of files.
    let mut parts = vec![if host == INDEX { format!("_{host}") } else { host }];
    let path = parsed.as_ref().map_or("", |url| url.path());
    parts.extend(path.split('/').filter(|part| !part.is_empty()).take(20).map(safe));
    if path.ends_with('/') || parts.len() == 1 {
        parts.push("index".to_owned());
    }
    if let Some(last) = parts.last_mut() {
        if let Some(query) = parsed.as_ref().and_then(|url| url.query()) {
            *last = format!("{last}_{}", safe(query));
        }
        let extension = extension(media_type);
        if !extension.is_empty() && !last.ends_with(extension) {
            last.push_str(extension);
        }
    }
    parts.join("/")
}

fn safe(part: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.=".contains(c) { c } else { '_' };
    let name: String = part.chars().map(keep).take(80).collect();
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => name,
    }
}

fn extension(media_type: Option<&str>) -> &'static str {
    match media_type.and_then(|media| media.split(';').next()).map(str::trim).unwrap_or_default() {
        "text/html" => ".html",
        "text/css" => ".css",
        "text/plain" => ".txt",
        "application/json" => ".json",
        "text/javascript" | "application/javascript" | "application/x-javascript" => ".js",
        "image/png" => ".png",
        "image/jpeg" => ".jpg",
        "image/gif" => ".gif",
        "image/svg+xml" => ".svg",
        "image/webp" => ".webp",
        "application/pdf" => ".pdf",
        _ => "",
    }
}

/// Adds a number to a name that is in use, ignoring case. If one of its folders is already a file
/// (`/x` and `/x/y` are both valid URLs), the path below the host becomes one name.
fn free_name(name: String, taken: &mut HashSet<String>) -> String {
    if claim(&name, taken) {
        return name;
    }
    let (host, path) = name.split_once('/').unwrap_or(("no-host", &name));
    let (stem, extension) =
        path.rsplit_once('.').filter(|(_, end)| !end.contains('/')).unwrap_or((path, ""));
    let dot = if extension.is_empty() { "" } else { "." };
    let stems = [stem.to_owned(), stem.replace('/', "_")];
    (2..u64::MAX)
        .flat_map(|number| {
            stems.iter().map(move |stem| format!("{host}/{stem}~{number}{dot}{extension}"))
        })
        .find(|candidate| claim(candidate, taken))
        .unwrap_or(name)
}

/// Files are stored by name, folders with a trailing slash.
fn claim(name: &str, taken: &mut HashSet<String>) -> bool {
    let lower = name.to_ascii_lowercase();
    let folders = || lower.match_indices('/').map(|(at, _)| &lower[..at]);
    if taken.contains(&lower)
        || taken.contains(&format!("{lower}/"))
        || folders().any(|folder| taken.contains(folder))
    {
        return false;
    }
    let made: Vec<String> = folders().map(|folder| format!("{folder}/")).collect();
    taken.extend(made);
    taken.insert(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_the_folder() {
        let check = |url: &str, expect: &str| assert_eq!(file_name(url, Some("text/html")), expect);
        check("https://a.test/", "a.test/index.html");
        check("https://a.test:8443/x/y.html?q=1/../2", "a.test_8443/x/y.html_q=1_.._2.html");
        check("https://a.test/%2e%2e/%2E%2E/etc", "a.test/etc.html");
        check("https://a.test/..%2f..%2fetc", "a.test/_._2f.._2fetc.html");
        check("urn:x:/../..", "no-host/x_/_./_..html");
    }

    #[test]
    fn names_that_collide_are_numbered() {
        let mut taken = HashSet::new();
        let mut name = |name: &str| free_name(name.to_owned(), &mut taken);
        assert_eq!(name("a/x.html"), "a/x.html");
        assert_eq!(name("a/X.html"), "a/X~2.html");
        assert_eq!(name("a/x.html/y"), "a/x.html_y~2");
        assert_eq!(name("a/b/c.txt"), "a/b/c.txt");
        assert_eq!(name("a/b"), "a/b~2");
    }
}
