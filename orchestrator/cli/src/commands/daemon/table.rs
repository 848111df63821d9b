//! The daemon's status as text.

use daemon::{DaemonStatus, DirectAddress};
use sites::SiteStatus;

use crate::failure::ENGINE_CURE;
use crate::terminal::out;

/// A line for each site, and where the daemon is reached. No line is longer than `columns`, but for
/// what went wrong, which is told in full.
pub(super) fn of(status: &DaemonStatus, columns: usize) -> String {
    let widest = status.sites.iter().map(|site| site.name.len()).max().unwrap_or(0).max(4);
    let heading = format!("{:widest$}  state     memory  spare  reset   address", "site");
    let mut lines = vec![cut(&heading, columns)];
    for site in &status.sites {
        lines.push(cut(&line(site, widest), columns));
        if let Some(problem) = site.problem.as_ref().filter(|_| !site.is_up()) {
            lines.extend(problem.lines().map(|text| format!("{:widest$}  {text}", "")));
        }
        if site.drifts > 0 {
            lines.push(format!(
                "{:widest$}  failed to reset {} times; its instances were replaced",
                "", site.drifts
            ));
        }
    }
    lines.push(String::new());
    if let Some(problem) = &status.engine {
        lines.push(format!("failed to {problem}; {}", ENGINE_CURE));
        lines.push(String::new());
    }
    lines.push(format!("proxy        {}", status.proxy));
    lines.push(format!("full reset   {}/reset", status.reset));
    lines.extend(status.certificate.iter().map(|path| format!("certificate  {path}")));
    for own in status.direct.iter().filter(|own| own.is_up) {
        lines.push(format!(
            "\n{}, for programs of yours that are told where ServiceNow is:",
            own.instance
        ));
        lines.extend(variables(own));
    }
    lines.join("\n")
}

/// The variables by which WorkArena's package finds an instance, to copy.
fn variables(own: &DirectAddress) -> [String; 3] {
    [("URL", &own.url), ("UNAME", &own.username), ("PWD", &own.password)].map(|(name, value)| {
        format!("export SNOW_INSTANCE_{name}={}", out::command_line([value.as_str()]))
    })
}

fn line(site: &SiteStatus, widest: usize) -> String {
    let state = if site.is_up() { "up" } else { site.state.as_str() };
    let memory = site.memory().map_or_else(|| "-".to_owned(), mebibytes);
    let reset = site.resets_ms.last().map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
    format!(
        "{:widest$}  {state:8}  {memory:>6}  {:>5}  {reset:6}  {}",
        site.name, site.spares, site.url
    )
}

fn mebibytes(bytes: u64) -> String {
    format!("{}M", bytes.div_ceil(1 << 20))
}

fn cut(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.trim_end().to_owned();
    }
    let kept: String = line.chars().take(columns.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use sites::{InstanceStatus, Phase, SiteState};

    use super::*;

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let instance = |phase| InstanceStatus {
            id: 1,
            phase,
            since: Timestamp::UNIX_EPOCH,
            address: None,
            memory: Some(5 << 20),
            condition: None,
        };
        let site = |name: &str, state, problem: Option<&str>| SiteStatus {
            name: name.to_owned(),
            title: name.to_owned(),
            url: format!("https://{name}.test/"),
            state,
            instances: vec![instance(Phase::Leased), instance(Phase::Ready)],
            spares: 1,
            resets_ms: vec![12],
            drifts: 0,
            problem: problem.map(str::to_owned),
        };
        let status = DaemonStatus {
            format: Default::default(),
            pid: 1,
            proxy: "http://127.0.0.1:4000".to_owned(),
            reset: "http://127.0.0.1:7565".to_owned(),
            engine: None,
            warnings: Vec::new(),
            certificate: Some("/data/ca/ca.crt".into()),
            manifests: Some("/sites".into()),
            direct: Vec::new(),
            instances: 1,
            sites: vec![
                site("forum", SiteState::Running, None),
                site("shop", SiteState::Failed, Some("start it\n  no image of that name")),
            ],
        };
        let wide = of(&status, 80);
        let expected = "\
site   state     memory  spare  reset   address
forum  up           10M      1  12 ms   https://forum.test/
shop   failed       10M      1  12 ms   https://shop.test/
       start it
         no image of that name

proxy        http://127.0.0.1:4000
full reset   http://127.0.0.1:7565/reset
certificate  /data/ca/ca.crt";
        assert_eq!(wide, expected);
        let desk = |instance: &str, is_up| DirectAddress {
            instance: instance.to_owned(),
            url: "http://127.0.0.1:4100".to_owned(),
            username: "admin".to_owned(),
            password: "it's".to_owned(),
            is_up,
        };
        let direct = vec![desk("itsm", true), desk("itsm:2", false)];
        let told = of(&DaemonStatus { direct, ..status.clone() }, 80);
        assert_eq!(
            told.strip_prefix(expected).unwrap(),
            "

itsm, for programs of yours that are told where ServiceNow is:
export SNOW_INSTANCE_URL=http://127.0.0.1:4100
export SNOW_INSTANCE_UNAME=admin
export SNOW_INSTANCE_PWD=\"it's\""
        );
        let gone = DaemonStatus {
            engine: Some("reach the engine, which is silent".to_owned()),
            ..status.clone()
        };
        assert!(
            of(&gone, 80).contains("\nfailed to reach the engine, which is silent; start it again"),
            "{gone:?}"
        );
        assert!(of(&status, 30).lines().all(|line| line.chars().count() <= 40));
        assert!(
            of(&status, 30).contains("\nshop   failed       10M      …\n"),
            "{}",
            of(&status, 30)
        );
    }
}
