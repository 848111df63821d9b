//! Sites whose containers have no network, as Podman's: what they reach, and what leads to them.
//! Run by `make test-podman`, where Podman is the engine; on Docker there are no relays.

use std::net::{TcpListener, UdpSocket};

use sites::{Event, Lease, SiteTarget};

use crate::harness::{Bench, Running, ask, docker, labelled, page, wait_for};
use crate::owners::Owner;

/// The address of this machine by which others would reach it; loopback if it has no other.
fn own_address() -> std::net::IpAddr {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Nothing is sent: that only selects a route.
    match socket.connect("198.51.100.1:9") {
        Ok(()) => socket.local_addr().unwrap().ip(),
        Err(_) => std::net::Ipv4Addr::LOCALHOST.into(),
    }
}

/// Nothing of a lease listens on this machine's network.
fn socket(lease: &Lease) -> String {
    let SiteTarget::Socket(path) = lease.upstream() else { panic!("a socket") };
    path.into_string()
}

/// The ids of the processes that this one has started as relays.
fn relays(parent: u32) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_relay = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut fields =
            stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace();
        let (state, of) = (fields.next(), fields.next());
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        state != Some("Z")
            && of == Some(&parent.to_string())
            && command.split(|byte| *byte == 0).nth(1) == Some(sites::relay::COMMAND.as_bytes())
    };
    pids.filter(is_relay).collect()
}

#[tokio::test]
#[ignore = "needs Podman: make test-podman"]
async fn a_container_without_network_reaches_nothing() {
    let bench = Bench::new();
    // Services of this machine: on all addresses, on loopback alone, and one that answers
    // datagrams.
    let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = everywhere.local_addr().unwrap().port();
    let inside = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let echo = UdpSocket::bind("0.0.0.0:0").unwrap();
    let datagrams = echo.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut held = [0; 64];
        while let Ok((length, from)) = echo.recv_from(&mut held) {
            let _ = echo.send_to(&held[..length], from);
        }
    });
    let machine = own_address();

    // A container that shares the machine's network reaches them.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let listen = free.port().to_string();
    let options = ["run", "--detach", "--rm", "--network", "host", "--label", "small-site.control"];
    let other =
        docker(&[&options[..], &[bench.image(), "/site", &listen, "/tmp/state"]].concat()).unwrap();
    wait_for("the ordinary container answers", || std::net::TcpStream::connect(free).is_ok()).await;
    let mut control = Vec::new();
    for target in [format!("/tcp?{machine}:{port}"), format!("/udp?{machine}:{datagrams}")] {
        control.push(ask(free, &target).await.unwrap());
    }
    docker(&["rm", "--force", &other]).unwrap();
    assert_eq!(control, ["reached", "reached"]);

    let running = bench.group("reset: spare\nlimits: {memory: 64M}", 1).await;
    let (a, b) = (running.lease().await, running.lease().await);
    let interfaces = page(&a, "/file?/proc/net/dev").await;
    let interfaces: Vec<&str> = interfaces
        .lines()
        .skip(2)
        .filter_map(|line| line.split(':').next())
        .map(str::trim)
        .collect();
    assert_eq!(interfaces, ["lo"]);
    assert_eq!(page(&a, "/file?/proc/net/route").await.lines().count(), 1, "a head, and no route");
    assert_ne!(socket(&a), socket(&b));
    for target in [
        format!("/tcp?{machine}:{port}"),
        format!("/tcp?127.0.0.1:{port}"),
        format!("/tcp?127.0.0.1:{inside}"),
        format!("/udp?{machine}:{datagrams}"),
        format!("/udp?127.0.0.1:{datagrams}"),
        "/name?deb.debian.org".to_owned(),
        "/name?example.org".to_owned(),
    ] {
        let answer = page(&a, &target).await;
        assert!(answer.starts_with("error: "), "{target}: {answer}");
    }
    for target in
        ["/tcp?198.51.100.1:80", "/tcp?10.0.2.2:22", "/udp?10.0.2.3:53", "/udp?198.51.100.1:53"]
    {
        let answer = page(&a, target).await;
        assert!(answer.contains("unreachable"), "{target}: {answer}");
    }
    // While we reach it, and it itself.
    assert_eq!(page(&a, "/tcp?127.0.0.1:8000").await, "reached");
    running.group.stop().await.unwrap();
}

/// A site with a sidecar, which it knows as `store`.
async fn pair(bench: &Bench) -> Running {
    let store = format!("{{image: '{}', command: [/site, '8001', /tmp/state]}}", bench.image());
    bench.group(&format!("reset: spare\nsidecars: {{store: {store}}}"), 1).await
}

#[tokio::test]
#[ignore = "needs Podman: make test-podman"]
async fn containers_of_one_instance_share_their_loopback_and_nothing_with_others() {
    let bench = Bench::new();
    let running = pair(&bench).await;
    let (a, b) = (running.lease().await, running.lease().await);
    for lease in [&a, &b] {
        assert_eq!(page(lease, "/tcp?store:8001").await, "reached");
        assert_eq!(page(lease, "/tcp?small:8000").await, "reached", "itself");
        assert!(!socket(lease).is_empty());
        assert_eq!(page(lease, "/file?/proc/net/route").await.lines().count(), 1);
    }
    assert_eq!(page(&a, "/add?x").await, "added");
    assert_eq!(page(&b, "/lines").await, "golden\n");
    running.group.stop().await.unwrap();
}

#[tokio::test]
#[ignore = "needs Podman: make test-podman"]
async fn a_container_that_ends_at_once_is_told_with_its_exit_code() {
    let bench = Bench::new();
    // Both listen on one port, which the containers of an instance share.
    let store = format!("{{image: '{}', command: [/site, '8000', /tmp/state]}}", bench.image());
    let running = bench.group(&format!("reset: spare\nsidecars: {{store: {store}}}"), 1).await;
    let error = running.group.ready(crate::harness::SOON).await.unwrap_err().to_string();
    assert!(error.contains("exit code 1"), "{error}");
    running.group.stop().await.unwrap();
}

#[tokio::test]
#[ignore = "needs Podman: make test-podman"]
async fn an_instance_whose_relay_dies_is_replaced() {
    let bench = Bench::new();
    let before = relays(std::process::id());
    let running = bench.group("reset: spare", 1).await;
    let lease = running.lease().await;
    running.group.ready(crate::harness::SOON).await.unwrap();
    let own: Vec<i32> =
        relays(std::process::id()).into_iter().filter(|pid| !before.contains(pid)).collect();
    assert!(!own.is_empty());
    for pid in own {
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    let error =
        tokio::time::timeout(crate::harness::SOON, lease.ended()).await.unwrap().to_string();
    assert!(error.contains("lost the process that leads to it"), "{error}");
    running
        .hears("the end is told", |event| matches!(event, Event::Failed { given_up: false, .. }))
        .await;
    lease.hand_back(true).await;
    let next = running.lease().await;
    assert_eq!(page(&next, "/lines").await, "golden\n");
    running.group.stop().await.unwrap();
}

#[tokio::test]
#[ignore = "needs Podman: make test-podman"]
async fn relays_end_with_a_killed_owner_whose_containers_the_next_group_removes() {
    let bench = Bench::new();
    let (label, left) = {
        let killed = Owner::start(&bench, "data");
        let left = relays(killed.pid());
        assert!(!left.is_empty());
        (killed.label(), left)
    };
    wait_for("the relays have ended", || {
        left.iter().all(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'))
        })
    })
    .await;
    assert!(!labelled("container", &label).is_empty(), "what it left is there");
    let running = bench.group("reset: spare", 1).await;
    assert_eq!(labelled("container", &label), [] as [&str; 0]);
    assert_eq!(page(&running.lease().await, "/lines").await, "golden\n");
    running.group.stop().await.unwrap();
}
