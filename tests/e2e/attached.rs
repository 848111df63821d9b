//! What a program that drives an episode may not have the browser do: reach the machine's files,
//! its devices, another network.

use std::os::unix::fs::symlink;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use camino::Utf8PathBuf;
use serde_json::{Value, json};

use crate::attached_session::{AttachedSession, first_tab, nothing_is_left};
use crate::devtools::Tab;
use crate::harness::{Bench, text};

/// A page for files, in a world of nothing else.
const INPUT: &str = "data:text/html,<title>ask</title><input type=file id=one multiple>";

/// An episode in a world of nothing, whose task has a folder of files.
fn open(bench: &Bench) -> Result<(AttachedSession, Utf8PathBuf)> {
    let folder = bench.path("suite");
    std::fs::create_dir_all(folder.join("files"))?;
    std::fs::write(folder.join("files/cv.txt"), "curriculum")?;
    std::fs::write(
        folder.join("suite.yaml"),
        "world: {clock: 2026-03-12T08:30:00Z, seed: 7, files: files}\n",
    )?;
    std::fs::write(
        folder.join("none.yaml"),
        "id: none\ngoal: Find it.\nscorer: {infeasible: {}}\n",
    )?;
    let session = AttachedSession::open(
        bench,
        &[folder.as_str(), "none", "--output", bench.path("out").as_str()],
    )?;
    Ok((session, folder))
}

/// The connection to the browser as a whole.
async fn browser(session: &AttachedSession) -> Result<Tab> {
    let version = session.ask("/json/version")?;
    Tab::connect(version["webSocketDebuggerUrl"].as_str().context("its address")?).await
}

/// A command that has to be refused by us, and not by chance.
async fn refused(tab: &mut Tab, method: &str, params: Value) -> Result<()> {
    match tab.call(method, params.clone()).await {
        Ok(answer) => anyhow::bail!("{method} {params}: {answer}"),
        Err(error) => {
            let error = error.to_string();
            ensure!(
                error.contains("not allowed") && error.contains("in an episode"),
                "{method}: {error}"
            );
            Ok(())
        }
    }
}

#[tokio::test]
async fn a_driver_reads_no_file_of_the_machine() -> Result<()> {
    let bench = Bench::new()?;
    let (session, _) = open(&bench)?;
    let mut tab = first_tab(&session).await?;
    for url in [
        "file:///etc/passwd",
        " fi\nle:/etc/passwd",
        "view-source:file:///etc/passwd",
        "view-source:https://a.test/",
        "chrome://version/",
        "about:version",
        "chrome-untrusted://new-tab-page/",
        "devtools://devtools/bundled/inspector.html",
        "filesystem:https://a.test/temporary/x",
        "ftp://a.test/",
        "javascript:1",
    ] {
        refused(&mut tab, "Page.navigate", json!({ "url": url })).await?;
        refused(&mut browser(&session).await?, "Target.createTarget", json!({ "url": url }))
            .await?;
        let address = session.facts["cdp"].as_str().context("an address")?;
        let new = url::form_urlencoded::byte_serialize(url.as_bytes())
            .collect::<String>()
            .replace('+', "%20");
        let output = Command::new("curl")
            .args(["-s", "-X", "PUT", &format!("{address}/json/new?{new}")])
            .output()?;
        ensure!(
            !text(&output.stdout).contains("webSocketDebuggerUrl"),
            "{url}: {}",
            text(&output.stdout)
        );
    }
    let read = json!({ "url": "file:///etc/passwd", "options": { "disableCache": true, "includeCredentials": false } });
    refused(&mut tab, "Network.loadNetworkResource", read).await?;
    refused(&mut tab, "SystemInfo.getInfo", json!({})).await?;
    refused(&mut tab, "Target.exposeDevToolsProtocol", json!({ "targetId": "x" })).await?;

    // What Chromium itself has to hold, from a world of scripts that may read every origin.
    let tree = tab.call("Page.getFrameTree", json!({})).await?;
    let frame = tree["frameTree"]["frame"]["id"].clone();
    let world = json!({ "frameId": frame, "worldName": "all", "grantUniveralAccess": true });
    let world = tab.call("Page.createIsolatedWorld", world).await?;
    for script in [
        "fetch('file:///etc/passwd').then(r => r.text())",
        "new Promise(done => { const x = new XMLHttpRequest(); x.onloadend = () => done(x.responseText); x.open('GET', 'file:///etc/passwd'); x.send(); })",
        "new Promise(done => { const f = document.createElement('iframe'); f.onload = () => done(f.contentDocument?.body?.innerText); f.src = 'file:///etc/passwd'; document.documentElement.append(f); setTimeout(done, 500); })",
        "new Promise(done => { const w = open('file:///etc/passwd'); setTimeout(() => done(w?.document?.body?.innerText), 500); })",
    ] {
        let call = json!({ "expression": script, "contextId": world["executionContextId"], "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let answer = tab.call("Runtime.evaluate", call).await?;
        ensure!(!answer.to_string().contains("root:"), "{script}: {answer}");
    }
    tab.evaluate("void (location.href = 'file:///etc/passwd')").await?;
    tab.evaluate("1").await?;
    let targets = browser(&session).await?.call("Target.getTargets", json!({})).await?;
    let list = session.ask("/json/list")?;
    for shown in [targets, list] {
        let shown = shown.to_string();
        ensure!(
            !shown.contains("file:") && !shown.contains("chrome:") && !shown.contains("browser_ui"),
            "{shown}"
        );
    }
    session.answer("")?;
    nothing_is_left(&bench)
}

#[tokio::test]
async fn a_driver_finds_no_other_way_out() -> Result<()> {
    let bench = Bench::new()?;
    let (session, _) = open(&bench)?;
    let mut all = browser(&session).await?;
    for params in [
        json!({ "proxyServer": "direct://" }),
        json!({ "proxyServer": "http://127.0.0.1:9" }),
        json!({ "proxyBypassList": "*" }),
        json!({ "originsWithUniversalNetworkAccess": ["https://a.test"] }),
    ] {
        refused(&mut all, "Target.createBrowserContext", params).await?;
    }
    refused(&mut all, "Tethering.bind", json!({ "port": 45_454 })).await?;
    refused(&mut all, "Extensions.loadUnpacked", json!({ "path": "/" })).await?;
    refused(&mut all, "Browser.grantPermissions", json!({ "permissions": ["videoCapture"] }))
        .await?;
    let root = json!({ "behavior": "allow", "downloadPath": "/root" });
    refused(&mut all, "Browser.setDownloadBehavior", root).await?;
    all.call("Target.createBrowserContext", json!({})).await?;

    // Pages of the user's own browser have no say, nor has anybody without the key.
    let address = session.facts["cdp"].as_str().context("an address")?;
    let (port, key) = address.rsplit_once('/').context("a key")?;
    for wrong in ["", "/", "/json", &format!("/{}", "0".repeat(key.len())), &format!("/{key}0")] {
        let url = format!("{port}{wrong}/json/version");
        let output = Command::new("curl").args(["-s", "-w", "%{http_code}", &url]).output()?;
        ensure!(text(&output.stdout).ends_with("403"), "{url}: {}", text(&output.stdout));
    }
    for header in ["Origin: https://a.test", "Host: rebound.test"] {
        let url = format!("{address}/json/version");
        let output = Command::new("curl").args(["-s", "-H", header, &url]).output()?;
        ensure!(
            !text(&output.stdout).contains("webSocketDebuggerUrl"),
            "{header}: {}",
            text(&output.stdout)
        );
    }
    session.answer("")?;
    Ok(())
}

#[tokio::test]
async fn a_driver_uploads_files_of_the_task_only() -> Result<()> {
    let bench = Bench::new()?;
    let (session, folder) = open(&bench)?;
    symlink("/etc/passwd", folder.join("files/link.txt"))?;
    let mut tab = first_tab(&session).await?;
    tab.call("Page.navigate", json!({ "url": INPUT })).await?;
    tab.until("document.title === 'ask'").await?;
    let input = tab
        .call("Runtime.evaluate", json!({ "expression": "document.getElementById('one')" }))
        .await?;
    let give = |file: &str| json!({ "objectId": input["result"]["objectId"], "files": [file] });
    let files = folder.join("files").canonicalize_utf8()?;
    for outside in
        ["/etc/passwd", files.join("link.txt").as_str(), files.join("../suite.yaml").as_str()]
    {
        refused(&mut tab, "DOM.setFileInputFiles", give(outside)).await?;
        let data = json!({ "items": [], "files": [outside], "dragOperationsMask": 1 });
        let drag = json!({ "type": "dragEnter", "x": 10, "y": 10, "data": data });
        refused(&mut tab, "Input.dispatchDragEvent", drag).await?;
    }
    ensure!(tab.evaluate("one.files.length").await? == 0);
    tab.call("DOM.setFileInputFiles", give(files.join("cv.txt").as_str())).await?;
    ensure!(tab.evaluate("one.files[0].text()").await? == "curriculum");
    session.answer("")?;
    Ok(())
}

#[tokio::test]
async fn a_driver_that_closes_the_browser_leaves_an_episode_that_is_scored() -> Result<()> {
    let bench = Bench::new()?;
    let (session, _) = open(&bench)?;
    let mut all = browser(&session).await?;
    all.call("Browser.close", json!({})).await?;
    ensure!(all.call("Browser.getVersion", json!({})).await.is_err(), "its connection is closed");
    let record = session.answer("report_infeasible(\"there is nothing\")")?;
    ensure!(record["outcome"]["kind"] == "infeasible" && record["score"] == 1.0, "{record:#}");
    let kept = bench.path("out/episodes/none-1").read_dir_utf8()?;
    let kept: Vec<_> = kept.filter_map(|entry| Some(entry.ok()?.file_name().to_owned())).collect();
    ensure!(kept.iter().any(|name| name.ends_with(".png")), "the page was looked at: {kept:?}");
    nothing_is_left(&bench)
}
