//! Files that no packer wrote.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};
use tokio_util::sync::CancellationToken;

use super::*;

/// A member as it is written to a file.
struct Written<'a> {
    path: &'a str,
    content: &'a [u8],
    kind: EntryType,
}

fn file<'a>(path: &'a str, content: &'a [u8]) -> Written<'a> {
    Written { path, content, kind: EntryType::Regular }
}

/// A manifest that declares these members.
fn declare(members: &[(&str, &[u8])]) -> Manifest {
    let member = |(path, content): &(&str, &[u8])| Member {
        path: (*path).to_owned(),
        bytes: content.len() as u64,
        sha256: hex::encode(Sha256::digest(content)),
        executable: false,
    };
    Manifest {
        format: FORMAT,
        sandbox: "0.1.0".to_owned(),
        run: PackedRun {
            suite: "s".to_owned(),
            agent: "oracle".to_owned(),
            sandbox: "0.1.0".to_owned(),
            episodes: 1,
            fingerprints: Vec::new(),
        },
        settings: Default::default(),
        paths: Default::default(),
        snapshots: Vec::new(),
        without_solutions: false,
        members: members.iter().map(member).collect(),
    }
}

/// The bytes of a file with this manifest and these members.
fn pack(manifest: &[u8], members: &[Written<'_>]) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    let manifest = file("manifest.json", manifest);
    for Written { path, content, kind } in std::iter::once(&manifest).chain(members) {
        let mut header = Header::new_gnu();
        // As they are: the builder itself refuses bad names.
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        if matches!(kind, EntryType::Symlink | EntryType::Link) {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        tar.append(&header, *content).unwrap();
    }
    zstd::encode_all(&tar.into_inner().unwrap()[..], 1).unwrap()
}

fn json_of(manifest: &Manifest) -> Vec<u8> {
    serde_json::to_vec(manifest).unwrap()
}

struct Folder {
    _kept: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Folder {
    fn new() -> Folder {
        let kept = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(kept.path().to_owned()).unwrap();
        std::fs::create_dir(path.join("to")).unwrap();
        Folder { _kept: kept, path }
    }

    fn unpack(&self, bytes: &[u8]) -> Result<Manifest, Error> {
        let packed = self.path.join("x.run");
        std::fs::write(&packed, bytes).unwrap();
        unpack(&packed, &self.path.join("to"), Part::All, &CancellationToken::new(), &mut |_, _| {})
    }

    /// Everything in the folder besides the file itself.
    fn unpacked(&self) -> Vec<String> {
        fn below(folder: &Utf8Path, found: &mut Vec<String>) {
            for entry in folder.read_dir_utf8().unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    below(entry.path(), found);
                } else {
                    found.push(entry.file_name().to_owned());
                }
            }
        }
        let mut found = Vec::new();
        below(&self.path, &mut found);
        found.retain(|name| name != "x.run");
        found
    }
}

fn refuse(bytes: &[u8], why: &str) {
    let folder = Folder::new();
    let error = folder.unpack(bytes).unwrap_err();
    assert!(error.to_string().contains(why), "{error}");
    let kept: Vec<String> = folder.unpacked().into_iter().filter(|name| name != "a").collect();
    assert!(kept.is_empty(), "{kept:?} after {error}");
}

#[test]
fn a_plain_file_is_unpacked() {
    let members: [(&str, &[u8]); 2] = [("run/a", b"one"), ("suite/b", b"two")];
    let manifest = declare(&members);
    let bytes = pack(&json_of(&manifest), &members.map(|(path, content)| file(path, content)));
    let folder = Folder::new();
    assert_eq!(folder.unpack(&bytes).unwrap(), manifest);
    assert_eq!(std::fs::read(folder.path.join("to/suite/b")).unwrap(), b"two");
    let packed = folder.path.join("x.run");
    assert_eq!(super::manifest(&packed).unwrap(), manifest);
    let only_run = folder.path.join("only");
    std::fs::create_dir(&only_run).unwrap();
    let stop = CancellationToken::new();
    unpack(&packed, &only_run, Part::Run, &stop, &mut |_, _| {}).unwrap();
    assert!(only_run.join("run/a").is_file() && !only_run.join("suite").exists());
    stop.cancel();
    let stopped = unpack(&packed, &only_run.join("run"), Part::All, &stop, &mut |_, _| {});
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn paths_that_lead_outside_are_refused() {
    for path in ["../a", "/tmp/a", "run/../../a", "a\\b", "", "run//a"] {
        let bytes = pack(&json_of(&declare(&[(path, b"x")])), &[file(path, b"x")]);
        refuse(&bytes, "leads out of its folder");
    }
}

#[test]
fn links_and_devices_are_refused() {
    let manifest = json_of(&declare(&[("a", b"")]));
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Fifo,
        EntryType::Char,
        EntryType::Directory,
    ] {
        refuse(
            &pack(&manifest, &[Written { path: "a", content: b"", kind }]),
            "is no regular file",
        );
    }
}

#[test]
fn members_are_those_of_the_manifest_and_each_is_there_once() {
    let twice = json_of(&declare(&[("a", b"x"), ("a", b"x")]));
    refuse(&pack(&twice, &[file("a", b"x"), file("a", b"x")]), "is there twice");
    let unsorted = json_of(&declare(&[("b", b"x"), ("a", b"x")]));
    refuse(&pack(&unsorted, &[file("b", b"x"), file("a", b"x")]), "not in its order");
    let once = json_of(&declare(&[("a", b"x")]));
    refuse(&pack(&once, &[file("a", b"x"), file("a", b"x")]), "more members than its manifest");
    refuse(&pack(&once, &[file("b", b"x")]), "its manifest has a where the file has b");
    refuse(&pack(&once, &[file("a", b"xy")]), "its manifest has a where the file has a");
    let both = json_of(&declare(&[("a", b"x"), ("a/b", b"x")]));
    refuse(&pack(&both, &[file("a", b"x"), file("a/b", b"x")]), "a is a file and a folder");
}

#[test]
fn a_changed_member_is_named() {
    let bytes = pack(&json_of(&declare(&[("a", b"x")])), &[file("a", b"y")]);
    let error = Folder::new().unpack(&bytes).unwrap_err();
    assert!(matches!(&error, Error::Differs { member, .. } if member == "a"), "{error}");
}

#[test]
fn bombs_are_refused_before_they_take_memory_or_disk() {
    let mut large = declare(&[("a", b"x")]);
    large.members[0].bytes = u64::MAX;
    refuse(&pack(&json_of(&large), &[]), "bytes");
    large.members[0].bytes = 1 << 39;
    let error = Folder::new().unpack(&pack(&json_of(&large), &[])).unwrap_err();
    // Where the disk has room for it, the file is found to be short.
    assert!(
        matches!(error, Error::NoRoom { .. } | Error::Damaged { .. } | Error::Hostile { .. }),
        "{error}"
    );
    let name = vec![b'x'; 1 << 20];
    let long = Written { path: "././@LongLink", content: &name, kind: EntryType::GNULongName };
    refuse(&pack(&json_of(&declare(&[("a", b"x")])), &[long]), "a name in it is too long");
    // 300 MiB of spaces are few bytes in Zstandard.
    refuse(&pack(&vec![b' '; 300 << 20], &[]), "its manifest.json has more than");
}

#[test]
fn what_is_cut_short_or_something_else_is_no_packed_run() {
    let content = vec![7; 300_000];
    let bytes = pack(&json_of(&declare(&[("a", &content)])), &[file("a", &content)]);
    for cut in (0..bytes.len()).step_by(7) {
        assert!(Folder::new().unpack(&bytes[..cut]).is_err(), "{cut} bytes");
    }
    refuse(b"", "is not a packed run");
    refuse(b"PK\x03\x04", "is not a packed run");
    refuse(&zstd::encode_all(&b"no tar"[..], 1).unwrap(), "x.run");
    refuse(&pack(b"{}", &[]), "manifest.json cannot be read");
    refuse(&pack(b"[1, 2", &[]), "manifest.json cannot be read");
    let mut other = Builder::new(Vec::new());
    other.append_data(&mut Header::new_gnu(), "hello", &b""[..]).unwrap();
    refuse(&zstd::encode_all(&other.into_inner().unwrap()[..], 1).unwrap(), "x.run");
}

#[test]
fn any_changed_byte_is_found() {
    let content: Vec<u8> = (0..2000_u32).map(|n| (n * n % 251) as u8).collect();
    let bytes = pack(&json_of(&declare(&[("a", &content)])), &[file("a", &content)]);
    let folder = Folder::new();
    for place in (0..bytes.len()).step_by(11) {
        let mut changed = bytes.clone();
        changed[place] ^= 0x55;
        let to = folder.path.join(place.to_string());
        std::fs::create_dir(&to).unwrap();
        let packed = folder.path.join("x.run");
        std::fs::write(&packed, changed).unwrap();
        // Whatever it becomes, it is an error or the same content.
        if unpack(&packed, &to, Part::All, &CancellationToken::new(), &mut |_, _| {}).is_ok() {
            assert_eq!(std::fs::read(to.join("a")).unwrap(), content, "byte {place}");
        }
    }
}

#[test]
fn a_newer_format_is_refused_in_words_and_a_newer_minor_one_is_read() {
    let with_format = |major: u32, minor: u32| {
        let mut value = serde_json::to_value(declare(&[("a", b"x")])).unwrap();
        value["format"] = json!({ "major": major, "minor": minor });
        value["new_key"] = json!("of a later version");
        pack(&serde_json::to_vec(&value).unwrap(), &[file("a", b"x")])
    };
    let newer = with_format(FORMAT.major + 1, 0);
    refuse(&newer, "it has format 2.0, and this version reads 1.x; use a newer sandbox");
    assert!(Folder::new().unpack(&with_format(FORMAT.major, FORMAT.minor + 1)).is_ok());
}

#[test]
fn no_path_of_a_manifest_leads_out_of_its_folder() {
    for path in ["/etc/passwd", "../x", "a/../../x", ""] {
        let mut manifest = declare(&[]);
        manifest.paths.insert("s.json".to_owned(), path.to_owned());
        refuse(&pack(&json_of(&manifest), &[]), "leads out of its folder");
        let mut manifest = declare(&[]);
        let (bytes, sha256) = (1, String::new());
        manifest.snapshots.push(SnapshotMember {
            path: path.to_owned(),
            bytes,
            sha256,
            inside: false,
        });
        refuse(&pack(&json_of(&manifest), &[]), "leads out of its folder");
    }
}

/// A manifest of many small values takes much more memory than its text.
#[test]
fn a_manifest_is_bounded_by_the_length_of_its_file() {
    let text =
        format!("{{\"format\":{{\"major\":1,\"minor\":0}},\"x\":[{}0]}}", "{},".repeat(3 << 20));
    refuse(&pack(text.as_bytes(), &[]), "its manifest.json has more than");
}
