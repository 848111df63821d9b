//! `sandbox images load` of 2 GiB in flat memory. The engine has to unpack it all, so this runs in
//! `make test ONLY=engine` only.

#[expect(dead_code, reason = "the other tests use the rest of it")]
mod harness;

use std::io::{Seek, SeekFrom, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use camino::Utf8Path;
use harness::Bench;
use sha2::{Digest, Sha256};

const LARGE: u64 = 2 << 30;

/// What the process may have had in memory at most, in kB.
const MEMORY: u64 = 150_000;

#[test]
fn two_gigabytes_are_loaded_in_flat_memory() -> Result<()> {
    let bench = Bench::new()?;
    let tag = format!("{}:large", bench.name());
    let file = bench.path("large.tar");
    write_image(&file, &tag)?;
    let mut child =
        bench.command(&["images", "load", file.as_str()]).stdout(Stdio::piped()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut out = child.stdout.take().context("stdout is piped")?;
    let (ended, end) = mpsc::channel::<()>();
    let reader = std::thread::spawn(move || {
        let said = std::io::read_to_string(&mut out);
        drop(ended);
        said
    });
    // The high-water mark only rises; the last look before the end is the one that counts.
    let mut peak = 0;
    while end.recv_timeout(Duration::from_millis(10)) == Err(mpsc::RecvTimeoutError::Timeout) {
        peak = peak.max(high_water(&status).unwrap_or(0));
    }
    let said = reader.join().expect("the reader does not panic")?;
    ensure!(child.wait()?.success() && said == format!("{tag}: loaded\n"), "{said}");
    eprintln!("loaded {LARGE} bytes; the process had {peak} kB in memory at most");
    ensure!(peak > 0 && peak < MEMORY, "{peak} kB");
    Ok(())
}

/// `VmHWM` in kB.
fn high_water(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// An image as `docker save` writes it, with one layer that is one file of zeros: a hole in the
/// file on disk.
fn write_image(path: &Utf8Path, tag: &str) -> Result<()> {
    let zeros = header("zeros", LARGE)?;
    let layer = 512 + LARGE + 1024;
    let config = serde_json::json!({
        "architecture": "amd64", "os": "linux", "config": {},
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{}", layer_digest(&zeros))]},
    })
    .to_string();
    let manifest =
        serde_json::json!([{"Config": "config.json", "RepoTags": [tag], "Layers": ["layer.tar"]}])
            .to_string();
    let mut file = std::fs::File::create(path)?;
    for (name, text) in [("config.json", config), ("manifest.json", manifest)] {
        file.write_all(&header(name, text.len() as u64)?)?;
        file.write_all(text.as_bytes())?;
        let end = file.stream_position()?.next_multiple_of(512);
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
    }
    file.write_all(&header("layer.tar", layer)?)?;
    file.write_all(&zeros)?;
    let end = file.stream_position()? + LARGE + 1024 + 1024;
    Ok(file.set_len(end)?)
}

fn header(name: &str, size: u64) -> Result<[u8; 512]> {
    let mut header = tar::Header::new_gnu();
    header.set_path(name)?;
    header.set_size(size);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_cksum();
    Ok(*header.as_bytes())
}

fn layer_digest(header: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(header);
    let piece = vec![0; 1 << 20];
    (0..LARGE >> 20).for_each(|_| hash.update(&piece));
    hash.update([0; 1024]);
    hex::encode(hash.finalize())
}
