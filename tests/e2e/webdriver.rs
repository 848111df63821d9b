//! WebDriver clients in attach mode: what they can do by raw HTTP, what they may not, and that
//! nothing of it is left.

use std::fs;
use std::net::TcpStream;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use camino::Utf8PathBuf;
use serde_json::{Value, json};

use crate::attached_session::{AttachedSession, nothing_is_left};
use crate::devtools::PATIENCE;
use crate::harness::{Bench, text};

/// The name of an element's id in WebDriver's JSON.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The address of a WebDriver server.
struct Door(String);

impl Door {
    fn of(attached: &AttachedSession) -> Result<Door> {
        Ok(Door(attached.facts["webdriver"].as_str().context("an address")?.to_owned()))
    }

    /// The address without the key.
    fn root(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(root, _)| root)
    }

    /// The status of an answer, and what it says.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Value)> {
        ask(&format!("{}{path}", self.0), method, body, &[])
    }

    /// The value of an answer that is no error.
    fn value(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let (code, answer) = self.ask(method, path, body)?;
        ensure!(code == 200, "{method} {path}: {code} {answer}");
        Ok(answer["value"].clone())
    }

    /// An answer that has to be an error.
    fn refused(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        expected: &str,
    ) -> Result<String> {
        let (code, answer) = self.ask(method, path, body)?;
        ensure!(
            code >= 400 && answer["value"]["error"] == expected,
            "{method} {path}: {code} {answer}"
        );
        Ok(answer["value"]["message"].as_str().context("a reason")?.to_owned())
    }

    /// Opens a session. Returns its path.
    fn session(&self) -> Result<String> {
        let wishes = json!({ "capabilities": { "alwaysMatch": { "browserName": "chrome" } } });
        let opened = self.value("POST", "/session", Some(&wishes))?;
        Ok(format!("/session/{}", opened["sessionId"].as_str().context("an id")?))
    }
}

fn ask(url: &str, method: &str, body: Option<&Value>, headers: &[&str]) -> Result<(u16, Value)> {
    let mut command = Command::new("curl");
    command.args(["-s", "--path-as-is", "-X", method, "-w", "\n%{http_code}"]);
    for header in headers {
        command.args(["-H", header]);
    }
    if let Some(body) = body {
        command.args(["-H", "Content-Type: application/json", "-d", &body.to_string()]);
    }
    let output = text(&command.arg(url).output()?.stdout);
    let (answer, code) = output.rsplit_once('\n').context("a status")?;
    Ok((code.parse()?, serde_json::from_str(answer).with_context(|| output.clone())?))
}

/// The names of the processes that have been started with this bench's folder.
fn processes(bench: &Bench) -> Result<Vec<String>> {
    let folder = bench.path("tmp");
    let mut names = Vec::new();
    for process in fs::read_dir("/proc")? {
        let path = process?.path();
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        if text(&environment).contains(folder.as_str()) {
            names.push(fs::read_to_string(path.join("comm")).unwrap_or_default().trim().to_owned());
        }
    }
    Ok(names)
}

fn is_driver(name: &String) -> bool {
    name == "chromedriver"
}

fn open(bench: &Bench, suite: &str, task: &str) -> Result<AttachedSession> {
    let out = bench.path("out");
    AttachedSession::open(bench, &[suite, task, "--webdriver", "--output", out.as_str()])
}

/// An episode in a world of nothing, whose task has a folder of files.
fn nothing_to_do(bench: &Bench) -> Result<(AttachedSession, Utf8PathBuf)> {
    let folder = bench.path("suite");
    fs::create_dir_all(folder.join("files"))?;
    fs::write(folder.join("files/cv.txt"), "curriculum")?;
    fs::write(
        folder.join("suite.yaml"),
        "world: {clock: 2026-03-12T08:30:00Z, seed: 7, files: files}\n",
    )?;
    fs::write(folder.join("none.yaml"), "id: none\ngoal: Find it.\nscorer: {infeasible: {}}\n")?;
    Ok((open(bench, folder.as_str(), "none")?, folder))
}

#[test]
fn a_client_of_plain_commands_earns_the_score() -> Result<()> {
    let bench = Bench::new()?;
    let attached = open(&bench, "tasks/demo", "connecting-train")?;
    let door = Door::of(&attached)?;
    ensure!(door.value("GET", "/status", None)?["ready"] == true);
    let session = door.session()?;
    ensure!(door.value("GET", "/status", None)?["ready"] == false);
    let at = |path: &str| format!("{session}{path}");
    let find = |using: &str, value: &str| -> Result<String> {
        let asked = json!({ "using": using, "value": value });
        let found = door.value("POST", &at("/element"), Some(&asked))?;
        Ok(found[ELEMENT].as_str().context("an element")?.to_owned())
    };
    ensure!(door.value("GET", &at("/url"), None)? == "https://www.aldria-rail.test/");
    let wait = json!({ "implicit": 20_000 });
    door.value("POST", &at("/timeouts"), Some(&wait))?;
    let script = json!({ "script": "document.querySelector('[name=from]').value = arguments[0]", "args": ["BRW"] });
    door.value("POST", &at("/execute/sync"), Some(&script))?;
    let button = find("xpath", "//button[. = 'Find trains']")?;
    door.value("POST", &at(&format!("/element/{button}/click")), Some(&json!({})))?;
    let train = find("link text", "IC 203")?;
    ensure!(door.value("GET", &at(&format!("/element/{train}/text")), None)? == "IC 203");
    door.value("POST", &at(&format!("/element/{train}/click")), Some(&json!({})))?;
    ensure!(door.value("GET", &at("/url"), None)? == "https://www.aldria-rail.test/trains/ic-203");
    let picture = door.value("GET", &at("/screenshot"), None)?;
    let picture = BASE64_STANDARD.decode(picture.as_str().context("a picture")?)?;
    ensure!(picture.starts_with(b"\x89PNG"));

    // The next client finds the pages as the last one has left them.
    door.value("DELETE", &session, None)?;
    door.refused("GET", &at("/url"), None, "invalid session id")?;
    let next = door.session()?;
    ensure!(next != session);
    let url = door.value("GET", &format!("{next}/url"), None)?;
    ensure!(url == "https://www.aldria-rail.test/trains/ic-203", "{url}");

    ensure!(processes(&bench)?.iter().any(is_driver), "{:?}", processes(&bench)?);
    let address = door.root().trim_start_matches("http://").to_owned();
    let record = attached.answer("This is the train.")?;
    ensure!(record["score"] == 1.0 && record["success"] == true, "{record:#}");
    ensure!(TcpStream::connect(&address).is_err(), "the door is still open");
    ensure!(processes(&bench)?.is_empty(), "{:?}", processes(&bench)?);
    nothing_is_left(&bench)
}

#[test]
fn a_client_has_nothing_but_the_episode() -> Result<()> {
    let bench = Bench::new()?;
    let (attached, folder) = nothing_to_do(&bench)?;
    let door = Door::of(&attached)?;
    for wish in [
        json!({ "browserName": "firefox" }),
        json!({ "proxy": { "proxyType": "direct" } }),
        json!({ "goog:chromeOptions": { "binary": "/bin/sh" } }),
        json!({ "goog:chromeOptions": { "debuggerAddress": "127.0.0.1:9222" } }),
    ] {
        let wishes = json!({ "capabilities": { "alwaysMatch": wish } });
        door.refused("POST", "/session", Some(&wishes), "session not created")?;
    }
    let session = door.session()?;
    let wishes = json!({ "capabilities": {} });
    let why = door.refused("POST", "/session", Some(&wishes), "session not created")?;
    ensure!(why.contains("another client"), "{why}");

    for url in ["file:///etc/passwd", "view-source:file:///etc/passwd", "chrome://version/"] {
        let (code, answer) =
            door.ask("POST", &format!("{session}/url"), Some(&json!({ "url": url })))?;
        ensure!(
            code >= 400 && answer.to_string().contains("in an episode"),
            "{url}: {code} {answer}"
        );
    }
    let cdp = json!({ "cmd": "Browser.getVersion", "params": {} });
    for (method, path) in [
        ("GET", "/shutdown"),
        ("POST", "/shutdown"),
        ("GET", "/sessions"),
        ("POST", &format!("{session}/goog/cdp/execute")),
        ("POST", &format!("{session}/chromium/send_command")),
        ("POST", &format!("{session}/se/file")),
        ("POST", &format!("{session}/se/log")),
        ("POST", &format!("{session}/../../shutdown")),
        ("GET", &format!("{session}/element/a\\..\\..\\..\\..\\shutdown/text")),
        ("GET", &format!("{session}/element/%2e%2e/text")),
    ] {
        let body = (method == "POST").then_some(&cdp);
        let why = door.refused(method, path, body, "unknown command")?;
        ensure!(why.contains("Command not found"), "{why}");
    }
    door.refused("PUT", &format!("{session}/url"), Some(&cdp), "unknown method")?;
    for other in ["0".repeat(32), "..".to_owned(), format!("{}0", &session["/session/".len()..])] {
        let path = format!("/session/{other}/title");
        let expected = if other == ".." { "unknown command" } else { "invalid session id" };
        let (code, answer) = door.ask("GET", &path, None)?;
        ensure!(
            code == 404 && (answer["value"]["error"] == expected || other == ".."),
            "{path}: {code} {answer}"
        );
    }
    let too_long = bench.path("long.json");
    fs::write(&too_long, format!("{{\"script\":\"{}\",\"args\":[]}}", " ".repeat(17 << 20)))?;
    let url = format!("{}{session}/execute/sync", door.0);
    let output = Command::new("curl").args(["-s", "-d", &format!("@{too_long}"), &url]).output()?;
    ensure!(text(&output.stdout).contains("longer than"), "{}", text(&output.stdout));

    // Pages of the user's own browser have no say, nor has anybody without the key.
    let key = door.0.rsplit('/').next().context("a key")?;
    for wrong in [
        String::new(),
        "/status".to_owned(),
        format!("/{}0/status", key),
        format!("/{}/status", "0".repeat(key.len())),
    ] {
        let (code, answer) = ask(&format!("{}{wrong}", door.root()), "GET", None, &[])?;
        ensure!(
            code == 403 && answer["value"]["error"] == "unknown error",
            "{wrong}: {code} {answer}"
        );
    }
    for header in ["Origin: https://a.test", "Host: rebound.test"] {
        let (code, answer) = ask(&format!("{}/status", door.0), "GET", None, &[header])?;
        ensure!(code == 403, "{header}: {code} {answer}");
    }

    // Uploads come from the task's folder.
    let input = "data:text/html,<input type=file id=one>";
    door.value("POST", &format!("{session}/url"), Some(&json!({ "url": input })))?;
    let asked = json!({ "using": "css selector", "value": "#one" });
    let found = door.value("POST", &format!("{session}/element"), Some(&asked))?;
    let keys =
        format!("{session}/element/{}/value", found[ELEMENT].as_str().context("an element")?);
    let (code, answer) = door.ask("POST", &keys, Some(&json!({ "text": "/etc/passwd" })))?;
    ensure!(code >= 400 && answer.to_string().contains("in an episode"), "{code} {answer}");
    let own = folder.join("files/cv.txt").canonicalize_utf8()?;
    door.value("POST", &keys, Some(&json!({ "text": own })))?;
    let script = json!({ "script": "return one.files[0].text()", "args": [] });
    ensure!(door.value("POST", &format!("{session}/execute/sync"), Some(&script))? == "curriculum");

    let record = attached.answer("report_infeasible(\"there is nothing\")")?;
    ensure!(record["score"] == 1.0, "{record:#}");
    ensure!(processes(&bench)?.is_empty(), "{:?}", processes(&bench)?);
    nothing_is_left(&bench)
}

#[test]
fn a_client_that_closes_the_last_window_leaves_an_episode_that_is_scored() -> Result<()> {
    let bench = Bench::new()?;
    let (attached, _) = nothing_to_do(&bench)?;
    let door = Door::of(&attached)?;
    let session = door.session()?;
    ensure!(door.value("DELETE", &format!("{session}/window"), None)? == json!([]));
    door.refused("GET", &format!("{session}/url"), None, "invalid session id")?;
    let record = attached.answer("report_infeasible(\"there is nothing\")")?;
    ensure!(record["outcome"]["kind"] == "infeasible", "{record:#}");
    ensure!(processes(&bench)?.is_empty(), "{:?}", processes(&bench)?);
    nothing_is_left(&bench)
}

#[tokio::test]
async fn chromedriver_ends_when_we_are_killed() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("suite");
    fs::create_dir_all(&suite)?;
    fs::write(suite.join("suite.yaml"), "world: {clock: 2026-03-12T08:30:00Z, seed: 7}\n")?;
    fs::write(suite.join("none.yaml"), "id: none\ngoal: Find it.\nscorer: {infeasible: {}}\n")?;
    let temporary = bench.path("tmp");
    fs::create_dir_all(&temporary)?;
    let mut command = bench.command(&["attach", suite.as_str(), "none", "--webdriver", "--output"]);
    command.arg(bench.path("out")).env("TMPDIR", &temporary);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut polls = tokio::time::interval(std::time::Duration::from_millis(50));
    let begun = async {
        while !processes(&bench)?.iter().any(is_driver) {
            polls.tick().await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, begun).await.context("chromedriver was not started")??;
    child.kill()?;
    child.wait()?;
    let ended = async {
        while processes(&bench)?.iter().any(is_driver) {
            polls.tick().await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, ended).await.context("chromedriver still runs")??;
    // The browser goes with the next start.
    let mut next = bench.command(&["attach", suite.as_str(), "none", "--output"]);
    next.arg(bench.path("next")).args(["--", "true"]).env("TMPDIR", &temporary);
    ensure!(next.output()?.status.success());
    nothing_is_left(&bench)
}

#[test]
fn a_machine_without_chromedriver_is_told_what_to_install() -> Result<()> {
    let bench = Bench::new()?;
    let mut command =
        bench.command(&["attach", "tasks/demo", "connecting-train", "--webdriver", "--", "true"]);
    let output = command.env("SANDBOX_CHROMEDRIVER", "/nonesuch/chromedriver").output()?;
    let said = text(&output.stderr);
    ensure!(output.status.code() == Some(3), "{}\n{said}", output.status);
    ensure!(
        said.contains("/nonesuch/chromedriver") && said.contains("SANDBOX_CHROMEDRIVER"),
        "{said}"
    );
    Ok(())
}
