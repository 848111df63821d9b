//! What of a manifest must make sense together.

use super::{Condition, DriverKind, Login, Probe, ResetPolicy, Site};

type Check = Result<(), String>;

pub(super) fn site(site: &Site) -> Check {
    let needs = |key: &str, given: bool| require(given, || format!("`{key}` is missing: the driver needs it"));
    match site.driver {
        DriverKind::Docker => {
            needs("image", site.image.is_some())?;
            needs("port", site.port.is_some())?;
        }
        DriverKind::Process => needs("command", !site.command.is_empty())?,
        DriverKind::Embedded => needs("embedded", site.embedded.is_some())?,
        DriverKind::External => {
            needs("url", site.url.is_some())?;
            let policy = matches!(site.reset, ResetPolicy::Never | ResetPolicy::Spare);
            require(policy, || "reset: a site that is not ours cannot be reset".to_owned())?;
        }
    }
    require(!site.hosts.is_empty(), || "hosts: there must be one at least".to_owned())?;
    if site.reset == ResetPolicy::Restore && site.driver != DriverKind::Embedded {
        let given = !site.state.sqlite.is_empty() || !site.state.trees.is_empty();
        require(given, || "reset: `restore` needs `state`, which says what is put back".to_owned())?;
    }
    for (name, ready) in &site.ready {
        condition(ready).map_err(|wrong| format!("ready.{name}: {wrong}"))?;
    }
    for (name, login) in &site.login {
        require(site.accounts.contains_key(name), || format!("login.{name}: there is no such account"))?;
        self::login(login).map_err(|wrong| format!("login.{name}: {wrong}"))?;
    }
    for (name, probe) in &site.probes {
        self::probe(probe).map_err(|wrong| format!("probes.{name}: {wrong}"))?;
    }
    Ok(())
}

fn condition(condition: &Condition) -> Check {
    require(condition.get.is_some() != condition.exec.is_some(), || "one of `get` and `exec`".to_owned())?;
    let page_only = condition.exec.is_some() && (condition.status.is_some() || condition.contains.is_some());
    require(!page_only, || "`status` and `contains` go with `get`".to_owned())
}

fn login(login: &Login) -> Check {
    let ways = [login.form.is_some(), !login.cookie.is_empty(), !login.header.is_empty()];
    require(ways.iter().filter(|way| **way).count() == 1, || "one of `form`, `cookie` and `header`".to_owned())?;
    login.check.as_ref().map_or(Ok(()), condition)
}

fn probe(probe: &Probe) -> Check {
    let ways = [probe.sqlite.is_some(), probe.get.is_some(), probe.exec.is_some()];
    require(ways.iter().filter(|way| **way).count() == 1, || "one of `sqlite`, `get` and `exec`".to_owned())?;
    require(probe.sqlite.is_some() == probe.query.is_some(), || "`sqlite` and `query` go together".to_owned())
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(otherwise()) }
}
