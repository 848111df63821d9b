//! More clients than the process has files for: nobody is locked out, and the log stays short.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::harness::{Bench, Proxy, text};
use crate::server::Nobody;

const IN_TIME: Duration = Duration::from_secs(20);
const DEMO: &str = "snapshots/demo.wacz";

/// `sandbox replay` of the demo, in a shell that has set limits on open files before.
fn replay(bench: &Bench, limits: &str) -> Result<Proxy> {
    let script = format!("{limits} && exec \"$0\" replay {DEMO} --listen 127.0.0.1:0");
    let mut shell: Command =
        bench.command_of("sh", &["-c", &script, env!("CARGO_BIN_EXE_sandbox")]);
    shell.stdin(Stdio::null());
    bench.proxy_of(shell)
}

async fn idle(proxy: &Proxy, count: usize) -> Result<Vec<TcpStream>> {
    let mut idle = Vec::new();
    for _ in 0..count {
        idle.push(timeout(IN_TIME, TcpStream::connect(proxy.address)).await??);
    }
    Ok(idle)
}

async fn serves(proxy: &Proxy) -> Result<()> {
    let answer = timeout(IN_TIME, proxy.client()?.get("https://www.aldria-rail.test/"))
        .await
        .context("nobody is locked out")??;
    ensure!(answer.status() == 200, "{}", answer.status());
    Ok(())
}

#[tokio::test]
async fn a_soft_limit_on_open_files_is_raised() -> Result<()> {
    let bench = Bench::new()?;
    let proxy = replay(&bench, "ulimit -S -n 256")?;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", proxy.id()))?;
    let line = limits.lines().find(|line| line.starts_with("Max open files")).context("a limit")?;
    let soft: u64 = line.split_whitespace().nth(3).context("a soft limit")?.parse()?;
    ensure!(soft > 256, "{line}");
    let idle = idle(&proxy, 600).await?;
    serves(&proxy).await?;
    drop(idle);
    let said = proxy.end()?;
    ensure!(!said.contains("could not be accepted"), "{said}");
    Ok(())
}

#[tokio::test]
async fn with_few_files_the_longest_idle_clients_make_room() -> Result<()> {
    let bench = Bench::new()?;
    let proxy = replay(&bench, "ulimit -n 128")?;
    let mut idle = idle(&proxy, 300).await?;
    serves(&proxy).await?;
    let closed = timeout(IN_TIME, idle[0].read_to_end(&mut Vec::new()))
        .await
        .context("the longest idle goes")?;
    ensure!(closed.is_ok_and(|read| read == 0));
    serves(&proxy).await?;
    drop(idle);
    let said = proxy.end()?;
    ensure!(said.matches("WARN").count() <= 2, "{said}");
    Ok(())
}

#[tokio::test]
async fn without_a_file_left_accepting_rests_and_goes_on() -> Result<()> {
    let bench = Bench::new()?;
    // Fewer files than there are places for clients at least.
    let proxy = replay(&bench, "ulimit -n 24")?;
    let crowd = idle(&proxy, 200).await?;
    let busy = proxy.cpu_time()?;
    // A second in which nothing can be accepted: a loop would be busy all of it.
    let waits = timeout(Duration::from_secs(1), std::future::pending::<()>()).await;
    ensure!(waits.is_err());
    let spent = proxy.cpu_time()? - busy;
    ensure!(spent < Duration::from_millis(500), "{spent:?} of processor time");
    drop(crowd);
    serves(&proxy).await?;
    let said = proxy.end()?;
    ensure!(
        said.lines().count() < 60 && said.matches("could not be accepted").count() <= 1,
        "{said}"
    );
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_gone_is_logged_once_and_each_502_says_why() -> Result<()> {
    let bench = Bench::new()?;
    let gone = Nobody::new()?;
    let way = format!("--connect-to=:80:{}", gone.address);
    let address = gone.address.to_string();
    let file = bench.path("gone.wacz");
    let recorder = bench.proxy(&["record", "--listen=127.0.0.1:0", &way, "-o", file.as_str()])?;
    let client = recorder.client()?;
    for number in 0..20 {
        let answer = client.get(&format!("http://gone.test/{number}")).await?;
        ensure!(answer.status() == 502, "{}", answer.status());
        let message = text(answer.body());
        for part in ["gone.test", &address, "refused", "see whether the server runs"] {
            ensure!(message.contains(part), "{part}: {message}");
        }
    }
    let said = recorder.interrupt()?.said;
    ensure!(said.matches("a request got no answer from its server").count() == 1, "{said}");
    ensure!(said.contains("times=20"), "{said}");
    Ok(())
}
