//! Consistency checks between the keys of a manifest.

use super::{Application, Condition, ContainerSpec, DriverSpec, Login, Probe, ResetPolicy, Site};

type Check = Result<(), String>;

pub(super) fn site(site: &Site) -> Check {
    match &site.driver {
        DriverSpec::Docker(container) => {
            sidecars(site, container)?;
            volumes(container)?;
        }
        DriverSpec::External(_) => {
            let policy = matches!(site.reset, ResetPolicy::Never | ResetPolicy::Spare);
            require(policy, || "reset: a site that is not ours cannot be reset".to_owned())?;
        }
        DriverSpec::Embedded(Application::Static(_) | Application::Hosts(_)) => {
            let never = matches!(site.reset, ResetPolicy::Never);
            require(never, || "reset: files do not change, so it is `never`".to_owned())?;
            require(site.probes.is_empty(), || {
                "probes: files have no state to ask for".to_owned()
            })?;
        }
        DriverSpec::Process(_) | DriverSpec::Embedded(_) => {}
    }
    let embedded = matches!(site.driver, DriverSpec::Embedded(_));
    require(!site.hosts.is_empty(), || "hosts: there must be one at least".to_owned())?;
    for host in site.hosts.iter().filter(|host| host.port.is_some()) {
        require(site.driver.container().is_some(), || {
            format!("hosts: `{}` names a port, and only a container has several", host.name)
        })?;
    }
    if site.reset == ResetPolicy::Restore && !embedded {
        let given = !site.state.sqlite.is_empty() || !site.state.trees.is_empty();
        require(given, || {
            "reset: `restore` needs `state`, which says what is put back".to_owned()
        })?;
    }
    for (name, ready) in &site.ready {
        condition(ready).map_err(|wrong| format!("ready.{name}: {wrong}"))?;
    }
    for (name, login) in &site.login {
        require(site.accounts.contains_key(name), || {
            format!("login.{name}: there is no such account")
        })?;
        self::login(login).map_err(|wrong| format!("login.{name}: {wrong}"))?;
    }
    for (name, probe) in &site.probes {
        self::probe(embedded, probe).map_err(|wrong| format!("probes.{name}: {wrong}"))?;
    }
    Ok(())
}

/// Checks the sidecars. Their state is not accessible, so an instance with sidecars cannot be
/// restored.
fn sidecars(site: &Site, container: &ContainerSpec) -> Check {
    let none = container.sidecars.is_empty();
    require(none || site.reset != ResetPolicy::Restore, || {
        "reset: `restore` does not reach `sidecars`; `spare` or `recreate` does".to_owned()
    })?;
    let is_name = |name: &str| {
        let plain =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.chars().all(plain)
    };
    for name in container.sidecars.keys() {
        require(is_name(name), || format!("sidecars.{name}: that is no name of a machine"))?;
        require(*name != site.name && name != "localhost", || {
            format!("sidecars.{name}: that is the application's own name")
        })?;
    }
    Ok(())
}

fn volumes(container: &ContainerSpec) -> Check {
    let own = container.volumes.iter().map(|(path, volume)| ("volumes".to_owned(), path, volume));
    let theirs = container.sidecars.iter().flat_map(|(name, sidecar)| {
        let key = format!("sidecars.{name}.volumes");
        sidecar.volumes.iter().map(move |(path, volume)| (key.clone(), path, volume))
    });
    for (key, path, volume) in own.chain(theirs) {
        require(path.is_absolute() && path != "/", || {
            format!("{key}.{path}: that is no path in a container")
        })?;
        let taken = ["/state", "/clock"].iter().find(|taken| path.starts_with(taken));
        require(taken.is_none(), || {
            format!("{key}.{path}: that is where an instance has its state or its clock")
        })?;
        require(volume.folder.is_some() != volume.scratch.is_some(), || {
            format!("{key}.{path}: one of `folder` and `scratch`")
        })?;
    }
    Ok(())
}

fn condition(condition: &Condition) -> Check {
    require(condition.get.is_some() != condition.exec.is_some(), || {
        "one of `get` and `exec`".to_owned()
    })?;
    let page_only =
        condition.exec.is_some() && (condition.status.is_some() || condition.contains.is_some());
    require(!page_only, || "`status` and `contains` go with `get`".to_owned())
}

fn login(login: &Login) -> Check {
    let ways = [login.form.is_some(), !login.cookie.is_empty(), !login.header.is_empty()];
    require(ways.iter().filter(|way| **way).count() == 1, || {
        "one of `form`, `cookie` and `header`".to_owned()
    })?;
    login.check.as_ref().map_or(Ok(()), condition)
}

fn probe(embedded: bool, probe: &Probe) -> Check {
    let ways = [probe.query.is_some(), probe.get.is_some(), probe.exec.is_some()];
    require(ways.iter().filter(|way| **way).count() == 1, || {
        "one of `query`, `get` and `exec`".to_owned()
    })?;
    let needs_file = probe.query.is_some() && !embedded;
    require(probe.sqlite.is_some() == needs_file, || {
        "`sqlite` names the database of `query`, but for an embedded site".to_owned()
    })
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(otherwise()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use camino::{Utf8Path, Utf8PathBuf};

    use super::super::Site;

    const GOOD: &str = "title: Shop
description: A shop.
driver: docker
image: sandbox/shop:1
port: 8000
hosts: [shop.test]
ready: {front: {get: /}}
accounts: {emma: {username: e, password: p}}
login: {emma: {form: {page: /login, fields: {user: '{username}'}}}}
state: {sqlite: [/state/db]}
reset: restore
probes: {orders: {sqlite: /state/db, query: select 1}}
";

    fn load(text: &str) -> Result<Site, String> {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(keep.path().join("shop")).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("site.yaml"), text).unwrap();
        Site::load(&folder).map_err(|error| error.to_string().replace(folder.as_str(), ""))
    }

    #[test]
    fn every_site_of_ours_is_read() {
        for (town, at_least) in [
            ("", 11),
            ("containers", 1),
            ("webarena", 12),
            ("webarena-verified", 7),
            ("workarena", 1),
        ] {
            let sites = Site::load_all(&Utf8Path::new("../../sites").join(town)).unwrap();
            assert!(sites.len() >= at_least, "{} sites in `{town}`", sites.len());
            for site in &sites {
                crate::state::Layout::of(&site.state).unwrap();
                for probe in site.probes.values() {
                    probe.sqlite.as_deref().map(crate::state::relative).transpose().unwrap();
                }
            }
        }
    }

    #[test]
    fn sidecars_are_read_by_their_older_name_too() {
        let with =
            |lines: &str| load(&GOOD.replace("reset: restore", &format!("reset: spare\n{lines}")));
        let old = with("beside: {db: {image: a}}").unwrap();
        assert_eq!(old.driver, with("sidecars: {db: {image: a}}").unwrap().driver);
        assert!(old.driver.has_sidecars());
        let both = with("beside: {db: {image: a}}\nsidecars: {db: {image: a}}").unwrap_err();
        assert!(
            both.contains("beside: this is the older name of `sidecars`; use one of them"),
            "{both}"
        );
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        assert_eq!(load(GOOD).unwrap().address(), "https://shop.test/");
        let led = load(&GOOD.replace("[shop.test]", "[shop.test, {host: tiles.test, port: 8081}]"))
            .unwrap();
        let hosts = led.hosts.iter().map(|host| (host.name.as_str(), host.port));
        assert_eq!(hosts.collect::<Vec<_>>(), [("shop.test", None), ("tiles.test", Some(8081))]);
        let writable =
            |text: &str| load(text).unwrap().driver.container().is_some_and(|own| own.writable);
        assert!(!writable(GOOD));
        assert!(writable(&GOOD.replace("port: 8000", "port: 8000\nwritable: true")));
        for (from, to, says) in [
            ("port: 8000", "prot: 8000", "/site.yaml:5:1: unknown field `prot`"),
            ("port: 8000\n", "", "`port` is missing"),
            ("hosts: [shop.test]", "hosts: []", "hosts: there must be one"),
            (
                "hosts: [shop.test]",
                "hosts: [{host: a, port: 0x}]",
                "/site.yaml:6:25: hosts[0].port: invalid type",
            ),
            ("hosts: [shop.test]", "hosts: [{host: a}]", "hosts[0]: missing field `port`"),
            ("hosts: [shop.test]", "hosts: [{name: a, port: 1}]", "hosts[0]: unknown field `name`"),
            (
                "docker\nimage: sandbox/shop:1\nport: 8000\nhosts: [shop.test]",
                "process\ncommand: [a]\nhosts: [{host: a, port: 1}]",
                "hosts: `a` names a port, and only a container has several",
            ),
            (
                "driver: docker",
                "driver: podman",
                "/site.yaml:3:9: driver: unknown variant `podman`",
            ),
            ("{get: /}", "{}", "ready.front: one of `get` and `exec`"),
            ("{get: /}", "{exec: [a], status: 200}", "ready.front: `status`"),
            ("login: {emma:", "login: {bob:", "login.bob: there is no such account"),
            (
                "{sqlite: /state/db, query: select 1}",
                "{query: select 1}",
                "probes.orders: `sqlite`",
            ),
            ("state: {sqlite: [/state/db]}\n", "", "reset: `restore` needs `state`"),
            (
                "port: 8000",
                "port: 8000\nsidecars: {db: {}}",
                "/site.yaml:6:16: sidecars.db: missing field `image`",
            ),
            (
                "port: 8000",
                "port: 8000\nsidecars: {db: {image: a, imag: b}}",
                "sidecars.db: unknown field `imag`",
            ),
            (
                "port: 8000",
                "port: 8000\nsidecars: {db: {image: a}}",
                "reset: `restore` does not reach `sidecars`",
            ),
            (
                "reset: restore",
                "reset: spare\nsidecars: {a b: {image: a}}",
                "sidecars.a b: that is no name",
            ),
            (
                "reset: restore",
                "reset: spare\nsidecars: {shop: {image: a}}",
                "sidecars.shop: that is the application's",
            ),
            (
                "port: 8000",
                "port: 8000\nvolumes: {/a: {}}",
                "volumes./a: one of `folder` and `scratch`",
            ),
            (
                "port: 8000",
                "port: 8000\nvolumes: {/a: {folder: b, scratch: 1M}}",
                "volumes./a: one of `folder`",
            ),
            (
                "port: 8000",
                "port: 8000\nvolumes: {a: {folder: b}}",
                "volumes.a: that is no path in a container",
            ),
            (
                "port: 8000",
                "port: 8000\nvolumes: {/state/a: {folder: b}}",
                "where an instance has its state",
            ),
            (
                "port: 8000",
                "port: 8000\nvolumes: {/a: {scratch: much}}",
                "`much` is not a number of bytes",
            ),
            (
                "reset: restore",
                "reset: spare\nsidecars: {db: {image: a, volumes: {/a: {}}}}",
                "sidecars.db.volumes./a: one of",
            ),
            (
                "port: 8000",
                "port: 8000\nauthority: ca.pem",
                "authority: only for a site that is not ours",
            ),
            (
                "port: 8000",
                "port: 8000\nwritable: maybe",
                "/site.yaml:6:11: writable: invalid type",
            ),
            ("port: 8000", "port: 8000\nready_within: soon", "`soon` is not a duration"),
            ("port: 8000", "port: 8000\nlimits: {memory: lots}", "`lots` is not a number of bytes"),
        ] {
            let error = load(&GOOD.replace(from, to)).unwrap_err();
            assert!(error.contains(says), "{to}: {error}");
        }
    }
}
