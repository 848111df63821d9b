//! Wrong use and bad input: exit codes, and what is left as it was. The messages are in
//! `messages/`.

use anyhow::{Result, ensure};

use crate::harness::{Bench, text};

/// Runs and expects a failure with this exit code whose text holds `says`.
fn fails(arguments: &[&str], code: i32, says: &str) -> Result<()> {
    let bench = Bench::new()?;
    let output = bench.run(arguments)?;
    let said = text(&output.stderr);
    ensure!(output.status.code() == Some(code), "{arguments:?}: {}\n{said}", output.status);
    ensure!(said.contains(says), "{arguments:?} said:\n{said}");
    ensure!(!said.contains("panicked"), "{said}");
    Ok(())
}

#[test]
fn an_episode_whose_name_is_nearly_right_is_proposed() -> Result<()> {
    let bench = Bench::new()?;
    let out = bench.path("out");
    let run =
        ["run", "tasks/demo", "--agent=noop", "--task=lakeside-commute", "--output", out.as_str()];
    bench.succeed(&run)?;
    fails(&["trace", out.as_str(), "lakeside-comute-1"], 2, "`lakeside-commute-1`")
}

#[test]
fn without_a_home_the_data_folder_has_to_be_named() -> Result<()> {
    let bench = Bench::new()?;
    let folder = bench.path("here");
    std::fs::create_dir(&folder)?;
    for home in [None, Some(""), Some("here")] {
        for arguments in [&["ca"][..], &["status"], &["replay", "x.har"], &["up"], &["down"]] {
            let mut command = bench.command(arguments);
            command.current_dir(&folder).env_remove("SANDBOX_DATA").env_remove("XDG_DATA_HOME");
            match home {
                Some(home) => command.env("HOME", home),
                None => command.env_remove("HOME"),
            };
            let output = command.output()?;
            let said = text(&output.stderr);
            ensure!(output.status.code() == Some(3), "{arguments:?}: {}\n{said}", output.status);
            ensure!(said.contains("HOME") && said.contains("--data DIR"), "{arguments:?}: {said}");
            ensure!(folder.read_dir_utf8()?.next().is_none(), "{arguments:?} left something");
        }
    }
    let mut doctor = bench.command(&["doctor", "--json"]);
    let output = doctor
        .env_remove("SANDBOX_DATA")
        .env_remove("XDG_DATA_HOME")
        .env_remove("HOME")
        .output()?;
    let findings: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let finding = |what: &str| {
        findings.as_array().into_iter().flatten().find(|finding| finding["what"] == what).cloned()
    };
    let (data, fonts) = (finding("data folder").unwrap_or_default(), finding("loopback network"));
    ensure!(data["ok"] == false && data["found"].is_null(), "{data}");
    ensure!(data["problem"].as_str().is_some_and(|problem| problem.contains("HOME")), "{data}");
    ensure!(data["cure"].as_str().is_some_and(|cure| cure.contains("--data DIR")), "{data}");
    let well = fonts.unwrap_or_default();
    ensure!(well["ok"] == true && well["found"].is_string() && well["problem"].is_null(), "{well}");
    Ok(())
}

#[test]
fn reports_for_people_are_without_what_is_absent() -> Result<()> {
    let bench = Bench::new()?;
    for command in ["inspect", "verify"] {
        let said = bench.succeed(&["snapshot", command, "snapshots/demo.wacz"])?;
        ensure!(!said.contains("null") && !said.contains("[]") && !said.contains("{}"), "{said}");
        ensure!(said.starts_with("path: snapshots/demo.wacz\n"), "{said}");
    }
    Ok(())
}

#[test]
fn a_taken_port_is_exit_code_3() -> Result<()> {
    let taken = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = taken.local_addr()?.to_string();
    fails(&["replay", "snapshots/demo.wacz", "--listen", &address], 3, &address)
}

#[test]
fn a_snapshot_is_never_overwritten() -> Result<()> {
    let bench = Bench::new()?;
    let file = bench.path("there.wacz");
    std::fs::write(&file, "mine")?;
    let output = bench.run(&["record", "--listen=127.0.0.1:0", "-o", file.as_str()])?;
    ensure!(output.status.code() == Some(2), "{}", text(&output.stderr));
    ensure!(text(&output.stderr).contains("--force"), "{}", text(&output.stderr));
    ensure!(std::fs::read_to_string(&file)? == "mine");
    let import = ["snapshot", "import", "snapshots/demo.wacz", "-o", file.as_str()];
    let output = bench.run(&import)?;
    ensure!(output.status.code() == Some(2) && text(&output.stderr).contains("--force"));
    bench.succeed(&[&import[..], &["--force"]].concat())?;
    bench.succeed(&["snapshot", "verify", file.as_str()])?;
    Ok(())
}

/// The time of a world that names none is that of its recording.
#[test]
fn a_world_without_a_clock_begins_when_it_was_recorded() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("suite");
    std::fs::create_dir(&suite)?;
    let demo = crate::harness::repository().join("snapshots/demo.wacz").canonicalize_utf8()?;
    std::fs::write(suite.join("suite.yaml"), format!("world:\n  snapshots: ['{demo}']\n"))?;
    let task = "id: now\ngoal: g\nstart_url: https://www.aldria-rail.test/never-recorded\nscorer:\n  assistantbench:\n    gold: '5'\n";
    std::fs::write(suite.join("now.yaml"), task)?;
    let out = bench.path("out");
    let output = bench.run(&["run", suite.as_str(), "--agent=noop", "--output", out.as_str()])?;
    let said = text(&output.stderr);
    ensure!(output.status.success(), "{said}");
    let run = std::fs::read_to_string(out.join("run.json"))?;
    let first =
        snapshots::Archive::open(&demo)?.recorded().map(|at| at.to_string()).unwrap_or_default();
    ensure!(run.contains(&first[..first.len() - 1]), "{first} is not in {run}");
    ensure!(said.contains("--fill gaps.wacz"), "a run with misses names the next command: {said}");
    Ok(())
}
