//! The documentation: every example in it is run.

use std::process::Command;

use anyhow::{Result, ensure};
use camino::Utf8Path;

use crate::harness::{repository, text};

#[test]
fn every_example_of_the_documentation_works() -> Result<()> {
    let sandbox = Utf8Path::new(env!("CARGO_BIN_EXE_sandbox"));
    let origin = sandbox.with_file_name("origin");
    let docs = |arguments: &[&str]| -> Result<()> {
        let output =
            Command::new("python3").arg("-B").args(arguments).current_dir(repository()).output()?;
        ensure!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        Ok(())
    };
    docs(&["docs/cli.py", sandbox.as_str(), "--check"])?;
    docs(&["docs/check.py", sandbox.as_str(), origin.as_str()])
}
