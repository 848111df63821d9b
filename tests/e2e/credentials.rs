//! What lets one in does not stay in recordings unseen: it is counted, and taken out on request,
//! while recording or after.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use camino::Utf8Path;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::Value;
use tokio_tungstenite::tungstenite::Message;

use crate::client::Client;
use crate::harness::{Bench, live_web, origin, text};
use crate::server::Server;

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const JSON: (&str, &str) = ("content-type", "application/json");
const LOGIN: &str = "https://id.passgate.test/authorize";
/// All secrets of [`log_in`] hold this.
const SECRET: &str = "e2e-secret";

/// A server that repeats what it is told over WebSockets.
async fn echo() -> Result<Server> {
    Server::sockets(|mut socket| async move {
        while let Some(Ok(message)) = socket.next().await {
            if message.is_text() {
                socket.send(message).await?;
            }
        }
        Ok(())
    })
    .await
}

/// Logs in by every way there is.
async fn log_in(client: &Client) -> Result<()> {
    let cookie = ("cookie", "theme=dark; sid=cookie-e2e-secret");
    client.send(LOGIN, "POST", &[FORM, cookie], "user=ada&password=form-e2e-secret").await?;
    let sent = r#"{"variables":{"login":"ada","passwd":"json-e2e-secret","access_token":"token-e2e-secret"}}"#;
    client.send(LOGIN, "POST", &[JSON], sent).await?;
    let parts = "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nparts-e2e-secret\r\n--x--\r\n";
    client
        .send(LOGIN, "POST", &[("content-type", "multipart/form-data; boundary=x")], parts)
        .await?;
    client.send(LOGIN, "GET", &[("authorization", "Bearer bearer-e2e-secret")], "").await?;
    client.send(&format!("{LOGIN}?client=a&password=url-e2e-secret"), "GET", &[], "").await?;
    client.send(LOGIN, "GET", &[("referer", "https://a.test/?pwd=referer-e2e-secret")], "").await?;
    // Its answer sets a cookie, of which the server decides the value.
    client.get("https://id.passgate.test/continue").await?;
    let mut socket = client.socket("ws://chat.test/").await?;
    let message = r#"{"op":"login","password":"socket-e2e-secret"}"#;
    socket.send(Message::text(message)).await?;
    let echoed = socket.next().await.context("an echo")??;
    ensure!(echoed.into_text()? == message, "what passes is not changed");
    socket.close(None).await?;
    while socket.next().await.is_some() {}
    Ok(())
}

/// Whether a secret is in a file, or in one below a folder.
fn holds_secret(path: &Path) -> Result<bool> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            if holds_secret(&entry?.path())? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    Ok(text(&std::fs::read(path)?).contains(SECRET))
}

/// The records of a snapshot, as they were before they were compressed.
fn exported_holds_secret(bench: &Bench, file: &Utf8Path, name: &str) -> Result<bool> {
    let har = bench.path(&format!("{name}.har"));
    bench.succeed(&["snapshot", "export", file.as_str(), "-o", har.as_str()])?;
    let warc = bench.path(&format!("{name}.warc.gz"));
    bench.succeed(&["snapshot", "export", file.as_str(), "-o", warc.as_str()])?;
    let unzipped = std::process::Command::new("gzip").args(["-dc", warc.as_str()]).output()?;
    ensure!(unzipped.status.success() && !unzipped.stdout.is_empty());
    let pages = std::process::Command::new("unzip")
        .args(["-p", file.as_str(), "pages/*", "*.json"])
        .output()?;
    let all = [unzipped.stdout, pages.stdout, std::fs::read(har)?].concat();
    Ok(text(&all).contains(SECRET))
}

fn credentials(bench: &Bench, file: &Utf8Path) -> Result<(u64, u64, u64)> {
    let report: Value =
        serde_json::from_str(&bench.succeed(&["snapshot", "inspect", "--json", file.as_str()])?)?;
    let count =
        |name: &str| report["credentials"][name].as_u64().with_context(|| format!("{report:#}"));
    Ok((count("authorization")?, count("cookies")?, count("passwords")?))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_says_what_it_holds_and_how_to_take_it_out() -> Result<()> {
    let bench = Bench::new()?;
    let (origin, echo) = (origin().await?, echo().await?);
    let mut live = live_web(&origin);
    live.insert(0, echo.as_live_web());
    let file = bench.path("open.wacz");
    let mut arguments = vec!["record", "--listen=127.0.0.1:0", "-o", file.as_str()];
    arguments.extend(live.iter().map(String::as_str));
    let recorder = bench.proxy(&arguments)?;
    log_in(&recorder.client()?).await?;
    let said = recorder.end()?;
    let expected = "1 record with Authorization, 2 records with cookies and 6 records with passwords or tokens";
    ensure!(said.contains(expected), "{said}");
    let command = format!(
        "sandbox snapshot redact {file} --credentials -o {}",
        bench.path("open.redacted.wacz")
    );
    ensure!(said.contains(&command), "{said}");
    ensure!(credentials(&bench, &file)? == (1, 2, 6));
    ensure!(bench.succeed(&["snapshot", "inspect", file.as_str()])?.contains("authorization: 1"));
    ensure!(exported_holds_secret(&bench, &file, "open")?);

    // A HAR of it says the same when it is imported.
    let imported = bench.path("imported.wacz");
    bench.succeed(&[
        "snapshot",
        "import",
        bench.path("open.har").as_str(),
        "-o",
        imported.as_str(),
    ])?;
    let (authorization, cookies, passwords) = credentials(&bench, &imported)?;
    ensure!((authorization, cookies) == (1, 2) && passwords >= 5, "{passwords}");

    let arguments: Vec<&str> = command.split(' ').skip(1).collect();
    bench.succeed(&arguments)?;
    let redacted = bench.path("open.redacted.wacz");
    bench.succeed(&["snapshot", "verify", redacted.as_str()])?;
    ensure!(credentials(&bench, &redacted)? == (0, 0, 0));
    ensure!(!exported_holds_secret(&bench, &redacted, "redacted")?);
    origin.stop().await;
    replays(&bench, &redacted).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_it_reaches_the_disk_also_when_recording_is_killed() -> Result<()> {
    let bench = Bench::new()?;
    let (origin, echo) = (origin().await?, echo().await?);
    let mut live = live_web(&origin);
    live.insert(0, echo.as_live_web());
    for (name, kill) in [("ended.wacz", false), ("killed.wacz", true)] {
        let file = bench.path(name);
        let mut arguments = vec!["record", "--redact", "--listen=127.0.0.1:0", "-o", file.as_str()];
        arguments.extend(live.iter().map(String::as_str));
        let recorder = bench.proxy(&arguments)?;
        let client = recorder.client()?;
        log_in(&client).await?;
        let mut socket = client.socket("ws://chat.test/open").await?;
        socket.send(Message::text(r#"{"password":"journal-e2e-secret"}"#)).await?;
        socket.next().await.context("an echo")??;
        let folder = bench.path(&format!("{name}.recording"));
        ensure!(folder.is_dir() && !holds_secret(folder.as_std_path())?, "{folder} holds secrets");
        if kill {
            recorder.kill()?;
            ensure!(!holds_secret(folder.as_std_path())?, "{folder} holds secrets");
            bench.succeed(&["snapshot", "repair", file.as_str()])?;
        } else {
            drop(socket);
            let said = recorder.end()?;
            ensure!(!said.contains("Authorization"), "{said}");
        }
        ensure!(credentials(&bench, &file)? == (0, 0, 0), "{name}");
        ensure!(!exported_holds_secret(&bench, &file, name)?, "{name}");
        replays(&bench, &file).await?;
    }
    origin.stop().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fills_gaps_is_redacted_too() -> Result<()> {
    let bench = Bench::new()?;
    let (origin, echo) = (origin().await?, echo().await?);
    let mut live = live_web(&origin);
    live.insert(0, echo.as_live_web());
    let (empty, filled) = (bench.path("empty.wacz"), bench.path("filled.wacz"));
    let mut arguments = vec!["record", "--listen=127.0.0.1:0", "-o", empty.as_str()];
    arguments.extend(live.iter().map(String::as_str));
    let recorder = bench.proxy(&arguments)?;
    recorder.client()?.get("https://www.aldria-rail.test/").await?;
    recorder.end()?;
    for (redact, counted) in [(Some("--redact"), false), (None, true)] {
        let mut arguments = vec!["replay", empty.as_str(), "--fill", filled.as_str()];
        arguments.extend(redact);
        arguments.extend(live.iter().map(String::as_str));
        let filling = bench.proxy(&arguments)?;
        log_in(&filling.client()?).await?;
        let said = filling.end()?;
        ensure!(said.contains("--credentials") == counted, "{said}");
        ensure!((credentials(&bench, &filled)? != (0, 0, 0)) == counted);
        std::fs::remove_file(&filled)?;
    }
    origin.stop().await;
    Ok(())
}

/// Cookies and authorization choose nothing, so that requests with them are answered as they were.
async fn replays(bench: &Bench, file: &Utf8Path) -> Result<()> {
    let replay = bench.proxy(&["replay", file.as_str()])?;
    let client = replay.client()?;
    let page = client
        .send(LOGIN, "GET", &[("authorization", "Bearer other"), ("cookie", "sid=other")], "")
        .await?;
    ensure!(page.status() == 200, "{}", page.status());
    let on = client.get("https://id.passgate.test/continue").await?;
    let cookie = on.headers().get("set-cookie").context("a cookie")?.to_str()?;
    ensure!(
        on.status() == 302
            && cookie.starts_with("passgate=redacted-")
            && cookie.contains("HttpOnly"),
        "{cookie}"
    );
    replay.end()?;
    Ok(())
}
