//! A container engine that is killed and started again, with a group in it: an engine of this
//! test's own, with which the group lives in a network namespace. So does whoever removes all that
//! is on an engine.

use std::process::Command;

use crate::daemon::{Apart, Daemon, host, inside};
use crate::harness::{Bench, docker, wait_for};
use crate::owners::Owner;

#[tokio::test]
async fn a_town_outlives_an_engine_that_is_killed_and_started_again() {
    let bench = Bench::new();
    let (folder, apart) = (bench.path("engine"), Apart::new("engine"));
    let mut daemon = Daemon::start(folder.clone(), &apart.0);
    let tar = bench.path("image.tar");
    let import = [
        "--host",
        &host(&folder),
        "import",
        "--change",
        "CMD [\"/site\"]",
        tar.as_str(),
        bench.image(),
    ];
    docker(&import).unwrap();

    let mut enter = Command::new("nsenter");
    enter.args([&inside(&apart.0), env!("CARGO_BIN_EXE_owner")]).env("DOCKER_HOST", host(&folder));
    let mut owner = Owner::begin(enter, &bench, "data");
    let before = owner.leases();
    assert!(before.starts_with("leased "), "{before}");
    daemon.kill();
    let daemon = Daemon::start(folder, &apart.0);
    // A lease is of an instance that has answered.
    let after = owner.leases();
    assert!(after.starts_with("leased "), "{after}");
    owner.finish();
    drop(daemon);
}

#[tokio::test]
async fn all_that_is_on_an_engine_is_swept_with_the_owners_that_live() {
    let bench = Bench::new();
    let (folder, apart) = (bench.path("engine"), Apart::new("sweep"));
    let daemon = Daemon::start(folder.clone(), &apart.0);
    let ask =
        |arguments: &[&str]| docker(&[&["--host", &host(&folder)], arguments].concat()).unwrap();
    let tar = bench.path("image.tar");
    ask(&["import", "--change", "CMD [\"/site\"]", tar.as_str(), bench.image()]);
    let entered = || {
        let mut enter = Command::new("nsenter");
        enter
            .args([&inside(&apart.0), env!("CARGO_BIN_EXE_owner")])
            .env("DOCKER_HOST", host(&folder));
        enter
    };
    // One is killed and leaves everything behind, the other would start anew what is taken from it.
    let begin = |data| Owner::begin(entered(), &bench, data);
    let (dead, living) = (begin("dead"), begin("living"));
    let count = || ask(&["ps", "--quiet"]).lines().count();
    wait_for("both have an instance and a spare one", || count() == 4).await;
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
