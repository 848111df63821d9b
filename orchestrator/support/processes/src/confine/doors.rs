//! The doors by which programs are started outside, or are typed to: sockets of daemons, screens
//! and terminals. They are hidden as folders where nothing else is in these: a file that covers a
//! socket is gone when its daemon makes that anew.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use rustix::process::geteuid;

use super::{Plan, Shown};

/// Where daemons have their sockets.
pub(super) const RUN: &str = "/run";
/// Daemons that start programs for whoever asks: container engines, systemd, D-Bus; and folders of
/// users and of terminals. They are in [`RUN`].
const IN_RUN: [&str; 13] = [
    "buildkit",
    "containerd",
    "crio",
    "dbus",
    "docker",
    "docker.sock",
    "incus",
    "libvirt",
    "podman",
    "screen",
    "snapd.socket",
    "systemd",
    "user",
];
/// What stays of systemd: how names are looked up, and whether it is there.
const OF_SYSTEMD: [&str; 3] = ["systemd/resolve", "systemd/system", "systemd/userdb"];
/// What stays in [`RUN`] where nothing is there but what programs need: the servers of names, as a
/// file of the system, and programs of NixOS.
const STRICT: [&str; 4] = [
    "systemd/resolve/resolv.conf",
    "systemd/resolve/stub-resolv.conf",
    "current-system",
    "opengl-driver",
];
/// The same elsewhere: container engines, screens, and servers of terminals.
const ELSEWHERE: [&str; 7] = [
    "/var/lib/incus",
    "/var/lib/lxd",
    "/var/snap/lxd/common/lxd",
    "/tmp/.X11-unix",
    "/tmp/.ICE-unix",
    "/tmp/screens",
    "/tmp/uscreens",
];
/// Doors of one user, in the folder that `XDG_RUNTIME_DIR` names.
const IN_RUNTIME: [&str; 6] = ["docker.sock", "docker", "podman", "bus", "systemd", "containerd"];
/// The same in the home.
const IN_HOME: [&str; 3] = [".docker/run", ".docker/desktop", ".screen"];
/// Variables that name a socket as a URL or in an address of D-Bus.
const ADDRESSES: [&str; 3] = ["DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS"];

/// The doors of this machine.
pub(super) fn of_machine() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ELSEWHERE.iter().map(PathBuf::from).collect();
    found.push(RUN.into());
    found
}

/// The doors of this user, by the environment of this process. Programs, and so the first process
/// of their namespaces, have another one.
pub(super) fn of_user() -> Vec<PathBuf> {
    of_user_by(|name| env::var_os(name), geteuid().as_raw())
}

fn of_user_by(get: impl Fn(&str) -> Option<OsString>, user: u32) -> Vec<PathBuf> {
    let path = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let mut found = Vec::new();
    // That of systemd is in a folder that is hidden as a whole.
    if let Some(folder) = path("XDG_RUNTIME_DIR") {
        found.extend(IN_RUNTIME.iter().map(|name| folder.join(name)));
    }
    if let Some(home) = path("HOME") {
        found.extend(IN_HOME.iter().map(|name| home.join(name)));
    }
    let terminals = path("TMUX_TMPDIR").unwrap_or_else(|| "/tmp".into());
    found.push(terminals.join(format!("tmux-{user}")));
    found.push(format!("/tmp/zellij-{user}").into());
    found.extend(path("SCREENDIR"));
    // `SOCKET,PROCESS,SESSION`
    let text = |name: &str| get(name).and_then(|value| value.into_string().ok());
    found.extend(text("TMUX").and_then(|named| Some(PathBuf::from(named.split(',').next()?))));
    // Whoever has the agent may log in to this machine.
    found.extend(path("SSH_AUTH_SOCK"));
    let addresses = ADDRESSES.iter().filter_map(|name| text(name));
    found.extend(addresses.filter_map(|address| {
        let after = |start: &str| address.split_once(start).map(|(_, rest)| rest);
        let path = after("unix://").or_else(|| after("unix:path="))?;
        Some(PathBuf::from(path.split([',', ';']).next()?))
    }));
    found.retain(|path| path.is_absolute());
    found
}

/// What stays in [`RUN`]: without its doors, or in a strict confinement only what the plan names.
pub(super) fn kept(plan: &Plan, is_strict: bool) -> Vec<Shown> {
    let run = Path::new(RUN);
    if is_strict {
        let named = plan.writable.iter().map(|path| (path, true));
        let named = named.chain(plan.readable.iter().map(|path| (path, false)));
        let named = named.filter(|(path, _)| path.starts_with(run) && *path != run);
        let named = named.map(|(path, writable)| Shown { path: path.clone(), writable });
        return STRICT
            .iter()
            .map(|name| Shown { path: run.join(name), writable: false })
            .chain(named)
            .collect();
    }
    let entries = fs::read_dir(run).into_iter().flatten().flatten();
    let is_door = |name: &OsString| IN_RUN.iter().any(|door| name == door);
    let stays = entries.filter(|entry| !is_door(&entry.file_name())).map(|entry| entry.path());
    let of_systemd = OF_SYSTEMD.iter().map(|name| run.join(name));
    stays.chain(of_systemd).map(|path| Shown { path, writable: true }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_of_a_user_are_where_the_environment_says() {
        let get = |name: &str| {
            let value = match name {
                "HOME" => "/home/u",
                "XDG_RUNTIME_DIR" => "/srv/run",
                "TMUX_TMPDIR" => "/srv/t",
                "TMUX" => "/srv/sockets/a,12,0",
                "DOCKER_HOST" => "unix:///srv/d.sock",
                "CONTAINER_HOST" => "tcp://127.0.0.1:2375",
                "DBUS_SESSION_BUS_ADDRESS" => "unix:path=/tmp/dbus-x,guid=1",
                "SSH_AUTH_SOCK" => "relative",
                _ => return None,
            };
            Some(value.into())
        };
        let found = of_user_by(get, 7);
        for door in [
            "/srv/run/bus",
            "/home/u/.docker/run",
            "/srv/t/tmux-7",
            "/srv/sockets/a",
            "/srv/d.sock",
            "/tmp/dbus-x",
        ] {
            assert!(found.contains(&PathBuf::from(door)), "{door}: {found:?}");
        }
        assert!(found.iter().all(|path| path.is_absolute()), "{found:?}");
        assert!(of_user_by(|_| None, 7).contains(&"/tmp/tmux-7".into()));
    }

    #[test]
    fn what_a_strict_plan_names_stays() {
        let plan = Plan {
            readable: vec!["/run/media/u/suite".into(), "/home/u".into()],
            writable: vec!["/run/media/u/out".into()],
            ..Plan::default()
        };
        let kept = kept(&plan, true);
        let stays = |path: &str, writable| kept.contains(&Shown { path: path.into(), writable });
        assert!(stays("/run/media/u/suite", false) && stays("/run/media/u/out", true));
        assert!(!kept.iter().any(|shown| shown.path == Path::new("/home/u")));
    }
}
