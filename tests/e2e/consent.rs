//! What a suite would do outside of its world is asked about once, by every command that plays it.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};

use crate::harness::{Bench, repository, text};
use crate::messages::matches;

/// A suite with one page and a program that scores. The program leaves a mark behind.
fn suite(bench: &Bench) -> Result<(Utf8PathBuf, Utf8PathBuf)> {
    let (folder, mark) = (bench.path("stranger"), bench.path("mark"));
    fs::create_dir_all(folder.join("sites/notes/pages"))?;
    fs::write(folder.join("sites/notes/pages/index.html"), "<title>Notes</title><p>Notes.")?;
    write_site(&folder, "driver: embedded\nembedded: {static: pages}\nreset: never\n")?;
    fs::write(folder.join("suite.yaml"), "world: {sites: sites, clock: 2026-03-12T08:30:00Z}\n")?;
    fs::write(folder.join("verify.sh"), format!("echo ran >> {mark}\n. ./more.sh\n"))?;
    fs::write(folder.join("more.sh"), "exit 0\n")?;
    write_task(&folder, "Look.", "scorer: {program: [sh, verify.sh]}")?;
    Ok((folder, mark))
}

fn write_site(suite: &Utf8Path, driver: &str) -> Result<()> {
    let text = format!("title: Notes\nabout: Notes.\nhosts: [notes.test]\n{driver}");
    Ok(fs::write(suite.join("sites/notes/site.yaml"), text)?)
}

fn write_task(suite: &Utf8Path, goal: &str, scorer: &str) -> Result<()> {
    let text = format!(
        "id: one\ngoal: {goal}\nstart_url: https://notes.test/\nsites: [notes]\n{scorer}\noracle: [{{answer: done}}]\n"
    );
    Ok(fs::write(suite.join("one.yaml"), text)?)
}

/// The command without the consent that the harness gives.
fn asked(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = bench.command(arguments);
    command.env_remove("SANDBOX_TRUST");
    command
}

/// Runs it on a terminal, where this is typed.
fn typed(bench: &Bench, arguments: &[&str], answer: &str) -> Result<Output> {
    let words = [env!("CARGO_BIN_EXE_sandbox")].into_iter().chain(arguments.iter().copied());
    let mut script = bench.command_of("script", &["-qec", &shlex::try_join(words)?, "/dev/null"]);
    script.env_remove("SANDBOX_TRUST").env("TERM", "xterm");
    let mut child =
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.as_mut().context("stdin is piped")?.write_all(answer.as_bytes())?;
    Ok(child.wait_with_output()?)
}

fn refused(output: &Output, what: &[&str]) -> Result<()> {
    let said = text(&output.stderr) + &text(&output.stdout);
    ensure!(output.status.code() == Some(2), "{}: {said}", output.status);
    ensure!(said.contains("--trust"), "the flag is named: {said}");
    for line in what {
        ensure!(said.contains(line), "{line}: {said}");
    }
    ensure!(!said.contains(['\x1b', '\x07', '\u{202e}']), "it commands a terminal: {said:?}");
    Ok(())
}

#[test]
fn every_command_that_plays_refuses_what_nobody_has_agreed_to() -> Result<()> {
    let bench = Bench::new()?;
    let (suite, mark) = suite(&bench)?;
    let (run, pack) = (bench.path("run"), bench.path("p.run.tar.zst"));
    bench.succeed(&["run", suite.as_str(), "--agent=oracle", "-o", run.as_str()])?;
    bench.succeed(&["pack", run.as_str(), "-o", pack.as_str()])?;
    fs::remove_file(&mark)?;
    for arguments in [
        &["run", suite.as_str(), "--agent=oracle"][..],
        &["tasks", "check", suite.as_str()],
        &["attach", suite.as_str(), "one", "--", "true"],
        &["gym", suite.as_str()],
        &["verify", pack.as_str()],
    ] {
        let output = asked(&bench, arguments).output()?;
        refused(&output, &["sh verify.sh"])?;
        ensure!(!mark.exists(), "{arguments:?} has started it");
    }
    // These only read.
    for arguments in
        [&["tasks", "list", suite.as_str()][..], &["tasks", "show", suite.as_str(), "one"]]
    {
        ensure!(
            asked(&bench, arguments).output()?.status.success() && !mark.exists(),
            "{arguments:?}"
        );
    }
    Ok(())
}

/// The list of what a suite would do, line by line.
fn listed(output: &Output) -> Vec<String> {
    let said = text(&output.stderr) + &text(&output.stdout);
    said.lines().filter(|line| line.starts_with("  ")).map(str::to_owned).collect()
}

/// Whether a site or scorer of the hostile suite is that of a task. The files are two tasks' site.
fn is_of(line: &str, task: &str) -> bool {
    let owner = match task {
        "process" => "(the site thief)",
        "door" => "(the site door)",
        _ => "(the site files)",
    };
    line.contains(owner) || line.contains(&format!("(the scorer of {task})"))
}

#[test]
fn a_hostile_suite_is_told_whole_and_does_nothing_of_it() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("suite");
    let from = repository().join("tests/hostile/suite");
    ensure!(Command::new("cp").args(["-a", from.as_str(), suite.as_str()]).status()?.success());
    fs::create_dir(bench.path("private"))?;
    fs::write(bench.path("private/state.json"), "{}")?;
    let output = asked(&bench, &["tasks", "check", suite.as_str()]).output()?;
    refused(&output, &[])?;
    matches("a_hostile_suite", &bench, &text(&output.stderr));
    let whole = listed(&output);
    for arguments in [
        &["run", suite.as_str(), "--agent=oracle"][..],
        &["run", suite.as_str(), "--agent=noop", "--confine=off"],
        &["gym", suite.as_str()],
    ] {
        let output = asked(&bench, arguments).output()?;
        refused(&output, &[])?;
        ensure!(listed(&output) == whole, "{arguments:?}: {:#?}", listed(&output));
    }
    // Of one task, what it needs, and no more.
    for task in ["scorer", "process", "door"] {
        let output = asked(&bench, &["attach", suite.as_str(), task, "--", "true"]).output()?;
        refused(&output, &[])?;
        let needed = listed(&output);
        ensure!(needed.iter().any(|line| is_of(line, task)), "{task}: {needed:#?}");
        for line in needed.iter().filter(|line| line.contains("(the s")) {
            ensure!(is_of(line, task) && whole.contains(line), "{task}: {line}");
        }
    }
    // These start nothing. What they print is a stranger's.
    for arguments in
        [&["tasks", "list", suite.as_str()][..], &["tasks", "show", suite.as_str(), "scorer"]]
    {
        let output = asked(&bench, arguments).output()?;
        let said = text(&output.stdout) + &text(&output.stderr);
        ensure!(output.status.success(), "{arguments:?}: {said}");
        ensure!(!said.contains(['\x1b', '\x07', '\r', '\u{202e}']), "{said:?}");
    }
    ensure!(!bench.path("stolen").exists(), "something was started");
    Ok(())
}

#[test]
fn an_answer_holds_until_the_list_is_another() -> Result<()> {
    let bench = Bench::new()?;
    let (suite, mark) = suite(&bench)?;
    let check = ["tasks", "check", suite.as_str()];
    let output = typed(&bench, &check, "no\n")?;
    ensure!(!output.status.success() && !mark.exists(), "{}", text(&output.stdout));
    let output = typed(&bench, &check, "yes\n")?;
    ensure!(output.status.success() && mark.exists(), "{}", text(&output.stdout));
    let plays = |why: &str| -> Result<()> {
        let output = asked(&bench, &check).output()?;
        ensure!(output.status.success(), "{why}: {}", text(&output.stderr));
        Ok(())
    };
    plays("it was agreed to")?;
    let scorer = "scorer: {program: [sh, verify.sh]}";
    write_task(&suite, "Look again.", scorer)?;
    plays("the goal is another")?;
    write_task(&suite, "Look again.", &format!("{scorer}\nwrong_solution: [{{answer: wrong}}]"))?;
    let refuses = |what: &[&str]| refused(&asked(&bench, &check).output()?, what);
    write_task(&suite, "Look.", scorer)?;
    fs::write(suite.join("more.sh"), "exit 0 # another\n")?;
    refuses(&["sh verify.sh"])?;
    fs::write(suite.join("more.sh"), "exit 0\n")?;
    plays("it is again what was agreed to")?;
    write_site(&suite, "driver: external\nurl: http://127.0.0.1:9/\nreset: never\n")?;
    refuses(&["sh verify.sh", "http://127.0.0.1:9"])?;
    let kept = bench.path("data/consent.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&kept)?.permissions());
    ensure!(mode & 0o777 == 0o600, "{mode:o}");
    Ok(())
}

#[test]
fn files_and_variables_are_asked_about_and_given_by_name() -> Result<()> {
    let bench = Bench::new()?;
    let (suite, _) = suite(&bench)?;
    let outside = bench.path("private");
    fs::create_dir(&outside)?;
    std::os::unix::fs::symlink(&outside, suite.join("sites/notes/link"))?;
    write_task(&suite, "Look.", "scorer: {equals: done}")?;
    let check = ["tasks", "check", suite.as_str()];
    let mut said = String::new();
    for folder in [outside.as_str(), "link", "../../../private", "${HOME}"] {
        write_site(
            &suite,
            &format!("driver: embedded\nembedded: {{static: \"{folder}\"}}\nreset: never\n"),
        )?;
        let output = asked(&bench, &check).output()?;
        refused(&output, &[])?;
        said += &listed(&output).join("\n");
        said += "\n";
    }
    matches("folders_and_variables", &bench, &said);
    // Agreed to, but not given.
    let output = bench.command(&check).output()?;
    ensure!(text(&output.stderr).contains("--site-env HOME"), "{}", text(&output.stderr));
    let given = format!("--site-env=HOME={}", suite.join("sites/notes/pages"));
    let output = bench.command(&[&check[..], &[&given]].concat()).output()?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    Ok(())
}

#[test]
fn a_suite_that_was_made_here_is_agreed_to_without_what_others_have_made() -> Result<()> {
    let bench = Bench::new()?;
    let (stranger, _) = suite(&bench)?;
    let outside = bench.path("outside");
    fs::create_dir(&outside)?;
    fs::write(outside.join("index.html"), "<title>Notes</title>")?;
    write_site(
        &stranger,
        &format!("driver: embedded\nembedded: {{static: {outside}}}\nreset: never\n"),
    )?;
    let (own, sites) = (bench.path("own"), stranger.join("sites"));
    let init = ["init", own.as_str(), "--site=notes", "--sites", sites.as_str()];
    let output = asked(&bench, &init).output()?;
    let said = text(&output.stdout);
    ensure!(output.status.success() && said.contains("the first play asks"), "{said}");
    refused(
        &asked(&bench, &["run", own.as_str(), "--agent=oracle"]).output()?,
        &[outside.as_str()],
    )?;
    // What it wrote itself asks nothing.
    let (own, run) = (bench.path("demo"), bench.path("run"));
    let said = text(&asked(&bench, &["init", own.as_str()]).output()?.stdout);
    ensure!(said.contains("sandbox run") && !said.contains("the first play asks"), "{said}");
    let output =
        asked(&bench, &["run", own.as_str(), "--agent=oracle", "-o", run.as_str()]).output()?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    Ok(())
}

#[test]
fn settings_of_an_agent_send_nothing_before_they_are_agreed_to() -> Result<()> {
    let bench = Bench::new()?;
    let server = std::net::TcpListener::bind("127.0.0.1:0")?;
    server.set_nonblocking(true)?;
    let settings = bench.path("agent.yaml");
    let address = server.local_addr()?;
    fs::write(
        &settings,
        format!(
            "agent: {{webarena: {{reasoning: true}}}}\nmodel: {{name: m, base_url: 'http://{address}/v1', \
             key_variable: SECRET_TOKEN, headers: {{x: $OTHER}}}}\n"
        ),
    )?;
    let run = ["run", "tasks/demo", "--agent", settings.as_str(), "--task=quiet-coach"];
    let mut command = asked(&bench, &run);
    command.current_dir(repository()).env("SECRET_TOKEN", "a").env("OTHER", "b");
    let output = command.output()?;
    refused(&output, &["SECRET_TOKEN", "OTHER"])?;
    matches("settings_of_an_agent", &bench, &text(&output.stderr));
    let nobody = server.accept().map(drop);
    ensure!(
        nobody.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
        "it was asked"
    );
    Ok(())
}
