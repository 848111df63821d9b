//! `collection`: lists many WACZ files as one snapshot, and says what such a list holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Write};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::output::Output;
use super::stage::starts;
use super::verify::{Verification, verify};
use super::{Error, OnProgress};
use crate::collection::{Collection, CollectionFlaw, Member, PROFILE, SnapshotFile};
use crate::index::host_of;
use crate::recording::SOFTWARE;
use crate::wacz::WACZ_VERSION;
use crate::warc::sha256_text;
use crate::{Archive, Progress, RecordKind, Timestamp, parallel};

/// Characters that mean something else in a URL, as which other readers read paths.
const NOT_IN_PATHS: [char; 3] = ['#', '?', '%'];

/// What a collection lists.
#[derive(Debug, Clone, Serialize)]
pub struct CollectionReport {
    /// The collection.
    pub path: Utf8PathBuf,
    /// `multi-wacz-package`.
    pub format: &'static str,
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// When it was made.
    pub created: Option<String>,
    /// The program that wrote it.
    pub software: Option<String>,
    /// How many WACZ files it lists.
    pub files: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Records of all files, as far as listed.
    pub records: u64,
    /// Pages of all files, as far as listed.
    pub pages: u64,
    /// Date of the earliest response.
    pub first: Option<Timestamp>,
    /// Date of the latest response.
    pub last: Option<Timestamp>,
    /// How many files have something of each host.
    pub hosts: BTreeMap<String, u64>,
    /// The files.
    pub members: Vec<Member>,
}

/// The result of verifying a collection.
#[derive(Debug, Clone, Serialize)]
pub struct CollectionVerification {
    /// The collection.
    pub path: Utf8PathBuf,
    /// Whether no error was found. Warnings do not count.
    pub valid: bool,
    /// Errors in all members.
    pub errors: u64,
    /// Warnings in all members.
    pub warnings: u64,
    /// The members.
    pub members: Vec<MemberVerification>,
}

/// The result for one member.
#[derive(Debug, Clone, Serialize)]
pub struct MemberVerification {
    /// Its path in the collection.
    pub path: String,
    /// Why it is not the file that is listed, or cannot be read.
    pub flaw: Option<String>,
    /// The flaws in it, if it could be opened.
    pub verification: Option<Verification>,
}

/// Lists WACZ files in a new collection at `out`. They must be in `folder`, where the collection
/// will be used, or below it.
///
/// # Errors
/// `out` exists, or a file is no WACZ, is elsewhere, or has the content of another one.
pub fn collection(
    files: &[Utf8PathBuf],
    folder: &Utf8Path,
    out: &Utf8Path,
    progress: OnProgress<'_>,
) -> Result<CollectionReport, Error> {
    if files.is_empty() {
        return Err(Error::NoInput { action: "list" });
    }
    let output = Output::create(out)?;
    let members = list(files, folder, out, progress)?;
    let collection = Collection {
        profile: PROFILE.to_owned(),
        resources: members,
        created: Some(Timestamp::now().to_seconds().to_string()),
        software: Some(SOFTWARE.to_owned()),
        wacz_version: Some(WACZ_VERSION.to_owned()),
        ..Collection::default()
    };
    write(&collection, out, output)
}

/// Writes a collection, and says what it holds.
pub(super) fn write(
    collection: &Collection,
    out: &Utf8Path,
    output: Output,
) -> Result<CollectionReport, Error> {
    let text = collection.to_json();
    // What is written can be read.
    Collection::parse(text.as_bytes())
        .map_err(|flaw| crate::Error::Collection { path: out.to_owned(), flaw })?;
    let io = |source| Error::io("write", out, source);
    let mut file = File::create_new(output.path()).map_err(io)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(io)?;
    output.keep()?;
    Ok(report(out, collection.clone()))
}

/// The members that these files become in a collection in `folder`, in order.
pub(super) fn list(
    files: &[Utf8PathBuf],
    folder: &Utf8Path,
    out: &Utf8Path,
    progress: OnProgress<'_>,
) -> Result<Vec<Member>, Error> {
    let folder = if folder.as_str().is_empty() { Utf8Path::new(".") } else { folder };
    let folder = folder.canonicalize_utf8().map_err(|source| Error::io("open", folder, source))?;
    let mut on = sum(files.len(), progress);
    let members =
        parallel::each(files, |_, file, tell| describe(file, &folder, out, tell), &mut on);
    members.into_iter().collect()
}

/// A function that receives the number of an item and its progress. It reports the progress of all
/// items.
fn sum(count: usize, progress: OnProgress<'_>) -> impl FnMut(usize, Progress) {
    let mut of_each = vec![Progress { done: 0, total: 0 }; count];
    move |number: usize, of_item: Progress| {
        of_each[number] = of_item;
        let done = of_each.iter().map(|each| each.done).sum();
        let total = of_each.iter().map(|each| each.total).sum();
        progress(Progress { done, total });
    }
}

/// Reads a file for its entry in a collection at `out`.
fn describe(
    file: &Utf8Path,
    folder: &Utf8Path,
    out: &Utf8Path,
    tell: &dyn Fn(Progress),
) -> Result<Member, Error> {
    let flaw = |flaw| crate::Error::Collection { path: out.to_owned(), flaw };
    let whole = file.canonicalize_utf8().map_err(|source| Error::io("open", file, source))?;
    let path =
        whole.strip_prefix(folder).map_err(|_| flaw(CollectionFlaw::Outside(file.to_string())))?;
    if path.as_str().contains(NOT_IN_PATHS) {
        let reason =
            format!("its name has one of {NOT_IN_PATHS:?}, which mean something else in URLs");
        return Err(crate::Error::Container { path: file.to_owned(), reason }.into());
    }
    if Collection::is_json(file)? {
        return Err(flaw(CollectionFlaw::Nested(path.to_string())).into());
    }
    let archive = Archive::open(file)?;
    let Some(package) = archive.package() else {
        let reason = "it is no WACZ; `sandbox snapshot import` makes one of it".to_owned();
        return Err(crate::Error::Container { path: file.to_owned(), reason }.into());
    };
    let (hash, bytes) = sha256(file).map_err(|source| Error::io("read", file, source))?;
    let contents = Contents::of(&archive, tell)?;
    Ok(Member {
        name: path.to_string(),
        path: path.to_string(),
        hash: Some(hash),
        bytes: Some(bytes),
        package_digest: package.digest()?,
        records: Some(contents.records),
        pages: Some(archive.page_lines().filter(Result::is_ok).count() as u64),
        first: contents.first,
        last: contents.last,
        hosts: contents.hosts.into_iter().collect(),
    })
}

/// Opens snapshots, each a file or a collection of files.
pub(super) fn open_all(paths: &[Utf8PathBuf]) -> Result<Vec<Archive>, Error> {
    let files = SnapshotFile::of(paths)?;
    Ok(files.iter().map(SnapshotFile::open).collect::<Result<Vec<_>, _>>()?)
}

/// What the records of an archive say of it.
#[derive(Debug, Default)]
struct Contents {
    records: u64,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    hosts: BTreeSet<String>,
}

impl Contents {
    /// Damaged records do not count.
    fn of(archive: &Archive, tell: &dyn Fn(Progress)) -> Result<Contents, Error> {
        let starts = starts(archive);
        let mut contents = Contents::default();
        for item in archive.records() {
            let (at, record) = match item {
                Ok(found) => found,
                Err(error) if error.is_damage() => continue,
                Err(error) => return Err(error.into()),
            };
            contents.records += 1;
            if contents.records % 512 == 1 {
                tell(Progress { done: starts.position(at), total: starts.total });
            }
            if !matches!(
                record.kind(),
                RecordKind::Response | RecordKind::Revisit | RecordKind::Resource
            ) {
                continue;
            }
            if let Some(date) = record.date() {
                contents.first = Some(contents.first.map_or(date, |first| first.min(date)));
                contents.last = Some(contents.last.map_or(date, |last| last.max(date)));
            }
            if let Some(host) = record.target_uri().and_then(|url| host_of(&url))
                && !contents.hosts.contains(&host)
            {
                contents.hosts.insert(host);
            }
        }
        tell(Progress { done: starts.total, total: starts.total });
        Ok(contents)
    }
}

/// `sha256:<hex>` of a file, and its length.
fn sha256(path: &Utf8Path) -> std::io::Result<(String, u64)> {
    let mut file = files::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    let mut length = 0;
    loop {
        let got = file.read(&mut buffer)?;
        if got == 0 {
            return Ok((sha256_text(&hasher.finalize()), length));
        }
        hasher.update(&buffer[..got]);
        length += got as u64;
    }
}

/// Says what a collection lists. Its members are not opened.
///
/// # Errors
/// The file is no collection.
pub fn inspect_collection(path: &Utf8Path) -> Result<CollectionReport, Error> {
    Ok(report(path, Collection::read(path)?))
}

fn report(path: &Utf8Path, collection: Collection) -> CollectionReport {
    let members = collection.resources;
    let mut hosts = BTreeMap::new();
    for host in members.iter().flat_map(|member| &member.hosts) {
        *hosts.entry(host.clone()).or_default() += 1;
    }
    CollectionReport {
        path: path.to_owned(),
        format: PROFILE,
        title: collection.title,
        description: collection.description,
        created: collection.created,
        software: collection.software,
        files: members.len(),
        bytes: total(members.iter().filter_map(|member| member.bytes)),
        records: total(members.iter().filter_map(|member| member.records)),
        pages: total(members.iter().filter_map(|member| member.pages)),
        first: members.iter().filter_map(|member| member.first).min(),
        last: members.iter().filter_map(|member| member.last).max(),
        hosts,
        members,
    }
}

/// A sum of figures that anybody may have written.
fn total(figures: impl Iterator<Item = u64>) -> u64 {
    figures.fold(0, u64::saturating_add)
}

/// Verifies every member of a collection, on all cores: that it is the listed file, by its digest,
/// and all that [`super::verify()`] checks.
///
/// # Errors
/// The file is no collection. All flaws of its members are in the report.
pub fn verify_collection(
    path: &Utf8Path,
    progress: OnProgress<'_>,
) -> Result<CollectionVerification, Error> {
    let files = SnapshotFile::of(&[path.to_owned()])?;
    let mut on = sum(files.len(), progress);
    let members = parallel::each(&files, |_, file, tell| check(file, tell), &mut on);
    let flaws = members.iter().filter(|member| member.flaw.is_some()).count() as u64;
    let verified = || members.iter().filter_map(|member| member.verification.as_ref());
    let errors = flaws + verified().map(|member| member.errors).sum::<u64>();
    let warnings = verified().map(|member| member.warnings).sum();
    Ok(CollectionVerification {
        path: path.to_owned(),
        valid: errors == 0,
        errors,
        warnings,
        members,
    })
}

fn check(file: &SnapshotFile, tell: &dyn Fn(Progress)) -> MemberVerification {
    let path = file.member().map_or_else(String::new, |member| member.path.clone());
    let flaw = |error: &dyn std::error::Error| MemberVerification {
        path: path.clone(),
        flaw: Some(error_text::with_causes(error)),
        verification: None,
    };
    if let Err(error) = file.open() {
        return flaw(&error);
    }
    let listed = file.member().and_then(|member| member.hash.as_deref());
    let differs = match (sha256(&file.path), listed) {
        (Err(error), _) => return flaw(&Error::io("read", &file.path, error)),
        // Digests by another algorithm cannot be compared.
        (Ok((found, _)), Some(listed)) if listed.starts_with("sha256:") && found != listed => {
            Some(format!("its digest is {found}, not {listed}"))
        }
        _ => None,
    };
    match verify(&file.path, &mut |progress| tell(progress)) {
        Ok(verification) => {
            MemberVerification { path, flaw: differs, verification: Some(verification) }
        }
        Err(error) => flaw(&error),
    }
}
