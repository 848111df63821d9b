//! A container engine that is killed and started again, with a town in it: an engine of this test's own, as there are
//! others who use the machine's. It and the town live in a network namespace, so that no bridge or rule of the machine's is
//! touched: an engine takes all that it finds for its own. So does whoever removes all that is on an engine.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

use crate::harness::{Bench, SOON, docker, wait_for};
use crate::isolation::ip;
use crate::owners::Owner;

struct Daemon {
    child: Child,
    folder: Utf8PathBuf,
}

impl Daemon {
    async fn start(folder: Utf8PathBuf, name: &str) -> Daemon {
        std::fs::create_dir_all(&folder).unwrap();
        let log = std::fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
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
        let mut look = tokio::time::interval(Duration::from_millis(100));
        while docker(&["--host", &host(&daemon.folder), "version"]).is_err() {
            look.tick().await;
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

    /// Kills it, and the containerd that it has started: without its parent that one answers nobody.
    fn kill(&mut self) {
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
struct Apart(String);

impl Apart {
    fn new(what: &str) -> Apart {
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
fn inside(name: &str) -> String {
    format!("--net=/run/netns/{name}")
}

fn host(folder: &Utf8PathBuf) -> String {
    format!("unix://{}", folder.join("socket"))
}

#[tokio::test]
async fn a_town_outlives_an_engine_that_is_killed_and_started_again() {
    let bench = Bench::new();
    let (folder, apart) = (bench.path("engine"), Apart::new("engine"));
    let mut daemon = Daemon::start(folder.clone(), &apart.0).await;
    let tar = bench.path("image.tar");
    let import =
        ["--host", &host(&folder), "import", "--change", "CMD [\"/site\"]", tar.as_str(), bench.image()];
    docker(&import).unwrap();

    let mut enter = Command::new("nsenter");
    enter.args([&inside(&apart.0), env!("CARGO_BIN_EXE_owner")]).env("DOCKER_HOST", host(&folder));
    let mut owner = Owner::begin(enter, &bench, "data");
    let before = owner.leases();
    assert!(before.starts_with("leased "), "{before}");
    daemon.kill();
    let daemon = Daemon::start(folder, &apart.0).await;
    // A lease is of a copy that has answered.
    let after = owner.leases();
    assert!(after.starts_with("leased "), "{after}");
    owner.finish();
    drop(daemon);
}

#[tokio::test]
async fn all_that_is_on_an_engine_is_swept_with_the_owners_that_live() {
    let bench = Bench::new();
    let (folder, apart) = (bench.path("engine"), Apart::new("sweep"));
    let daemon = Daemon::start(folder.clone(), &apart.0).await;
    let ask = |arguments: &[&str]| docker(&[&["--host", &host(&folder)], arguments].concat()).unwrap();
    let tar = bench.path("image.tar");
    ask(&["import", "--change", "CMD [\"/site\"]", tar.as_str(), bench.image()]);
    let entered = || {
        let mut enter = Command::new("nsenter");
        enter.args([&inside(&apart.0), env!("CARGO_BIN_EXE_owner")]).env("DOCKER_HOST", host(&folder));
        enter
    };
    // One is killed and leaves everything behind, the other would start anew what is taken from it.
    let begin = |data| Owner::begin(entered(), &bench, data);
    let (dead, living) = (begin("dead"), begin("living"));
    let count = || ask(&["ps", "--quiet"]).lines().count();
    wait_for("both have a copy and a spare one", || count() == 4).await;
    drop(dead);
    let ours = ["network", "ls", "--quiet", "--filter", "label=sandbox.instance"];
    assert_eq!(ask(&ours).lines().count(), 2);

    let swept = entered().arg("sweep").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&swept.stdout).trim(), "4 containers, 2 networks");
    assert!(living.was_ended());
    assert_eq!(ask(&["ps", "--all", "--quiet"]), "");
    assert_eq!(ask(&ours), "");
    let net = format!("--net=/run/netns/{}", apart.0);
    let rules = Command::new("nsenter").args([&net, "iptables", "-S", "INPUT"]).output().unwrap();
    assert!(rules.status.success());
    assert!(!String::from_utf8_lossy(&rules.stdout).contains("sandbox sites"));
    drop(daemon);
}
