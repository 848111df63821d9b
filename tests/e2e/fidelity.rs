//! `replay --check`: what it calls shown, and what makes it fail. And recordings that learn what
//! changes by itself.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use snapshots::{Body, Exchange, Headers, Page, Recording, RecordingOptions, Response, Timestamp};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::harness::{Bench, text};
use crate::server::Server;

/// Thu, 01 Jan 2026 00:00:00 GMT, in milliseconds.
const RECORDED: i64 = 1_767_225_600_000;

/// Makes a snapshot of answers by URL, media type and body, and of listed pages.
fn snapshot(
    bench: &Bench,
    name: &str,
    answers: &[(&str, &str, &str)],
    pages: &[&str],
) -> Result<String> {
    let path = bench.path(name);
    let recording = Recording::create(&path, RecordingOptions::default())?;
    let at = Timestamp::from_millis(RECORDED);
    for (url, media, body) in answers {
        let headers: Headers = [("Content-Type", *media)].into_iter().collect();
        let body = Body::from(body.as_bytes().to_vec());
        let response = Response { status: 200, reason: "OK".into(), headers, body };
        recording.append(&Exchange::get(*url, at, response))?;
    }
    for url in pages {
        recording.append_page(&Page::new(*url, at))?;
    }
    recording.finish(&|_| {})?;
    Ok(path.to_string())
}

/// Pages and their verdicts.
type Verdicts = Vec<(String, String)>;

/// The exit code and the verdict of each page.
fn checked(bench: &Bench, file: &str, options: &[&str]) -> Result<(Option<i32>, Verdicts)> {
    let output = bench.run(&[&["replay", file, "--check", "--json"][..], options].concat())?;
    let report: Value =
        serde_json::from_slice(&output.stdout).with_context(|| text(&output.stderr))?;
    let pages = report["pages"].as_array().context("pages")?;
    let word = |page: &Value, key: &str| page[key].as_str().unwrap_or_default().to_owned();
    Ok((
        output.status.code(),
        pages.iter().map(|page| (word(page, "url"), word(page, "verdict"))).collect(),
    ))
}

/// Answers a request.
async fn answer(tcp: &mut TcpStream, media: &str, body: &str) -> Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    tcp.write_all(head.as_bytes()).await?;
    Ok(tcp.write_all(body.as_bytes()).await?)
}

const HTML: &str = "text/html";

#[test]
fn a_check_fails_for_whatever_is_not_shown() -> Result<()> {
    let bench = Bench::new()?;
    let good = ("https://a.test/", HTML, "<title>a</title><script src=/s.js></script>");
    let script = ("https://a.test/s.js", "text/javascript", "document.title = 'b'");
    let picture =
        ("https://a.test/p", HTML, "<img src=/i.png><script>navigator.sendBeacon('/log')</script>");
    let fetching = ("https://a.test/f", HTML, "<script>fetch('/none.json')</script>");

    let whole = snapshot(&bench, "whole.wacz", &[good, script, picture], &[good.0])?;
    let (code, pages) = checked(&bench, &whole, &[])?;
    ensure!(code == Some(0) && pages.iter().all(|(_, verdict)| verdict == "shown"), "{pages:?}");
    ensure!(pages.len() == 2, "documents that are not listed are visited too: {pages:?}");

    let holed = snapshot(&bench, "holed.wacz", &[good, fetching], &[])?;
    let (code, pages) = checked(&bench, &holed, &[])?;
    ensure!(
        code == Some(1) && pages.iter().all(|(_, verdict)| verdict == "shown-with-holes"),
        "{pages:?}"
    );

    let listed = ["https://a.test/p", "https://a.test/never", "file:///etc/hosts"];
    let missed = snapshot(&bench, "missed.wacz", &[picture], &listed)?;
    let (code, pages) = checked(&bench, &missed, &[])?;
    let verdicts: Vec<&str> = pages.iter().map(|(_, verdict)| verdict.as_str()).collect();
    ensure!(code == Some(1) && verdicts == ["shown", "not-shown", "not-shown"], "{pages:?}");
    let (code, pages) = checked(&bench, &missed, &["--pages", "1"])?;
    ensure!(code == Some(0) && pages.len() == 1, "what was left out was not asked for: {pages:?}");

    let nothing = snapshot(&bench, "nothing.wacz", &[script], &[])?;
    let output = bench.run(&["replay", &nothing, "--check"])?;
    ensure!(output.status.code() == Some(1) && text(&output.stderr).contains("page to check"));
    Ok(())
}

#[test]
fn a_page_that_browsers_upgrade_to_https_is_shown() -> Result<()> {
    let bench = Bench::new()?;
    // Both hosts are on the browser's HSTS preload list.
    let page =
        ("http://en.wikipedia.org/wiki/Frog", HTML, "<script src=http://plain.test/s.js></script>");
    let tool = ("http://frog.dev/", HTML, "<p>frog</p>");
    let script = ("http://plain.test/s.js", "text/javascript", "document.title = 'b'");
    let file = snapshot(&bench, "http.wacz", &[page, tool, script], &[])?;
    let (code, pages) = checked(&bench, &file, &[])?;
    ensure!(code == Some(0) && pages.len() == 2, "{pages:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_by_itself_is_learned_from_two_loads() -> Result<()> {
    const PAGE: &str = "<title>t</title><p id=p></p><script>
        const key = Math.random().toString(36).slice(2, 8);
        fetch(`/x.json?n=${key}&q=a`).then(r => r.json()).then(x => p.textContent = x.word)</script>";
    let bench = Bench::new()?;
    let server = Server::start(|path, mut tcp| async move {
        let (media, body) = if path.starts_with("/x.json") {
            ("application/json", "{\"word\":\"frog\"}")
        } else {
            (HTML, PAGE)
        };
        answer(&mut tcp, media, body).await
    })
    .await?;
    let live = server.as_live_web();
    let record = |name: &str, learn: &[&str]| {
        let file = bench.path(name).to_string();
        let arguments =
            ["record", "http://changing.test/", &live, "--ignore-robots", "--delay=0", "-o", &file];
        bench.succeed(&[&arguments[..], learn].concat()).map(|_| file.clone())
    };
    let (once, twice) = (record("once.wacz", &[])?, record("twice.wacz", &["--learn"])?);
    drop(server);
    let (code, _) = checked(&bench, &once, &[])?;
    ensure!(code == Some(1), "without rules the token is another one");

    let rules = bench.succeed(&["snapshot", "rules", &twice])?;
    ensure!(rules.contains("url: http://changing.test/x.json") && rules.contains("- n"), "{rules}");
    ensure!(!rules.contains("- q"), "{rules}");
    let (code, pages) = checked(&bench, &twice, &[])?;
    ensure!(code == Some(0), "{pages:?}");

    // Rules are edited, set, and kept by what makes one snapshot of another.
    let none = bench.path("none.yaml");
    std::fs::write(&none, "rules: []\n")?;
    let without = bench.path("without.wacz");
    bench.succeed(&[
        "snapshot",
        "rules",
        &twice,
        "--set",
        none.as_str(),
        "-o",
        without.as_str(),
    ])?;
    ensure!(checked(&bench, without.as_str(), &[])?.0 == Some(1));
    let merged = bench.path("merged.wacz");
    bench.succeed(&["snapshot", "merge", &twice, without.as_str(), "-o", merged.as_str()])?;
    ensure!(bench.succeed(&["snapshot", "rules", merged.as_str()])? == rules);
    bench.succeed(&["snapshot", "verify", merged.as_str()])?;
    Ok(())
}

/// An episode lasts for longer than it takes to load a page. So pages stay open for a while when
/// they are recorded.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_asks_for_after_a_while_is_recorded() -> Result<()> {
    const PAGE: &str = "<p id=said></p><script>
        for (const time of [200, 2000, 4000]) setTimeout(() => fetch(`/${time}.txt`).then(r => r.text()).then(t => said.append(t)), time)</script>";
    let bench = Bench::new()?;
    let server = Server::start(async |path, mut tcp: TcpStream| {
        let (media, body) =
            if path.ends_with(".txt") { ("text/plain", path.as_str()) } else { (HTML, PAGE) };
        answer(&mut tcp, media, body).await
    })
    .await?;
    let live = server.as_live_web();
    for (stay, late) in [("5s", true), ("0", false)] {
        let file = bench.path(&format!("{stay}.wacz")).to_string();
        let stay = format!("--stay={stay}");
        bench.succeed(&[
            "record",
            "http://late.test/",
            &live,
            "--ignore-robots",
            "--delay=0",
            &stay,
            "-o",
            &file,
        ])?;
        let har = bench.path(&format!("{late}.har")).to_string();
        bench.succeed(&["snapshot", "export", &file, "--output", &har])?;
        let listed = std::fs::read_to_string(&har)?;
        ensure!(listed.contains("/200.txt"), "{stay}");
        ensure!(listed.contains("/4000.txt") == late, "{stay}");
    }
    Ok(())
}
