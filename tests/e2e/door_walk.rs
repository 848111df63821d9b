//! Walks all sockets on which processes listen, and asks each as another user of the machine.
//!
//! A socket passes if it is out of reach or asks for a secret. TCP is asked by requests in the
//! protocols of all our servers and of what we start. UDP has nothing that could refuse, so there
//! must be none. A Unix socket must have a mode or a folder that keeps others away.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, fs};

use anyhow::{Context as _, Result, ensure};

use crate::harness::text;
use crate::process_tree::descendants;

/// The user that asks: nobody.
const OTHER: &str = "65534";
/// What an answer may be: none, or that a secret is missing.
const SHUT: [&str; 4] = ["000", "401", "403", "407"];

/// Something on which a process listens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Door {
    Tcp(SocketAddr),
    Udp(SocketAddr),
    Unix(String),
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Door::Tcp(at) => write!(f, "TCP {at}"),
            Door::Udp(at) => write!(f, "UDP {at}"),
            Door::Unix(path) => write!(f, "Unix {path}"),
        }
    }
}

/// All doors of a process and of those below it, in the network of this process.
pub(crate) fn doors_of(root: u32) -> Result<BTreeSet<Door>> {
    let mut doors = BTreeSet::new();
    let mut family: Vec<u32> = descendants(root)?.into_iter().map(|process| process.id).collect();
    family.push(root);
    let here = fs::read_link("/proc/self/ns/net")?;
    // The tables of a namespace are read once: there are many processes and few namespaces.
    let mut spaces: BTreeMap<PathBuf, (u32, BTreeSet<String>)> = BTreeMap::new();
    for id in family {
        let Ok(space) = fs::read_link(format!("/proc/{id}/ns/net")) else { continue };
        spaces.entry(space).or_insert((id, BTreeSet::new())).1.extend(sockets_of(id));
    }
    for (space, (id, own)) in spaces {
        let is_here = space == here;
        // A Unix socket with a path has no part in namespaces of the network.
        doors.extend(listed(id, "unix").iter().filter_map(|line| unix_door(line, &own)));
        if is_here {
            for (table, state, door) in [
                ("tcp", "0A", Door::Tcp as fn(SocketAddr) -> Door),
                ("tcp6", "0A", Door::Tcp),
                ("udp", "07", Door::Udp),
                ("udp6", "07", Door::Udp),
            ] {
                let found = listed(id, table);
                doors.extend(
                    found.iter().filter_map(|line| network_door(line, &own, state)).map(door),
                );
            }
        }
    }
    Ok(doors)
}

/// The inodes of the sockets that a process has open.
fn sockets_of(id: u32) -> BTreeSet<String> {
    let open = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    let links = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    links
        .filter_map(|link| {
            Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect()
}

fn listed(id: u32, table: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{id}/net/{table}")).unwrap_or_default();
    text.lines().skip(1).map(str::to_owned).collect()
}

/// A line of proc_net(5): local address, state and inode are the second, fourth and tenth field.
fn network_door(line: &str, own: &BTreeSet<String>, state: &str) -> Option<SocketAddr> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let is_it = *fields.get(3)? == state && own.contains(*fields.get(9)?);
    is_it.then(|| address(fields[1])).flatten()
}

/// An address as the kernel prints it: words of four bytes in the machine's order.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let words =
        (0..ip.len()).step_by(8).map(|at| u32::from_str_radix(ip.get(at..at + 8)?, 16).ok());
    let bytes: Vec<u8> =
        words.collect::<Option<Vec<u32>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    let ip: IpAddr = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(bytes) => Ipv4Addr::from(bytes).into(),
        Err(_) => Ipv6Addr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?).into(),
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// A line of the table of Unix sockets: flags, inode and path are the fourth, seventh and eighth
/// field. The flag says that it listens.
fn unix_door(line: &str, own: &BTreeSet<String>) -> Option<Door> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let is_it = *fields.get(3)? == "00010000" && own.contains(*fields.get(6)?);
    is_it.then(|| Door::Unix(fields.get(7..).unwrap_or_default().join(" ")))
}

/// Fails if another user gets in by one of these doors.
pub(crate) fn are_shut<'a>(doors: impl IntoIterator<Item = &'a Door>) -> Result<()> {
    let open: Vec<String> =
        doors.into_iter().filter_map(|door| opening(door).transpose()).collect::<Result<_>>()?;
    ensure!(open.is_empty(), "another user of the machine gets in:\n{}", open.join("\n"));
    Ok(())
}

/// How another user gets in, if so.
fn opening(door: &Door) -> Result<Option<String>> {
    match door {
        Door::Udp(_) => Ok(Some(format!("{door}: datagrams have no secret"))),
        Door::Unix(path) => {
            Ok((!is_unreachable(Path::new(path)))
                .then(|| format!("{door}: its modes let others in")))
        }
        Door::Tcp(at) => {
            for request in requests(*at) {
                let status = ask(&request)?;
                if !SHUT.contains(&status.as_str()) {
                    return Ok(Some(format!("{door}: {status} for curl {}", request.join(" "))));
                }
            }
            Ok(None)
        }
    }
}

/// Requests that a server of ours, a driver, DevTools or a proxy would answer.
fn requests(at: SocketAddr) -> Vec<Vec<String>> {
    let ip = if at.ip().is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { at.ip() };
    let at = SocketAddr::new(ip, at.port());
    let paths = [
        "/",
        "/tasks",
        "/metrics",
        "/servers",
        "/status",
        "/reset",
        "/v1/models",
        "/v1/usage",
        "/report.html",
        "/run.json",
        "/json/version",
        "/json/list",
        "/sessions",
        "/shutdown",
        "/favicon.ico/..",
        "//",
    ];
    let mut all: Vec<Vec<String>> =
        paths.iter().map(|path| vec![format!("http://{at}{path}")]).collect();
    for (path, body) in
        [("/reset", "{}"), ("/session", r#"{"capabilities":{}}"#), ("/v1/chat/completions", "{}")]
    {
        all.push(
            ["-d", body, "-H", "content-type: application/json", &format!("http://{at}{path}")]
                .map(str::to_owned)
                .into(),
        );
    }
    let proxy = format!("http://{at}");
    all.push(["-x", &proxy, "http://elsewhere.test/"].map(str::to_owned).into());
    all.push(["-x", &proxy, "-k", "https://elsewhere.test/"].map(str::to_owned).into());
    all
}

/// The status that another user gets; of a tunnel, that of the proxy.
fn ask(request: &[String]) -> Result<String> {
    let curl =
        ["curl", "-s", "-o", "/dev/null", "--noproxy", "", "--path-as-is", "--max-time", "10"];
    let told = ["-w", "%{http_code} %{http_connect}"];
    let other = ["setpriv", "--reuid", OTHER, "--regid", OTHER, "--clear-groups", "--"];
    // Without root, nobody else can be played; the secret is asked of everybody alike.
    let before: &[&str] = if rustix::process::geteuid().is_root() { &other } else { &[] };
    let words: Vec<&str> = before
        .iter()
        .copied()
        .chain(curl)
        .chain(told)
        .chain(request.iter().map(String::as_str))
        .collect();
    let output = Command::new(words[0])
        .args(&words[1..])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .output()
        .context("curl and setpriv")?;
    let said = text(&output.stdout);
    let (status, tunnel) =
        said.split_once(' ').with_context(|| format!("{words:?}: {output:?}"))?;
    Ok(if status == "000" { tunnel } else { status }.to_owned())
}

/// Whether its own mode or that of a folder above keeps everybody else away.
fn is_unreachable(path: &Path) -> bool {
    let mode = |path: &Path| path.symlink_metadata().map(|found| found.mode());
    // One that is gone, or has no name, cannot be connected to.
    let Ok(own) = mode(path) else { return !path.to_string_lossy().starts_with('@') };
    let is_shut = |folder: &Path| mode(folder).is_ok_and(|mode| mode & 0o011 == 0);
    own & 0o022 == 0 || path.ancestors().skip(1).any(is_shut)
}

#[test]
fn the_walk_finds_doors_and_tells_open_from_shut() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let tcp = std::net::TcpListener::bind("127.0.0.1:0")?;
    let tcp6 = std::net::TcpListener::bind("[::1]:0").ok();
    let udp = std::net::UdpSocket::bind("127.0.0.1:0")?;
    let path = folder.path().join("a.sock");
    let _unix = std::os::unix::net::UnixListener::bind(&path)?;
    let doors = doors_of(std::process::id())?;
    let named = Door::Unix(path.to_string_lossy().into_owned());
    for door in [Door::Tcp(tcp.local_addr()?), Door::Udp(udp.local_addr()?), named.clone()] {
        ensure!(doors.contains(&door), "{door} is not among {doors:?}");
    }
    if let Some(tcp6) = tcp6 {
        ensure!(doors.contains(&Door::Tcp(tcp6.local_addr()?)));
    }
    are_shut([&named])?;
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666))?;
    ensure!(are_shut([&named]).is_err() && are_shut([&Door::Udp(udp.local_addr()?)]).is_err());
    let answer = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let at = tcp.local_addr()?;
    std::thread::spawn(move || {
        for mut stream in tcp.incoming().flatten() {
            let _ = std::io::Read::read(&mut stream, &mut [0; 1024]);
            let _ = std::io::Write::write_all(&mut stream, answer);
        }
    });
    let error = are_shut([&Door::Tcp(at)]).unwrap_err().to_string();
    ensure!(error.contains(&format!("TCP {at}: 404")), "{error}");
    Ok(())
}
