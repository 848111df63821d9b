//! Reads a packed run, which may come from a stranger.
//!
//! Every limit is checked before it costs memory or disk: the manifest has a largest length, the
//! members have the lengths and the order that the manifest declares, and the disk has to have room
//! for all of them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use camino::Utf8Path;
use sha2::{Digest as _, Sha256};
use tar::{Archive, Entries, EntryType};
use tokio_util::sync::CancellationToken;
use zstd::stream::read::Decoder;

use super::manifest::{NAME, RUN};
use super::names::{LONGEST, is_inside};
use super::{Error, FORMAT, Manifest, Member};
use crate::stored::Format;

/// Maximum length of the manifest. A run of 300,000 files has a smaller one.
const LARGEST_MANIFEST: u64 = 64 << 20;
/// The largest size of an unpacked manifest: this much, or so many times the length of the file.
/// Digests do not compress well.
const LEAST_MANIFEST: u64 = 4 << 20;
const TIMES_MANIFEST: u64 = 100;
/// The same for all members together. Equal pictures of many repeats compress very well.
const LEAST: u64 = 1 << 30;
const TIMES: u64 = 2000;
/// Maximum number of members.
const MOST_MEMBERS: usize = 1_000_000;
/// Maximum length of all members together.
const LARGEST: u64 = 1 << 40;
/// The first bytes of a Zstandard frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The largest number of bytes behind the last member: the end of a tar, which some writers pad.
const LARGEST_END: u64 = 64 << 10;

/// The part of a packed run that is unpacked. The digests of all members are checked in either
/// case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Everything.
    All,
    /// The folder of the run.
    Run,
}

impl Part {
    fn has(self, path: &str) -> bool {
        self == Part::All || path.strip_prefix(RUN).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Whether a path that stands for a run is a file and so, if anything, a packed run.
pub fn is_packed(path: &Utf8Path) -> bool {
    path.is_file()
}

type Stream = Decoder<'static, BufReader<File>>;

/// The largest size that a file may unpack to, in bytes.
fn unpacks_to(path: &Utf8Path, least: u64, times: u64) -> u64 {
    let length = path.metadata().map_or(0, |there| there.len());
    least.saturating_add(length.saturating_mul(times))
}

/// Reads the manifest alone.
///
/// # Errors
/// When the file is no packed run or of a newer format.
pub fn manifest(path: &Utf8Path) -> Result<Manifest, Error> {
    let mut archive = open(path)?;
    let mut entries = entries(path, &mut archive)?;
    read_manifest(path, &mut entries)
}

/// Unpacks a file into a folder, which must be empty, and checks the digest of every member.
/// `progress` gets the bytes that were read and all that are to be read.
///
/// # Errors
/// When the file is no packed run, is of a newer format, damaged or hostile, the disk is full, or
/// `stop` is cancelled. What is in the folder then is incomplete.
pub fn unpack(
    path: &Utf8Path,
    to: &Utf8Path,
    part: Part,
    stop: &CancellationToken,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Manifest, Error> {
    let mut archive = open(path)?;
    let mut entries = entries(path, &mut archive)?;
    let manifest = read_manifest(path, &mut entries)?;
    let total = check_members(path, &manifest.members)?;
    let needed = manifest.members.iter().filter(|member| part.has(&member.path));
    check_room(path, to, needed.map(|member| member.bytes).sum())?;
    let mut done = 0;
    for member in &manifest.members {
        let (name, mut entry) = next(path, &mut entries)?;
        if name != member.path || entry.size() != member.bytes {
            let reason = format!("its manifest has {} where the file has {name}", member.path);
            return Err(Error::Hostile { path: path.to_owned(), reason });
        }
        let file = part.has(&member.path).then(|| create(to, member)).transpose()?;
        let found = copy(path, member, &mut entry, file, &mut |read| {
            done += read;
            progress(done, total);
            if stop.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
        })?;
        if found != member.sha256 {
            let (path, member, expected) =
                (path.to_owned(), member.path.clone(), member.sha256.clone());
            return Err(Error::Differs { path, member, found, expected });
        }
    }
    if entries.next().is_some() {
        let reason = "it has more members than its manifest".to_owned();
        return Err(Error::Hostile { path: path.to_owned(), reason });
    }
    // The checksum of the frame stands behind everything.
    let ended = io::copy(&mut archive.into_inner().take(LARGEST_END), &mut io::sink());
    ended.map_err(|source| damaged(path, "the end", source))?;
    Ok(manifest)
}

fn open(path: &Utf8Path) -> Result<Archive<Stream>, Error> {
    let unread = |source| crate::Error::Read { path: path.to_owned(), source };
    let not_packed =
        |reason: &str| Error::NotPacked { path: path.to_owned(), reason: reason.to_owned() };
    match path.metadata() {
        Ok(there) if there.is_dir() => return Err(not_packed("it is a folder")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(not_packed("there is no such file"));
        }
        _ => {}
    }
    let mut file = ::files::open(path).map_err(unread)?;
    let mut magic = [0; 4];
    let is_zstd = file.read_exact(&mut magic).is_ok() && magic == MAGIC;
    if !is_zstd {
        return Err(not_packed("it does not begin as a Zstandard file does"));
    }
    io::Seek::rewind(&mut file).map_err(unread)?;
    // The decoder refuses windows of more than 128 MiB, and so has no more memory.
    Ok(Archive::new(Decoder::with_buffer(BufReader::new(file)).map_err(unread)?))
}

fn entries<'a>(
    path: &Utf8Path,
    archive: &'a mut Archive<Stream>,
) -> Result<Entries<'a, Stream>, Error> {
    let entries = archive.entries().map_err(|source| damaged(path, "the first member", source))?;
    // As they are: the reader would take any memory for a long name.
    Ok(entries.raw(true))
}

type Entry<'a> = tar::Entry<'a, Stream>;

/// The next member and its name. Only regular files are members, some with a long name before.
fn next<'a>(
    path: &Utf8Path,
    entries: &mut Entries<'a, Stream>,
) -> Result<(String, Entry<'a>), Error> {
    let hostile = |reason: String| Error::Hostile { path: path.to_owned(), reason };
    let mut advance = || match entries.next() {
        Some(entry) => entry.map_err(|source| damaged(path, "the next member", source)),
        None => Err(damaged(path, "the next member", io::ErrorKind::UnexpectedEof.into())),
    };
    let mut entry = advance()?;
    let mut name = entry.path_bytes().into_owned();
    if entry.header().entry_type() == EntryType::GNULongName {
        // With the NUL that ends it.
        if entry.size() > LONGEST as u64 + 1 {
            return Err(hostile("a name in it is too long".to_owned()));
        }
        name.clear();
        entry.read_to_end(&mut name).map_err(|source| damaged(path, "a name", source))?;
        name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
        entry = advance()?;
    }
    let name = String::from_utf8_lossy(&name).into_owned();
    match entry.header().entry_type() {
        EntryType::Regular => Ok((name, entry)),
        kind => Err(hostile(format!("{name} is no regular file but of type {kind:?}"))),
    }
}

fn read_manifest(path: &Utf8Path, entries: &mut Entries<'_, Stream>) -> Result<Manifest, Error> {
    let other = |reason: String| Error::NotPacked { path: path.to_owned(), reason };
    let (name, mut entry) = next(path, entries)?;
    if name != NAME {
        return Err(other(format!("its first member is not {NAME}")));
    }
    let hostile = |reason: String| Error::Hostile { path: path.to_owned(), reason };
    let most = unpacks_to(path, LEAST_MANIFEST, TIMES_MANIFEST).min(LARGEST_MANIFEST);
    if entry.size() > most {
        return Err(hostile(format!("its {NAME} has more than {most} bytes")));
    }
    let mut text = Vec::new();
    entry.read_to_end(&mut text).map_err(|source| damaged(path, NAME, source))?;
    let unfit = |error: serde_json::Error| other(format!("its {NAME} cannot be read: {error}"));
    // First the version: a newer one may have any other keys.
    let found = Format::of_text(&text).map_err(unfit)?;
    found.check(FORMAT).map_err(|newer| Error::NewerFormat { path: path.to_owned(), newer })?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(unfit)?;
    check_paths(&manifest).map_err(hostile)?;
    Ok(manifest)
}

/// Checks that every path that leads to a file of the pack is below its folder.
fn check_paths(manifest: &Manifest) -> Result<(), String> {
    let of_world = manifest.paths.values();
    let of_snapshots = manifest.snapshots.iter().map(|snapshot| &snapshot.path);
    match of_world.chain(of_snapshots).find(|path| !is_inside(path)) {
        Some(path) => Err(format!("the path {path:?} leads out of its folder")),
        None => Ok(()),
    }
}

/// Checks paths and lengths, and gives the sum of the lengths.
fn check_members(path: &Utf8Path, members: &[Member]) -> Result<u64, Error> {
    let hostile = |reason: String| Error::Hostile { path: path.to_owned(), reason };
    if members.len() > MOST_MEMBERS {
        return Err(hostile(format!("it has more than {MOST_MEMBERS} members")));
    }
    if let Some(member) = members.iter().find(|member| !is_inside(&member.path)) {
        return Err(hostile(format!("the path {:?} leads out of its folder", member.path)));
    }
    if let Some(pair) = members.windows(2).find(|pair| pair[0].path >= pair[1].path) {
        return Err(hostile(format!(
            "the member {} is there twice or is not in its order",
            pair[1].path
        )));
    }
    // Such a pair would fail only while it is unpacked, with half of the files written.
    let all: BTreeSet<&str> = members.iter().map(|member| member.path.as_str()).collect();
    for member in members {
        let mut above = member.path.as_str();
        while let Some((folder, _)) = above.rsplit_once('/') {
            if all.contains(folder) {
                return Err(hostile(format!("{folder} is a file and a folder")));
            }
            above = folder;
        }
    }
    let most = unpacks_to(path, LEAST, TIMES).min(LARGEST);
    let total = members.iter().try_fold(0_u64, |sum, member| sum.checked_add(member.bytes));
    total
        .filter(|total| *total <= most)
        .ok_or_else(|| hostile(format!("its members have more than {most} bytes")))
}

fn check_room(path: &Utf8Path, to: &Utf8Path, needed: u64) -> Result<(), Error> {
    ::files::room::check(to, needed).map_err(|none| Error::NoRoom {
        path: path.to_owned(),
        folder: none.folder,
        needed,
        free: none.free,
        reserve: none.reserve,
    })
}

fn create(to: &Utf8Path, member: &Member) -> Result<File, crate::Error> {
    let path = to.join(&member.path);
    let unwritten = |source| crate::Error::Write { path: path.clone(), source };
    std::fs::create_dir_all(path.parent().unwrap_or(to)).map_err(unwritten)?;
    let mode = if member.executable { 0o700 } else { 0o600 };
    File::options().write(true).create_new(true).mode(mode).open(&path).map_err(unwritten)
}

/// Copies a member and returns its digest.
fn copy(
    path: &Utf8Path,
    member: &Member,
    entry: &mut Entry<'_>,
    mut file: Option<File>,
    on: &mut dyn FnMut(u64) -> Result<(), Error>,
) -> Result<String, Error> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    let mut rest = member.bytes;
    while rest > 0 {
        let read = match entry.read(&mut buffer) {
            Ok(0) => return Err(damaged(path, &member.path, io::ErrorKind::UnexpectedEof.into())),
            Ok(read) => read,
            Err(source) => return Err(damaged(path, &member.path, source)),
        };
        hash.update(&buffer[..read]);
        if let Some(file) = &mut file {
            file.write_all(&buffer[..read]).map_err(|source| crate::Error::Write {
                path: member.path.clone().into(),
                source,
            })?;
        }
        rest = rest.saturating_sub(read as u64);
        on(read as u64)?;
    }
    Ok(hex::encode(hash.finalize()))
}

fn damaged(path: &Utf8Path, member: &str, source: io::Error) -> Error {
    Error::Damaged { path: path.to_owned(), member: member.to_owned(), source }
}
