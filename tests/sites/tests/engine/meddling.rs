//! What somebody else does to containers of ours: an instance is as it was started, or it is none
//! any more and is replaced.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use sites::{Event, Lease, SiteTarget};

use crate::harness::{Bench, SOON, docker, labelled, page};
use crate::life::container_of;

fn address(lease: &Lease) -> SocketAddr {
    let SiteTarget::Address(address) = lease.upstream() else { panic!("an address") };
    address
}

#[tokio::test]
async fn a_copy_that_somebody_else_meddles_with_has_ended_and_another_takes_its_place() {
    let bench = Bench::new();
    let running = bench.group("reset: spare", 1).await;
    let mut label = String::new();
    for (deed, ending) in [
        (&["rm", "--force"][..], "was removed by somebody else"),
        (&["kill"], "was killed"),
        (&["stop", "--time", "0"], "was killed"),
        // Seen while it is down or when it is up again.
        (&["restart", "--time", "0"], "was "),
        (&["pause"], "was paused by somebody else"),
        (&["network", "disconnect"], "was taken off its network by somebody else"),
    ] {
        let lease = running.lease().await;
        let container = container_of(&lease);
        let inspected = |format| docker(&["inspect", "--format", format, &container]).unwrap();
        label = format!(
            "sandbox.instance={}",
            inspected("{{index .Config.Labels \"sandbox.instance\"}}")
        );
        let network = inspected("{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}");
        let on: &[&str] =
            if deed[0] == "network" { &[&network, &container] } else { &[&container] };
        docker(&[deed, on].concat()).unwrap();
        let error =
            tokio::time::timeout(SOON, lease.ended()).await.expect("it is told").to_string();
        let message = format!("keep small running: instance {} {ending}", lease.instance());
        assert!(error.starts_with(&message), "{deed:?}: {error}");
        assert!(lease.health().is_err());
        lease.hand_back(true).await;
        let next = running.lease().await;
        assert_eq!(page(&next, "/lines").await, "golden\n", "{deed:?}");
        next.hand_back(true).await;
    }
    running.group.reset("small").await.unwrap();
    let given_up = |event: &Event| matches!(event, Event::Failed { given_up: true, .. });
    assert!(
        !running.events().iter().any(given_up),
        "what others do does not speak against the site"
    );
    running.group.stop().await.unwrap();
    assert_eq!(labelled("container", &label), [] as [&str; 0]);
    assert_eq!(labelled("network", &label), [] as [&str; 0]);
}

#[tokio::test]
async fn a_spare_copy_that_is_dead_is_not_leased() {
    let bench = Bench::new();
    let running = bench.group("reset: spare", 1).await;
    for deed in [&["kill"][..], &["pause"], &["rm", "--force"]] {
        for _ in 0..4 {
            running.group.reset("small").await.unwrap();
            let site = "label=sandbox.site=small";
            let owner = format!("label=sandbox.pid={}", std::process::id());
            let image = format!("ancestor={}", bench.image());
            let filters = ["--filter", site, "--filter", &owner, "--filter", &image];
            let all = docker(&[&["ps", "--quiet"][..], &filters].concat()).unwrap();
            let all: Vec<&str> = all.lines().collect();
            docker(&[deed, &all].concat()).unwrap();
            // Nobody has had a moment yet to be told.
            let lease = running.lease().await;
            assert_eq!(page(&lease, "/lines").await, "golden\n", "{deed:?}");
            lease.check().await.unwrap();
        }
    }
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn an_address_is_given_to_one_copy_alone() {
    let bench = Bench::new();
    let store = format!("{{image: '{}', command: [/site, '8000', /tmp/state]}}", bench.image());
    for lines in ["reset: spare".to_owned(), format!("reset: spare\nbeside: {{store: {store}}}")] {
        let running = bench.group(&lines, 1).await;
        let mut given = BTreeSet::new();
        for _ in 0..4 {
            let lease = running.lease().await;
            assert!(
                given.insert(address(&lease)),
                "{} was somebody else's before",
                lease.upstream()
            );
            lease.hand_back(true).await;
        }
        let lease = running.lease().await;
        let networks = "{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}";
        let network = docker(&["inspect", "--format", networks, &container_of(&lease)]).unwrap();
        // A container that is not ours comes to the network, while an instance is gone.
        docker(&["rm", "--force", &container_of(&lease)]).unwrap();
        let options =
            ["run", "--detach", "--rm", "--label", "small-site.control", "--network", &network];
        let other = docker(&[&options[..], &[bench.image()]].concat());
        if let Ok(other) = &other {
            let at = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
            let at = docker(&["inspect", "--format", at, other]);
            docker(&["rm", "--force", other]).unwrap();
            assert!(
                !given.iter().any(|given| Ok(given.ip().to_string()) == at),
                "{at:?} of {given:?}"
            );
        }
        running.group.stop().await.unwrap();
    }
}

#[tokio::test]
async fn what_is_left_in_a_network_by_somebody_else_keeps_it_from_nobody() {
    let bench = Bench::new();
    let running = bench.group("reset: spare", 1).await;
    let lease = running.lease().await;
    let networks = "{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}";
    let network = docker(&["inspect", "--format", networks, &container_of(&lease)]).unwrap();
    let options = ["run", "--detach", "--label", "small-site.control", "--network", &network];
    let other = docker(&[&options[..], &[bench.image()]].concat()).unwrap();
    drop(lease);
    let stopped = running.group.stop().await;
    docker(&["rm", "--force", &other]).unwrap();
    stopped.unwrap();
    assert!(docker(&["network", "inspect", &network]).is_err());
}
