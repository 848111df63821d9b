//! The processes of a session and the folder they write to. Nothing of them outlives the value, however it ends.
//!
//! ```text
//! start -> running -> closed      the driver ends Chromium, then is ended itself; the folder goes
//!             |
//!             +-> dropped         the process group is killed; the folder goes
//!             +-> left behind     our own process was killed: the next start of any session sweeps; or is about to end: see [`end_all`]
//! ```

use std::{
    collections::HashSet,
    fs, io,
    net::{Ipv4Addr, Ipv6Addr, TcpListener},
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, getpgid, kill_process_group, test_kill_process};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    time::timeout,
};

use crate::{Error, Launch, interfaces::spawn_undisturbed, launch::Programs};

const PREFIX: &str = "sandbox-browser-";
/// What Chromium and its driver have for a home, in the folder.
const HOME: &str = "home";
const TRIES: u32 = 3;
const DRIVER_START: Duration = Duration::from_secs(20);

/// A running chromedriver and what it has started: all of one process group, which the driver leads.
#[derive(Debug)]
pub(crate) struct Processes {
    driver: Child,
    folder: Option<TempDir>,
    /// Where the driver listens.
    pub(crate) port: u16,
}

impl Processes {
    /// Starts chromedriver on a free port and waits until it listens. Somebody else may take the port first; so it has several tries.
    pub(crate) async fn start(programs: &Programs, launch: &Launch) -> Result<Self, Error> {
        sweep(&std::env::temp_dir());
        let mut tries = 0;
        loop {
            tries += 1;
            match Self::start_once(programs, launch).await {
                Err(error) if tries < TRIES => tracing::debug!(%error, "chromedriver is started once more"),
                result => return result,
            }
        }
    }

    async fn start_once(programs: &Programs, launch: &Launch) -> Result<Self, Error> {
        let folder = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir()
            .map_err(Error::Profile)?;
        let home = folder.path().join(HOME);
        let profile = folder.path().join("profile");
        fs::create_dir(&home).and_then(|()| fs::create_dir(&profile)).map_err(Error::Profile)?;
        let no_port = |error| Error::Session { reason: format!("there is no free port: {error}") };
        let port = free_port().map_err(no_port)?;
        let mut command = Command::new(&programs.chromedriver);
        command
            .arg(format!("--port={port}"))
            .arg("--log-level=SEVERE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .env("TZ", &launch.device.timezone)
            .env("LANG", "C.UTF-8")
            .env_remove("LC_ALL")
            .env("LANGUAGE", launch.device.locale.replace('-', "_"))
            .env("HOME", &home)
            .env("TMPDIR", folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("GOOGLE_API_KEY");
        let mut driver = spawn_undisturbed(&mut command).map_err(|source| Error::Spawn {
            program: programs.chromedriver.display().to_string(),
            source,
        })?;
        let output = driver.stdout.take();
        let mut processes = Self { driver, folder: Some(folder), port: 0 };
        let Some(output) = output else {
            return Err(Error::Session { reason: "chromedriver has no output".to_owned() });
        };
        processes.port = match timeout(DRIVER_START, announced_port(output)).await {
            Ok(port) => port.map_err(|source| Error::Spawn {
                program: programs.chromedriver.display().to_string(),
                source,
            })?,
            Err(_) => {
                return Err(Error::Deadline {
                    condition: "chromedriver to announce its port".to_owned(),
                    waited: DRIVER_START,
                });
            }
        };
        Ok(processes)
    }

    /// The folder that goes with them; the browser's profile is in it.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.as_ref().map(TempDir::path).unwrap_or(Path::new(""))
    }

    /// Ends what still runs, reaps the driver and removes the folder.
    fn end(&mut self) {
        // Even where the driver has ended already: until it is reaped its number stands for the group, in which Chromium may still run.
        if let Some(leader) = i32::try_from(self.driver.id()).ok().and_then(Pid::from_raw) {
            end_group(leader);
        }
        if let Err(error) = self.driver.wait() {
            tracing::warn!(%error, "chromedriver could not be reaped");
        }
        if let Some(folder) = self.folder.take() {
            remove(folder.path());
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.end();
    }
}

fn end_group(leader: Pid) {
    // Gone already is what we want.
    let _ = kill_process_group(leader, Signal::KILL);
}

/// Removes the folder. Processes that were just killed may still be writing their last file into it, so the removal is repeated while it
/// finds something new, for a second at most.
fn remove(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(1);
    loop {
        match fs::remove_dir_all(folder) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) if Instant::now() > deadline => {
                tracing::warn!(folder = %folder.display(), %error, "a profile folder was left behind");
                return;
            }
            Err(_) => std::thread::yield_now(),
        }
    }
}

/// A port that is free for IPv4 and, where the machine has that, for IPv6: chromedriver listens on both. Left to itself it takes one that it may
/// not get for IPv6, and on a machine without that it does not say which one it took.
fn free_port() -> io::Result<u16> {
    let mut last = None;
    for _ in 0..TRIES {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        match TcpListener::bind((Ipv6Addr::LOCALHOST, port)) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => last = Some(error),
            _ => return Ok(port),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::AddrInUse.into()))
}

async fn announced_port(output: std::process::ChildStdout) -> io::Result<u16> {
    let output = tokio::process::ChildStdout::from_std(output)?;
    let mut lines = BufReader::new(output).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some(rest) = line.strip_prefix("ChromeDriver was started successfully on port ") {
            return rest.trim_end_matches('.').parse().map_err(io::Error::other);
        }
    }
    Err(io::Error::other("it ended without saying on which port it listens"))
}

/// Ends all sessions of this process at once, for a program that is about to end in the midst of what it does.
pub fn end_all() {
    let own = Pid::from_raw(std::process::id().cast_signed());
    sweep_those_of(&std::env::temp_dir(), |owner| Some(owner) == own);
}

/// Removes what sessions of processes that were killed have left in `temp`, running browsers included.
fn sweep(temp: &Path) {
    sweep_those_of(temp, |owner| test_kill_process(owner) == Err(rustix::io::Errno::SRCH));
}

fn sweep_those_of(temp: &Path, is_meant: impl Fn(Pid) -> bool) {
    let Ok(entries) = fs::read_dir(temp) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let owner = owner.split('-').next().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
        if !owner.is_some_and(&is_meant) {
            continue;
        }
        let folder = entry.path();
        groups_in(&folder).into_iter().for_each(end_group);
        remove(&folder);
    }
}

/// The process groups with a process whose home is in the folder: the home that we have given it, and nothing that merely names the folder.
/// The driver, which leads one, may have ended before what it has started.
fn groups_in(folder: &Path) -> HashSet<Pid> {
    let (Ok(folder), Ok(processes)) = (std::path::absolute(folder), fs::read_dir("/proc")) else {
        return HashSet::new();
    };
    let home = [b"HOME=", folder.join(HOME).as_os_str().as_bytes()].concat();
    let group = |process: fs::DirEntry| {
        let pid = Pid::from_raw(process.file_name().to_str()?.parse().ok()?)?;
        let environment = fs::read(process.path().join("environ")).ok()?;
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == home)
            .then(|| getpgid(Some(pid)).ok())?
    };
    processes.flatten().filter_map(group).collect()
}
