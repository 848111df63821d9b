//! What every test on the engine needs: a folder, the built binary, a base image with a shell in
//! it, and that none of its images outlives it.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use camino::{Utf8Path, Utf8PathBuf};

/// How long the engine may take for anything that a test waits for.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A temporary folder, and a name that no other test or run has.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    name: String,
}

impl Bench {
    /// Fails with the command that helps where no engine answers.
    pub(crate) fn new() -> Result<Bench> {
        docker(&["version"])
            .context("no container engine answers: run `./setup.sh engine`, then try again")?;
        let folder = tempfile::Builder::new().prefix("sandbox-engine-").rand_bytes(8).tempdir()?;
        let name = folder.path().file_name().and_then(|name| name.to_str()).context("a name")?;
        Ok(Bench { name: name.to_lowercase(), folder })
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.folder.path())
            .expect("temporary folders have UTF-8 names")
            .join(name)
    }

    /// The name of the folder under `images/`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The image that is built of it.
    pub(crate) fn tag(&self) -> String {
        format!("sandbox/{}:1", self.name)
    }

    /// The built binary, with all that it writes in the folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sandbox"));
        command.args(arguments).env("SANDBOX_CACHE", self.path("cache")).env_remove("SANDBOX_LOG");
        command.env("SANDBOX_TRUST", "1");
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs the binary, which must end with this exit code; what it printed on both channels.
    pub(crate) fn ends(&self, code: i32, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments).output()?;
        let said = said(&output);
        ensure!(
            output.status.code() == Some(code),
            "sandbox {arguments:?}: {}\n{said}",
            output.status
        );
        ensure!(!said.contains("panicked"), "{said}");
        Ok(said)
    }

    /// Makes the base image, and the recipe with these lines after `FROM`.
    pub(crate) fn recipe(&self, lines: &str) -> Result<()> {
        let base = format!("{}:base", self.name);
        if docker(&["image", "inspect", &base]).is_err() {
            let tar = self.path("base.tar");
            shell_in_a_tar(&tar, &self.name)?;
            docker(&["import", tar.as_str(), &base])?;
        }
        self.write("Dockerfile", &format!("FROM {base}\n{lines}"))
    }

    /// Makes another recipe on the same base; its name.
    pub(crate) fn second(&self, lines: &str) -> Result<String> {
        let name = format!("{}-b", self.name);
        let folder = self.path("images").join(&name);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("Dockerfile"), format!("FROM {}:base\n{lines}", self.name))?;
        Ok(name)
    }

    /// Writes a file of the recipe.
    pub(crate) fn write(&self, file: &str, text: &str) -> Result<()> {
        let folder = self.path("images").join(&self.name);
        std::fs::create_dir_all(&folder)?;
        Ok(std::fs::write(folder.join(file), text)?)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // Every image of a test has its name in it. What cannot be removed is told by the next
        // `docker image ls`.
        let images =
            docker(&["image", "ls", "--format", "{{.Repository}}:{{.Tag}}"]).unwrap_or_default();
        for image in images.lines().filter(|image| image.contains(&self.name)) {
            let _ = docker(&["image", "rm", "--force", image]);
        }
    }
}

/// Runs the engine's own client; what it printed on stdout.
pub(crate) fn docker(arguments: &[&str]) -> Result<String> {
    let output = Command::new("docker").args(arguments).output().context("run docker")?;
    ensure!(output.status.success(), "docker {arguments:?}: {}", said(&output));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What a program printed on both channels.
pub(crate) fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// Asks until the answer is yes.
pub(crate) fn wait_for(condition: &str, mut holds: impl FnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + DEADLINE;
    while !holds()? {
        if Instant::now() > deadline {
            bail!("waited {DEADLINE:?} in vain until {condition}");
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
    Ok(())
}

/// A root file system: this machine's shell and `sleep`, and the libraries they are linked to. The
/// test's name is in it too, so that no two tests share a layer.
fn shell_in_a_tar(tar: &Utf8Path, name: &str) -> Result<()> {
    let programs = ["/bin/sh", "/bin/sleep"];
    let linked = Command::new("ldd").args(programs).output().context("run ldd")?;
    let linked = String::from_utf8_lossy(&linked.stdout).into_owned();
    let libraries =
        linked.split_whitespace().filter(|word| word.starts_with('/') && !word.ends_with(':'));
    let mut files: Vec<&str> = programs.into_iter().chain(libraries).collect();
    files.sort_unstable();
    files.dedup();
    let mut archive = tar::Builder::new(std::fs::File::create(tar)?);
    for file in files {
        archive.append_path_with_name(
            std::fs::canonicalize(file)?,
            Path::new(file).strip_prefix("/")?,
        )?;
    }
    let mut header = tar::Header::new_gnu();
    header.set_size(name.len() as u64);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    archive.append_data(&mut header, "name", name.as_bytes())?;
    Ok(archive.finish()?)
}

/// Sends SIGINT.
pub(crate) fn interrupt(child: &std::process::Child) -> Result<()> {
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).context("a process id")?;
    Ok(rustix::process::kill_process(pid, rustix::process::Signal::INT)?)
}
