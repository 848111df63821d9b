//! Checks that the start pages of tasks are in their world. Where one is not, no agent can solve
//! the task, and the suite has a mistake.

use std::sync::Arc;

use gateway::{Routes, Target};
use sites::{Site, SiteGroup};
use tasks::{Suite, Task};
use url::Url;

use crate::progress::Progress;
use crate::world::WorldResources;
use crate::{Error, Options};

/// Hosts named in an error before the rest is only counted.
const NAMED: usize = 8;

/// Opens the worlds of tasks, as [`WorldResources::open`] does, and checks that their start pages
/// are in them.
///
/// # Errors
/// When a snapshot cannot be opened, or nothing answers the host of a start page.
pub async fn open(
    suite: &Suite,
    tasks: &[Task],
    town: Option<SiteGroup>,
    options: &Options,
    progress: &Progress,
) -> Result<WorldResources, Error> {
    let sites: Vec<Arc<Site>> = town.iter().flat_map(SiteGroup::sites).collect();
    let shared = WorldResources::open(suite, tasks, town, options, progress)
        .await
        .map_err(|source| Error::Snapshots { source })?;
    for task in tasks {
        let recorded = shared
            .recorded(&task.world(&suite.world))
            .map_err(|source| Error::Snapshots { source })?;
        check(task, &sites, &recorded.routes, &recorded.hosts)
            .map_err(|message| Error::Task { id: task.id.clone(), message })?;
    }
    Ok(shared)
}

/// Checks that something answers the hosts of a task's start pages.
fn check(
    task: &Task,
    sites: &[Arc<Site>],
    recorded: &Routes,
    hosts: &[String],
) -> Result<(), String> {
    let own = |site: &&Arc<Site>| task.sites.contains(&site.name);
    let mut routes = recorded.clone();
    for host in sites.iter().filter(own).flat_map(|site| &site.hosts) {
        // What cannot be a route is told where the site is reached.
        let _ = routes.add(&host.name, Target::Forward);
    }
    for page in task.start_url.iter().chain(&task.tabs) {
        let Some((host, port)) = server(page) else { continue };
        if !matches!(routes.target(&host, port), Target::Refuse) {
            continue;
        }
        let others = sites.iter().find(|site| site.hosts.iter().any(|known| known.name == host));
        return Err(match others {
            Some(site) => {
                format!(
                    "it starts on {page}, which is the site `{0}`: name `{0}` under `sites`",
                    site.name
                )
            }
            None => {
                format!(
                    "it starts on {page}, which is outside of its world: {}",
                    there(task, sites, hosts)
                )
            }
        });
    }
    Ok(())
}

/// Returns host and port of the server of a page, as routes have them; none if no server is needed.
fn server(page: &str) -> Option<(String, u16)> {
    let url = Url::parse(page).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
    Some((host, url.port_or_known_default()?))
}

/// Returns the hosts in the world of a task, for people.
fn there(task: &Task, sites: &[Arc<Site>], recorded: &[String]) -> String {
    let own = sites.iter().filter(|site| task.sites.contains(&site.name));
    let hosts: Vec<&str> = own
        .flat_map(|site| site.hosts.iter().map(|host| host.name.as_str()))
        .chain(recorded.iter().map(String::as_str))
        .collect();
    match hosts.len().checked_sub(NAMED) {
        _ if hosts.is_empty() => {
            "it has neither recordings (`snapshots` of suite.yaml) nor sites (`sites` of the task)"
                .to_owned()
        }
        Some(more @ 1..) => format!("it has {} and {more} other hosts", hosts[..NAMED].join(", ")),
        _ => format!("it has {}", hosts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gateway::Replay;
    use scoring::Scorer;
    use tasks::GoalText;

    use super::*;

    #[test]
    fn a_start_page_is_on_a_recorded_host_or_a_site() {
        let mut routes = Routes::new();
        for host in ["rail.test", "www.google.com"] {
            routes.add(host, Target::Replay(Arc::new(Replay::default()))).expect("a host");
        }
        let message = |url: &str, hosts: &[&str]| {
            let task = Task {
                start_url: Some(url.to_owned()),
                ..Task::new(
                    "x".to_owned(),
                    GoalText::Words("x".to_owned()),
                    Scorer::Infeasible(scoring::Infeasible {}),
                )
            };
            let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
            check(&task, &[], &routes, &hosts).err().unwrap_or_default()
        };
        for url in [
            "https://rail.test/a",
            "http://RAIL.test:8080/",
            "https://www.google.com/",
            "about:blank",
            "data:,x",
        ] {
            assert_eq!(message(url, &[]), "");
        }
        assert_eq!(
            message("https://rial.test/", &["rail.test"]),
            "it starts on https://rial.test/, which is outside of its world: it has rail.test"
        );
        assert!(message("https://rial.test/", &[]).contains("neither recordings"));
        assert!(
            message("https://rial.test/", &["a.test"; 10]).ends_with("a.test and 2 other hosts")
        );
    }
}
