//! What the programs that we start see of the user's environment.

use std::process::Stdio;

use anyhow::{Result, ensure};

use crate::harness::{Bench, text};
use crate::named_pipe::{PipeReader, PipeWriter};
use crate::process_tree::{Process, descendants};

/// What no program of ours is to be told.
const SECRETS: [(&str, &str); 3] = [
    ("OPENAI_API_KEY", "sk-e2e-secret"),
    ("FAKE_TOKEN", "token-e2e-secret"),
    ("https_proxy", "http://e2e-secret.invalid:1"),
];
/// The least that a browser consists of besides its driver.
const BROWSER: usize = 3;
/// The last line of what the agent sees.
const END_MARK: &str = "over";

/// An agent that writes its environment once the browser runs, and waits.
fn waiting(seen: &PipeReader, go: &PipeWriter) -> String {
    format!(
        r#"--agent=program:read -r hello; echo '{{"protocol":1}}'; read -r task; read -r observation
        {{ env; echo {END_MARK}; }} > {}; read -r go < {}; echo '{{"stop":true}}'; read -r end"#,
        seen.path, go.path
    )
}

#[test]
fn no_program_sees_the_users_keys() -> Result<()> {
    let bench = Bench::new()?;
    let (seen, mut go) = (PipeReader::new(&bench, "seen")?, PipeWriter::new(&bench, "go")?);
    let (agent, out) = (waiting(&seen, &go), bench.path("out"));
    let arguments =
        ["run", "tasks/demo", &agent, "--task=clock-time-zone", "--output", out.as_str()];
    let mut command = bench.command(&arguments);
    command.envs(SECRETS).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let mut seen_by_agent = String::new();
    while !seen_by_agent.ends_with(&format!("\n{END_MARK}")) {
        seen_by_agent += &format!("\n{}", seen.read()?);
    }
    let programs = descendants(child.id())?;
    let mut browsers = 0;
    let mut leaking = Vec::new();
    for Process { id, line } in programs {
        browsers += usize::from(line.contains("chromium"));
        // One that has ended since tells nothing.
        let Ok(environment) = std::fs::read(format!("/proc/{id}/environ")) else { continue };
        if text(&environment).contains("e2e-secret") {
            leaking.push(line);
        }
    }
    go.write("go")?;
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
        let mut command = bench.command(&[
            "run",
            "tasks/demo",
            "--task=clock-time-zone",
            "--output",
            out.as_str(),
        ]);
        command.args(more).envs(SECRETS).output()
    };
    let output = play(&[AGENT, "--agent-env=FAKE_TOKEN", "--agent-env=MODE=a=b"])?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    let said = std::fs::read_to_string(out.join("episodes/clock-time-zone-1/agent.stderr.txt"))?;
    ensure!(said.contains("FAKE_TOKEN=token-e2e-secret") && said.contains("MODE=a=b"), "{said}");
    ensure!(!said.contains("OPENAI_API_KEY") && !said.contains("https_proxy"), "{said}");
    Ok(())
}
