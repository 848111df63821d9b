//! A container engine of a test's own, as there are others who use the machine's. It lives in a
//! network namespace, so that no bridge or rule of the machine's is touched: an engine takes all
//! that it finds for its own.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

const SOON: Duration = Duration::from_secs(60);

pub(crate) struct Daemon {
    pub(crate) child: Child,
    folder: Utf8PathBuf,
}

impl Daemon {
    pub(crate) fn start(folder: Utf8PathBuf, name: &str) -> Daemon {
        std::fs::create_dir_all(&folder).unwrap();
        let log =
            std::fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
        let mut command = Command::new("nsenter");
        command.arg(inside(name)).arg("dockerd");
        for (option, value) in [("data-root", "data"), ("exec-root", "exec"), ("pidfile", "pid")] {
            command.arg(format!("--{option}={}", folder.join(value)));
        }
        command.args(["--host", &host(&folder)]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().expect("`dockerd` is missing: run `./setup.sh engine`");
        let mut daemon = Daemon { child, folder };
        let deadline = Instant::now() + SOON;
        while !answers(&host(&daemon.folder)) {
            std::thread::park_timeout(Duration::from_millis(100));
            let ended = daemon.child.try_wait().unwrap();
            let log = || std::fs::read_to_string(daemon.folder.join("log")).unwrap_or_default();
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "no engine of ours (it needs root): {}",
                log()
            );
        }
        daemon
    }

    /// Kills it, and the containerd that it has started: without its parent that one answers
    /// nobody.
    pub(crate) fn kill(&mut self) {
        let note = self.folder.join("exec/containerd/containerd.pid");
        let containerd = std::fs::read_to_string(&note).unwrap();
        let pids = [self.child.id().to_string(), containerd];
        assert!(Command::new("kill").arg("-KILL").args(pids).status().unwrap().success());
        self.child.wait().unwrap();
        // Or else the next one waits for it, if nobody has reaped it by then.
        std::fs::remove_file(note).unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // By SIGTERM, so that it takes its containers and mounts along.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = Command::new("kill").arg(self.child.id().to_string()).status();
            let _ = self.child.wait();
        }
        // Each engine mounts its folder onto itself, and one that is killed leaves that behind.
        let mount = self.folder.join("data");
        let _ = Command::new("umount").arg("--quiet").arg(mount).status();
    }
}

/// A network namespace, with its loopback up.
pub(crate) struct Apart(pub(crate) String);

impl Apart {
    pub(crate) fn new(what: &str) -> Apart {
        let apart = Apart(format!("{what}{}", std::process::id()));
        ip(&["netns", "add", &apart.0]);
        ip(&["-n", &apart.0, "link", "set", "lo", "up"]);
        apart
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "delete", &self.0]).status();
    }
}

/// How `nsenter` is told to go there.
pub(crate) fn inside(name: &str) -> String {
    format!("--net=/run/netns/{name}")
}

pub(crate) fn host(folder: &Utf8PathBuf) -> String {
    format!("unix://{}", folder.join("socket"))
}

/// Whether an engine answers there.
fn answers(host: &str) -> bool {
    let version = Command::new("docker").args(["--host", host, "version"]).output();
    version.is_ok_and(|output| output.status.success())
}

fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output();
    let output = output.expect("`ip` is missing: install iproute2");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments:?} (needs root): {said}");
}
