//! The processes of a session, and the folder that they write to. Nothing of them outlives the
//! value, however it ends.
//!
//! ```text
//! start -> running -> closed        Chromium ends itself or is killed, and the folder is removed
//!             +-> dropped           the process group is killed at once; a thread that may block
//!             |                     reaps Chromium and removes the folder
//!             +-> left behind       our own process was killed; the next start of any session
//!             |                     removes the rest
//!             +-> shut down         our own process is about to end: see [`end_all`]
//! ```

use std::collections::HashMap;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, io};

use command_fds::{CommandFdExt as _, FdMapping};
use parking_lot::RwLock;
use processes::temporary::{self, Temporary};
use processes::{Group, own_network};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use crate::launch::interfaces::spawn_without_netlink;
use crate::launch::last_words::LastWords;
use crate::launch::leftovers::{remove_folder, remove_sessions, remove_stale_sessions};
use crate::launch::{flags, fonts};
use crate::{Error, Launch};

/// The beginning of the folders' names; the id of our process follows.
pub(super) const PREFIX: &str = "sandbox-browser-";
/// The home of Chromium, in the folder.
pub(super) const HOME: &str = "home";
/// Chromium's profile, in the folder.
pub(super) const PROFILE: &str = "profile";
/// The file with the pages' fonts, in the folder.
const FONTS: &str = "fonts.conf";
/// The largest file that a browser in a world may write, in bytes.
const MAX_FILE_SIZE: u64 = 4 << 30;
/// The size of the pipes to and from the browser, in bytes. Messages are often long.
const PIPE_SIZE: usize = 1 << 20;
/// The descriptors on which Chromium reads commands and writes replies.
const COMMANDS: i32 = 3;
const REPLIES: i32 = 4;

/// Whether this process is about to end, so that no session may start. Read-locked while one
/// starts.
static SHUTTING_DOWN: RwLock<bool> = RwLock::new(false);
/// How long [`end_all`] waits for a session that is just starting.
const START_GRACE: Duration = Duration::from_secs(1);

/// An address without a bus: the desktop's services show notifications, store passwords and run
/// other programs.
pub(super) const DISABLED_BUS: &str = "disabled:";

/// The inputs of starting a session's browser.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    pub(crate) browser: &'a Path,
    /// Chromium's command line, without the profile and the proxy.
    pub(crate) arguments: Vec<String>,
    pub(crate) launch: &'a Launch,
}

/// A running Chromium with its children: one process group, which it leads.
///
/// Dropping it does not wait, because that would block a thread of the runtime.
#[derive(Debug)]
pub(crate) struct ChromiumProcesses {
    /// `None` once they have been ended.
    running: Option<SessionProcesses>,
}

/// Our ends of what leads to a browser.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) commands: OwnedFd,
    pub(crate) replies: OwnedFd,
    /// The listener to which the browser's proxy connections come: in its own network namespace,
    /// or on the machine's loopback.
    pub(crate) listener: Option<TcpListener>,
    /// Whether it has a network namespace of its own.
    pub(crate) own_network: bool,
    /// The address of the proxy, as the browser sees it.
    pub(crate) proxy: SocketAddr,
    pub(crate) last_words: LastWords,
}

/// The browser and the folder. Dropping it ends both, and waits for the end.
#[derive(Debug)]
struct SessionProcesses {
    chromium: Child,
    /// Chromium leads it. Until it is reaped its id names the group, in which its children may
    /// still run, even if it has ended.
    group: Group,
    folder: Temporary,
}

impl SessionProcesses {
    /// Starts Chromium in a folder of its own.
    fn start(start: &Start<'_>) -> Result<(Self, Ends), Error> {
        // Locked until Chromium runs, so that [`end_all`] finds this session.
        let is_shutting_down = SHUTTING_DOWN.read();
        if *is_shutting_down {
            return Err(Error::Session { reason: "this program is ending".to_owned() });
        }
        let folder =
            temporary::new(&format!("{PREFIX}{}-", std::process::id())).map_err(Error::Profile)?;
        prepare_folder(folder.path()).map_err(Error::Profile)?;
        let (child, ends) = spawn(start, folder.path()).map_err(|source| Error::Spawn {
            program: start.browser.display().to_string(),
            source,
        })?;
        if start.launch.determinism.is_some() {
            limit_file_size(&child);
        }
        Ok((SessionProcesses::of(child, folder), ends))
    }

    fn of(chromium: Child, folder: Temporary) -> Self {
        let group = Group::of(Some(chromium.id()));
        SessionProcesses { chromium, group, folder }
    }
}

/// Makes what Chromium finds in its folder: a home, a profile with preferences, and fonts.
fn prepare_folder(folder: &Path) -> io::Result<()> {
    let private = |path: PathBuf| fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    private(folder.join(HOME))?;
    private(folder.join(PROFILE).join("Default"))?;
    let profile = folder.join(PROFILE);
    fs::write(profile.join("First Run"), "")?;
    fs::write(profile.join("Local State"), flags::local_state().to_string())?;
    fs::write(profile.join("Default/Preferences"), flags::preferences().to_string())?;
    if fonts::has_fonts() {
        fs::write(folder.join(FONTS), fonts::CONFIGURATION)?;
    }
    Ok(())
}

/// Starts Chromium: in a network namespace of its own if this machine gives any, else beside our
/// own programs. That there is none this time is an error.
fn spawn(start: &Start<'_>, folder: &Path) -> io::Result<(Child, Ends)> {
    let launch = start.launch;
    if launch.fits_own_network() && own_network::lacking().is_none() {
        let (mut ends, theirs) = pipes(own_network::SERVER)?;
        let words = arguments(start, folder, ends.proxy);
        // Root reads the user's authority for the display only by its rights.
        let prepared = own_network::prepare(start.browser, &words, theirs, !launch.headless)?;
        let started = prepared.start(|command| set_up(command, launch, folder).spawn())?;
        // Where this machine gives none at all, that was said once.
        if let Ok((mut child, listener)) = started {
            (ends.listener, ends.own_network) = (Some(listener), true);
            ends.last_words.listen_to(child.stderr.take());
            return Ok((child, ends));
        }
    }
    let (proxy, listener) = match launch.door.address() {
        Some(address) => (address, None),
        None => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            (listener.local_addr()?, Some(listener))
        }
    };
    let (mut ends, theirs) = pipes(proxy)?;
    ends.listener = listener;
    let mut command = Command::new(start.browser);
    command.args(arguments(start, folder, proxy));
    command.stdin(Stdio::null()).fd_mappings(theirs).map_err(io::Error::other)?;
    let mut child = spawn_without_netlink(set_up(&mut command, launch, folder))?;
    ends.last_words.listen_to(child.stderr.take());
    Ok((child, ends))
}

/// The ends of new pipes: ours, and Chromium's.
fn pipes(proxy: SocketAddr) -> io::Result<(Ends, Vec<FdMapping>)> {
    let (their_commands, commands) = io::pipe()?;
    let (replies, their_replies) = io::pipe()?;
    for end in [OwnedFd::from(commands.try_clone()?), OwnedFd::from(replies.try_clone()?)] {
        // Smaller ones do, too.
        let _ = rustix::pipe::fcntl_setpipe_size(&end, PIPE_SIZE);
    }
    let theirs = vec![
        FdMapping { parent_fd: their_commands.into(), child_fd: COMMANDS },
        FdMapping { parent_fd: their_replies.into(), child_fd: REPLIES },
    ];
    let ends = Ends {
        commands: commands.into(),
        replies: replies.into(),
        listener: None,
        own_network: false,
        proxy,
        last_words: LastWords::default(),
    };
    Ok((ends, theirs))
}

fn arguments(start: &Start<'_>, folder: &Path, proxy: SocketAddr) -> Vec<OsString> {
    let mut words: Vec<OsString> = start.arguments.iter().map(OsString::from).collect();
    words.push(flags::proxy(start.launch, proxy).into());
    let mut profile = OsString::from("--user-data-dir=");
    profile.push(folder.join(PROFILE));
    words.push(profile);
    // The first tab, which belongs to no episode.
    words.push("data:,".into());
    words
}

fn set_up<'c>(command: &'c mut Command, launch: &Launch, folder: &Path) -> &'c mut Command {
    command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    command.env_clear().envs(environment(launch, folder))
}

impl Drop for SessionProcesses {
    fn drop(&mut self) {
        self.group.kill();
        if let Err(error) = self.chromium.wait() {
            tracing::warn!(%error, "Chromium could not be reaped");
        }
        remove_folder(self.folder.path());
    }
}

impl ChromiumProcesses {
    /// Starts Chromium. This waits for processes, on a thread that may.
    pub(crate) fn start(start: &Start<'_>) -> Result<(Self, Ends), Error> {
        // What it does not remove, the next start removes.
        remove_stale_sessions();
        let (running, ends) = SessionProcesses::start(start)?;
        Ok((Self { running: Some(running) }, ends))
    }

    /// The process group of the browser.
    pub(crate) fn leader(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.chromium.id())
    }

    /// The folder of the session. The browser's profile is in it.
    pub(crate) fn folder(&self) -> &Path {
        self.running.as_ref().map_or(Path::new(""), |running| running.folder.path())
    }

    /// Ends the remaining processes, reaps Chromium and removes the folder.
    pub(crate) async fn end(mut self) {
        if let Some(mut running) = self.running.take() {
            running.group.kill();
            // Runs to its end even if nobody waits for it.
            let _ = spawn_blocking(move || drop(running)).await;
        }
    }
}

impl Drop for ChromiumProcesses {
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

/// The environment of Chromium: their own home and language, and the user's display
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

/// Ends all sessions of this process at once, for a process that is about to end in the middle of
/// its work. From then on none can start.
pub fn end_all() {
    // The lock is held while a session starts, perhaps on the thread that called this.
    if let Some(mut is_shutting_down) = SHUTTING_DOWN.try_write_for(START_GRACE) {
        *is_shutting_down = true;
    }
    let own = Pid::from_raw(std::process::id().cast_signed());
    remove_sessions(|owner| Some(owner) == own);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_browser_without_a_window_sees_nothing_of_the_user() {
        let launch = Launch::new(std::net::SocketAddr::from(([127, 0, 0, 1], 8080)), "");
        let mut names: Vec<_> = environment(&launch, Path::new("/folder")).into_keys().collect();
        names.sort();
        let expected = ["DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"];
        let expected = expected.iter().chain(&[
            "FONTCONFIG_FILE",
            "HOME",
            "LANG",
            "LANGUAGE",
            "PATH",
            "TMPDIR",
            "TZ",
        ]);
        assert_eq!(names, expected.map(OsString::from).collect::<Vec<_>>());
    }

    /// A program that runs until it is killed, and a folder with a file in it.
    fn running() -> (ChromiumProcesses, PathBuf) {
        let folder = temporary::new("test-").unwrap();
        let path = folder.path().to_owned();
        fs::write(path.join("file"), "").unwrap();
        let chromium = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        (ChromiumProcesses { running: Some(SessionProcesses::of(chromium, folder)) }, path)
    }

    fn is_alive(processes: &ChromiumProcesses) -> impl Fn() -> bool + use<> {
        let id = processes.running.as_ref().unwrap().chromium.id();
        // A zombie still has an entry, without a command line.
        move || fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| !line.is_empty())
    }

    fn until(condition: &str, holds: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !holds() {
            assert!(Instant::now() < deadline, "waited 20 s for {condition}");
            std::thread::park_timeout(std::time::Duration::from_millis(10));
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
        until("the browser to be killed", || !alive());
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
