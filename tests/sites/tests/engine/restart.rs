//! A container engine that is killed and started again, with a town in it: an engine of this test's own, as there are
//! others who use the machine's.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

use crate::harness::{Bench, SOON, docker};
use crate::owners::Owner;

struct Daemon {
    child: Child,
    folder: Utf8PathBuf,
}

impl Daemon {
    async fn start(folder: Utf8PathBuf) -> Daemon {
        std::fs::create_dir_all(&folder).unwrap();
        let log = std::fs::File::options().create(true).append(true).open(folder.join("log")).unwrap();
        let mut command = Command::new("dockerd");
        for (option, value) in [("data-root", "data"), ("exec-root", "exec"), ("pidfile", "pid")] {
            command.arg(format!("--{option}={}", folder.join(value)));
        }
        // It keeps its hands off the firewall, which is the other engine's.
        command.args(["--bridge=none", "--iptables=false", "--host", &host(&folder)]);
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
    }
}

fn host(folder: &Utf8PathBuf) -> String {
    format!("unix://{}", folder.join("socket"))
}

#[tokio::test]
async fn a_town_outlives_an_engine_that_is_killed_and_started_again() {
    let bench = Bench::new();
    let folder = bench.path("engine");
    let mut daemon = Daemon::start(folder.clone()).await;
    let tar = bench.path("image.tar");
    let import =
        ["--host", &host(&folder), "import", "--change", "CMD [\"/site\"]", tar.as_str(), bench.image()];
    docker(&import).unwrap();

    let mut owner = Owner::start(&bench, "data", &[("DOCKER_HOST", &host(&folder))]);
    let before = owner.leases();
    assert!(before.starts_with("leased "), "{before}");
    daemon.kill();
    let daemon = Daemon::start(folder).await;
    let after = owner.leases();
    assert!(after.starts_with("leased "), "{after}");
    let address = after.trim_start_matches("leased ").parse().unwrap();
    assert_eq!(crate::harness::ask(address, "/lines").await.unwrap(), "golden\n");
    owner.finish();
    drop(daemon);
}
