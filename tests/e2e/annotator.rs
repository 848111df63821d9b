//! A person at `sandbox annotate`: the browser under work and the panel, both driven by DevTools.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus, Stdio};

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::chromium::Browser;
use crate::devtools::Tab;
use crate::harness::{Bench, repository, text};
use crate::server::Server;

pub(crate) const DEMO: &str = "snapshots/demo.wacz";

/// A running annotation with the browser under work and the panel.
pub(crate) struct Annotator {
    pub(crate) child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
    pub(crate) person: Tab,
    pub(crate) panel: Tab,
    pub(crate) panel_url: String,
    _browser: Browser,
}

impl Annotator {
    pub(crate) async fn start(bench: &Bench, arguments: &[&str], first: &str) -> Result<Annotator> {
        let arguments = [&["annotate", "--headless"], arguments].concat();
        let mut command = bench.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let mut stderr = BufReader::new(child.stderr.take().context("stderr is piped")?);
        let mut printed = |name: &str| -> Result<String> {
            let mut line = String::new();
            stdout.read_line(&mut line)?;
            let Some(url) = line.strip_prefix(name) else {
                let mut said = String::new();
                stderr.read_to_string(&mut said)?;
                anyhow::bail!("printed {line:?} and {said}");
            };
            Ok(url.trim().to_owned())
        };
        let (devtools, panel_url) = (printed("devtools ")?, printed("panel ")?);
        let version = get(&format!("{devtools}/json/version")).await?;
        let version: Value = serde_json::from_str(&version)?;
        let mut person =
            Tab::connect(version["webSocketDebuggerUrl"].as_str().context("its address")?).await?;
        person.switch(first).await?;
        let browser = Browser::start(bench)?;
        let mut panel = browser.tab().await?;
        panel.goto(&panel_url).await?;
        panel.until("view !== null").await?;
        Ok(Annotator { child, stdout, stderr, person, panel, panel_url, _browser: browser })
    }

    /// Waits until the panel has this many steps.
    pub(crate) async fn steps(&mut self, count: usize) -> Result<()> {
        let waited = self.panel.until(&format!("view.steps.length === {count}")).await;
        let steps = self
            .panel
            .evaluate("view.steps.map(step => [step.kind, step.element, step.value])")
            .await?;
        waited.with_context(|| format!("{count} steps: {steps:#}"))
    }

    /// Writes into a field of the panel with the keyboard.
    pub(crate) async fn write(&mut self, field: &str, value: &str) -> Result<()> {
        self.panel.click(&format!("document.querySelector({})", json!(field))).await?;
        self.panel.evaluate("document.activeElement.select()").await?;
        self.panel.call("Input.insertText", json!({ "text": value })).await?;
        self.panel.evaluate("document.activeElement.blur()").await.map(drop)
    }

    /// Marks a step, from 1, as a key node.
    pub(crate) async fn mark(&mut self, step: usize, rule: &str) -> Result<()> {
        let before = self.panel.evaluate("document.querySelectorAll('.node').length").await?;
        let add = format!("#steps > li:nth-child({step}) .add select");
        // The rules that are offered grow with what is known of the step.
        let offered = format!("{add}:enabled option[value={rule}]");
        self.panel.until(&format!("!!document.querySelector('{offered}')")).await?;
        let mark = format!(
            "(() => {{ const add = document.querySelector('{add}');
                add.value = '{rule}'; add.dispatchEvent(new Event('change')); }})()"
        );
        self.panel.evaluate(&mark).await?;
        self.panel
            .until(&format!("document.querySelectorAll('.node').length === {before} + 1"))
            .await
    }

    /// Clicks a button of the panel.
    pub(crate) async fn button(&mut self, id: &str) -> Result<()> {
        self.panel.until(&format!("!document.querySelector('#{id}').disabled")).await?;
        self.panel.click(&format!("document.querySelector('#{id}')")).await
    }

    /// What the panel shows of all key nodes.
    pub(crate) async fn reached(&mut self) -> Result<Vec<String>> {
        let badges =
            "[...document.querySelectorAll('.node .badge')].map(badge => badge.textContent)";
        Ok(serde_json::from_value(self.panel.evaluate(badges).await?)?)
    }

    /// Saves, which must work; what was printed.
    pub(crate) async fn save(mut self) -> Result<String> {
        self.button("save").await?;
        let done = self.panel.until("['saved', 'failed'].includes(view.status.state)").await;
        let shown = self.panel.evaluate("document.querySelector('#state').textContent").await?;
        if done.is_err() {
            // It would go on capturing, and never end.
            self.child.kill()?;
        }
        let (status, said) = self.end()?;
        done.with_context(|| format!("the panel says {shown}: {said}"))?;
        ensure!(status.success(), "{status}: {said}");
        ensure!(shown.as_str().is_some_and(|shown| shown.starts_with("Saved: ")), "{shown}");
        Ok(said)
    }

    /// Waits for the end of the command; what it said.
    pub(crate) fn end(&mut self) -> Result<(ExitStatus, String)> {
        let mut said = String::new();
        self.stdout.read_to_string(&mut said)?;
        self.stderr.read_to_string(&mut said)?;
        Ok((self.child.wait()?, said))
    }
}

impl Drop for Annotator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A small site on loopback: its pages by their paths, without queries. Any other path is a page
/// with the title `Done`.
pub(crate) async fn site(pages: &'static [(&'static str, &'static str)]) -> Result<Server> {
    const DONE: &str = "<!doctype html><title>Done</title><h1>Done</h1>";
    Server::start(move |path, mut tcp| async move {
        let path = path.split('?').next().unwrap_or_default();
        let body = pages.iter().find(|(known, _)| *known == path).map_or(DONE, |(_, body)| body);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        tcp.write_all(head.as_bytes()).await?;
        tcp.write_all(body.as_bytes()).await?;
        Ok(tcp.shutdown().await?)
    })
    .await
}

/// A GET by a program.
pub(crate) async fn get(url: &str) -> Result<String> {
    let rest = url.strip_prefix("http://").context("plain HTTP")?;
    let (host, path) = rest.split_once('/').context("a path")?;
    let mut tcp = tokio::net::TcpStream::connect(host).await?;
    let request = format!("GET /{path} HTTP/1.0\r\nHost: {host}\r\n\r\n");
    tcp.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    tcp.read_to_string(&mut answer).await?;
    Ok(answer.split_once("\r\n\r\n").context("a body")?.1.to_owned())
}

/// The oracle solves every task of the suite, and nobody who does nothing does.
pub(crate) fn plays(bench: &Bench, suite: &Utf8Path, tasks: usize) -> Result<()> {
    bench.succeed(&["tasks", "check", suite.as_str()])?;
    for (agent, score) in [("oracle", 1.0), ("noop", 0.0)] {
        let out =
            bench.path(&format!("run-{agent}-{tasks}-{}", suite.file_name().unwrap_or_default()));
        let run = ["run", suite.as_str(), "--agent", agent, "--json", "-o", out.as_str()];
        let output = bench.run(&run)?;
        let mut seen = 0;
        for entry in out.join("episodes").read_dir_utf8()? {
            let episode = std::fs::read_to_string(entry?.path().join("episode.json"))?;
            let episode: Value = serde_json::from_str(&episode)?;
            let fits = if agent == "oracle" {
                episode["score"] == score && episode["success"] == true
            } else {
                episode["success"] == false
            };
            ensure!(fits, "{agent}: {episode:#}\n{}", text(&output.stderr));
            seen += 1;
        }
        ensure!(seen == tasks, "{seen} episodes of {tasks}");
    }
    Ok(())
}

pub(crate) fn yaml(path: &Utf8Path) -> Result<Value> {
    Ok(serde_yaml::from_str(&std::fs::read_to_string(path)?)?)
}

/// An element by its selector or, among links and buttons, by its text.
pub(crate) fn named(text: &str) -> String {
    format!(
        "[...document.querySelectorAll('a, button, summary, [onclick], [data-act]')].find(element => element.innerText.trim().startsWith({}))",
        json!(text)
    )
}

pub(crate) fn selected(selector: &str) -> String {
    format!("document.querySelector({})", json!(selector))
}

/// A suite with one task, without its snapshot.
pub(crate) fn existing(bench: &Bench) -> Result<Utf8PathBuf> {
    let suite = bench.path("existing");
    std::fs::create_dir_all(&suite)?;
    let snapshot = repository().join(DEMO).canonicalize_utf8()?;
    std::fs::write(
        suite.join("suite.yaml"),
        format!(
            "name: existing\nworld:\n  snapshots: [{snapshot}]\n  clock: 2026-03-12T08:30:00Z\n  seed: 7\n"
        ),
    )?;
    let task = std::fs::read_to_string(repository().join("tasks/demo/guest-booking.yaml"))?;
    std::fs::write(suite.join("guest-booking.yaml"), format!("# Keep me.\n{task}"))?;
    Ok(suite)
}

/// No file of a folder, which has some, holds this text.
pub(crate) fn holds_nowhere(folder: &Utf8Path, text: &str) -> Result<()> {
    let files = folder.read_dir_utf8()?.collect::<Result<Vec<_>, _>>()?;
    ensure!(!files.is_empty(), "{folder} is empty");
    for file in files {
        let bytes = std::fs::read(file.path())?;
        ensure!(!bytes.windows(text.len()).any(|part| part == text.as_bytes()), "{}", file.path());
    }
    Ok(())
}
