//! Wrong use and bad input: what is said, and with which exit code.

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
fn wrong_use_is_exit_code_2() -> Result<()> {
    fails(&["record"], 2, "required")?;
    fails(&["record", "https://a.test/", "-o", "x.zip"], 2, ".wacz")?;
    fails(&["record", "no url", "-o", "x.wacz"], 2, "URL")?;
    fails(&["record", "https://a.test/", "-o", "x.wacz", "--connect-to", "a:b"], 2, "HOST:PORT:ADDR:PORT")?;
    fails(&["run", "tasks/demo", "--agent", "orcale"], 2, "oracle")?;
    fails(&["run", "tasks/demo", "--agent", "noop", "--task", "nonesuch"], 2, "nonesuch")?;
    fails(&["run", "tasks/nonesuch", "--agent", "noop"], 2, "tasks/nonesuch")?;
    fails(&["tasks", "show", "tasks/demo", "nonesuch"], 2, "quiet-coach")
}

#[test]
fn a_file_that_is_no_snapshot_is_exit_code_2_and_named() -> Result<()> {
    for command in ["inspect", "verify", "repair"] {
        fails(&["snapshot", command, "nonesuch.wacz"], 2, "nonesuch.wacz")?;
    }
    fails(&["snapshot", "inspect", "Cargo.toml"], 2, "Cargo.toml")?;
    fails(&["snapshot", "repair", "Cargo.toml"], 2, "Cargo.toml")?;
    // That is what verify is asked: whether this is a snapshot.
    fails(&["snapshot", "verify", "Cargo.toml"], 1, "Cargo.toml")?;
    fails(&["replay", "nonesuch.wacz"], 2, "nonesuch.wacz")?;
    fails(&["replay", "Cargo.toml"], 2, "Cargo.toml")
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
    ensure!(std::fs::read_to_string(&file)? == "mine");
    Ok(())
}
