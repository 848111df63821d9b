//! A disk that fills up while recording: clients are served all the same, what was lost is named,
//! and what was recorded becomes a snapshot elsewhere.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use camino::Utf8PathBuf;

use crate::harness::{Bench, text};
use crate::server::{Server, say};

const BODIES: usize = 40;
const SIZE: usize = 300 << 10;

/// A body that does not compress, another one for each number.
fn body(number: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ (number as u64) << 32;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    std::iter::repeat_with(|| next().to_le_bytes()).flatten().take(SIZE).collect()
}

/// A file system of eight megabytes, in name spaces of its own so that nobody needs to be root. It
/// lives as long as the process that holds it, through which everybody else reaches it.
struct SmallDisk {
    holder: Child,
    folder: Utf8PathBuf,
}

impl SmallDisk {
    fn mount(bench: &Bench) -> Result<SmallDisk> {
        let at = bench.path("small");
        std::fs::create_dir(&at)?;
        let script = r#"mount -t tmpfs -o size=8m small "$0" && echo mounted && exec cat"#;
        let mut holder = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, at.as_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("unshare of util-linux is needed")?;
        let mut line = String::new();
        BufReader::new(holder.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
        let folder = Utf8PathBuf::from(format!("/proc/{}/root{at}", holder.id()));
        let disk = SmallDisk { holder, folder };
        ensure!(
            line == "mounted\n",
            "no small disk: this machine allows no user name spaces (sysctl -w kernel.unprivileged_userns_clone=1)"
        );
        Ok(disk)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_costs_what_did_not_fit_and_says_so() -> Result<()> {
    let bench = Bench::new()?;
    let disk = SmallDisk::mount(&bench)?;
    let server = Server::start(|path, mut tcp| async move {
        say(&mut tcp, &body(path.trim_start_matches('/').parse()?)).await
    })
    .await?;
    let file = disk.folder.join("full.wacz");
    let recorder = bench.proxy(&[
        "record",
        "--listen=127.0.0.1:0",
        &server.as_live_web(),
        "-o",
        file.as_str(),
    ])?;
    let client = recorder.client()?;
    for number in 0..BODIES {
        let answer = client.get(&format!("http://files.test/{number}")).await?;
        ensure!(
            answer.status() == 200 && *answer.body() == body(number),
            "the disk is no client's concern"
        );
    }
    let ended = recorder.interrupt()?;
    drop(server);
    let said = &ended.said;
    ensure!(ended.status.code() == Some(3), "{}\n{said}", ended.status);
    ensure!(said.contains("No space left on device"), "{said}");
    ensure!(said.contains(&format!("sandbox snapshot repair {file}")), "{said}");
    let lost: Vec<bool> = (0..BODIES)
        .map(|number| said.contains(&format!("not recorded: http://files.test/{number}: ")))
        .collect();
    let count = lost.iter().filter(|lost| **lost).count();
    ensure!((5..30).contains(&count), "{count} of {BODIES} did not fit:\n{said}");
    ensure!(said.contains(&format!("{count} exchanges passed without being recorded")), "{said}");
    ensure!(!file.exists(), "half a snapshot is none");

    let whole = bench.path("whole.wacz");
    bench.succeed(&["snapshot", "repair", file.as_str(), "-o", whole.as_str()])?;
    bench.succeed(&["snapshot", "verify", whole.as_str()])?;
    let replay = bench.proxy(&["replay", whole.as_str()])?;
    let client = replay.client()?;
    for (number, lost) in lost.into_iter().enumerate() {
        let answer = client.get(&format!("http://files.test/{number}")).await?;
        if lost {
            ensure!(answer.status() == 404, "{number}: {}", answer.status());
        } else {
            ensure!(*answer.body() == body(number), "{number}: {}", text(answer.body()));
        }
    }
    replay.end()?;
    Ok(())
}
