//! Objects of a real S3 server and files of web servers: read by range, kept, written, refused.
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::FileExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use object_files::{Address, Reason, RemoteFile, RemoteFolder, download, upload};
use object_server::ObjectServer;

/// Each test runs in a process of its own, because credentials come from the environment.
const INSIDE: &str = "REMOTE_TEST";

struct World {
    _folder: tempfile::TempDir,
    path: Utf8PathBuf,
    server: ObjectServer,
}

/// A server with a bucket.
fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    std::fs::create_dir_all(path.join("stored/bucket")).unwrap();
    let server = ObjectServer::start(&path.join("stored"), [0, 0]).unwrap();
    World { _folder: folder, path, server }
}

impl World {
    fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.path.join("stored/bucket").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Runs the body of a test again in a process with the variables of a server.
fn with_server(name: &str, more: &[(&str, &str)], inside: impl FnOnce()) {
    if std::env::var(INSIDE).is_ok_and(|running| running == name) {
        return inside();
    }
    let world = world();
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args([name, "--exact", "--nocapture"]).env(INSIDE, name).env("FOLDER", &world.path);
    test.envs(world.server.environment()).env("WEB", world.server.web());
    for (name, value) in more {
        test.env(name, value);
    }
    world.put("big", &pattern(3_000_000));
    world.put("x y/ö+%.txt", b"odd");
    let done = test.output().unwrap();
    let text =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && text.contains("1 passed"), "{text}");
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n * 7 % 251) as u8).collect()
}

fn address(text: &str) -> Address {
    Address::parse(text).unwrap()
}

fn folder() -> Utf8PathBuf {
    std::env::var("FOLDER").unwrap().into()
}

fn bytes(file: &RemoteFile, at: u64, length: usize) -> Vec<u8> {
    let mut found = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut found[filled..], at + filled as u64).unwrap() {
            0 => break,
            read => filled += read,
        }
    }
    found.truncate(filled);
    found
}

#[test]
fn ranges_are_read_once_and_stay() {
    with_server("ranges_are_read_once_and_stay", &[], || {
        let whole = pattern(3_000_000);
        let web = std::env::var("WEB").unwrap();
        for address in [address("s3://bucket/big"), address(&format!("{web}/bucket/big"))] {
            let cache = folder().join("cache");
            let file = RemoteFile::open_with(&address, Some(&cache)).unwrap();
            assert_eq!(file.length(), 3_000_000);
            for (at, length) in [(0, 9), (262_140, 20), (2_999_990, 50), (1_000_000, 300_000)] {
                let end = (at + length).min(whole.len());
                assert_eq!(bytes(&file, at as u64, length), whole[at..end], "{address} {at}");
            }
            // What was read is there without a server. An object that is another one now is not
            // mixed with it.
            let kept = std::fs::File::open(file.folder().unwrap().join("bytes")).unwrap();
            let mut end = [0; 10];
            kept.read_exact_at(&mut end, 2_999_990).unwrap();
            assert_eq!(end, whole[2_999_990..]);
            std::fs::write(folder().join("stored/bucket/big"), pattern(2_000_000)).unwrap();
            let error = file.read_at(&mut [0; 9], 2_300_000).unwrap_err().to_string();
            assert!(error.contains("it has changed since it was opened"), "{error}");
            assert_eq!(bytes(&file, 0, 9), whole[..9]);
            let again = RemoteFile::open_with(&address, Some(&cache)).unwrap();
            assert_eq!(
                (again.length(), bytes(&again, 1_999_995, 50)),
                (2_000_000, pattern(2_000_000)[1_999_995..].to_vec())
            );
            std::fs::write(folder().join("stored/bucket/big"), &whole).unwrap();
        }
    });
}

#[test]
fn many_threads_read_one_object() {
    with_server("many_threads_read_one_object", &[], || {
        let whole = pattern(3_000_000);
        let file = RemoteFile::open_with(&address("s3://bucket/big"), None).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8_usize {
                let (file, whole) = (&file, &whole);
                scope.spawn(move || {
                    for n in 0..40 {
                        let at = (thread * 31 + n * 77_777) % 2_900_000;
                        assert_eq!(bytes(file, at as u64, 5_000), whole[at..at + 5_000]);
                    }
                });
            }
        });
    });
}

#[test]
fn files_go_there_and_come_back() {
    with_server("files_go_there_and_come_back", &[], || {
        let large = pattern(20_000_000);
        for (name, content) in
            [("a/small", b"small".as_slice()), ("a/large", &large), ("a/none", b"")]
        {
            let (from, to) = (folder().join("from"), folder().join("to"));
            std::fs::write(&from, content).unwrap();
            let there = address(&format!("s3://bucket/{name}"));
            let mut sent = 0;
            assert!(upload(&from, &there, &mut |bytes| sent += bytes).unwrap().is_some());
            assert_eq!(sent, content.len() as u64);
            download(&there, &to).unwrap();
            assert!(std::fs::read(&to).unwrap() == content, "{name}");
        }
        let in_folder = RemoteFolder::at(&address("s3://bucket/a")).unwrap();
        let listed: Vec<_> =
            in_folder.list().unwrap().into_iter().map(|found| (found.path, found.length)).collect();
        let expect =
            [("large".to_owned(), 20_000_000), ("none".to_owned(), 0), ("small".to_owned(), 5)];
        assert_eq!(listed, expect);
        in_folder.remove("none").unwrap();
        in_folder.remove("none").unwrap();
        assert_eq!(in_folder.list().unwrap().len(), 2);
        // Names that addresses have to encode.
        let odd = RemoteFolder::at(&address("s3://bucket/x%20y")).unwrap();
        let name = odd.list().unwrap().remove(0).path;
        assert_eq!(name, "ö+%.txt");
        let to = folder().join("to");
        download(&odd.object(&name).unwrap(), &to).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), b"odd");
    });
}

#[test]
fn what_cannot_be_had_is_named() {
    with_server("what_cannot_be_had_is_named", &[], || {
        for (text, expect) in [
            (
                "s3://bucket/nothing",
                "failed to open s3://bucket/nothing: there is nothing at this address",
            ),
            ("s3://nowhere/x", "there is nothing at this address"),
            ("http://127.0.0.1:9/x", "failed to open http://127.0.0.1:9/x: "),
        ] {
            let error = RemoteFile::open_with(&address(text), None).unwrap_err();
            let text = format!("failed to {}", error_text::with_causes(&error));
            assert!(text.contains(expect), "{text}");
        }
        let refused =
            RemoteFile::open_with(&address("http://127.0.0.1:9/x"), None).unwrap_err().to_string();
        assert!(refused.contains("Connection refused"), "{refused}");
    });
}

#[test]
fn other_credentials_are_refused() {
    with_server("other_credentials_are_refused", &[("AWS_SECRET_ACCESS_KEY", "wrong")], || {
        let error = RemoteFile::open_with(&address("s3://bucket/big"), None).unwrap_err();
        assert!(
            matches!(error, object_files::Error::Server { why: Reason::Denied(_), .. }),
            "{error}"
        );
        assert!(!error.to_string().contains("wrong"), "{error}");
    });
}

/// A server that knows no ranges, as Python's does, and one that sends the reader elsewhere first.
#[test]
fn plain_web_servers_serve_as_well() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap();
    let whole = pattern(700_000);
    let sent = whole.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                if stream.read(&mut byte).unwrap() == 0 {
                    break;
                }
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            let start = if head.contains("/moved") {
                format!(
                    "HTTP/1.1 302 Found\r\nLocation: http://{own}/x\r\nContent-Length: 0\r\n\r\n"
                )
            } else {
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nLast-Modified: Thu, 26 Nov 2026 10:00:00 GMT\r\n\
                     Connection: close\r\n\r\n",
                    sent.len()
                )
            };
            stream.write_all(start.as_bytes()).unwrap();
            if head.starts_with("GET /x") {
                let _ = stream.write_all(&sent);
            }
        }
    });
    for path in ["x", "moved"] {
        let file = RemoteFile::open_with(&address(&format!("http://{own}/{path}")), None).unwrap();
        assert_eq!(file.length(), 700_000);
        assert!(bytes(&file, 0, 700_000) == whole);
    }
}

#[test]
fn a_server_that_dies_is_an_error_and_what_was_read_stays() {
    with_server("a_server_that_dies_is_an_error_and_what_was_read_stays", &[], || {
        let own = Utf8Path::new(&folder()).join("own");
        std::fs::create_dir_all(own.join("bucket")).unwrap();
        let whole = pattern(3_000_000);
        std::fs::write(own.join("bucket/big"), &whole).unwrap();
        let server = ObjectServer::start(&own, [0, 0]).unwrap();
        let ports = server.ports();
        let there = address(&format!("{}/bucket/big", server.web()));
        let file = RemoteFile::open_with(&there, Some(&folder().join("cache"))).unwrap();
        assert_eq!(bytes(&file, 1_000_000, 10), whole[1_000_000..1_000_010]);
        drop(server);
        assert_eq!(bytes(&file, 1_000_000, 10), whole[1_000_000..1_000_010]);
        let error = file.read_at(&mut [0; 9], 2_000_000).unwrap_err().to_string();
        assert!(error.contains(&format!("failed to read {there}: ")), "{error}");
        let server = ObjectServer::start(&own, ports).unwrap();
        let before = server.sent().1;
        // For some seconds it counts as gone: a page reads much, and would wait for each read.
        let until = Instant::now() + Duration::from_secs(60);
        let mut refused = 0;
        while file.read_at(&mut [0; 9], 2_500_000).is_err() {
            assert!(Instant::now() < until && server.sent().1 == before);
            refused += 1;
            std::thread::park_timeout(Duration::from_millis(20));
        }
        assert!(refused > 0);
        assert_eq!(bytes(&file, 0, 3_000_000), whole);
        // Two blocks were there.
        assert_eq!(server.sent().1 - before, 3_000_000 - 2 * (64 << 10));
    });
}
