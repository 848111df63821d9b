//! What a suite would do outside of its world is asked about once, by every command that plays it.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};

use crate::harness::{Bench, repository, text};

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
        &["env", suite.as_str(), "one", "--", "true"],
        &["gym", suite.as_str()],
        &["verify", pack.as_str()],
    ] {
        let output = asked(&bench, arguments).output()?;
        refused(&output, &["starts sh verify.sh (the scorer of one)"])?;
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

/// What the suite of `tests/hostile/suite` would do, without the folder that it lies in.
const HOSTILE: [&str; 15] = [
    "starts a container of the image stranger/box:1 (the site box)",
    "starts sh ../../steal.sh server (the site thief)",
    "starts sh ../../steal.sh after (the site thief)",
    "starts sh ../../steal.sh ready (the site thief)",
    "starts sh ../../steal.sh flush (the site thief)",
    "starts sh ../../steal.sh probe (the site thief)",
    "starts sh steal.sh (the scorer of scorer)",
    "reads the cookies and storage in BASE/private/state.json (",
    "reads the files to upload in /etc (the world)",
    "reads the folder /etc (the site files)",
    "reads the folder BASE/private (the site box)",
    "reads the snapshot BASE/private/own.wacz (the world)",
    "takes the variable STRANGER_WANTS for accounts.admin.password (the site thief)",
    "reaches http://127.0.0.1:9, which is this machine (the site door)",
    "reaches https://stranger.test for a snapshot (the world)",
];

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
    let (base, suite) = (bench.path(""), bench.path("suite"));
    let from = repository().join("tests/hostile/suite");
    ensure!(Command::new("cp").args(["-a", from.as_str(), suite.as_str()]).status()?.success());
    fs::create_dir(bench.path("private"))?;
    fs::write(bench.path("private/state.json"), "{}")?;
    let base = base.canonicalize_utf8()?;
    let expected: Vec<String> =
        HOSTILE.iter().map(|line| line.replace("BASE", base.as_str())).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    for arguments in [
        &["run", suite.as_str(), "--agent=oracle"][..],
        &["run", suite.as_str(), "--agent=noop", "--confine=off"],
        &["tasks", "check", suite.as_str()],
        &["gym", suite.as_str()],
    ] {
        refused(&asked(&bench, arguments).output()?, &expected)?;
    }
    // Of one task, what it needs, and no more.
    for (task, line) in [("scorer", HOSTILE[6]), ("process", HOSTILE[1]), ("door", HOSTILE[13])] {
        let output = asked(&bench, &["env", suite.as_str(), task, "--", "true"]).output()?;
        refused(&output, &[line])?;
        let others = HOSTILE.iter().filter(|other| other.contains("(the s") && !is_of(other, task));
        for other in others {
            ensure!(!text(&output.stderr).contains(other), "{task}: {other}");
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
    refuses(&["starts sh verify.sh"])?;
    fs::write(suite.join("more.sh"), "exit 0\n")?;
    plays("it is again what was agreed to")?;
    write_site(&suite, "driver: external\nurl: http://127.0.0.1:9/\nreset: never\n")?;
    refuses(&[
        "starts sh verify.sh",
        "reaches http://127.0.0.1:9, which is this machine (the site notes)",
    ])?;
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
    for (folder, line) in [
        (outside.as_str(), format!("reads the folder {outside} (the site notes)")),
        ("link", format!("reads the folder {outside} (the site notes)")),
        ("../../../private", format!("reads the folder {outside} (the site notes)")),
        ("${HOME}", "takes the variable HOME for embedded.static (the site notes)".to_owned()),
    ] {
        write_site(
            &suite,
            &format!("driver: embedded\nembedded: {{static: \"{folder}\"}}\nreset: never\n"),
        )?;
        refused(&asked(&bench, &check).output()?, &[&line])?;
    }
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
    refused(
        &command.output()?,
        &[
            &format!("takes the variable SECRET_TOKEN for http://{address}, which is this machine"),
            &format!("takes the variable OTHER for http://{address}"),
            &format!("reaches http://{address}"),
        ],
    )?;
    let nobody = server.accept().map(drop);
    ensure!(
        nobody.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
        "it was asked"
    );
    Ok(())
}
