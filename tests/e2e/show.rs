//! A run that is served to a person's browser: `sandbox show`, and `--open` of `report` and
//! `trace`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};

use crate::chromium::{Browser, asks_only};
use crate::harness::{Bench, interrupt, text};

const IN_TIME: Duration = Duration::from_secs(30);

/// Two episodes of one task.
fn run(bench: &Bench) -> Result<Utf8PathBuf> {
    let out = bench.path("run");
    let task = ["--task=clock-time-zone", "--repeat=2", "--output", out.as_str()];
    bench.succeed(&[&["run", "tasks/demo", "--agent=oracle"], &task[..]].concat())?;
    Ok(out)
}

/// A folder for PATH in which xdg-open writes down the page that it is asked to open, and who else
/// may read it.
fn desktop(bench: &Bench) -> Result<(Utf8PathBuf, Utf8PathBuf)> {
    let (folder, opened) = (bench.path("desktop"), bench.path("opened"));
    std::fs::create_dir_all(&folder)?;
    let program = folder.join("xdg-open");
    let script =
        format!("#!/bin/sh\nstat -c %a \"$@\" >> '{opened}'\ncat \"$@\" >> '{opened}'\nexit 1\n");
    std::fs::write(&program, script)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    Ok((folder, opened))
}

/// A command that serves, and the URL that it has printed.
struct Serving {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
    url: String,
}

impl Serving {
    fn start(mut command: Command) -> Result<Serving> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let mut line = String::new();
        while !line.contains("http://127.0.0.1:") {
            line.clear();
            ensure!(stdout.read_line(&mut line)? > 0, "no URL was printed");
        }
        let url = line.split_whitespace().last().unwrap_or_default().to_owned();
        let stderr = BufReader::new(child.stderr.take().context("stderr is piped")?);
        Ok(Serving { child, stdout, stderr, url })
    }

    /// What is answered to a GET below the URL's host and key.
    fn get(&self, path: &str) -> Result<String> {
        let mut parts = self.url.split('/').skip(2);
        let (host, key) = (parts.next().context("a host")?, parts.next().context("a key")?);
        let mut tcp = TcpStream::connect(host)?;
        tcp.set_read_timeout(Some(IN_TIME))?;
        write!(tcp, "GET /{key}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        tcp.read_to_end(&mut answer)?;
        Ok(text(&answer))
    }

    /// Its own page.
    fn page(&self) -> Result<String> {
        let path = self.url.splitn(5, '/').nth(4).unwrap_or_default();
        self.get(&format!("/{path}"))
    }

    /// Waits until it says this on stderr.
    fn says(&mut self, what: &str) -> Result<()> {
        let mut line = String::new();
        while !line.contains(what) {
            line.clear();
            ensure!(self.stderr.read_line(&mut line)? > 0, "it did not say: {what}");
        }
        Ok(())
    }

    /// Ctrl-C, which has to end it well; what it said on stderr.
    fn end(mut self) -> Result<String> {
        interrupt(&self.child)?;
        let status = self.child.wait()?;
        let mut said = String::new();
        self.stderr.read_to_string(&mut said)?;
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest)?;
        ensure!(status.success() && rest.is_empty(), "{status}: {rest}{said}");
        Ok(said)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn without_display(mut command: Command) -> Command {
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("SSH_CONNECTION");
    command
}

fn modified(path: &Utf8Path) -> Result<std::time::SystemTime> {
    Ok(path.metadata()?.modified()?)
}

#[test]
fn show_serves_a_run_until_it_is_interrupted_and_writes_nothing() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let viewer = run.join("episodes/clock-time-zone-2/trace.html");
    std::fs::remove_file(&viewer)?;
    let report = modified(&run.join("report.html"))?;
    let shown = Serving::start(without_display(bench.command(&["show", run.as_str()])))?;
    for (path, has) in [
        ("/", "clock-time-zone"),
        ("/report.html", "2 repeats, equal"),
        ("/trace.html", "repeat 2"),
        ("/episodes/clock-time-zone-2/trace.html", "Europe&#x2f;London"),
        ("/episodes/clock-time-zone-1/step-01.png", "image/png"),
    ] {
        let answer = shown.get(path)?;
        ensure!(answer.starts_with("HTTP/1.1 200") && answer.contains(has), "{path}: {answer}");
    }
    ensure!(shown.get("/../../etc/passwd")?.starts_with("HTTP/1.1 404"));
    ensure!(
        !viewer.exists() && modified(&run.join("report.html"))? == report,
        "something was written"
    );
    shown.end()?;

    // A port of the user's choice, and one that is taken.
    let taken = std::net::TcpListener::bind("127.0.0.1:0")?;
    let port = taken.local_addr()?.port().to_string();
    let output = bench.run(&["show", run.as_str(), "--port", &port])?;
    let said = text(&output.stderr);
    ensure!(output.status.code() == Some(3) && said.contains(&port), "{said}");
    drop(taken);
    let shown =
        Serving::start(without_display(bench.command(&["show", run.as_str(), "--port", &port])))?;
    ensure!(shown.url.starts_with(&format!("http://127.0.0.1:{port}/")), "{}", shown.url);
    shown.end()?;
    let output = bench.run(&["show", "tasks/demo"])?;
    ensure!(
        output.status.code() == Some(2) && text(&output.stderr).contains("there is no run.json")
    );
    Ok(())
}

/// With the suite, requests lead to what was recorded; what logs in is left out.
#[test]
fn requests_lead_to_their_recorded_exchanges() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let arguments = ["show", run.as_str(), "--suite", "tasks/demo"];
    let shown = Serving::start(without_display(bench.command(&arguments)))?;
    let page = shown.get("/episodes/clock-time-zone-1/trace.html")?;
    ensure!(page.contains("href=\"requests&#x2f;0\""), "{page}");
    let exchange = shown.get("/episodes/clock-time-zone-1/requests/0")?;
    for part in [
        "HTTP/1.1 200",
        "text/plain",
        "default-src 'none'; sandbox",
        "GET https://clock.meridian.test/determinism",
        "\nrecorded 20",
        "request\n",
        "response, status 200\ncontent-type: text/html",
        "<!doctype html>",
    ] {
        ensure!(exchange.to_lowercase().contains(&part.to_lowercase()), "{part}: {exchange}");
    }
    for path in
        ["clock-time-zone-1/requests/9999", "clock-time-zone-9/requests/0", "..%2f/requests/0"]
    {
        let answer = shown.get(&format!("/episodes/{path}"))?;
        ensure!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    shown.end()?;
    let shown = Serving::start(without_display(bench.command(&["show", run.as_str()])))?;
    ensure!(!shown.get("/episodes/clock-time-zone-1/trace.html")?.contains("requests&#x2f;0"));
    ensure!(shown.get("/episodes/clock-time-zone-1/requests/0")?.starts_with("HTTP/1.1 404"));
    shown.end()?;
    Ok(())
}

/// A browser has all that the pages need, and nothing to complain of.
#[tokio::test(flavor = "multi_thread")]
async fn a_shown_run_is_walked_through_in_a_browser() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let shown = Serving::start(without_display(bench.command(&["show", run.as_str()])))?;
    let browser = Browser::start(&bench)?;
    let mut tab = browser.tab().await?;
    tab.goto(&shown.url).await?;
    tab.evaluate("document.querySelector('.fold details').open = true").await?;
    let drawn = "[...document.querySelectorAll('.shot img')].every(img => img.complete && img.naturalWidth)";
    tab.evaluate("document.querySelectorAll('.shot img').forEach(img => (img.loading = 'eager'))")
        .await?;
    tab.until(drawn).await?;
    tab.evaluate(
        "document.querySelector('.fold a[href$=\"clock-time-zone-2/trace.html\"]').click()",
    )
    .await?;
    tab.until("document.querySelector('h1')?.textContent.includes('repeat 2') && document.readyState === 'complete'").await?;
    tab.until("document.querySelector('.current img').naturalWidth > 0").await?;
    tab.evaluate("document.querySelector('.kicker a').click()").await?;
    tab.until(
        "location.pathname.endsWith('/trace.html') && document.querySelectorAll('th button').length === 7",
    )
    .await?;
    tab.evaluate("document.querySelector('header a').click()").await?;
    tab.until("location.pathname.endsWith('/report.html') && document.readyState === 'complete'")
        .await?;
    asks_only(&tab, &[&shown.url, "data:"])?;
    shown.end()?;
    Ok(())
}

#[test]
fn open_asks_the_desktop_once_and_serves_even_if_that_fails() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let (desktop, opened) = desktop(&bench)?;
    let path = std::env::join_paths(
        [desktop.clone().into_std_path_buf()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )?;
    for (arguments, display, page) in [
        (vec!["report", run.as_str(), "--open"], "DISPLAY", "<title>demo"),
        (vec!["trace", run.as_str(), "--open"], "WAYLAND_DISPLAY", "<title>Episodes of demo"),
        (vec!["trace", run.as_str(), "clock-time-zone-2", "--open"], "DISPLAY", "repeat 2"),
        (vec!["show", run.as_str(), "--open"], "DISPLAY", "<title>demo"),
    ] {
        let _ = std::fs::remove_file(&opened);
        let mut command = without_display(bench.command(&arguments));
        command.env("PATH", &path).env(display, ":99");
        let mut shown = Serving::start(command)?;
        let cure = format!("open {} in a browser yourself", shown.url);
        shown.says(&cure)?;
        ensure!(shown.page()?.contains(page), "{arguments:?}: {}", shown.page()?);
        let url = shown.url.clone();
        shown.end()?;
        let page = std::fs::read_to_string(&opened)?;
        // All users of the machine see command lines, so the key in the URL is in a file.
        ensure!(
            page.starts_with("600\n") && page.matches("url=").count() == 1,
            "{arguments:?}: {page}"
        );
        ensure!(page.contains(&format!("url={url}\"")), "{arguments:?}: {page}");
    }
    Ok(())
}

#[test]
fn open_without_a_display_prints_the_url_and_serves() -> Result<()> {
    let bench = Bench::new()?;
    let run = run(&bench)?;
    let (desktop, opened) = desktop(&bench)?;
    let mut command =
        without_display(bench.command(&["trace", run.as_str(), "clock-time-zone", "--open"]));
    command
        .env("PATH", desktop)
        .env("DISPLAY", "")
        .env("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22");
    let shown = Serving::start(command)?;
    ensure!(shown.page()?.contains("Europe&#x2f;London"), "{}", shown.page()?);
    let port = shown.url.split(['/', ':']).nth(4).context("a port")?.to_owned();
    let said = shown.end()?;
    ensure!(!opened.exists(), "a browser was opened: {}", std::fs::read_to_string(&opened)?);
    ensure!(
        said.contains("no display") && said.contains(&format!("ssh -L {port}:127.0.0.1:{port}")),
        "{said}"
    );

    let none = bench.run(&["trace", run.as_str(), "clock-time-zone-3", "--open"])?;
    ensure!(none.status.code() == Some(2), "{}", text(&none.stderr));
    ensure!(text(&none.stderr).contains("has clock-time-zone-1, clock-time-zone-2"));
    Ok(())
}
