//! What the programs that we start see of the user's environment.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::harness::{Bench, text};

/// What no program of ours is to be told.
const SECRETS: [(&str, &str); 3] = [
    ("OPENAI_API_KEY", "sk-e2e-secret"),
    ("FAKE_TOKEN", "token-e2e-secret"),
    ("https_proxy", "http://e2e-secret.invalid:1"),
];
/// The least that a browser consists of besides its driver.
const BROWSER: usize = 3;

/// An agent that says when the browser and itself are there, and waits.
fn waiting(bench: &Bench) -> Result<String> {
    let (ready, go) = (bench.path("ready"), bench.path("go"));
    ensure!(Command::new("mkfifo").args([&ready, &go]).status()?.success());
    Ok(format!(
        r#"--agent=program:read -r hello; echo '{{"protocol":1}}'; read -r task; read -r observation
        env > {0}; read -r go < {1}; echo '{{"stop":true}}'; read -r end"#,
        ready, go
    ))
}

#[test]
fn no_program_sees_the_users_keys() -> Result<()> {
    let bench = Bench::new()?;
    let (agent, out) = (waiting(&bench)?, bench.path("out"));
    let arguments = ["run", "tasks/demo", &agent, "--task=clock-time-zone", "--output", out.as_str()];
    let mut command = bench.command(&arguments);
    command.envs(SECRETS).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let seen_by_agent = std::fs::read_to_string(bench.path("ready"))?;
    let programs = descendants(child.id())?;
    let mut browsers = 0;
    let mut leaking = Vec::new();
    for (pid, line) in programs {
        browsers += usize::from(line.contains("chromium"));
        // One that has ended since tells nothing.
        let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { continue };
        if text(&environment).contains("e2e-secret") {
            leaking.push(line);
        }
    }
    std::fs::write(bench.path("go"), "go\n")?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    ensure!(browsers >= BROWSER, "the browser has only {browsers} processes");
    ensure!(leaking.is_empty(), "these know secrets: {leaking:#?}");
    ensure!(!seen_by_agent.contains("e2e-secret"), "the agent sees\n{seen_by_agent}");
    ensure!(seen_by_agent.contains("PATH=") && seen_by_agent.contains("HOME="), "{seen_by_agent}");
    Ok(())
}

#[test]
fn a_program_sees_what_it_is_allowed_to() -> Result<()> {
    const AGENT: &str = r#"--agent=program:read -r hello; echo '{"protocol":1}'; read -r task; read -r observation
        env >&2; echo '{"stop":true}'; read -r end"#;
    let bench = Bench::new()?;
    let out = bench.path("out");
    let play = |more: &[&str]| {
        let mut command =
            bench.command(&["run", "tasks/demo", "--task=clock-time-zone", "--output", out.as_str()]);
        command.args(more).envs(SECRETS).output()
    };
    let output = play(&[AGENT, "--agent-env=FAKE_TOKEN", "--agent-env=MODE=a=b"])?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    let said = std::fs::read_to_string(out.join("episodes/clock-time-zone-1/agent.stderr.txt"))?;
    ensure!(said.contains("FAKE_TOKEN=token-e2e-secret") && said.contains("MODE=a=b"), "{said}");
    ensure!(!said.contains("OPENAI_API_KEY") && !said.contains("https_proxy"), "{said}");

    for (more, why) in [
        ([AGENT, "--agent-env=NOT_SET"], "the environment has no NOT_SET"),
        (["--agent=noop", "--agent-env=FAKE_TOKEN"], "it is for agents that are programs"),
    ] {
        let output = play(&more)?;
        ensure!(output.status.code() == Some(2), "{output:?}");
        ensure!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    }
    Ok(())
}

/// The processes below another one: their numbers and command lines.
fn descendants(ancestor: u32) -> Result<Vec<(u32, String)>> {
    let listed = Command::new("ps").args(["-eo", "pid=,ppid=,args="]).output()?;
    let listed = text(&listed.stdout);
    let mut processes = Vec::new();
    for line in listed.lines() {
        let mut words = line.trim().splitn(2, char::is_whitespace);
        let pid: u32 = words.next().context("a number")?.parse()?;
        let rest = words.next().context("a parent")?.trim();
        let (parent, line) = rest.split_once(char::is_whitespace).context("a command line")?;
        processes.push((pid, parent.parse::<u32>()?, line.to_owned()));
    }
    let (mut family, mut found, mut next) = (vec![ancestor], Vec::new(), 0);
    while let Some(&parent) = family.get(next) {
        next += 1;
        for (pid, _, line) in processes.iter().filter(|process| process.1 == parent) {
            family.push(*pid);
            found.push((*pid, line.clone()));
        }
    }
    Ok(found)
}
