//! What somebody has who has nothing but the program.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::harness::{Bench, live_web, origin, repository, text};

/// Where there is no driver: another mount namespace has something else in its place.
#[test]
fn without_a_browser_is_said_how_to_get_one() -> Result<()> {
    const SCRIPT: &str = r#"
        for program in chromium chromium-headless-shell chromedriver; do
            for path in "$(command -v $program)" "/usr/lib/chromium/$program"; do
                [ ! -e "$path" ] || mount --bind /dev/null "$path" || exit 9
            done
        done
        exec "$@""#;
    let bench = Bench::new()?;
    let run = |arguments: &[&str]| -> Result<(Option<i32>, String)> {
        let program = bench.command(&[]).get_program().to_owned();
        let output = bench
            .command_of("unshare", &["--map-root-user", "--mount", "sh", "-c", SCRIPT, "sh"])
            .arg(program)
            .args(arguments)
            .output()?;
        Ok((output.status.code(), text(&output.stdout) + &text(&output.stderr)))
    };
    let (code, said) = run(&["demo"])?;
    ensure!(code == Some(3) && said.contains("`sandbox setup` installs"), "{code:?}: {said}");
    let (code, said) = run(&["setup", "--dry-run"])?;
    ensure!(
        code == Some(0) && said.contains("apt-get install") && said.contains(" chromium-driver"),
        "{said}"
    );
    ensure!(bench.succeed(&["setup"])?.trim() == "nothing is missing");
    Ok(())
}

#[test]
fn bash_completes_commands_and_options() -> Result<()> {
    let bench = Bench::new()?;
    let script = bench.path("completions");
    std::fs::write(&script, bench.succeed(&["completions", "bash"])?)?;
    let complete = |line: &str| -> Result<String> {
        let words: Vec<&str> = line.split(' ').collect();
        let last = words.last().context("no word")?;
        let body = format!(
            "source {script}; COMP_WORDS=({line}); COMP_CWORD={}; _sandbox sandbox {last} ''; echo ${{COMPREPLY[@]}}",
            words.len() - 1
        );
        Ok(text(&Command::new("bash").args(["--norc", "-c", &body]).output()?.stdout))
    };
    ensure!(complete("sandbox rep")?.trim() == "replay report", "{}", complete("sandbox rep")?);
    ensure!(
        complete("sandbox run --cass")?.trim() == "--cassette",
        "{}",
        complete("sandbox run --cass")?
    );
    Ok(())
}

#[test]
fn every_command_has_a_manual_page() -> Result<()> {
    let bench = Bench::new()?;
    let folder = bench.path("man/man1");
    bench.succeed(&["man", folder.as_str()])?;
    for command in ["sandbox", "sandbox-run", "sandbox-snapshot-repair"] {
        let page = std::fs::read_to_string(folder.join(format!("{command}.1")))?;
        ensure!(page.contains(".SH NAME"), "{command}: {page}");
    }
    let page = std::fs::read_to_string(folder.join("sandbox-run.1"))?;
    ensure!(page.contains("sandbox run tasks/demo"), "no examples: {page}");
    Ok(())
}

/// In each kind of world the oracle passes the task of a new suite, and so does its agent.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_suite_has_a_task_that_passes() -> Result<()> {
    let bench = Bench::new()?;
    let web = origin().await?;
    let sites = repository().join("sites");
    let snapshot = repository().join("snapshots/demo.wacz");
    let mut recorded =
        vec!["--url".to_owned(), "https://www.cityscreen.test/".to_owned(), "--".to_owned()];
    recorded.extend(live_web(&web));
    let worlds = [
        ("demo", vec![]),
        ("recorded", recorded),
        ("snapshot", vec!["--snapshot".to_owned(), snapshot.to_string()]),
        ("site", ["--site", "desk", "--sites", sites.as_str()].map(str::to_owned).to_vec()),
    ];
    for (name, options) in worlds {
        let folder = bench.path(name);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        bench.succeed(&[&["init", folder.as_str()], &options[..]].concat())?;
        let own = format!("program:python3 {folder}/agent.py");
        for (agent, runs) in [("oracle", "oracle"), (&own, "own")] {
            let runs = bench.path(&format!("runs-{name}-{runs}"));
            let printed = bench.succeed(&[
                "run",
                folder.as_str(),
                "--agent",
                agent,
                "--output",
                runs.as_str(),
            ])?;
            ensure!(printed.contains("1/1 tasks passed"), "{name}, {agent}: {printed}");
        }
    }
    Ok(())
}

#[test]
fn a_suite_that_is_there_gets_an_agent_and_keeps_its_files() -> Result<()> {
    let bench = Bench::new()?;
    let folder = bench.path("mine");
    bench.succeed(&["init", folder.as_str()])?;
    let task = folder.join("first-task.yaml");
    std::fs::write(&task, "changed")?;
    std::fs::remove_file(folder.join("agent.py"))?;
    ensure!(bench.succeed(&["init", folder.as_str()])?.contains("1 more file: agent.py"));
    ensure!(std::fs::read_to_string(&task)? == "changed");
    let refused = bench.run(&["init", folder.as_str(), "--site", "desk"])?;
    ensure!(refused.status.code() == Some(2), "{}", text(&refused.stderr));
    // What fails leaves no folder.
    let failed = bench.run(&["init", bench.path("none").as_str(), "--snapshot", "none.wacz"])?;
    ensure!(
        failed.status.code() == Some(2) && !bench.path("none").exists(),
        "{}",
        text(&failed.stderr)
    );
    Ok(())
}
