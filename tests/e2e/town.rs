//! A town that stays up, on the built binary: sites that need no container engine.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use camino::Utf8Path;
use hyper::StatusCode;
use serde_json::Value;

use crate::client::Client;
use crate::harness::{Bench, interrupt, text};

const RESETS: &str = "--reset-listen=127.0.0.1:0";
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes the town down whatever becomes of the test.
struct Down<'a>(&'a Bench);

impl Drop for Down<'_> {
    fn drop(&mut self) {
        let _ = self.0.run(&["down"]);
    }
}

fn up(bench: &Bench) -> Result<Value> {
    Ok(serde_json::from_str(&bench.succeed(&["up", "desk", "forum", "--json", RESETS])?)?)
}

fn status(bench: &Bench) -> Result<Value> {
    Ok(serde_json::from_str(&bench.succeed(&["status", "--json"])?)?)
}

fn client(bench: &Bench, status: &Value) -> Result<Client> {
    Client::new(status["proxy"].as_str().context("a proxy")?, &bench.certificate())
}

/// Waits until the process that held the town has ended; it has nothing left to do once `down` says
/// so.
fn nobody_holds(bench: &Bench) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while holders(bench)? > 0 {
        ensure!(Instant::now() < deadline, "the town's process did not end");
    }
    Ok(())
}

/// The processes that hold a town of this bench.
fn holders(bench: &Bench) -> Result<usize> {
    let data = bench.path("data");
    let listed = std::process::Command::new("ps").args(["-eo", "args="]).output()?;
    let ours = |line: &&str| line.contains("serve-sites") && line.contains(data.as_str());
    Ok(text(&listed.stdout).lines().filter(ours).count())
}

async fn notes(client: &Client) -> Result<String> {
    Ok(text(client.get("https://desk.test/scratchpad.html").await?.body()))
}

#[tokio::test]
async fn a_full_reset_is_asked_for_by_programs_and_not_by_web_pages() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let status = up(&bench)?;
    let desk = client(&bench, &status)?;
    write_note(&desk, "nobody-resets-this").await?;
    let resets = status["reset"].as_str().context("an address")?.to_owned();
    let (port, key) =
        resets.rsplit(':').next().and_then(|end| end.split_once('/')).context("a key")?;
    let ask = |url: &str, fields: &[&str]| {
        let fields = fields.iter().flat_map(|field| ["-H", field]);
        let code = ["-s", "-o", "/dev/null", "-w", "%{http_code}"];
        let output =
            std::process::Command::new("curl").args(code).args(fields).arg(url).output()?;
        anyhow::Ok(text(&output.stdout))
    };
    let rebound = format!("Host: evil.test:{port}");
    for page in [
        &["Origin: https://evil.test"][..],
        &["Origin: null"],
        &[&rebound],
        // A picture's address, of which a browser says no Origin.
        &["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
        &["Sec-Fetch-Site: same-site"],
    ] {
        for path in ["/reset", "/status"] {
            let answer = ask(&format!("{resets}{path}"), page)?;
            ensure!(answer == "403", "{path} {page:?}: {answer}");
        }
    }
    ensure!(ask(&format!("{resets}/status"), &[])? == "200");
    ensure!(notes(&desk).await?.contains("nobody-resets-this"));

    // The applications themselves are behind sockets that nobody else can reach.
    for site in status["sites"].as_array().context("sites")? {
        let address = site["copies"][0]["address"].as_str().context("an address")?;
        let socket =
            Utf8Path::new(address.strip_prefix("unix:").with_context(|| address.to_owned())?);
        ensure!(socket.metadata()?.mode() & 0o777 == 0o600, "{site}");
        let is_shut =
            |folder: &Utf8Path| folder.metadata().is_ok_and(|folder| folder.mode() & 0o077 == 0);
        ensure!(socket.ancestors().skip(1).any(is_shut), "{socket} can be reached");
    }
    for path in ["/reset", "/status", "/x/reset"] {
        let answer = ask(&format!("http://localhost:{port}{path}"), &[])?;
        ensure!(answer == "401", "without the key: {path}: {answer}");
    }
    let bearer = format!("Authorization: Bearer {key}");
    ensure!(ask(&format!("http://localhost:{port}/status"), &[&bearer])? == "200");
    ensure!(ask(&format!("http://localhost:{port}/{key}/reset"), &[])? == "200");
    let deadline = Instant::now() + PATIENCE;
    while notes(&desk).await?.contains("nobody-resets-this") {
        ensure!(Instant::now() < deadline, "it was not reset");
    }
    Ok(())
}

/// As a browser does: with the form's token.
async fn write_note(client: &Client, title: &str) -> Result<()> {
    const URL: &str = "https://desk.test/scratchpad.html";
    let page = text(client.get(URL).await?.body());
    let token =
        page.split_once("name=\"token\" value=\"").and_then(|(_, rest)| rest.split('"').next());
    let body = format!("token={}&title={title}&body=x", token.context("a token")?);
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let answer = client.send(URL, "POST", &headers, &body).await?;
    ensure!(answer.status().is_redirection(), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn sites_are_reached_changed_reset_and_gone() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let status = up(&bench)?;
    let desk = client(&bench, &status)?;
    ensure!(desk.get("https://forum.test/").await?.status() == StatusCode::OK);
    ensure!(
        desk.get("https://elsewhere.test/").await?.status() == StatusCode::FORBIDDEN,
        "nothing else is reached"
    );
    let before = notes(&desk).await?;
    write_note(&desk, "a-note-of-mine").await?;
    ensure!(notes(&desk).await?.contains("a-note-of-mine"));
    bench.succeed(&["reset", "desk"])?;
    ensure!(notes(&desk).await? == before, "the route leads to a pristine copy");

    let again = up(&bench)?;
    ensure!(again["pid"] == status["pid"], "what is up stays up");
    let unknown = bench.run(&["reset", "nosuch"])?;
    ensure!(
        unknown.status.code() == Some(1) && text(&unknown.stderr).contains("desk, forum"),
        "{unknown:?}"
    );

    bench.succeed(&["down"])?;
    nobody_holds(&bench)?;
    ensure!(bench.run(&["status"])?.status.code() == Some(3));
    bench.succeed(&["down"])?;
    ensure!(!bench.path("data/town/control").exists());
    Ok(())
}

#[tokio::test]
async fn sites_are_added_to_those_that_are_up() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let first: Value = serde_json::from_str(&bench.succeed(&["up", "desk", "--json", RESETS])?)?;
    let desk = client(&bench, &first)?;
    write_note(&desk, "before-the-forum").await?;
    let home = async || anyhow::Ok(text(desk.get("https://desk.test/").await?.body()));
    ensure!(desk.get("https://forum.test/").await?.status() == StatusCode::FORBIDDEN);
    ensure!(!home().await?.contains("https://forum.test/"));

    let both: Value = serde_json::from_str(&bench.succeed(&["up", "forum", "--json"])?)?;
    let names = |status: &Value| -> Vec<String> {
        let sites = status["sites"].as_array().into_iter().flatten();
        sites.filter_map(|site| site["name"].as_str().map(str::to_owned)).collect()
    };
    ensure!(
        names(&both) == ["desk", "forum"] && names(&status(&bench)?) == names(&both),
        "{both:#}"
    );
    ensure!(both["pid"] == first["pid"] && both["proxy"] == first["proxy"], "{both:#}");
    ensure!(desk.get("https://forum.test/").await?.status() == StatusCode::OK);
    ensure!(notes(&desk).await?.contains("before-the-forum"), "what was up stays as it was");
    ensure!(home().await?.contains("https://forum.test/"), "the desk lists what is up");
    bench.succeed(&["reset", "forum"])?;
    ensure!(desk.get("https://forum.test/").await?.status() == StatusCode::OK);

    let unknown = bench.run(&["up", "forun"])?;
    let said = text(&unknown.stderr);
    ensure!(unknown.status.code() == Some(2) && said.contains("(did you mean `forum`?)"), "{said}");
    bench.succeed(&["down"])?;
    nobody_holds(&bench)?;
    Ok(())
}

#[test]
fn other_sites_than_those_that_are_up_are_an_error_that_names_both() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let first: Value = serde_json::from_str(&bench.succeed(&["up", "desk", "--json", RESETS])?)?;
    let other = talker(&bench)?;
    let refused = |arguments: &[&str], named: [&str; 2]| -> Result<()> {
        let output = bench.run(arguments)?;
        let said = text(&output.stderr);
        ensure!(
            output.status.code() == Some(3) && output.stdout.is_empty(),
            "{arguments:?}: {output:?}"
        );
        ensure!(named.iter().all(|name| said.contains(name)), "{arguments:?}: {said}");
        ensure!(said.contains("stop them with `sandbox down`"), "{said}");
        Ok(())
    };
    let there = crate::harness::repository().join("sites").canonicalize_utf8()?;
    let here = bench.path("sites").canonicalize_utf8()?;
    refused(&["up", &other], [there.as_str(), here.as_str()])?;
    refused(&["up", "talker", &other], [there.as_str(), here.as_str()])?;
    let proxy = first["proxy"].as_str().context("a proxy")?;
    refused(&["up", "desk", "--listen=127.0.0.1:9"], [proxy, "127.0.0.1:9"])?;
    let resets = first["reset"].as_str().context("an address")?;
    refused(&["up", "desk", "--reset-listen=127.0.0.1:9"], [resets, "127.0.0.1:9"])?;

    // From a folder without sites, those of the town are meant.
    let mut elsewhere = bench.command(&["up", "desk"]);
    let output = elsewhere.current_dir(bench.path("data")).output()?;
    ensure!(output.status.success(), "{output:?}");
    Ok(())
}

#[test]
fn it_says_how_a_browser_gets_to_the_sites() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let said = bench.succeed(&["up", "desk", RESETS])?;
    let status = status(&bench)?;
    let proxy = status["proxy"].as_str().context("a proxy")?;
    let certificate = bench.certificate();
    let address = proxy.rsplit('@').next().context("an address")?;
    for expected in [
        "`sandbox open desk`",
        &format!("certificate  {certificate}"),
        &format!("http_proxy={proxy} curl --cacert {certificate}"),
        &format!("chromium --proxy-server=http://{address} --proxy-bypass-list='<-loopback>'"),
        "--ignore-certificate-errors-spki-list=",
    ] {
        ensure!(said.contains(expected), "{expected} is not in\n{said}");
    }
    ensure!(status["certificate"] == certificate.as_str(), "{status:#}");
    Ok(())
}

#[tokio::test]
async fn a_full_reset_is_asked_for_as_browsergym_does() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let status = up(&bench)?;
    let desk = client(&bench, &status)?;
    write_note(&desk, "before-the-reset").await?;
    let resets = status["reset"].as_str().context("an address")?.to_owned();
    let ask = |path: &str| {
        let output =
            std::process::Command::new("curl").args(["-s", &format!("{resets}{path}")]).output()?;
        anyhow::Ok(text(&output.stdout))
    };
    ensure!(ask("/reset")? == "A reset has begun.");
    let deadline = Instant::now() + PATIENCE;
    while ask("/status")? != "Ready for duty!" {
        ensure!(Instant::now() < deadline, "it did not end");
    }
    ensure!(!notes(&desk).await?.contains("before-the-reset"));
    Ok(())
}

#[test]
fn two_that_bring_it_up_at_once_get_the_same_town() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let begin = || -> Result<Child> {
        let mut command = bench.command(&["up", "desk", "--json", RESETS]);
        Ok(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
    };
    let (one, two) = (begin()?, begin()?);
    let ended = [one.wait_with_output()?, two.wait_with_output()?];
    let mut pids = Vec::new();
    for output in ended {
        ensure!(output.status.success(), "{}", text(&output.stderr));
        pids.push(serde_json::from_slice::<Value>(&output.stdout)?["pid"].clone());
    }
    ensure!(pids[0] == pids[1] && holders(&bench)? == 1, "{pids:?}");
    Ok(())
}

#[test]
fn two_that_bring_up_different_sites_at_once_get_both() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let begin = |site: &str| -> Result<Child> {
        let mut command = bench.command(&["up", site, "--json", RESETS]);
        Ok(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
    };
    let begun = [("desk", begin("desk")?), ("forum", begin("forum")?)];
    for (site, child) in begun {
        let output = child.wait_with_output()?;
        let (table, said) = (text(&output.stdout), text(&output.stderr));
        ensure!(
            output.status.success() && table.contains(&format!("https://{site}.test/")),
            "{table}\n{said}"
        );
    }
    ensure!(status(&bench)?["sites"].as_array().map(Vec::len) == Some(2) && holders(&bench)? == 1);
    Ok(())
}

#[test]
fn a_town_that_was_killed_leaves_nothing_in_the_way() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let pid = up(&bench)?["pid"].as_i64().context("a process id")?;
    std::process::Command::new("kill").args(["-9", &pid.to_string()]).status()?;
    let again = up(&bench)?;
    ensure!(again["pid"].as_i64() != Some(pid) && status(&bench)?["pid"] == again["pid"]);
    Ok(())
}

/// A site of a command that never listens.
fn never_ready(bench: &Bench, within: &str) -> Result<String> {
    let folder = bench.path("sites");
    std::fs::create_dir_all(folder.join("mute"))?;
    let manifest = format!(
        "title: Mute\nabout: Says nothing.\ndriver: process\ncommand: [sleep, '1000']\nhosts: [mute.test]\n\
         ready: {{a word: {{get: /}}}}\nready_within: {within}\n"
    );
    std::fs::write(folder.join("mute/site.yaml"), manifest)?;
    Ok(format!("--sites={folder}"))
}

#[test]
fn a_site_that_never_becomes_ready_is_named_with_what_it_waited_for() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let output = bench.run(&["up", &never_ready(&bench, "1s")?, RESETS])?;
    let said = text(&output.stdout) + &text(&output.stderr);
    ensure!(output.status.code() == Some(1), "{said}");
    ensure!(said.contains("mute") && said.contains("a word"), "{said}");
    Ok(())
}

#[test]
fn an_interrupt_on_the_way_up_leaves_nothing_running() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let mut command = bench.command(&["up", &never_ready(&bench, "300s")?, RESETS]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let deadline = Instant::now() + PATIENCE;
    while bench.run(&["status"])?.status.code() != Some(0) {
        ensure!(Instant::now() < deadline, "there was no town to interrupt");
    }
    interrupt(&child)?;
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(4), "{output:?}");
    nobody_holds(&bench)?;
    Ok(())
}

#[test]
fn what_is_in_the_way_is_said() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let taken = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = taken.local_addr()?.to_string();
    let output = bench.run(&["up", "desk", "--reset-listen", &address])?;
    let said = text(&output.stderr);
    ensure!(
        output.status.code() == Some(3)
            && said.contains(&address)
            && said.contains("--reset-listen"),
        "{said}"
    );
    let output = bench.run(&["up", "desk", RESETS, "--listen", &address])?;
    ensure!(
        output.status.code() == Some(3) && text(&output.stderr).contains(&address),
        "{output:?}"
    );

    let folder = bench.path("sites");
    std::fs::create_dir_all(folder.join("odd"))?;
    std::fs::write(
        folder.join("odd/site.yaml"),
        "title: Odd\nabout: Odd.\ndriver: embedded\nembeded: desk\nhosts: [odd.test]\n",
    )?;
    let output = bench.run(&["up", &format!("--sites={folder}")])?;
    let said = text(&output.stderr);
    ensure!(
        output.status.code() == Some(2) && said.contains("site.yaml:4") && said.contains("embeded"),
        "{said}"
    );
    let output = bench.run(&["up", "nosuch"])?;
    ensure!(
        output.status.code() == Some(2) && text(&output.stderr).contains("forum"),
        "{output:?}"
    );
    Ok(())
}

/// A site of a command that says which process it is.
fn talker(bench: &Bench) -> Result<String> {
    let folder = bench.path("sites");
    std::fs::create_dir_all(folder.join("talker"))?;
    let manifest = "title: Talker\nabout: Says who it is.\ndriver: process\nhosts: [talker.test]\nreset: never\n\
        command: [sh, -c, 'echo begins as $$; exec sleep 1000']\nready: {any: {exec: ['true']}}\n";
    std::fs::write(folder.join("talker/site.yaml"), manifest)?;
    Ok(format!("--sites={folder}"))
}

#[test]
fn logs_are_followed_from_one_copy_to_the_next_until_an_interrupt() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    bench.succeed(&["up", &talker(&bench)?, RESETS])?;
    let mut command = bench.command(&["logs", "--follow", "talker"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("stdout is piped")?).lines();
    let mut next = || lines.next().context("it goes on")?.context("a line");
    let first = next()?;
    let pid = first.strip_prefix("talker-1  begins as ").with_context(|| first.clone())?;
    std::process::Command::new("kill").args(["-9", pid]).status()?;
    let second = next()?;
    ensure!(second.starts_with("talker-2  begins as ") && !second.ends_with(pid), "{second}");
    interrupt(&child)?;
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(0), "{output:?}");
    let unknown = bench.run(&["logs", "--follow", "nosuch"])?;
    ensure!(
        unknown.status.code() == Some(1) && text(&unknown.stderr).contains("talker"),
        "{unknown:?}"
    );

    // It ends with the town, too.
    let mut command = bench.command(&["logs", "-f", "talker"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    bench.succeed(&["down"])?;
    let output = child.wait_with_output()?;
    ensure!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
    Ok(())
}

/// Whether a process still runs; one that has ended and that nobody has asked about does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn down_leaves_no_process_and_no_folder_of_a_dead_town_either() -> Result<()> {
    let bench = Bench::new()?;
    let _down = Down(&bench);
    let sites = talker(&bench)?;
    // No engine: what is on this machine's is not for a test to remove.
    let down = || -> Result<()> {
        let output =
            bench.command(&["down", "--all"]).env("DOCKER_HOST", "unix:///nonesuch").output()?;
        ensure!(output.status.success(), "{output:?}");
        Ok(())
    };
    for killed in [true, false] {
        let town: Value = serde_json::from_str(&bench.succeed(&["up", &sites, "--json", RESETS])?)?;
        let said = bench.succeed(&["logs", "talker"])?;
        let site = said.trim().rsplit(' ').next().context("a process id")?;
        let copies = bench.path("data/town/copies");
        ensure!(runs(site) && copies.read_dir_utf8()?.count() == 1);
        if killed {
            std::process::Command::new("kill").args(["-9", &town["pid"].to_string()]).status()?;
            ensure!(runs(site), "it outlives its town");
        }
        down()?;
        nobody_holds(&bench)?;
        let deadline = Instant::now() + PATIENCE;
        while runs(site) {
            ensure!(Instant::now() < deadline, "the site's process is left");
        }
        ensure!(copies.read_dir_utf8()?.count() == 0 && !bench.path("data/town/control").exists());
    }
    Ok(())
}
