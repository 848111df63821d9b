//! What is said where there is no engine.

use anyhow::{Result, ensure};

use crate::harness::{Bench, said};

#[test]
fn without_an_engine_every_command_says_what_to_do() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe("")?;
    std::fs::write(bench.path("a.tar"), "")?;
    let commands: [&[&str]; 4] = [
        &["images", "build"],
        &["images", "pull", "debian:bookworm-slim"],
        &["images", "load", "a.tar"],
        &["images", "save", "debian:bookworm-slim", "-o", "b.tar"],
    ];
    for arguments in commands {
        let mut command = bench.command(arguments);
        let output = command.env("DOCKER_HOST", "unix:///nonesuch/docker.sock").output()?;
        let said = said(&output);
        ensure!(output.status.code() == Some(3), "{arguments:?}: {}\n{said}", output.status);
        ensure!(
            said.contains("unix:///nonesuch/docker.sock (no such file)"),
            "{arguments:?}:\n{said}"
        );
        ensure!(said.contains("./setup.sh engine"), "{arguments:?}:\n{said}");
    }
    let output = bench.command(&["images", "build"]).env("DOCKER_HOST", "ssh://far").output()?;
    ensure!(
        output.status.code() == Some(3) && said(&output).contains("ssh -L"),
        "{}",
        said(&output)
    );
    Ok(())
}
