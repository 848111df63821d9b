//! What a site in a container can reach: nothing. Each thing that it must not reach is reached from
//! an ordinary container first, so that the proof is not that there was nothing to reach.

use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};

use sites::SiteTarget;

use crate::harness::{Bench, ask, docker, page};

/// A machine's own address on a network, as the containers of that network see it.
fn gateway(network: &str) -> String {
    let config = "{{with index .IPAM.Config 0}}{{or .Gateway .Subnet}}{{end}}";
    let address = docker(&["network", "inspect", "--format", config, network]).unwrap();
    // An engine that was started for the first time names no gateway for its own network: it is the
    // first address there is.
    address.strip_suffix(".0/16").map_or(address.clone(), |net| format!("{net}.1"))
}

/// Another machine, which only packets that are passed on can reach: a network namespace with a
/// small site in it.
struct Outside {
    name: String,
    site: Child,
}

impl Outside {
    fn new(bench: &Bench) -> Outside {
        let name = format!("small{}", std::process::id());
        let (here, there) = (format!("{name}a"), format!("{name}b"));
        ip(&["netns", "add", &name]);
        ip(&["link", "add", &here, "type", "veth", "peer", "name", &there]);
        ip(&["link", "set", &there, "netns", &name]);
        ip(&["address", "add", "198.51.100.2/30", "dev", &here]);
        ip(&["link", "set", &here, "up"]);
        ip(&["netns", "exec", &name, "ip", "address", "add", "198.51.100.1/30", "dev", &there]);
        ip(&["netns", "exec", &name, "ip", "link", "set", &there, "up"]);
        ip(&["netns", "exec", &name, "ip", "route", "add", "default", "via", "198.51.100.2"]);
        let mut site = Command::new("ip");
        site.args(["netns", "exec", &name, env!("CARGO_BIN_EXE_small-site"), "8000"]);
        let site = site.arg(bench.path("outside")).stdout(Stdio::null()).spawn().unwrap();
        let outside = Outside { name, site };
        let deadline = std::time::Instant::now() + crate::harness::SOON;
        while std::net::TcpStream::connect(outside.address()).is_err() {
            assert!(std::time::Instant::now() < deadline, "the outside does not answer");
            std::thread::park_timeout(std::time::Duration::from_millis(10));
        }
        outside
    }

    fn address(&self) -> &'static str {
        "198.51.100.1:8000"
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.site.kill();
        let _ = self.site.wait();
        // Its end of the cable goes with it.
        let _ = Command::new("ip").args(["netns", "delete", &self.name]).status();
    }
}

/// Runs iproute2.
fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output();
    let output = output.expect("`ip` is missing: install iproute2");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments:?} (needs root): {said}");
}

#[tokio::test]
async fn nothing_can_be_reached_from_a_site() {
    let bench = Bench::new();
    // Services of this machine: on all addresses, on loopback alone, and one that answers
    // datagrams.
    let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = everywhere.local_addr().unwrap().port();
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    let inside = inside.local_addr().unwrap().port();
    let echo = UdpSocket::bind("0.0.0.0:0").unwrap();
    let datagrams = echo.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut held = [0; 64];
        while let Ok((length, from)) = echo.recv_from(&mut held) {
            let _ = echo.send_to(&held[..length], from);
        }
    });

    let running = bench.group("reset: spare\nlimits: {memory: 64M}", 1).await;
    let (a, b) = (running.lease().await, running.lease().await);
    let networks =
        docker(&["network", "ls", "--filter", "label=sandbox.instance", "--format", "{{.Name}}"])
            .unwrap();
    // Other tests have networks of their own meanwhile, which come and go.
    let SiteTarget::Address(mine) = a.upstream() else { panic!("an address") };
    let format = "{{range .Containers}}{{.IPv4Address}} {{end}}";
    let holds_mine = |network: &&str| {
        docker(&["network", "inspect", "--format", format, network]).is_ok_and(|held| {
            held.split(' ').any(|address| address.split('/').next() == Some(&mine.ip().to_string()))
        })
    };
    let network = networks.lines().find(holds_mine).unwrap().to_owned();

    // An ordinary container reaches this machine, in both ways.
    let other =
        docker(&["run", "--detach", "--rm", "--label", "small-site.control", bench.image()])
            .unwrap();
    let format = "{{.NetworkSettings.IPAddress}}:8000";
    let ordinary: SocketAddr =
        docker(&["inspect", "--format", format, &other]).unwrap().parse().unwrap();
    crate::harness::wait_for("the ordinary container answers", || {
        std::net::TcpStream::connect(ordinary).is_ok()
    })
    .await;
    let bridge = gateway("bridge");
    let outside = Outside::new(&bench);
    let mut control = Vec::new();
    for target in [
        format!("/tcp?{bridge}:{port}"),
        format!("/udp?{bridge}:{datagrams}"),
        format!("/tcp?{}", outside.address()),
    ] {
        control.push(ask(ordinary, &target).await.unwrap());
    }
    docker(&["rm", "--force", &other]).unwrap();
    assert_eq!(control, ["reached", "reached", "reached"]);

    let own = gateway(&network);
    let resolving = std::time::Instant::now();
    assert!(page(&a, "/name?deb.debian.org").await.starts_with("error: "));
    assert!(resolving.elapsed() < std::time::Duration::from_secs(1), "{:?}", resolving.elapsed());
    let SiteTarget::Address(neighbour) = b.upstream() else { panic!("an address") };
    for target in [
        format!("/tcp?{own}:{port}"),
        format!("/tcp?{own}:{inside}"),
        format!("/tcp?{bridge}:{port}"),
        format!("/udp?{own}:{datagrams}"),
        format!("/udp?{bridge}:{datagrams}"),
        format!("/tcp?{neighbour}"),
        format!("/tcp?{ordinary}"),
        format!("/tcp?{}", outside.address()),
        "/name?deb.debian.org".to_owned(),
        "/name?example.org".to_owned(),
    ] {
        let answer = page(&a, &target).await;
        assert!(answer.starts_with("error: "), "{target}: {answer}");
    }
    // While we reach it, and it itself.
    assert_eq!(page(&a, "/tcp?127.0.0.1:8000").await, "reached");
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_site_has_no_rights_and_writes_nothing_but_its_state() {
    let bench = Bench::new();
    let running = bench.group("reset: spare", 1).await;
    let lease = running.lease().await;
    let status = page(&lease, "/file?/proc/self/status").await;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(field(set), "0000000000000000", "{set}");
    }
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_ne!(field("Uid:"), "0");
    for path in ["/site", "/new", "/clock/now", "/etc/hosts", "/proc/sys/kernel/hostname"] {
        let answer = page(&lease, &format!("/write?{path}")).await;
        assert!(answer.starts_with("error: "), "{path}: {answer}");
    }
    for path in ["/state/new", "/tmp/new", "/run/new"] {
        assert_eq!(page(&lease, &format!("/write?{path}")).await, "written", "{path}");
    }
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_site_makes_no_name_space_and_no_socket_that_it_does_not_need() {
    const NEW_USER: u32 = 0x1000_0000;
    const NEW_NETWORK: u32 = 0x4000_0000;
    let bench = Bench::new();
    for writable in [false, true] {
        let running = bench.group(&format!("reset: spare\nwritable: {writable}"), 1).await;
        let lease = running.lease().await;
        for (family, number) in [("UNIX", 1), ("INET", 2), ("INET6", 10), ("NETLINK", 16)] {
            let answer = page(&lease, &format!("/socket?{number}")).await;
            assert!(answer == "made" || family == "INET6", "{family}: {answer}");
        }
        for (family, number) in
            [("VSOCK", 40), ("ALG", 38), ("PACKET", 17), ("KEY", 15), ("TIPC", 30)]
        {
            let answer = page(&lease, &format!("/socket?{number}")).await;
            assert!(answer.contains("not permitted"), "{family}: {answer}");
        }
        for flag in [NEW_USER, NEW_NETWORK] {
            let answer = page(&lease, &format!("/unshare?{flag}")).await;
            assert!(answer.contains("not permitted"), "{answer}");
        }
        running.group.stop().await.unwrap();
    }
}

#[tokio::test]
async fn an_image_that_is_not_ours_may_write_to_itself_where_the_manifest_says_so() {
    let bench = Bench::new();
    let running = bench.group("reset: spare\nwritable: true", 1).await;
    let lease = running.lease().await;
    assert_eq!(page(&lease, "/write?/new").await, "written");
    let status = page(&lease, "/file?/proc/self/status").await;
    let user = status.lines().find(|line| line.starts_with("Uid:")).unwrap();
    assert_eq!(user.split_whitespace().nth(1), Some("0"), "the image's own user");
    assert!(page(&lease, "/write?/clock/now").await.starts_with("error: "));
    running.group.stop().await.unwrap();
}
