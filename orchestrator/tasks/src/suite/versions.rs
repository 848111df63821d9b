//! Versions of a suite's recording, by date.
//!
//! `{date}` in the path of a snapshot stands for the day of a recording: `web-{date}.wacz` is
//! `web-2026-11-26.wacz` in one version and `web-2026-12-24.wacz` in another. `SUITE` is the newest
//! version, `SUITE@2026-11-26` that of a day.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::civil::Date;

use super::Suite;

/// The placeholder for the date in the path of a snapshot.
pub const DATE: &str = "{date}";

impl Suite {
    /// Whether its snapshots have versions.
    pub fn has_versions(&self) -> bool {
        self.version.is_some() || self.snapshots().any(|path| path.as_str().contains(DATE))
    }

    /// The suite as a command names it, with its version.
    pub fn path(&self) -> Utf8PathBuf {
        match self.version {
            Some(version) => Utf8PathBuf::from(format!("{}@{version}", self.folder)),
            None => self.folder.clone(),
        }
    }

    /// Takes this version of every snapshot, whether it exists or not.
    pub fn take_version(&mut self, version: Date) {
        if !self.has_versions() {
            return;
        }
        let of_tasks = self.tasks.iter_mut().filter_map(|task| task.snapshots.as_mut());
        for path in of_tasks.flatten().chain(&mut self.world.snapshots) {
            *path = of(path, version);
        }
        self.version = Some(version);
    }

    fn snapshots(&self) -> impl Iterator<Item = &Utf8PathBuf> {
        self.tasks
            .iter()
            .filter_map(|task| task.snapshots.as_ref())
            .flatten()
            .chain(&self.world.snapshots)
    }

    /// The days of which every dated snapshot exists, oldest first. A folder that cannot be read
    /// has none. Call it before a version is taken.
    pub(super) fn find_versions(&self) -> Vec<Date> {
        let dated: Vec<&Utf8PathBuf> =
            self.snapshots().filter(|path| path.as_str().contains(DATE)).collect();
        let Some(first) = dated.first() else { return Vec::new() };
        let mut days = days_of(first);
        days.retain(|day| dated.iter().all(|path| of(path, *day).exists()));
        days.sort_unstable();
        days.dedup();
        days
    }
}

/// A path at a day.
fn of(path: &Utf8Path, day: Date) -> Utf8PathBuf {
    path.as_str().replace(DATE, &day.to_string()).into()
}

/// The days in the names of files like this one. The date is looked for in the first part of the
/// path that has one.
fn days_of(path: &Utf8Path) -> Vec<Date> {
    let Some(part) = path.ancestors().filter(|part| part.as_str().contains(DATE)).last() else {
        return Vec::new();
    };
    let folder =
        part.parent().filter(|folder| !folder.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let name = part.file_name().unwrap_or_default();
    let Some((before, after)) = name.split_once(DATE) else { return Vec::new() };
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    let day = |name: &str| {
        let rest = name.strip_prefix(before)?;
        rest.get(..rest.len().checked_sub(after.len())?)
            .filter(|_| rest.ends_with(after))
            .and_then(read)
    };
    entries.filter_map(Result::ok).filter_map(|entry| day(entry.file_name())).collect()
}

/// A day as versions write it: `2026-11-26`.
fn read(text: &str) -> Option<Date> {
    // The parser takes more than one spelling.
    text.parse::<Date>().ok().filter(|day| day.to_string() == text)
}

/// The folder and the version of `SUITE@2026-11-26`. A path that exists is no such name.
pub(super) fn split(path: &Utf8Path) -> (&Utf8Path, Option<Date>) {
    match path.as_str().rsplit_once('@') {
        Some((folder, version)) if !path.exists() => match read(version) {
            Some(version) => (Utf8Path::new(folder), Some(version)),
            None => (path, None),
        },
        _ => (path, None),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;

    /// A suite whose snapshots have these paths, in a folder with these files.
    fn suite(snapshots: &str, files: &[&str]) -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        fs::write(path.join("suite.yaml"), format!("world: {{snapshots: {snapshots}}}\n")).unwrap();
        fs::write(path.join("a.yaml"), "id: a\ngoal: x\nscorer: {equals: x}\n").unwrap();
        for file in files {
            let file = path.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        (folder, path)
    }

    fn loaded(path: &str) -> (Option<String>, Vec<String>) {
        let suite = Suite::load(Utf8Path::new(path)).unwrap();
        let names = suite
            .world
            .snapshots
            .iter()
            .map(|path| path.strip_prefix(&suite.folder).unwrap().to_string());
        (suite.version.map(|version| version.to_string()), names.collect())
    }

    #[test]
    fn the_newest_version_is_taken_of_which_every_snapshot_is_there() {
        let files = [
            "web-2026-11-26.wacz",
            "web-2026-12-24.wacz",
            "web-2027-01-01.wacz",
            "web-new.wacz",
            "web-2026-1-1.wacz",
            "more/2026-11-26/x.wacz",
            "more/2026-12-24/x.wacz",
        ];
        let (_folder, path) =
            suite("['web-{date}.wacz', always.wacz, 'more/{date}/x.wacz']", &files);
        let newest =
            ["web-2026-12-24.wacz", "always.wacz", "more/2026-12-24/x.wacz"].map(str::to_owned);
        assert_eq!(loaded(path.as_str()), (Some("2026-12-24".to_owned()), newest.to_vec()));
        let older =
            ["web-2026-11-26.wacz", "always.wacz", "more/2026-11-26/x.wacz"].map(str::to_owned);
        let named = format!("{path}@2026-11-26");
        assert_eq!(loaded(&named), (Some("2026-11-26".to_owned()), older.to_vec()));
        let suite = Suite::load(Utf8Path::new(&named)).unwrap();
        assert_eq!((suite.folder.clone(), suite.path().as_str()), (path.clone(), named.as_str()));
        assert!(suite.has_versions());
    }

    #[test]
    fn without_a_version_the_path_stays_as_it_is_written() {
        let (_folder, path) = suite("['web-{date}.wacz']", &["web-2026-13-01.wacz", "web-.wacz"]);
        assert_eq!(loaded(path.as_str()), (None, vec!["web-{date}.wacz".to_owned()]));
        let suite = Suite::load(&path).unwrap();
        assert!(suite.has_versions() && suite.versions.is_empty());
    }

    #[test]
    fn a_folder_whose_name_looks_like_a_version_is_a_folder() {
        let (_folder, path) = suite("[web.wacz]", &["live@2026-11-26/suite.yaml"]);
        let inner = path.join("live@2026-11-26");
        fs::write(inner.join("suite.yaml"), "world: {snapshots: [web.wacz]}\n").unwrap();
        fs::write(inner.join("a.yaml"), "id: a\ngoal: x\nscorer: {equals: x}\n").unwrap();
        assert_eq!(loaded(inner.as_str()), (None, vec!["web.wacz".to_owned()]));
    }

    #[test]
    fn a_suite_without_versions_has_none() {
        let (_folder, path) = suite("[web.wacz]", &["web.wacz"]);
        let error = Suite::load(Utf8Path::new(&format!("{path}@2026-11-26"))).unwrap_err();
        assert!(error.to_string().contains("its snapshots have no versions"), "{error}");
        let error = Suite::load(Utf8Path::new(&format!("{path}@yesterday"))).unwrap_err();
        assert!(error.to_string().contains("@yesterday"), "{error}");
    }
}
