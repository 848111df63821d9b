//! Whose is what: two towns at once, and what is left of a process that was killed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use crate::harness::{Bench, docker, labelled, page};

pub(crate) struct Owner {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Owner {
    /// A process with a group of its own, which is ready.
    pub(crate) fn start(bench: &Bench, data: &str) -> Owner {
        Owner::begin(Command::new(env!("CARGO_BIN_EXE_owner")), bench, data)
    }

    /// The same by another command, which is given the arguments.
    pub(crate) fn begin(mut command: Command, bench: &Bench, data: &str) -> Owner {
        let mut child = command
            .args([bench.path(data), bench.manifest("reset: spare")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut owner = Owner { child, said };
        assert_eq!(owner.hear(), "ready");
        owner
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// Whether an instance can be had of it.
    pub(crate) fn leases(&mut self) -> String {
        writeln!(self.child.stdin.as_mut().unwrap()).unwrap();
        self.hear()
    }

    /// Lets it stop its group, as it does when nobody speaks to it any more.
    pub(crate) fn finish(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }

    /// Waits until somebody has ended it.
    pub(crate) fn was_ended(mut self) -> bool {
        !self.child.wait().unwrap().success()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn label(&self) -> String {
        format!("sandbox.pid={}", self.child.id())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The interfaces of these networks.
fn bridges(networks: &[String]) -> Vec<String> {
    let name = r#"{{index .Options "com.docker.network.bridge.name"}}"#;
    let ask =
        |network: &String| docker(&["network", "inspect", "--format", name, network]).unwrap();
    networks.iter().map(|network| ask(network).trim().to_owned()).collect()
}

/// The rules of the firewall that name one of these interfaces. Other tests of this process make
/// and remove networks meanwhile, so that theirs tell nothing.
fn rules_on(bridges: &[String]) -> Vec<String> {
    let rules = Command::new("iptables").args(["-w", "-S", "INPUT"]).output().unwrap();
    assert!(rules.status.success(), "{}", String::from_utf8_lossy(&rules.stderr));
    let names = |rule: &str| bridges.iter().any(|bridge| rule.contains(&format!("-i {bridge} ")));
    String::from_utf8_lossy(&rules.stdout)
        .lines()
        .filter(|rule| names(rule))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn a_killed_owner_is_swept_up_and_living_ones_are_left_alone() {
    let bench = Bench::new();
    let mut living = Owner::start(&bench, "data");
    let (dead, bridges) = {
        let killed = Owner::start(&bench, "data");
        let label = killed.label();
        assert!(
            !labelled("container", &label).is_empty() && !labelled("network", &label).is_empty()
        );
        let bridges = bridges(&labelled("network", &label));
        assert_eq!(
            rules_on(&bridges).len(),
            bridges.len(),
            "each of its networks has a rule: {bridges:?}"
        );
        // The child is killed with SIGKILL, and has no chance to clear up.
        (label, bridges)
    };
    assert!(!labelled("container", &dead).is_empty(), "what it left is there");
    let folders = bench.path("data/copies");
    assert_eq!(folders.read_dir_utf8().unwrap().count(), 2);

    // The next group clears up.
    let running = bench.group("reset: spare", 1).await;
    assert_eq!(labelled("container", &dead), [] as [&str; 0]);
    assert_eq!(labelled("network", &dead), [] as [&str; 0]);
    assert_eq!(
        folders.read_dir_utf8().unwrap().count(),
        1,
        "the living one's; ours is made with its first copy"
    );
    assert_eq!(rules_on(&bridges), [] as [String; 0]);
    assert!(living.leases().starts_with("leased "));
    assert_eq!(page(&running.lease().await, "/lines").await, "golden\n");

    // Stopping one leaves the other alone.
    running.group.stop().await.unwrap();
    assert!(labelled("container", &living.label()).len() >= 2);
    assert!(living.leases().starts_with("leased "));
}

#[tokio::test]
async fn two_towns_of_one_process_are_apart() {
    let bench = Bench::new();
    let (a, b) = (bench.group("reset: restore", 1).await, bench.group("reset: restore", 1).await);
    let (one, other) = (a.lease().await, b.lease().await);
    assert_ne!(one.upstream(), other.upstream());
    page(&one, "/add?x").await;
    assert_eq!(page(&other, "/lines").await, "golden\n");
    a.group.stop().await.unwrap();
    assert_eq!(page(&other, "/lines").await, "golden\n");
    assert_eq!(one.health().unwrap_err().to_string(), "use small: it has been stopped");
    b.group.stop().await.unwrap();
}
