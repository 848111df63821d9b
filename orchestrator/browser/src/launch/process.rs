//! The processes of a session and the folder they write to. Nothing of them outlives the value, however it ends.
//!
//! ```text
//! start -> running -> closed      the driver ends Chromium, then is ended itself; the folder goes
//!             |
//!             +-> dropped         the process group is killed at once; a thread that may block
//!             |                   reaps the driver and removes the folder
//!             +-> left behind     our own process was killed: the next start of any session sweeps; or is about to end: see [`end_all`]
//! ```

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    fs, io,
    net::{Ipv4Addr, Ipv6Addr, TcpListener},
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use parking_lot::RwLock;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpgid, kill_process_group, prlimit, test_kill_process,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    runtime::Handle,
    task::spawn_blocking,
    time::timeout,
};

use crate::{
    Error, Launch,
    launch::{interfaces::spawn_undisturbed, programs::Programs},
};

const PREFIX: &str = "sandbox-browser-";
/// What Chromium and its driver have for a home, in the folder.
const HOME: &str = "home";
/// Chromium's profile, in the folder.
const PROFILE: &str = "profile";
const TRIES: u32 = 3;
/// The largest file of a browser in a world, in bytes.
const LARGEST_FILE: u64 = 4 << 30;
const DRIVER_START: Duration = Duration::from_secs(20);

/// Whether this program is about to end, so that no session is started any more. Read while one is.
static ENDING: RwLock<bool> = RwLock::new(false);
/// How long a program that is about to end waits for a session that is just being started.
const STARTED: Duration = Duration::from_secs(1);

/// Nobody: where the machine's services would be asked for, which show notifications, keep
/// passwords and run other programs.
const NO_BUS: &str = "disabled:";

/// A running chromedriver and what it has started: all of one process group, which the driver leads.
///
/// Dropping it does not wait: on a thread of a runtime that would hold up everything else.
#[derive(Debug)]
pub(crate) struct Processes {
    /// Nothing once they have been ended.
    running: Option<Running>,
    /// Where the driver listens.
    pub(crate) port: u16,
}

/// The driver and the folder. Dropping it ends both, and waits until that is done.
#[derive(Debug)]
struct Running {
    driver: Child,
    folder: TempDir,
}

impl Running {
    /// Starts chromedriver in a folder of its own.
    fn start(programs: &Programs, launch: &Launch) -> Result<Self, Error> {
        // Held until the driver runs, so that whoever ends all sessions finds this one.
        let ending = ENDING.read();
        if *ending {
            return Err(Error::Session { reason: "this program is ending".to_owned() });
        }
        let folder = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir()
            .map_err(Error::Profile)?;
        let home = folder.path().join(HOME);
        let profile = folder.path().join(PROFILE);
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
            .env_clear()
            .envs(environment(launch, folder.path()));
        let driver = spawn_undisturbed(&mut command).map_err(|source| Error::Spawn {
            program: programs.chromedriver.display().to_string(),
            source,
        })?;
        if launch.world.is_some() {
            bound_files(&driver);
        }
        Ok(Running { driver, folder })
    }

    /// Kills the group, without waiting for its end.
    fn kill(&self) {
        // Even where the driver has ended already: until it is reaped its number stands for the
        // group, in which Chromium may still run.
        if let Some(leader) = i32::try_from(self.driver.id()).ok().and_then(Pid::from_raw) {
            end_group(leader);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
        if let Err(error) = self.driver.wait() {
            tracing::warn!(%error, "chromedriver could not be reaped");
        }
        remove(self.folder.path());
    }
}

impl Processes {
    /// Starts chromedriver on a free port and waits until it listens. Somebody else may take the port
    /// first; so it has several tries.
    pub(crate) async fn start(programs: &Programs, launch: &Launch) -> Result<Self, Error> {
        // It may take a while. What it does not remove, the next start does.
        let _ = spawn_blocking(|| sweep(&std::env::temp_dir())).await;
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
        let failed = |source| Error::Spawn { program: programs.chromedriver.display().to_string(), source };
        let mut running = Running::start(programs, launch)?;
        let output = running.driver.stdout.take();
        let mut processes = Self { running: Some(running), port: 0 };
        let Some(output) = output else {
            return Err(Error::Session { reason: "chromedriver has no output".to_owned() });
        };
        processes.port = match timeout(DRIVER_START, announced_port(output)).await {
            Ok(port) => port.map_err(failed)?,
            Err(_) => {
                return Err(Error::Deadline {
                    condition: "chromedriver to announce its port".to_owned(),
                    waited: DRIVER_START,
                });
            }
        };
        Ok(processes)
    }

    /// Where the browser's profile is.
    pub(crate) fn profile(&self) -> PathBuf {
        self.folder().join(PROFILE)
    }

    /// The folder that goes with them; the browser's profile is in it.
    pub(crate) fn folder(&self) -> &Path {
        self.running.as_ref().map_or(Path::new(""), |running| running.folder.path())
    }

    /// Ends what still runs, reaps the driver and removes the folder.
    pub(crate) async fn end(mut self) {
        if let Some(running) = self.running.take() {
            running.kill();
            // Goes on to its end where nobody waits for it any more.
            let _ = spawn_blocking(move || drop(running)).await;
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        running.kill();
        match Handle::try_current() {
            // A runtime that ends waits for this, or drops it, which ends it on that thread.
            Ok(runtime) => drop(runtime.spawn_blocking(move || drop(running))),
            Err(_) => drop(running),
        }
    }
}

/// Bounds the files that a program may write, and those that it starts. What an episode's pages
/// write has bounds of its own, which Chromium is told of; this is for what escapes them: a browser
/// that writes more ends.
fn bound_files(program: &Child) {
    let limit = Rlimit { current: Some(LARGEST_FILE), maximum: Some(LARGEST_FILE) };
    let pid = i32::try_from(program.id()).ok().and_then(Pid::from_raw);
    if let Err(error) = prlimit(pid, Resource::Fsize, limit) {
        tracing::warn!(%error, "the size of the browser's files has no bound");
    }
}

/// What Chromium and its driver see of the environment: a home and a language of their own, and the
/// user's screen where a window is to be shown.
fn environment(launch: &Launch, folder: &Path) -> HashMap<OsString, OsString> {
    let language = launch.device.locale.replace('-', "_");
    let of_session: [(&str, OsString); 7] = [
        ("TZ", launch.device.timezone.clone().into()),
        ("LANG", "C.UTF-8".into()),
        ("LANGUAGE", language.into()),
        ("HOME", folder.join(HOME).into()),
        ("TMPDIR", folder.into()),
        ("DBUS_SESSION_BUS_ADDRESS", NO_BUS.into()),
        ("DBUS_SYSTEM_BUS_ADDRESS", NO_BUS.into()),
    ];
    let path = processes::minimal().into_iter().filter(|(name, _)| name == "PATH");
    let screen = if launch.headless { Vec::new() } else { processes::display() };
    path.chain(screen).chain(of_session.map(|(name, value)| (name.into(), value))).collect()
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

/// Ends all sessions of this process at once, for a program that is about to end in the midst of
/// what it does. From then on none is started.
pub fn end_all() {
    // While a session is being started, perhaps by who has come to this, it cannot be had.
    if let Some(mut ending) = ENDING.try_write_for(STARTED) {
        *ending = true;
    }
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

/// The process groups of a session that has this folder. The driver, which leads one, may have
/// ended before what it has started.
fn groups_in(folder: &Path) -> HashSet<Pid> {
    let (Ok(folder), Ok(processes)) = (std::path::absolute(folder), fs::read_dir("/proc")) else {
        return HashSet::new();
    };
    let group = |process: fs::DirEntry| {
        let pid = Pid::from_raw(process.file_name().to_str()?.parse().ok()?)?;
        let environment = fs::read(process.path().join("environ")).ok()?;
        let line = fs::read(process.path().join("cmdline")).ok()?;
        is_of(&folder, &environment, &line).then(|| getpgid(Some(pid)).ok())?
    };
    processes.flatten().filter_map(group).collect()
}

/// Whether a process is of the session that has this folder, and does not merely name it: it has
/// the home that we have given it. Chromium writes its title over its environment, which is blank
/// then; so it is known by its profile.
fn is_of(folder: &Path, environment: &[u8], line: &[u8]) -> bool {
    let word =
        |start: &str, path: &str| [start.as_bytes(), folder.join(path).as_os_str().as_bytes()].concat();
    let (home, profile) = (word("HOME=", HOME), word("--user-data-dir=", PROFILE));
    let is_blank = !environment.is_empty() && environment.iter().all(|&byte| byte == 0);
    let mut variables = environment.split(|&byte| byte == 0);
    // The words of a title have spaces in between.
    let mut words = line.split(|byte| matches!(byte, 0 | b' '));
    variables.any(|variable| variable == home) || is_blank && words.any(|word| word == profile)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_without_a_window_sees_nothing_of_the_user() {
        let launch = Launch::new(([127, 0, 0, 1], 8080).into(), "");
        let mut names: Vec<_> = environment(&launch, Path::new("/folder")).into_keys().collect();
        names.sort();
        let expected = ["DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"];
        let expected = expected.iter().chain(&["HOME", "LANG", "LANGUAGE", "PATH", "TMPDIR", "TZ"]);
        assert_eq!(names, expected.map(OsString::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_process_that_names_a_session_is_not_of_it() {
        let folder = Path::new("/tmp/sandbox-browser-1-a");
        let profile = b"--user-data-dir=/tmp/sandbox-browser-1-a/profile";
        let home = b"PATH=/bin\0HOME=/tmp/sandbox-browser-1-a/home\0";
        assert!(is_of(folder, home, b"chromedriver"));
        assert!(is_of(folder, &[0; 99], &[b"chromium --x ".as_slice(), profile, b" --y"].concat()));
        for (environment, line) in [
            (b"PWD=/tmp/sandbox-browser-1-a/home\0".as_slice(), profile.as_slice()),
            (b"HOME=/tmp/sandbox-browser-1-a/home/x\0", b"sh"),
            (b"", profile),
            (&[0; 99], b"chromium --user-data-dir=/tmp/sandbox-browser-1-a/profile2"),
        ] {
            assert!(!is_of(folder, environment, line), "{line:?}");
        }
    }

    /// A program that runs until it is killed, with a folder that has a file in it.
    fn running() -> (Processes, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("file"), "").unwrap();
        let driver = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        (Processes { running: Some(Running { driver, folder }), port: 0 }, path)
    }

    fn is_alive(processes: &Processes) -> impl Fn() -> bool + use<> {
        let id = processes.running.as_ref().unwrap().driver.id();
        // A zombie still has an entry, without a command line.
        move || fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| !line.is_empty())
    }

    fn until(condition: &str, holds: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !holds() {
            assert!(Instant::now() < deadline, "waited 20 s for {condition}");
            std::thread::yield_now();
        }
    }

    /// A runtime whose one thread for work that blocks is busy until the sender is dropped.
    fn busy_runtime() -> (tokio::runtime::Runtime, std::sync::mpsc::Sender<()>) {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.max_blocking_threads(1).enable_all().build().unwrap();
        let (free, freed) = std::sync::mpsc::channel::<()>();
        runtime.spawn_blocking(move || freed.recv());
        (runtime, free)
    }

    #[test]
    fn a_drop_does_not_wait_on_a_thread_of_a_runtime() {
        let (runtime, free) = busy_runtime();
        let (processes, folder) = running();
        let alive = is_alive(&processes);
        runtime.block_on(async { drop(processes) });
        assert!(folder.exists(), "the thread has waited until the folder was removed");
        until("the driver to be killed", || !alive());
        drop(free);
        until("the folder to be removed", || !folder.exists());
    }

    #[test]
    fn a_runtime_that_ends_leaves_nothing_behind() {
        let (runtime, free) = busy_runtime();
        let (dropped, folder) = running();
        let (held, other) = running();
        runtime.block_on(async { drop(dropped) });
        // A task that never ends is dropped by the runtime.
        runtime.spawn(async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        runtime.block_on(tokio::task::yield_now());
        drop(free);
        drop(runtime);
        assert!(!folder.exists() && !other.exists());
    }

    #[test]
    fn what_is_ended_is_gone_and_a_drop_without_a_runtime_waits() {
        let (processes, folder) = running();
        let alive = is_alive(&processes);
        drop(processes);
        assert!(!alive() && !folder.exists());
        let (processes, folder) = running();
        let alive = is_alive(&processes);
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(processes.end());
        assert!(!alive() && !folder.exists());
    }
}
