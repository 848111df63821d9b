//! Files of a stranger that would take all memory or all of the disk, or never end: each kind of
//! them before each command that opens it. The command says in words what is wrong, or does its
//! work; it neither panics nor takes more than the limits below.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};

use crate::harness::{Bench, text};

/// How large they are when they are unpacked, in MiB: more than is read of any small file.
const UNPACKED: usize = 1500;
/// What a command may take, in KiB: the address space, which bounds the memory, and a file.
const MEMORY: u64 = 1400 << 10;
const FILE: u64 = 1400 << 10;
/// How long it may take, in seconds. A busy machine needs several times as long as a quiet one.
const TIME: u32 = 240;

/// Commands on a snapshot; `FILE` stands for it and `OUT` for a new path.
const ON_SNAPSHOTS: [&str; 12] = [
    "snapshot inspect FILE",
    "snapshot verify FILE",
    "snapshot search x FILE",
    "snapshot diff FILE FILE",
    "snapshot export FILE --output OUT.warc.gz",
    "snapshot export FILE --output OUT.har",
    "snapshot export FILE --output OUT",
    "snapshot merge FILE FILE --output OUT.wacz",
    "snapshot redact FILE --scan",
    "snapshot redact FILE --credentials --output OUT.wacz",
    "snapshot repair FILE --output OUT.wacz",
    "snapshot import FILE --output OUT.wacz",
];
/// Commands on a run, packed or not.
const ON_RUNS: [&str; 4] =
    ["report FILE", "compare FILE FILE", "export FILE --output OUT.csv", "verify FILE --digests"];

/// Runs a command within the limits and checks how it ends.
fn check(bench: &Bench, command: &str, file: &Utf8Path, number: usize) -> Result<()> {
    let out = bench.path(&format!("out{number}"));
    let words: Vec<String> = command
        .split(' ')
        .map(|word| word.replace("FILE", file.as_str()).replace("OUT", out.as_str()))
        .collect();
    let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
    let plain = bench.command(&arguments);
    let script = format!("ulimit -v {MEMORY} -f {FILE}; exec timeout -s KILL {TIME} \"$@\"");
    let mut limited = Command::new("bash");
    limited.args(["-c", &script, "bash"]).arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    if let Some(folder) = plain.get_current_dir() {
        limited.current_dir(folder);
    }
    let output = limited.stdin(std::process::Stdio::null()).output().context("bash")?;
    let said = text(&output.stderr);
    let code = output.status.code();
    ensure!(
        output.status.signal().is_none() && code != Some(137),
        "{command} {file}: {}\n{said}",
        output.status
    );
    ensure!(code.is_some_and(|code| code < 64), "{command} {file}: {}\n{said}", output.status);
    ensure!(!said.contains("panicked"), "{command} {file}: {said}");
    let is_told = code == Some(0) || code == Some(1) || said.contains("error: ");
    ensure!(is_told, "{command} {file}: {}\n{said}", output.status);
    Ok(())
}

fn check_all(bench: &Bench, commands: &[&str], files: &[Utf8PathBuf]) -> Result<()> {
    let all = files.iter().flat_map(|file| commands.iter().map(move |command| (file, command)));
    for (number, (file, command)) in all.enumerate() {
        check(bench, command, file, number)?;
    }
    Ok(())
}

fn gzip(parts: &[(&[u8], usize)]) -> Result<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    for (part, times) in parts {
        for _ in 0..*times {
            out.write_all(part)?;
        }
    }
    Ok(out.finish()?)
}

/// A ZIP with one deflated file, which its directory names so many times.
fn zip(
    content: &[u8],
    times: usize,
    name_of: impl Fn(usize) -> String,
    copies: usize,
) -> Result<Vec<u8>> {
    let (mut crc, mut packed) =
        (Crc::new(), DeflateEncoder::new(Vec::new(), Compression::default()));
    for _ in 0..times {
        crc.update(content);
        packed.write_all(content)?;
    }
    let packed = packed.finish()?;
    let size = u32::try_from(content.len() * times)?;
    let fields = |name: &str| -> Result<Vec<u8>> {
        let mut bytes =
            [20_u16.to_le_bytes(), [0; 2], 8_u16.to_le_bytes(), [0; 2], [0x21, 0]].concat();
        bytes.extend(crc.sum().to_le_bytes());
        bytes.extend(u32::try_from(packed.len())?.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(u16::try_from(name.len())?.to_le_bytes());
        bytes.extend([0; 2]);
        Ok(bytes)
    };
    let first = name_of(0);
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.extend(fields(&first)?);
    bytes.extend(first.as_bytes());
    bytes.extend(&packed);
    let start = bytes.len();
    for number in 0..copies {
        let name = name_of(number);
        bytes.extend(b"PK\x01\x02\x14\x00");
        bytes.extend(fields(&name)?);
        bytes.extend([0; 14]);
        bytes.extend(name.as_bytes());
    }
    let length = bytes.len() - start;
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    let count = u16::try_from(copies)?.to_le_bytes();
    bytes.extend([count, count].concat());
    bytes.extend(u32::try_from(length)?.to_le_bytes());
    bytes.extend(u32::try_from(start)?.to_le_bytes());
    bytes.extend([0; 2]);
    Ok(bytes)
}

/// One WARC record with a response.
fn record(head: &str, body: usize) -> Vec<u8> {
    format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
         WARC-Target-URI: https://a.test/\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{head}",
        head.len() + body
    )
    .into_bytes()
}

const PLAIN: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
const CODED: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n";
const MIB: &[u8] = &[b' '; 1 << 20];

fn snapshots(bench: &Bench) -> Result<Vec<Utf8PathBuf>> {
    let mut all = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| -> Result<()> {
        fs::write(bench.path(name), bytes)?;
        all.push(bench.path(name));
        Ok(())
    };
    add("overlap.wacz", zip(MIB, 200, |number| format!("archive/{number:04}.warc"), 5000)?)?;
    add("ratio.wacz", zip(MIB, UNPACKED, |_| "archive/one.warc".to_owned(), 1)?)?;
    add("description.wacz", zip(MIB, UNPACKED, |_| "datapackage.json".to_owned(), 1)?)?;
    let end = &b"\r\n\r\n"[..];
    // A large body in a record; the same in a content coding within it; many records in a member.
    add(
        "record.warc.gz",
        gzip(&[(&record(PLAIN, UNPACKED << 20), 1), (MIB, UNPACKED), (end, 1)])?,
    )?;
    let body = gzip(&[(MIB, UNPACKED)])?;
    add("coding.warc.gz", gzip(&[(&record(CODED, body.len()), 1), (&body, 1), (end, 1)])?)?;
    let small = [record(PLAIN, 1 << 20), MIB.to_vec(), end.to_vec()].concat();
    add("shared.warc.gz", gzip(&[(&small, UNPACKED)])?)?;
    make_pipe(&bench.path("pipe.wacz"))?;
    all.push(bench.path("pipe.wacz"));
    all.push("/dev/zero".into());
    all.push("/dev/tty".into());
    Ok(all)
}

fn make_pipe(path: &Utf8Path) -> Result<()> {
    ensure!(Command::new("mkfifo").arg(path).status()?.success());
    Ok(())
}

#[test]
fn snapshots_of_strangers_are_bounded() -> Result<()> {
    let bench = Bench::new()?;
    check_all(&bench, &ON_SNAPSHOTS, &snapshots(&bench)?)
}

/// A tar in a Zstandard frame, of a manifest alone.
fn pack(parts: &[(&[u8], usize)]) -> Result<Vec<u8>> {
    let length: usize = parts.iter().map(|(part, times)| part.len() * times).sum();
    let mut header = tar::Header::new_gnu();
    header.set_path("manifest.json")?;
    header.set_size(length as u64);
    header.set_cksum();
    let mut out = zstd::Encoder::new(Vec::new(), 1)?;
    out.write_all(header.as_bytes())?;
    for (part, times) in parts {
        for _ in 0..*times {
            out.write_all(part)?;
        }
    }
    out.write_all(&vec![0; 1024 + 512 - length % 512])?;
    Ok(out.finish()?)
}

#[test]
fn runs_of_strangers_are_bounded() -> Result<()> {
    let bench = Bench::new()?;
    let units = "{},".repeat(1 << 16);
    let start = br#"{"format":{"major":1,"minor":0},"x":["#;
    let manifest = bench.path("manifest.run");
    fs::write(&manifest, pack(&[(start, 1), (units.as_bytes(), 1000), (b"0]}", 1)])?)?;
    let members = bench.path("members.run");
    let member = r#"{"path":"a","bytes":1,"sha256":""},"#.repeat(1 << 12);
    let start =
        br#"{"format":{"major":1,"minor":0},"sandbox":"1","run":{"suite":"s","agent":"a","sandbox":"1",
        "episodes":1,"fingerprints":[]},"members":["#;
    fs::write(&members, pack(&[(start, 1), (member.as_bytes(), 1000), (b"]}", 1)])?)?;
    let mut all = vec![manifest, members, "/dev/zero".into()];
    for (name, times) in [("record", 300), ("values", 60)] {
        let folder = bench.path(name);
        fs::create_dir(&folder)?;
        let text = format!("{{\"settings\":[{}0]}}", units.repeat(times));
        fs::write(folder.join("run.json"), text)?;
        all.push(folder);
    }
    let folder = bench.path("piped");
    fs::create_dir(&folder)?;
    make_pipe(&folder.join("run.json"))?;
    all.push(folder);
    check_all(&bench, &ON_RUNS, &all)
}

#[test]
fn suites_of_strangers_are_bounded() -> Result<()> {
    let bench = Bench::new()?;
    let mut all = Vec::new();
    for (name, task) in [
        ("deep", "[".repeat(100_000)),
        ("maps", "{a: ".repeat(100_000)),
        ("lists", "- ".repeat(100_000)),
    ] {
        let folder = bench.path(name);
        fs::create_dir(&folder)?;
        fs::write(folder.join("suite.yaml"), "world:\n  clock: 2026-03-12T08:30:00Z\n")?;
        fs::write(folder.join("task.yaml"), task)?;
        all.push(folder);
    }
    let folder = bench.path("piped");
    fs::create_dir(&folder)?;
    make_pipe(&folder.join("suite.yaml"))?;
    all.push(folder);
    check_all(&bench, &["tasks list FILE", "tasks check FILE"], &all)
}
