//! A run in one file: what is in it, how it is shown, and that it is the same run when somebody
//! else plays it again.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use fake_model::{Server, walker};
use serde_json::Value;

use crate::harness::{Bench, interrupt, repository, text};
use crate::messages::matches;

/// The demo's shortest tasks, twice.
const SMALL: [&str; 5] = [
    "tasks/demo",
    "--agent=oracle",
    "--task=clock-time-zone",
    "--task=guest-booking",
    "--repeat=2",
];

/// Plays a run and packs it.
fn packed(bench: &Bench, name: &str, run: &[&str], pack: &[&str]) -> Result<Utf8PathBuf> {
    let (folder, file) = (bench.path(name), bench.path(&format!("{name}.run.tar.zst")));
    bench.succeed(&[&["run"], run, &["--output", folder.as_str()]].concat())?;
    bench.succeed(&[&["pack", folder.as_str(), "--output", file.as_str()], pack].concat())?;
    Ok(file)
}

/// What a command says that ends with this exit code: stdout and stderr.
fn ends_with(bench: &Bench, code: i32, arguments: &[&str]) -> Result<String> {
    let output = bench.run(arguments)?;
    let said = text(&output.stdout) + &text(&output.stderr);
    ensure!(output.status.code() == Some(code), "{arguments:?}: {}\n{said}", output.status);
    Ok(said)
}

/// The names of the members, as another program reads them.
fn members(file: &Utf8Path) -> Result<Vec<String>> {
    let tar = zstd::decode_all(fs::File::open(file)?)?;
    let mut archive = tar::Archive::new(&tar[..]);
    let names = archive.entries()?.map(|entry| Ok(entry?.path()?.display().to_string()));
    names.collect()
}

/// Another file with one byte of its content changed, at the first place of `what`.
fn tampered(bench: &Bench, file: &Utf8Path, what: &[u8]) -> Result<Utf8PathBuf> {
    let mut tar = zstd::decode_all(fs::File::open(file)?)?;
    let place = tar.windows(what.len()).position(|window| window == what).context("it is there")?;
    tar[place + what.len() - 1] ^= 1;
    let changed = bench.path("changed.run.tar.zst");
    fs::write(&changed, zstd::encode_all(&tar[..], 1)?)?;
    Ok(changed)
}

#[test]
fn a_packed_run_is_the_same_run_when_it_is_played_again() -> Result<()> {
    let bench = Bench::new()?;
    let file = packed(&bench, "small", &SMALL, &[])?;
    let (file, run) = (file.as_str(), bench.path("small"));

    let again = bench.path("again.run.tar.zst");
    bench.succeed(&["pack", run.as_str(), "-o", again.as_str()])?;
    ensure!(fs::read(file)? == fs::read(&again)?, "the same run has the same bytes");
    let exists = ends_with(&bench, 2, &["pack", run.as_str(), "-o", file])?;
    ensure!(exists.contains("--force"), "{exists}");

    let summary: Value =
        serde_json::from_str(&bench.succeed(&["report", run.as_str(), "--json"])?)?;
    let fingerprint =
        summary["fingerprints"][0]["fingerprint"].as_str().context("a fingerprint")?;
    let verified = bench.succeed(&["verify", file])?;
    ensure!(verified.contains("the same fingerprint in 4 episodes"), "{verified}");
    ensure!(verified.contains(fingerprint), "{verified}");
    let recorded = bench.succeed(&["verify", file, "--recorded-actions", "--json"])?;
    let recorded: Value = serde_json::from_str(&recorded)?;
    ensure!(recorded["same"] == true && recorded["compared"] == 4, "{recorded:#}");
    ensure!(recorded["played"] == "the recorded actions of oracle", "{recorded:#}");

    let other = ends_with(&bench, 1, &["verify", file, "--agent=noop"])?;
    ensure!(other.contains("clock-time-zone-1, step 1"), "{other}");
    ensure!(other.contains("4 of 4 episodes: clock-time-zone-1"), "{other}");
    Ok(())
}

#[test]
fn a_packed_run_has_no_credentials_and_no_paths_of_the_machine() -> Result<()> {
    let bench = Bench::new()?;
    let keep = ["--keep-storage", "--keep-network"];
    let file = packed(&bench, "kept", &[&SMALL[..3], &keep].concat(), &[])?;
    ensure!(bench.path("kept/episodes/clock-time-zone-1/network.har").is_file());
    let members = members(&file)?;
    for name in ["manifest.json", "run/run.json", "suite/suite.yaml", "snapshots/demo.wacz"] {
        ensure!(members.iter().any(|member| member == name), "{name} is not in {members:?}");
    }
    for name in ["network.har", "storage_state.json", "inputs.json"] {
        ensure!(!members.iter().any(|member| member.ends_with(name)), "{name} is in {members:?}");
    }
    let tar = zstd::decode_all(fs::File::open(&file)?)?;
    for path in
        [bench.path("").as_str().trim_end_matches('/'), repository().canonicalize_utf8()?.as_str()]
    {
        let found = tar.windows(path.len()).any(|window| window == path.as_bytes());
        ensure!(!found, "{path} is in the file");
    }
    Ok(())
}

#[test]
fn what_was_changed_or_is_missing_is_named() -> Result<()> {
    let bench = Bench::new()?;
    let file = packed(&bench, "one", &SMALL[..3], &["--snapshots=by-digest"])?;
    let missing = ends_with(&bench, 2, &["verify", file.as_str()])?;
    ensure!(missing.contains("demo.wacz") && missing.contains("--snapshots"), "{missing}");
    bench.succeed(&["verify", file.as_str(), "--snapshots=snapshots"])?;
    bench.succeed(&["verify", file.as_str(), "--digests"])?;

    let changed = tampered(&bench, &file, b"\"outcome\": {\n    \"kind\": \"a")?;
    let tampered = ends_with(&bench, 1, &["verify", changed.as_str()])?;

    let bytes = fs::read(&file)?;
    let short = bench.path("short.run.tar.zst");
    fs::write(&short, &bytes[..bytes.len() / 2])?;
    let halved = ends_with(&bench, 2, &["verify", short.as_str()])?;

    let run = bench.path("one");
    fs::remove_dir_all(run.join("episodes/clock-time-zone-1"))?;
    let lacking = ends_with(&bench, 2, &["pack", run.as_str(), "-o", bench.path("x").as_str()])?;
    matches("packed_runs_that_lack_something", &bench, &(tampered + &halved + &lacking));
    Ok(())
}

#[test]
fn a_packed_run_is_shown_like_a_folder() -> Result<()> {
    let bench = Bench::new()?;
    let file = packed(&bench, "shown", &SMALL[..3], &[])?;
    for (arguments, page, has) in [
        (vec!["show", file.as_str()], "/report.html", "clock-time-zone"),
        (vec!["trace", file.as_str(), "clock-time-zone"], "", "Europe&#x2f;London"),
    ] {
        let temporary = bench.path("tmp");
        fs::create_dir_all(&temporary)?;
        let mut command = bench.command(&arguments);
        let mut child = command.env("TMPDIR", &temporary).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
        let url = line.trim().strip_prefix("http://").with_context(|| line.clone())?;
        let (host, path) = url.split_once('/').context("a path")?;
        let key = path.split('/').next().unwrap_or_default();
        let path = if page.is_empty() { format!("/{path}") } else { format!("/{key}{page}") };
        let mut tcp = TcpStream::connect(host)?;
        write!(tcp, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        tcp.read_to_string(&mut answer)?;
        ensure!(answer.starts_with("HTTP/1.1 200") && answer.contains(has), "{path}: {answer}");
        interrupt(&child)?;
        ensure!(child.wait()?.success());
        ensure!(temporary.read_dir_utf8()?.next().is_none(), "the temporary folder is left");
    }
    let run = bench.path("shown");
    let compared = bench.succeed(&["compare", run.as_str(), file.as_str()])?;
    ensure!(
        compared.contains(file.as_str()) && !compared.contains("sandbox-packed-"),
        "{compared}"
    );
    let tables =
        [run.as_str(), file.as_str()].map(|run| bench.succeed(&["export", "json", run, "-o", "-"]));
    let [one, other] = tables;
    ensure!(one? == other?, "the same table");
    Ok(())
}

/// A suite with a scorer that is a program, and an agent that is one.
fn suite_with_programs(bench: &Bench) -> Result<Utf8PathBuf> {
    let suite = bench.path("suite");
    fs::create_dir_all(&suite)?;
    let snapshot = repository().canonicalize_utf8()?.join("snapshots/demo.wacz");
    fs::write(suite.join("suite.yaml"), format!("world:\n  snapshots: [{snapshot}]\n"))?;
    fs::write(
        suite.join("task.yaml"),
        "id: one\ngoal: Say oak.\nstart_url: https://clock.meridian.test/determinism\n\
         scorer: {program: [./check.sh, 'oak']}\n",
    )?;
    let check = suite.join("check.sh");
    fs::write(&check, "#!/bin/sh\ntest \"$1\" = oak\n")?;
    fs::set_permissions(&check, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(suite)
}

#[test]
fn the_actions_of_a_program_are_played_again_and_a_scorers_program_only_if_it_is_allowed()
-> Result<()> {
    let bench = Bench::new()?;
    let suite = suite_with_programs(&bench)?;
    let program = "program:read -r hello; echo '{\"protocol\":1}'; read -r task; read -r page; \
        echo '{\"action\":\"scroll(0, 100)\"}'; read -r page; \
        echo '{\"action\":\"send_msg_to_user(\\\"oak\\\")\"}'; read -r end";
    let file = packed(&bench, "program", &[suite.as_str(), "--agent", program], &[])?;
    fs::remove_dir_all(&suite)?;
    let mut command = bench.command(&["verify", file.as_str()]);
    let output = command.env_remove("SANDBOX_TRUST").output()?;
    let said = text(&output.stderr);
    ensure!(output.status.code() == Some(2), "{said}");
    ensure!(said.contains("./check.sh oak") && said.contains("--trust"), "{said}");
    let said = bench.succeed(&["verify", file.as_str(), "--run-programs"])?;
    ensure!(said.contains("the recorded actions of program:"), "{said}");
    ensure!(said.contains("the same fingerprint in 1 episode"), "{said}");
    let said = bench.succeed(&["verify", file.as_str(), "--trust", "--agent", program])?;
    ensure!(said.contains("in place of") && said.contains("the same fingerprint"), "{said}");
    Ok(())
}

#[test]
fn an_agent_asks_the_recorded_replies_of_its_model() -> Result<()> {
    let bench = Bench::new()?;
    let (run, file, cassette) =
        (bench.path("llm"), bench.path("llm.run.tar.zst"), bench.path("c.jsonl"));
    {
        let server = Server::start(walker::script)?;
        let mut command = bench.command(&["run", "tasks/demo", "--agent=cot", "--model=fake-1"]);
        command.args(["--task=clock-time-zone", "--max-steps=3", "--output", run.as_str()]);
        command.args(["--cassette", cassette.as_str()]);
        command.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", "secret-key");
        let output = command.output()?;
        ensure!(output.status.success(), "{}", text(&output.stderr));
    }
    // The run may come from somebody else, and name any file of its user.
    let said = ends_with(&bench, 2, &["pack", run.as_str(), "-o", file.as_str()])?;
    ensure!(said.contains("--cassette") && said.contains(cassette.as_str()), "{said}");
    bench.succeed(&["pack", run.as_str(), "-o", file.as_str(), "--cassette", cassette.as_str()])?;
    ensure!(!text(&zstd::decode_all(fs::File::open(&file)?)?).contains("secret-key"));
    fs::remove_file(&cassette)?;
    let mut command: Command = bench.command(&["verify", file.as_str()]);
    let output = command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_API_KEY").output()?;
    let said = text(&output.stdout);
    ensure!(output.status.success(), "{said}{}", text(&output.stderr));
    ensure!(said.contains("cot, with the recorded replies of its model"), "{said}");
    ensure!(said.contains("the same fingerprint in 1 episode"), "{said}");
    Ok(())
}

#[test]
fn a_suite_that_has_changed_is_not_packed_as_the_one_that_was_run() -> Result<()> {
    let bench = Bench::new()?;
    let suite = suite_with_programs(&bench)?;
    let run = bench.path("run");
    bench.succeed(&["run", suite.as_str(), "--agent=noop", "--output", run.as_str()])?;
    let task = suite.join("task.yaml");
    let before = fs::read_to_string(&task)?;
    fs::write(&task, before.replace("Say oak", "Say elm"))?;
    let file = bench.path("x.run.tar.zst");
    let changed = ends_with(&bench, 2, &["pack", run.as_str(), "-o", file.as_str()])?;
    ensure!(!file.exists(), "{changed}");
    let moved = bench.path("moved");
    fs::rename(&suite, &moved)?;
    fs::write(moved.join("task.yaml"), before)?;
    let gone = ends_with(&bench, 2, &["pack", run.as_str(), "-o", file.as_str()])?;
    matches("suites_that_have_changed_or_moved", &bench, &(changed + &gone));
    bench.succeed(&["pack", run.as_str(), "-o", file.as_str(), "--suite", moved.as_str()])?;
    bench.succeed(&["verify", file.as_str(), "--run-programs"])?;
    Ok(())
}
