//! `sandbox setup`: installs what this machine lacks.

use std::path::Path;
use std::process::{Command, Stdio};

use container_images::Engine;

use crate::failure::{Failure, OrFail, Outcome};

/// Install what runs need and this machine lacks: Chromium, its headless shell and driver, fonts
///
/// Uses Debian's package manager. Prints what it installs. Without the rights to do so it prints
/// the commands instead, and ends with exit code 3.
#[derive(clap::Args)]
pub(crate) struct Setup {
    /// Install a container engine as well, for sites in containers
    #[arg(long)]
    engine: bool,
    /// Print the commands, and run none
    #[arg(long)]
    dry_run: bool,
}

impl Setup {
    pub(crate) async fn run(self) -> Outcome {
        let mut packages = play::machine::missing_packages();
        if self.engine && Engine::connect().await.is_err() && !is_installed("dockerd") {
            packages.push("docker.io");
        }
        if packages.is_empty() {
            println!("nothing is missing");
            return Ok(());
        }
        let install = [&["install", "-y", "--no-install-recommends"], &packages[..]].concat();
        let commands = [vec!["update"], install];
        let lines: Vec<String> = commands
            .iter()
            .map(|words| play::machine::privileged(&format!("apt-get {}", words.join(" "))))
            .collect();
        if self.dry_run {
            lines.iter().for_each(|line| println!("{line}"));
            return Ok(());
        }
        if !is_installed("apt-get") {
            return Err(Failure::Environment(format!(
                "failed to find apt-get; install these with your system's package manager (the names are Debian's): {}",
                packages.join(" ")
            )));
        }
        if !rustix::process::geteuid().is_root() {
            return Err(Failure::Environment(format!(
                "failed to install {}: that is for the administrator; run\n  {}",
                packages.join(", "),
                lines.join("\n  ")
            )));
        }
        for (words, line) in commands.iter().zip(&lines) {
            println!("{line}");
            apt_get(words)?;
        }
        match play::machine::missing_packages()[..] {
            [] => Ok(()),
            ref left => Err(Failure::Environment(format!(
                "failed to find {} after their installation; `sandbox doctor` says what is there",
                left.join(", ")
            ))),
        }
    }
}

/// Runs the package manager; what it says goes to stderr.
fn apt_get(words: &[&str]) -> Outcome {
    let doing = || format!("run apt-get {}", words.join(" "));
    let status = Command::new("apt-get")
        .args(words)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(std::io::stderr())
        .status()
        .or_environment(doing())?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::Environment(format!(
        "failed to {}: it ended with {status}; what it printed says why. Chromium from elsewhere can be named: \
         {}=PATH, {}=PATH",
        doing(),
        browser::CHROMIUM_VARIABLE,
        browser::CHROMEDRIVER_VARIABLE
    )))
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_program(&folder.join(program)))
}

fn is_program(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}
