//! Instances with sidecars: each application reaches its own, and nobody else does.

use std::net::{SocketAddr, TcpListener};

use sites::{Lease, SiteTarget};

use crate::harness::{Bench, Running, SOON, ask, docker, labelled, page, wait_for};

/// A site with a sidecar, which it knows as `store`.
async fn pair(bench: &Bench, instances: usize) -> Running {
    let store = format!(
        "{{image: '{}', command: [/site, '8000', /tmp/state], limits: {{memory: 40M}}}}",
        bench.image()
    );
    bench.group(&format!("reset: spare\nsidecars: {{store: {store}}}"), instances).await
}

/// What the engine tells of the sidecar of a lease.
fn of_sidecar(lease: &Lease, format: &str) -> String {
    let instance = format!("label=sandbox.copy={}", lease.instance());
    let owner = format!("label=sandbox.pid={}", std::process::id());
    let filters = ["--filter", &instance, "--filter", &owner, "--filter", "name=-store$"];
    let names = docker(&[&["ps", "--format", "{{.Names}}"], &filters[..]].concat()).unwrap();
    // Towns of other tests in this process have instances of the same number, at other addresses.
    let SiteTarget::Address(own) = lease.upstream() else { panic!("an address") };
    let shares = |name: &&str| {
        let networks = "{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}";
        let network = docker(&["inspect", "--format", networks, name]).unwrap_or_default();
        let inside = "{{range .Containers}}{{.IPv4Address}} {{end}}";
        docker(&["network", "inspect", "--format", inside, &network]).is_ok_and(|held| {
            held.split(' ').any(|at| at.split('/').next() == Some(&own.ip().to_string()))
        })
    };
    let name = names.lines().find(shares).expect("its sidecar");
    docker(&["inspect", "--format", format, name]).unwrap()
}

fn address(lease: &Lease) -> SocketAddr {
    let ip = of_sidecar(lease, "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");
    format!("{ip}:8000").parse().unwrap()
}

#[tokio::test]
async fn an_application_finds_what_stands_beside_it_and_no_other_copy_does() {
    let bench = Bench::new();
    let running = pair(&bench, 1).await;
    let (a, b) = (running.lease().await, running.lease().await);
    let stores = (address(&a), address(&b));
    assert_ne!(stores.0, stores.1);
    for lease in [&a, &b] {
        assert_eq!(page(lease, "/name?store").await, "found 1");
        assert_eq!(page(lease, "/tcp?store:8000").await, "reached");
        assert_eq!(page(lease, "/tcp?small:8000").await, "reached", "itself");
    }
    assert_eq!(ask(stores.0, "/tcp?small:8000").await.unwrap(), "reached", "they know each other");

    let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = everywhere.local_addr().unwrap().port();
    let machine = of_sidecar(&a, "{{range .NetworkSettings.Networks}}{{.NetworkID}}{{end}}");
    let machine =
        docker(&["network", "inspect", "--format", "{{(index .IPAM.Config 0).Gateway}}", &machine])
            .unwrap();
    let SiteTarget::Address(other) = b.upstream() else { panic!("an address") };
    let forbidden = [
        format!("/tcp?{}", stores.1),
        format!("/tcp?{other}"),
        format!("/tcp?{machine}:{port}"),
        "/name?deb.debian.org".to_owned(),
    ];
    for target in forbidden {
        let answer = page(&a, &target).await;
        assert!(answer.starts_with("error: "), "{target}: {answer}");
        let answer = ask(stores.0, &target).await.unwrap();
        assert!(answer.starts_with("error: "), "{target} from the sidecar: {answer}");
    }
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn what_stands_beside_counts_in_logs_and_limits_and_goes_with_its_copy() {
    let bench = Bench::new();
    let running = pair(&bench, 1).await;
    running.group.ready(SOON).await.unwrap();
    let lease = running.lease().await;
    assert_eq!(
        of_sidecar(&lease, "{{.HostConfig.Memory}} {{.HostConfig.ReadonlyRootfs}}"),
        "41943040 true"
    );
    let instance = of_sidecar(&lease, "{{index .Config.Labels \"sandbox.instance\"}}");
    let label = format!("sandbox.instance={instance}");
    let logs = running.group.logs("small", 10).await.unwrap();
    let (_, lines) = logs.iter().find(|(instance, _)| *instance == lease.instance()).unwrap();
    assert_eq!(lines, &["a small site begins", "store: a small site begins"]);

    // It ends, and its instance with it.
    let store = address(&lease);
    let _ = ask(store, "/end?7").await;
    let error = tokio::time::timeout(SOON, lease.ended()).await.unwrap().to_string();
    assert!(
        error.contains("lost its `store`, which ended with exit code 7; its last words:"),
        "{error}"
    );
    assert!(error.contains("store: told to end"), "{error}");
    lease.hand_back(true).await;
    let next = running.lease().await;
    assert_eq!(page(&next, "/tcp?store:8000").await, "reached");
    // A network for the group, and one for each of its two instances of two containers.
    wait_for("the used instance is gone", || {
        labelled("container", &label).len() == 4 && labelled("network", &label).len() == 3
    })
    .await;
    running.group.stop().await.unwrap();
    assert_eq!(labelled("container", &label), [] as [&str; 0]);
    assert_eq!(labelled("network", &label), [] as [&str; 0]);
}

#[tokio::test]
async fn an_image_beside_that_is_not_there_is_told_at_once() {
    let bench = Bench::new();
    let running =
        bench.group("reset: spare\nsidecars: {store: {image: 'sandbox/nonesuch:1'}}", 1).await;
    let error = running.group.ready(SOON).await.unwrap_err().to_string();
    assert!(error.contains("there is no image sandbox/nonesuch:1"), "{error}");
    running.group.stop().await.unwrap();
}
