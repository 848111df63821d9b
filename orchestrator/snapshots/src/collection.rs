//! Collections: many WACZ files that are one snapshot, listed in one JSON file.
//!
//! The file is a multi-WACZ package, the form that ReplayWeb.page (wabac.js) opens and Browsertrix
//! writes. No specification of it is published. Each file is a Data Package resource with `name`,
//! `path`, `hash` and `bytes`. The other keys are of this program; they are optional.
//!
//! ```json
//! {"profile": "multi-wacz-package",
//!  "resources": [{"name": "a.test.wacz", "path": "a.test.wacz", "hash": "sha256:...", "bytes": 9,
//!    "packageDigest": "sha256:...", "records": 4, "pages": 1, "hosts": ["a.test"],
//!    "first": "2026-01-02T03:04:05Z", "last": "2026-01-02T03:04:06Z"}]}
//! ```

use std::collections::HashSet;
use std::io::Read;

use camino::{Utf8Path, Utf8PathBuf};
use file_version::Version;
use object_files::{Address, is_address};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wacz::stays_inside;
use crate::{Archive, Error, Source, SourceReader, Timestamp};

/// The value of `profile`.
pub const PROFILE: &str = "multi-wacz-package";
/// The most WACZ files of a collection. Each needs two open files.
pub const MOST_MEMBERS: usize = 10_000;
/// The maximum size of the file, in bytes.
const MAX_SIZE: u64 = 64 << 20;
/// How many bytes of a file are examined to tell whether it is JSON.
const EXAMINED: u64 = 64;

/// The content of a collection's file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Collection {
    /// `multi-wacz-package`.
    pub profile: String,
    /// The WACZ files, in the order in which they are read.
    pub resources: Vec<Member>,
    /// Title of the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the content, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The program that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// The version of WACZ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wacz_version: Option<String>,
}

/// A WACZ file of a collection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its name in other readers. Each member has another one.
    pub name: String,
    /// Its path, relative to the folder of the collection.
    pub path: String,
    /// `sha256:<hex>` of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// `sha256:<hex>` of its `datapackage.json`, which identifies its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package_digest: Option<String>,
    /// How many records it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// How many pages it lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// The date of its earliest response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Timestamp>,
    /// The date of its latest response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Timestamp>,
    /// The recorded hosts, in lower case and sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// What is wrong with a collection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectionFlaw {
    /// It is not JSON of the right form.
    #[error("it is no multi-WACZ package: {0}")]
    Malformed(String),
    /// It is of a newer version.
    #[error("{0}")]
    NewerVersion(String),
    /// It lists nothing.
    #[error("it lists no WACZ file")]
    Empty,
    /// It lists too many files.
    #[error("it lists {count} files, and at most {MOST_MEMBERS} can be open; merge some of them")]
    TooMany {
        /// How many it lists.
        count: usize,
    },
    /// A member is on a server.
    #[error(
        "its member {0:?} is on a server; download it into the folder of the collection, and name it here"
    )]
    Remote(String),
    /// A member has a path that does not stay in the folder.
    #[error(
        "its member {0:?} is outside of its folder; only relative paths below the folder of the collection are read"
    )]
    Outside(String),
    /// Two members have one path, one name or one content.
    #[error("its member {0:?} is listed twice")]
    Twice(String),
    /// A member is not there.
    #[error("its member {0:?} is not there")]
    Missing(String),
    /// A member is not the file that was listed.
    #[error(
        "its member {member:?} has changed: {what}; `sandbox snapshot collection` lists its files anew"
    )]
    Changed {
        /// The path of the member.
        member: String,
        /// What differs.
        what: String,
    },
    /// A member is a collection.
    #[error("its member {0:?} is a collection as well; list the WACZ files of that one here")]
    Nested(String),
}

impl Collection {
    /// Whether the file begins as JSON does, so that it can be a collection but no archive. What is
    /// no regular file is not read: its next reader would miss what was read here.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_json(path: &Utf8Path) -> Result<bool, Error> {
        let io = |error| Error::io("open", path, error);
        if !is_address(path) && !std::fs::metadata(path).map_err(io)?.is_file() {
            return Ok(false);
        }
        let mut start = Vec::new();
        reader(path)?.take(EXAMINED).read_to_end(&mut start).map_err(io)?;
        let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&start);
        Ok(text.trim_ascii_start().starts_with(b"{"))
    }

    /// Reads a collection; `None` if the file does not begin as JSON does.
    ///
    /// # Errors
    /// See [`Collection::read`].
    pub fn read_if_json(path: &Utf8Path) -> Result<Option<Collection>, Error> {
        if Collection::is_json(path)? { Collection::read(path).map(Some) } else { Ok(None) }
    }

    /// Reads a collection. Its members are not opened.
    ///
    /// # Errors
    /// The file is no collection, or lists what cannot be a member.
    pub fn read(path: &Utf8Path) -> Result<Collection, Error> {
        let io = |error| Error::io("read", path, error);
        let mut bytes = Vec::new();
        reader(path)?.take(MAX_SIZE + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > MAX_SIZE {
            return Err(Error::TooLarge { what: "a collection", limit: MAX_SIZE });
        }
        Collection::parse(&bytes).map_err(|flaw| Error::Collection { path: path.to_owned(), flaw })
    }

    /// Reads the content of a collection's file.
    ///
    /// # Errors
    /// See [`Collection::read`].
    pub fn parse(bytes: &[u8]) -> Result<Collection, CollectionFlaw> {
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let malformed = |error: serde_json::Error| CollectionFlaw::Malformed(error.to_string());
        file_version::check_values(text)
            .map_err(|error| CollectionFlaw::Malformed(error.to_string()))?;
        let value: Value = serde_json::from_slice(text).map_err(malformed)?;
        match value.get("profile").and_then(Value::as_str) {
            Some(PROFILE) => {}
            other => {
                let found = other.map_or("none".to_owned(), |profile| format!("{profile:?}"));
                return Err(CollectionFlaw::Malformed(format!(
                    "its `profile` is {found}, not {PROFILE:?}"
                )));
            }
        }
        check_version(&value)?;
        let mut collection: Collection = serde_json::from_value(value).map_err(malformed)?;
        collection.check()?;
        for member in &mut collection.resources {
            member.path = parts(&member.path).join("/");
        }
        Ok(collection)
    }

    /// Checks the list of members.
    fn check(&self) -> Result<(), CollectionFlaw> {
        match self.resources.len() {
            0 => return Err(CollectionFlaw::Empty),
            count if count > MOST_MEMBERS => return Err(CollectionFlaw::TooMany { count }),
            _ => {}
        }
        let (mut paths, mut names, mut hashes) = (HashSet::new(), HashSet::new(), HashSet::new());
        for member in &self.resources {
            let path = || member.path.clone();
            if member.path.contains("://") {
                return Err(CollectionFlaw::Remote(path()));
            }
            if !stays_inside(&member.path) || parts(&member.path).is_empty() {
                return Err(CollectionFlaw::Outside(path()));
            }
            let parts = parts(&member.path);
            let same_hash = member.hash.as_deref().is_some_and(|hash| !hashes.insert(hash));
            if !paths.insert(parts) || !names.insert(member.name.as_str()) || same_hash {
                return Err(CollectionFlaw::Twice(path()));
            }
        }
        Ok(())
    }

    /// The text of the file.
    pub(crate) fn to_json(&self) -> String {
        let value = serde_json::to_value(self).expect("texts and numbers are plain data");
        format!("{value:#}\n")
    }
}

/// A member of the collection at a path or an address.
fn beside(collection: &Utf8Path, member: &str) -> Result<Utf8PathBuf, Error> {
    if is_address(collection) {
        return Ok(Address::parse(collection.as_str())?.beside(member)?.to_string().into());
    }
    Ok(collection.parent().unwrap_or(Utf8Path::new("")).join(member))
}

fn reader(path: &Utf8Path) -> Result<SourceReader, Error> {
    Ok(SourceReader::new(Source::open(path)?))
}

/// The folders and the name in a path; `./x` and `x` are one file.
fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !matches!(*part, "" | ".")).collect()
}

/// Refuses a later major version of WACZ, as in a WACZ file.
fn check_version(value: &Value) -> Result<(), CollectionFlaw> {
    let Some(version) = value.get("wacz_version").and_then(Value::as_str) else { return Ok(()) };
    let numbers = version.split('.').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>();
    let Ok([major, minor, ..]) = numbers.as_deref() else { return Ok(()) };
    let found = Version { major: *major, minor: *minor };
    found.check(Version::FIRST).map_err(|newer| CollectionFlaw::NewerVersion(newer.to_string()))
}

/// The files of a snapshot: the file itself, or the members of a collection.
///
/// # Errors
/// The file cannot be read, or is JSON but no collection.
pub fn files_of(path: &Utf8Path) -> Result<Vec<Utf8PathBuf>, Error> {
    Ok(SnapshotFile::of(&[path.to_owned()])?.into_iter().map(|file| file.path).collect())
}

/// One file of a snapshot.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotFile {
    /// Where it is.
    pub(crate) path: Utf8PathBuf,
    /// The collection that lists it, and how.
    listed: Option<(Utf8PathBuf, Member)>,
}

impl SnapshotFile {
    /// The files of snapshots: each path, or the members of the collection at that path.
    pub(crate) fn of(paths: &[Utf8PathBuf]) -> Result<Vec<SnapshotFile>, Error> {
        let mut files = Vec::new();
        for path in paths {
            let Some(collection) = Collection::read_if_json(path)? else {
                files.push(SnapshotFile { path: path.clone(), listed: None });
                continue;
            };
            for member in collection.resources {
                let place = beside(path, &member.path)?;
                files.push(SnapshotFile { path: place, listed: Some((path.clone(), member)) });
            }
        }
        Ok(files)
    }

    /// How the collection lists it; `None` if it is in no collection.
    pub(crate) fn member(&self) -> Option<&Member> {
        self.listed.as_ref().map(|(_, member)| member)
    }

    /// Opens the file. A member of a collection must have the listed size and content; that its
    /// bytes have the listed digest is not checked, because all would have to be read.
    pub(crate) fn open(&self) -> Result<Archive, Error> {
        let Some((collection, member)) = &self.listed else { return Archive::open(&self.path) };
        let wrong = |flaw| Error::Collection { path: collection.clone(), flaw };
        let changed = |what| wrong(CollectionFlaw::Changed { member: member.path.clone(), what });
        let length = match Source::open(&self.path) {
            Ok(source) => source.length().map_err(|error| Error::io("open", &self.path, error))?,
            Err(error) if error.is_not_found() => {
                return Err(wrong(CollectionFlaw::Missing(member.path.clone())));
            }
            Err(error) => return Err(error),
        };
        if let Some(bytes) = member.bytes.filter(|bytes| *bytes != length) {
            return Err(changed(format!("it has {length} bytes instead of {bytes}")));
        }
        if Collection::is_json(&self.path)? {
            return Err(wrong(CollectionFlaw::Nested(member.path.clone())));
        }
        let archive = Archive::open(&self.path)?;
        if let Some(listed) = &member.package_digest {
            let found = match archive.package() {
                Some(package) => package.digest()?,
                None => None,
            };
            if found.as_ref() != Some(listed) {
                return Err(changed("its datapackage.json has another digest".to_owned()));
            }
        }
        Ok(archive)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn listing(members: &[(&str, &str, &str)]) -> String {
        let members = members.iter().map(|(name, path, hash)| {
            format!(r#"{{"name": {name:?}, "path": {path:?}, "hash": {hash:?}, "bytes": 1, "crawlId": "x"}}"#)
        });
        let members: Vec<String> = members.collect();
        format!(r#"{{"profile": "multi-wacz-package", "resources": [{}]}}"#, members.join(","))
    }

    #[test]
    fn other_programs_lists_are_read() {
        let text = listing(&[("a", "a.wacz", "sha256:1"), ("b", "x/b c.wacz", "sha256:2")]);
        let collection = Collection::parse(text.as_bytes()).unwrap();
        assert_eq!(collection.resources[1].path, "x/b c.wacz");
        assert_eq!(collection.resources[0].bytes, Some(1));
        let again = Collection::parse(collection.to_json().as_bytes()).unwrap();
        assert_eq!(again, collection);
    }

    #[test]
    fn hostile_and_unusable_lists_are_refused() {
        use CollectionFlaw::*;
        for path in
            ["../a.wacz", "/a.wacz", "x/../../a.wacz", "", "c:a.wacz", "..", "x\\a.wacz", "a\0b"]
        {
            let text = format!(
                r#"{{"profile": "multi-wacz-package", "resources": [{{"name": "a", "path": {}}}]}}"#,
                serde_json::to_string(path).unwrap()
            );
            assert_eq!(Collection::parse(text.as_bytes()), Err(Outside(path.to_owned())), "{path}");
        }
        let remote = "https://a.test/x.wacz";
        let text = listing(&[("a", remote, "1")]);
        assert_eq!(Collection::parse(text.as_bytes()), Err(Remote(remote.into())));
        for members in [
            [("a", "a.wacz", "1"), ("b", "./a.wacz", "2")],
            [("a", "a.wacz", "1"), ("b", "b.wacz", "1")],
            [("a", "a.wacz", "1"), ("a", "b.wacz", "2")],
        ] {
            let text = listing(&members);
            assert_eq!(Collection::parse(text.as_bytes()), Err(Twice(members[1].1.to_owned())));
        }
        assert_eq!(Collection::parse(listing(&[]).as_bytes()), Err(Empty));
        let many: Vec<String> = (0..=MOST_MEMBERS).map(|n| n.to_string()).collect();
        let many: Vec<_> = many.iter().map(|n| (n.as_str(), n.as_str(), n.as_str())).collect();
        assert_eq!(
            Collection::parse(listing(&many).as_bytes()),
            Err(TooMany { count: many.len() })
        );
        let newer = listing(&[("a", "a", "1")]).replacen('{', r#"{"wacz_version": "2.0.0","#, 1);
        assert!(matches!(Collection::parse(newer.as_bytes()), Err(NewerVersion(_))));
        for text in ["", "{", "[]", "{}", r#"{"log": {}}"#, r#"{"profile": "data-package"}"#] {
            assert!(matches!(Collection::parse(text.as_bytes()), Err(Malformed(_))), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_damage_is_survived(at in 0_usize..300, change in proptest::collection::vec(any::<u8>(), 0..9)) {
            let mut bytes = listing(&[("a", "a.wacz", "1"), ("b", "b.wacz", "2")]).into_bytes();
            let at = at.min(bytes.len());
            let end = (at + change.len()).min(bytes.len());
            bytes.splice(at..end, change);
            if let Ok(collection) = Collection::parse(&bytes) {
                prop_assert!(collection.resources.iter().all(|member| stays_inside(&member.path)));
            }
        }
    }
}
