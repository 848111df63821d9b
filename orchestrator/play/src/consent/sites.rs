//! The needs of a site, by its manifest.
//!
//! The manifest's types are taken apart without `..`: a key that is new there does not compile here
//! until somebody has decided what it means.

use ::sites::Site;
use ::sites::manifest::{
    Account, Application, Command, Condition, ContainerSpec, DriverSpec, ExternalSpec, Form, Login,
    Probe, ProcessSpec, Sidecar, State, Volume,
};
use camino::{Utf8Path, Utf8PathBuf};
use processes::Variable;

use super::content::{Roots, links};
use super::paths::Places;
use super::{Need, NeedKind, NeedList, hosts, quoted};
use crate::Error;

/// Returns the needs of sites that belong to no suite.
///
/// # Errors
/// When a file of what would be started cannot be read.
pub fn of_sites(sites: &[Site], given: &[Variable]) -> Result<NeedList, Error> {
    let roots = Roots::new(Vec::new());
    let mut needs = Vec::new();
    for site in sites {
        SiteNeeds { base: None, roots: &roots, given }.add(site, &mut needs)?;
    }
    Ok(NeedList::new(needs))
}

/// Makes the list of one site after the other.
pub(super) struct SiteNeeds<'a> {
    /// The folder of the suite, if there is one, or where it was unpacked.
    pub(super) base: Option<&'a Utf8Path>,
    pub(super) roots: &'a Roots,
    pub(super) given: &'a [Variable],
}

impl SiteNeeds<'_> {
    /// Adds what a site needs.
    pub(super) fn add(&self, site: &Site, needs: &mut Vec<Need>) -> Result<(), Error> {
        let by = format!("the site {}", site.name);
        let need = |kind, what: String| Need::new(kind, what, by.clone());
        let Site {
            name: _,
            folder,
            title: _,
            description: _,
            driver,
            hosts: _,
            clock: _,
            ready,
            ready_within: _,
            accounts,
            login,
            state,
            reset: _,
            probes,
        } = site;
        let places = self.places(folder);
        let mut read = |what: &str, path: &str| {
            let written = path.contains("${").then(|| path.to_owned());
            let full = places.outside(&folder.join(self.filled(path)));
            if let Some(full) = full {
                // A path with a variable is agreed to as it is written: its user gives the value.
                needs.push(need(
                    NeedKind::Read,
                    format!("{what} {}", written.unwrap_or(full.into_string())),
                ));
            }
        };
        match driver {
            DriverSpec::Docker(container) => {
                let ContainerSpec {
                    image: _,
                    port: _,
                    command: _,
                    env: _,
                    writable: _,
                    volumes,
                    limits: _,
                    sidecars,
                    // Inside the container.
                    after_start: _,
                } = container;
                let theirs = sidecars.values().flat_map(|sidecar| sidecar.volumes.values());
                for Volume { folder, scratch: _ } in volumes.values().chain(theirs) {
                    if let Some(folder) = folder {
                        read("the folder", folder);
                    }
                }
                if !::sites::is_shipped(site) {
                    needs.extend(containers(container).map(|what| need(NeedKind::Start, what)));
                }
            }
            DriverSpec::Process(process) => {
                for words in commands(process, ready, login, state, probes) {
                    let mut started = need(NeedKind::Start, with_env(process, &words));
                    started.content =
                        Some(self.roots.digest(self.root(&places), folder, &words)?);
                    needs.push(started);
                }
            }
            DriverSpec::Embedded(application) => match application {
                Application::Forum | Application::Desk | Application::Itsm => {}
                // Links below it are left out.
                Application::Static(files) | Application::Hosts(files) => read("the folder", files),
                Application::TurkingBench(files) | Application::ItsmOf(files) => {
                    read("the folder", files);
                    let full = folder.join(self.filled(files));
                    links(&full).iter().for_each(|link| read("the file", link.as_str()));
                }
            },
            DriverSpec::External(ExternalSpec { url, authority }) => {
                if let Some(authority) = authority {
                    read("the certificates in", authority.as_str());
                }
                needs.push(need(NeedKind::Reach, hosts::described(url)));
            }
        }
        let _ = accounts.values().map(|Account { username: _, password: _, role: _ }| ());
        for value in site.variables() {
            for name in value.variables {
                needs.push(need(
                    NeedKind::Variable,
                    format!("the variable {name} for {}", value.key),
                ));
            }
        }
        Ok(())
    }

    /// Returns the folders that a site may read without consent: its own, and the suite's if it
    /// lies there.
    fn places(&self, folder: &Utf8Path) -> Places {
        let base = self.base.filter(|base| Places::of(&[base]).outside(folder).is_none());
        Places::of(&[base.unwrap_or(folder), folder])
    }

    /// Returns the folder whose files count as the content of a site's process.
    fn root<'p>(&self, places: &'p Places) -> &'p Utf8Path {
        places.first()
    }

    fn filled(&self, path: &str) -> Utf8PathBuf {
        let filled = self.given.iter().fold(path.to_owned(), |text, variable| {
            text.replace(&format!("${{{}}}", variable.name), &variable.value)
        });
        // A variable that is not given could lead anywhere.
        if filled.contains("${") { Utf8PathBuf::from("/").join(filled) } else { filled.into() }
    }
}

/// Describes the containers of a site in words.
fn containers(spec: &ContainerSpec) -> impl Iterator<Item = String> {
    let own = (&spec.image, &spec.command, spec.writable);
    let theirs = spec.sidecars.values().map(|sidecar| {
        let Sidecar { image, command, env: _, writable, volumes: _, limits: _ } = sidecar;
        (image, command, *writable)
    });
    std::iter::once(own).chain(theirs).map(|(image, command, writable)| {
        let mut what = format!("a container of the image {}", quoted([image.as_str()]));
        if !command.is_empty() {
            what += &format!(" with the command {}", quoted(command.iter().map(String::as_str)));
        }
        if writable {
            what += ", with a writable root";
        }
        what
    })
}

/// Returns the commands of a process site: its own, and those that run beside it.
fn commands(
    process: &ProcessSpec,
    ready: &std::collections::BTreeMap<String, Condition>,
    login: &std::collections::BTreeMap<String, Login>,
    state: &State,
    probes: &std::collections::BTreeMap<String, Probe>,
) -> Vec<Vec<String>> {
    let ProcessSpec { command, env: _, limits: _, after_start } = process;
    let mut found = vec![command.clone()];
    let State { sqlite: _, trees: _, flush, ignore: _ } = state;
    found.extend(after_start.iter().chain(flush).map(|Command { exec, user: _ }| exec.clone()));
    let mut conditions: Vec<&Condition> = ready.values().collect();
    for Login { form, cookie: _, header: _, check } in login.values() {
        // Taken apart only so that a new key of a form does not compile unnoticed.
        if let Some(Form { page: _, action: _, fields: _ }) = form {}
        conditions.extend(check);
    }
    let of_conditions = conditions.into_iter().filter_map(|condition| {
        let Condition { get: _, status: _, contains: _, exec } = condition;
        exec.clone()
    });
    found.extend(of_conditions);
    found.extend(probes.values().filter_map(|probe| {
        let Probe { query: _, sqlite: _, get: _, header: _, json: _, exec } = probe;
        exec.clone()
    }));
    found
}

/// Writes a command with the environment that the manifest gives it.
fn with_env(process: &ProcessSpec, command: &[String]) -> String {
    let set: Vec<String> =
        process.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    quoted(set.iter().chain(command).map(String::as_str))
}
