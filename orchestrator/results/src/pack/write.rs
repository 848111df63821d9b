//! Writes a packed run.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use zstd::stream::write::Encoder;

use super::collect::{Collected, Source, collect};
use super::manifest::NAME;
use super::names::is_inside;
use super::{Error, FORMAT, Manifest, Member, PackedRun, SnapshotMember, Snapshots, Sources};
use crate::stored::files;

/// Higher levels take several times as long, and screenshots and snapshots are compressed already.
const LEVEL: i32 = 3;
/// Equal pictures of two repeats are found within 128 MiB. Readers need no setting up to this size.
const WINDOW: u32 = 27;
/// Bytes that are read at once.
const CHUNK: usize = 256 << 10;

/// The result of packing.
#[derive(Debug, Clone)]
pub struct PackReport {
    /// The manifest.
    pub manifest: Manifest,
    /// The length of the file.
    pub bytes: u64,
    /// Number of files of the run that stay out because they hold credentials.
    pub left_out: usize,
}

/// Packs a run into a file, which is written completely or not at all. An existing file is replaced
/// only with `replace`. `progress` gets the bytes that were read and all that are to be read.
///
/// # Errors
/// When the run has not ended, its suite has changed, the file exists or cannot be written, or
/// `stop` is cancelled.
pub fn write(
    sources: &Sources,
    out: &Utf8Path,
    replace: bool,
    stop: &CancellationToken,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<PackReport, Error> {
    let mut progress = |done, total| {
        progress(done, total);
        if stop.is_cancelled() { Err(io::Error::other("interrupted")) } else { Ok(()) }
    };
    let written = pack(sources, out, replace, &mut progress);
    written.map_err(|error| if stop.is_cancelled() { Error::Interrupted } else { error })
}

/// Called with the bytes that were read; an error ends everything.
type OnBytes<'a> = &'a mut dyn FnMut(u64) -> io::Result<()>;

fn pack(
    sources: &Sources,
    out: &Utf8Path,
    replace: bool,
    progress: &mut dyn FnMut(u64, u64) -> io::Result<()>,
) -> Result<PackReport, Error> {
    let exists = || crate::Error::Exists { path: out.to_owned() };
    if out.symlink_metadata().is_ok_and(|there| !replace || there.is_dir()) {
        return Err(exists().into());
    }
    let mut collected = collect(sources)?;
    // Its files are read until the end.
    let _written = collected.written.take();
    let mut lengths = 0;
    for (path, source) in &collected.files {
        if !is_inside(path) {
            return Err(Error::UnfitName { path: source.from.clone() });
        }
        lengths += open(source)?.metadata().map_err(unread(&source.from))?.len();
    }
    let mut done = 0;
    // Each file is read twice: for the manifest, which comes first, and for the member.
    let mut on = |read: u64| {
        done += read;
        progress(done, 2 * lengths)
    };
    let left_out = collected.left_out;
    let (manifest, sources) = describe(collected, sources, &mut on)?;

    let unwritten = |source| crate::Error::Write { path: out.to_owned(), source };
    let folder = out.parent().filter(|folder| *folder != "").unwrap_or(Utf8Path::new("."));
    let part = tempfile::Builder::new()
        .prefix(&format!(".{}.", out.file_name().unwrap_or_default()))
        .suffix(".part")
        .permissions(PermissionsExt::from_mode(0o666)) // less the user's umask
        .tempfile_in(folder)
        .map_err(unwritten)?;
    let mut encoder = Encoder::new(part.as_file(), LEVEL).map_err(unwritten)?;
    let set = encoder.window_log(WINDOW).and_then(|()| encoder.long_distance_matching(true));
    set.and_then(|()| encoder.include_checksum(true)).map_err(unwritten)?;
    let mut tar = tar::Builder::new(encoder);
    let mut text =
        serde_json::to_vec_pretty(&manifest).map_err(|source| crate::Error::Encode { source })?;
    text.push(b'\n');
    append(&mut tar, NAME, false, text.len() as u64, &text[..]).map_err(unwritten)?;
    for (member, from) in manifest.members.iter().zip(&sources) {
        let mut reader =
            Hashed { inner: open(from)?.take(member.bytes), hash: Sha256::new(), on: &mut on };
        append(&mut tar, &member.path, member.executable, member.bytes, &mut reader)
            .map_err(unwritten)?;
        if hex::encode(reader.hash.finalize()) != member.sha256 {
            return Err(Error::Changing { path: from.from.clone() });
        }
    }
    tar.into_inner().and_then(Encoder::finish).map_err(unwritten)?;
    part.as_file().sync_all().map_err(unwritten)?;
    let bytes = part.as_file().metadata().map_err(unwritten)?.len();
    match if replace { part.persist(out) } else { part.persist_noclobber(out) } {
        Ok(_) => Ok(PackReport { manifest, bytes, left_out }),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(exists().into()),
        Err(error) => Err(unwritten(error.error).into()),
    }
}

/// The manifest, and the files of its members.
fn describe(
    collected: Collected,
    wanted: &Sources,
    on: OnBytes<'_>,
) -> Result<(Manifest, Vec<Source>), Error> {
    let Collected { summary, record, settings, files, snapshots: are_snapshots, paths, .. } =
        collected;
    let (inside, without_solutions) =
        (wanted.snapshots == Snapshots::Inside, wanted.without_solutions);
    let (mut members, mut sources, mut of_world) = (Vec::new(), Vec::new(), Vec::new());
    for (path, source) in files {
        let mut reader = Hashed { inner: open(&source)?, hash: Sha256::new(), on };
        let bytes = io::copy(&mut reader, &mut io::sink()).map_err(unread(&source.from))?;
        let sha256 = hex::encode(reader.hash.finalize());
        let is_snapshot = are_snapshots.contains(&path);
        if is_snapshot {
            let (path, sha256) = (path.clone(), sha256.clone());
            of_world.push(SnapshotMember { path, bytes, sha256, inside });
        }
        // A snapshot outside of the pack is found by its digest.
        if !is_snapshot || inside {
            members.push(Member { path, bytes, sha256, executable: source.executable });
            sources.push(source);
        }
    }
    let run = PackedRun {
        suite: record.suite,
        agent: record.agent,
        sandbox: record.sandbox,
        episodes: summary.episodes,
        fingerprints: summary.fingerprints,
    };
    let sandbox = env!("CARGO_PKG_VERSION").to_owned();
    let manifest = Manifest {
        format: FORMAT,
        sandbox,
        run,
        settings,
        paths,
        snapshots: of_world,
        without_solutions,
        members,
    };
    Ok((manifest, sources))
}

fn append(
    tar: &mut tar::Builder<impl Write>,
    path: &str,
    executable: bool,
    bytes: u64,
    content: impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(bytes);
    header.set_mode(if executable { 0o755 } else { 0o644 });
    // The same run makes the same bytes, on whichever machine.
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    tar.append_data(&mut header, path, content)
}

/// Opens a file of the run by handles below its folder, any other one as it is named.
fn open(source: &Source) -> Result<File, Error> {
    let opened = match source.of_run {
        true => files::open(&source.from),
        false => ::files::open(&source.from),
    };
    Ok(opened.map_err(unread(&source.from))?)
}

fn unread(path: &Utf8Path) -> impl Fn(io::Error) -> crate::Error {
    move |source| crate::Error::Read { path: path.to_owned(), source }
}

/// A reader that knows the digest of what it has read.
struct Hashed<'a, R> {
    inner: R,
    hash: Sha256,
    on: OnBytes<'a>,
}

impl<R: Read> Read for Hashed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(CHUNK);
        let read = self.inner.read(&mut buffer[..most])?;
        self.hash.update(&buffer[..read]);
        (self.on)(read as u64)?;
        Ok(read)
    }
}
