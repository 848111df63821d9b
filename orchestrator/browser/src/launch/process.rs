//! The processes of a session, and the folder that they write to. Nothing of them outlives the
//! value, however it ends.
//!
//! ```text
//! start -> running -> closed        the driver ends Chromium, then is ended itself, and the folder
//!             |                     is removed
//!             +-> dropped           the process group is killed at once; a thread that may block
//!             |                     reaps the driver and removes the folder
//!             +-> left behind       our own process was killed; the next start of any session
//!             |                     removes the rest
//!             +-> shut down         our own process is about to end: see [`end_all`]
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
use processes::Group;
use rustix::process::{Pid, Resource, Rlimit, getpgid, prlimit, test_kill_process};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    runtime::Handle,
    task::spawn_blocking,
    time::timeout,
};

use crate::{
    Error, Launch,
    launch::{fonts, interfaces::spawn_without_netlink, programs::Programs},
};

const PREFIX: &str = "sandbox-browser-";
/// The home of Chromium and its driver, in the folder.
const HOME: &str = "home";
/// Chromium's profile, in the folder.
const PROFILE: &str = "profile";
/// Which fonts the pages have, in the folder.
const FONTS: &str = "fonts.conf";
const ATTEMPTS: u32 = 3;
/// The largest file that a browser in a world may write, in bytes.
const MAX_FILE_SIZE: u64 = 4 << 30;
const DRIVER_START: Duration = Duration::from_secs(20);

/// Whether this process is about to end, so that no session may start. Read-locked while one
/// starts.
static SHUTTING_DOWN: RwLock<bool> = RwLock::new(false);
/// How long [`end_all`] waits for a session that is just starting.
const START_GRACE: Duration = Duration::from_secs(1);

/// An address without a bus: the desktop's services show notifications, store passwords and run
/// other programs.
const DISABLED_BUS: &str = "disabled:";

/// A running chromedriver and its children: one process group, which the driver leads.
///
/// Dropping it does not wait, because that would block a thread of the runtime.
#[derive(Debug)]
pub(crate) struct DriverProcesses {
    /// `None` once they have been ended.
    running: Option<SessionProcesses>,
    /// The port of the driver.
    pub(crate) port: u16,
}

/// The driver and the folder. Dropping it ends both, and waits for the end.
#[derive(Debug)]
struct SessionProcesses {
    driver: Child,
    /// The driver leads it. Until the driver is reaped its id names the group, in which Chromium
    /// may still run, even if the driver has ended.
    group: Group,
    folder: TempDir,
}

impl SessionProcesses {
    /// Starts chromedriver in a folder of its own.
    fn start(programs: &Programs, launch: &Launch) -> Result<Self, Error> {
        // Locked until the driver runs, so that [`end_all`] finds this session.
        let is_shutting_down = SHUTTING_DOWN.read();
        if *is_shutting_down {
            return Err(Error::Session { reason: "this program is ending".to_owned() });
        }
        let folder = tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir()
            .map_err(Error::Profile)?;
        let home = folder.path().join(HOME);
        let profile = folder.path().join(PROFILE);
        fs::create_dir(&home).and_then(|()| fs::create_dir(&profile)).map_err(Error::Profile)?;
        if fonts::has_fonts() {
            fs::write(folder.path().join(FONTS), fonts::CONFIGURATION).map_err(Error::Profile)?;
        }
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
        let driver = spawn_without_netlink(&mut command).map_err(|source| Error::Spawn {
            program: programs.chromedriver.display().to_string(),
            source,
        })?;
        if launch.determinism.is_some() {
            limit_file_size(&driver);
        }
        Ok(SessionProcesses::of(driver, folder))
    }

    fn of(driver: Child, folder: TempDir) -> Self {
        let group = Group::of(Some(driver.id()));
        SessionProcesses { driver, group, folder }
    }
}

impl Drop for SessionProcesses {
    fn drop(&mut self) {
        self.group.kill();
        if let Err(error) = self.driver.wait() {
            tracing::warn!(%error, "chromedriver could not be reaped");
        }
        remove_folder(self.folder.path());
    }
}

impl DriverProcesses {
    /// Starts chromedriver on a free port and waits until it listens. Another process may take the
    /// port first, so there are several attempts.
    pub(crate) async fn start(programs: &Programs, launch: &Launch) -> Result<Self, Error> {
        // This may take a while. What it does not remove, the next start removes.
        let _ = spawn_blocking(|| remove_stale_sessions(&std::env::temp_dir())).await;
        let mut attempts = 0;
        loop {
            attempts += 1;
            match Self::start_once(programs, launch).await {
                Err(error) if attempts < ATTEMPTS => {
                    tracing::debug!(%error, "starting chromedriver again")
                }
                result => return result,
            }
        }
    }

    async fn start_once(programs: &Programs, launch: &Launch) -> Result<Self, Error> {
        let failed = |source| Error::Spawn { program: programs.chromedriver.display().to_string(), source };
        let mut running = SessionProcesses::start(programs, launch)?;
        let output = running.driver.stdout.take();
        let mut processes = Self { running: Some(running), port: 0 };
        let Some(output) = output else {
            return Err(Error::Session { reason: "chromedriver has no output".to_owned() });
        };
        processes.port = match timeout(DRIVER_START, read_port(output)).await {
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

    /// The folder of the browser's profile.
    pub(crate) fn profile(&self) -> PathBuf {
        self.folder().join(PROFILE)
    }

    /// The folder of the session. The browser's profile is in it.
    pub(crate) fn folder(&self) -> &Path {
        self.running.as_ref().map_or(Path::new(""), |running| running.folder.path())
    }

    /// Ends the remaining processes, reaps the driver and removes the folder.
    pub(crate) async fn end(mut self) {
        if let Some(mut running) = self.running.take() {
            running.group.kill();
            // Runs to its end even if nobody waits for it.
            let _ = spawn_blocking(move || drop(running)).await;
        }
    }
}

impl Drop for DriverProcesses {
    fn drop(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        running.group.kill();
        match Handle::try_current() {
            // A runtime that shuts down waits for this task, or drops it. Dropping ends the
            // processes on that thread.
            Ok(runtime) => drop(runtime.spawn_blocking(move || drop(running))),
            Err(_) => drop(running),
        }
    }
}

/// Limits the size of files that a program and its children may write. Chromium has limits of its
/// own for what pages store. This one catches the rest: a browser that exceeds it ends.
fn limit_file_size(program: &Child) {
    let limit = Rlimit { current: Some(MAX_FILE_SIZE), maximum: Some(MAX_FILE_SIZE) };
    let pid = i32::try_from(program.id()).ok().and_then(Pid::from_raw);
    if let Err(error) = prlimit(pid, Resource::Fsize, limit) {
        tracing::warn!(%error, "the size of the browser's files is not limited");
    }
}

/// The environment of Chromium and its driver: their own home and language, and the user's display
/// for a headed browser.
fn environment(launch: &Launch, folder: &Path) -> HashMap<OsString, OsString> {
    let language = launch.device.locale.replace('-', "_");
    let of_session: [(&str, OsString); 7] = [
        ("TZ", launch.device.timezone.clone().into()),
        ("LANG", "C.UTF-8".into()),
        ("LANGUAGE", language.into()),
        ("HOME", folder.join(HOME).into()),
        ("TMPDIR", folder.into()),
        ("DBUS_SESSION_BUS_ADDRESS", DISABLED_BUS.into()),
        ("DBUS_SYSTEM_BUS_ADDRESS", DISABLED_BUS.into()),
    ];
    let path = processes::minimal().into_iter().filter(|(name, _)| name == "PATH");
    let screen = if launch.headless { Vec::new() } else { processes::display() };
    let fonts = fonts::has_fonts().then(|| ("FONTCONFIG_FILE", folder.join(FONTS).into()));
    let of_session = of_session.into_iter().chain(fonts).map(|(name, value)| (name.into(), value));
    path.chain(screen).chain(of_session).collect()
}

/// Removes the folder. Killed processes may still be writing a last file into it. So the removal is
/// repeated while it finds something new, for one second at most.
fn remove_folder(folder: &Path) {
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

/// A port that is free for IPv4 and, where the machine has it, for IPv6: chromedriver listens on
/// both. Left to itself it picks a port that may be taken for IPv6, and without IPv6 it does not
/// report its choice.
fn free_port() -> io::Result<u16> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        match TcpListener::bind((Ipv6Addr::LOCALHOST, port)) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => last = Some(error),
            _ => return Ok(port),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::AddrInUse.into()))
}

async fn read_port(output: std::process::ChildStdout) -> io::Result<u16> {
    let output = tokio::process::ChildStdout::from_std(output)?;
    let mut lines = BufReader::new(output).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some(rest) = line.strip_prefix("ChromeDriver was started successfully on port ") {
            return rest.trim_end_matches('.').parse().map_err(io::Error::other);
        }
    }
    Err(io::Error::other("it ended without saying on which port it listens"))
}

/// Ends all sessions of this process at once, for a process that is about to end in the middle of
/// its work. From then on none can start.
pub fn end_all() {
    // The lock is held while a session starts, perhaps on the thread that called this.
    if let Some(mut is_shutting_down) = SHUTTING_DOWN.try_write_for(START_GRACE) {
        *is_shutting_down = true;
    }
    let own = Pid::from_raw(std::process::id().cast_signed());
    remove_sessions(&std::env::temp_dir(), |owner| Some(owner) == own);
}

/// Removes what sessions of killed processes have left in `temp`, running browsers included.
fn remove_stale_sessions(temp: &Path) {
    remove_sessions(temp, |owner| test_kill_process(owner) == Err(rustix::io::Errno::SRCH));
}

fn remove_sessions(temp: &Path, is_selected: impl Fn(Pid) -> bool) {
    let Ok(entries) = fs::read_dir(temp) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let owner = owner.split('-').next().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
        if !owner.is_some_and(&is_selected) {
            continue;
        }
        let folder = entry.path();
        for mut group in session_process_groups(&folder) {
            group.kill();
        }
        remove_folder(&folder);
    }
}

/// The process groups of the session with this folder. The driver, which leads one, may have ended
/// before its children.
fn session_process_groups(folder: &Path) -> Vec<Group> {
    let (Ok(folder), Ok(processes)) = (std::path::absolute(folder), fs::read_dir("/proc")) else {
        return Vec::new();
    };
    let leader = |process: fs::DirEntry| {
        let pid = Pid::from_raw(process.file_name().to_str()?.parse().ok()?)?;
        let environment = fs::read(process.path().join("environ")).ok()?;
        let line = fs::read(process.path().join("cmdline")).ok()?;
        belongs_to_session(&folder, &environment, &line).then(|| getpgid(Some(pid)).ok())?
    };
    let leaders: HashSet<Pid> = processes.flatten().filter_map(leader).collect();
    leaders.into_iter().map(|leader| Group::of(u32::try_from(leader.as_raw_pid()).ok())).collect()
}

/// Whether a process belongs to the session with this folder, and does not merely name it. Such a
/// process has the home that we have given it. Chromium overwrites its environment with its title,
/// which leaves it blank. Then its profile identifies it.
fn belongs_to_session(folder: &Path, environment: &[u8], line: &[u8]) -> bool {
    let word =
        |start: &str, path: &str| [start.as_bytes(), folder.join(path).as_os_str().as_bytes()].concat();
    let (home, profile) = (word("HOME=", HOME), word("--user-data-dir=", PROFILE));
    let is_blank = !environment.is_empty() && environment.iter().all(|&byte| byte == 0);
    let mut variables = environment.split(|&byte| byte == 0);
    // Spaces separate the words of a title.
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
        let expected =
            expected.iter().chain(&["FONTCONFIG_FILE", "HOME", "LANG", "LANGUAGE", "PATH", "TMPDIR", "TZ"]);
        assert_eq!(names, expected.map(OsString::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_process_that_names_a_session_is_not_of_it() {
        let folder = Path::new("/tmp/sandbox-browser-1-a");
        let profile = b"--user-data-dir=/tmp/sandbox-browser-1-a/profile";
        let home = b"PATH=/bin\0HOME=/tmp/sandbox-browser-1-a/home\0";
        assert!(belongs_to_session(folder, home, b"chromedriver"));
        assert!(belongs_to_session(
            folder,
            &[0; 99],
            &[b"chromium --x ".as_slice(), profile, b" --y"].concat()
        ));
        for (environment, line) in [
            (b"PWD=/tmp/sandbox-browser-1-a/home\0".as_slice(), profile.as_slice()),
            (b"HOME=/tmp/sandbox-browser-1-a/home/x\0", b"sh"),
            (b"", profile),
            (&[0; 99], b"chromium --user-data-dir=/tmp/sandbox-browser-1-a/profile2"),
        ] {
            assert!(!belongs_to_session(folder, environment, line), "{line:?}");
        }
    }

    /// A program that runs until it is killed, and a folder with a file in it.
    fn running() -> (DriverProcesses, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("file"), "").unwrap();
        let driver = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        (DriverProcesses { running: Some(SessionProcesses::of(driver, folder)), port: 0 }, path)
    }

    fn is_alive(processes: &DriverProcesses) -> impl Fn() -> bool + use<> {
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

    /// A runtime whose only blocking thread is busy until the sender is dropped.
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
        // The runtime drops a task that never ends.
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
