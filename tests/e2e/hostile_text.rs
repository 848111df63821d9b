//! What others have written never reaches a terminal as what it obeys.

use std::fs;

use anyhow::{Result, ensure};
use camino::Utf8PathBuf;

use crate::harness::{Bench, text};

/// Clears, hides, writes the clipboard, turns text round, and has no width, in YAML's spelling.
const HOSTILE: &str =
    r"a\e[2K\e[1G\e[8mb\e]52;c;eA==\ac\x9b8md\u202Ee\u2066f\u200Bg\u2028h\x7fi\rj";

fn is_obeyed(letter: char) -> bool {
    let code = u32::from(letter);
    let separates = matches!(letter, '\n' | '\t');
    (letter.is_control() && !separates)
        || [0x200b..=0x200f, 0x2028..=0x202e, 0x2060..=0x206f]
            .iter()
            .any(|range| range.contains(&code))
}

/// A suite whose texts are all hostile, with a recording.
fn suite(bench: &Bench) -> Result<Utf8PathBuf> {
    let folder = bench.path("hostile");
    fs::create_dir_all(folder.join("sites/notes"))?;
    fs::write(
        folder.join("suite.yaml"),
        format!("name: \"{HOSTILE}\"\nworld: {{snapshots: [\"{}\"], sites: sites}}\n", demo()),
    )?;
    let site = format!(
        "title: \"{HOSTILE}\"\nabout: \"{HOSTILE}\"\ndriver: process\ncommand: [sh, -c, \"{HOSTILE}\"]\nhosts: [\"n.test\"]\n"
    );
    fs::write(folder.join("sites/notes/site.yaml"), site)?;
    fs::write(
        folder.join("plain.yaml"),
        format!(
            "id: plain\ngoal: \"{HOSTILE}\"\nscorer: {{equals: \"{HOSTILE}\"}}\noracle: [{{answer: \"{HOSTILE}\"}}]\n"
        ),
    )?;
    fs::write(
        folder.join("started.yaml"),
        format!(
            "id: started\ngoal: \"{HOSTILE}\"\nsites: [notes]\nscorer: {{program: [sh, \"{HOSTILE}\"]}}\n"
        ),
    )?;
    Ok(folder)
}

fn demo() -> String {
    crate::harness::repository().join("snapshots/demo.wacz").to_string()
}

fn bad_file(bench: &Bench, name: &str, value: &str) -> Result<Utf8PathBuf> {
    let path = bench.path(name);
    fs::write(&path, value)?;
    Ok(path)
}

fn check(bench: &Bench, arguments: &[&str]) -> Result<()> {
    let mut command = bench.command(arguments);
    let output = command.env_remove("SANDBOX_TRUST").output()?;
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let said = text(bytes);
        let bad = said.chars().find(|letter| is_obeyed(*letter));
        ensure!(bad.is_none(), "{arguments:?}: {bad:?} in {name}: {said:?}");
    }
    ensure!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{arguments:?} says nothing");
    Ok(())
}

#[test]
fn no_command_prints_what_a_terminal_obeys() -> Result<()> {
    let bench = Bench::new()?;
    let suite = suite(&bench)?;
    let (suite, plain) = (suite.as_str(), suite.join("plain.yaml"));
    let run = bench.path("run");
    let bad_agent = bad_file(&bench, "agent.yaml", &format!("agent: {{\"{HOSTILE}\": {{}}}}\n"))?;
    let server = format!(
        "agent: {{webarena: {{reasoning: true}}}}\nmodel: {{name: m, base_url: \"http://{HOSTILE}\", key_variable: \"{HOSTILE}\"}}\n"
    );
    let server = bad_file(&bench, "server.yaml", &server)?;
    let broken = bench.path("broken");
    fs::create_dir_all(&broken)?;
    for name in ["suite.yaml", "task.yaml"] {
        fs::write(broken.join(name), format!("\"{HOSTILE}\": 1\n"))?;
    }
    let program = format!(
        "program:printf '{}' >&2; exit 3",
        HOSTILE.replace("\\e", "\\033").replace("\\u", "\\\\u")
    );
    for arguments in [
        &["tasks", "list", suite][..],
        &["tasks", "list", suite, "--json"],
        &["tasks", "show", suite, "plain"],
        &["tasks", "show", suite, "started", "--json"],
        &["tasks", "check", suite],
        &["tasks", "check", broken.as_str()],
        &["run", suite, "--agent=noop"],
        &["run", suite, "--agent", bad_agent.as_str()],
        &["run", plain.as_str(), "--agent", server.as_str()],
        &["attach", suite, "started", "--", "true"],
        &["gym", suite],
        &["up", "--sites", &format!("{suite}/sites")],
        &["-v", "run", plain.as_str(), "--agent=oracle", "--max-steps=2", "-o", run.as_str()],
        &["--log-json", "-v", "run", plain.as_str(), "--agent", &program, "--max-steps=1"],
        &["report", run.as_str()],
        &["compare", run.as_str(), run.as_str()],
        &["trace", run.as_str()],
        &["export", "json", run.as_str(), "-o", "-"],
    ] {
        check(&bench, arguments)?;
    }
    let pack = bench.path("p.run.tar.zst");
    check(&bench, &["pack", run.as_str(), "-o", pack.as_str()])?;
    check(&bench, &["verify", pack.as_str()])?;
    check(&bench, &["verify", pack.as_str(), "--digests"])
}
