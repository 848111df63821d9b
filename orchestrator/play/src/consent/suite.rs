//! The needs of a whole suite: of its world, its sites and its scorers.

use std::collections::{BTreeMap, BTreeSet};

use ::sites::Site;
use camino::{Utf8Path, Utf8PathBuf};
use object_files::is_address;
use results::suite_digest::snapshot_files;
use scoring::Requirement;
use tasks::{Suite, Task};

use super::content::Roots;
use super::paths::Places;
use super::sites::SiteNeeds;
use super::suite_files::STATE;
use super::{Given, Need, NeedKind, NeedList, hosts, quoted};
use crate::Error;

/// The number of tasks that are named for a need of many tasks.
const NAMED: usize = 3;

/// Returns the needs of these tasks of a suite, with their sites and scorers.
///
/// # Errors
/// When a manifest, or a file of what would be started, cannot be read.
pub fn of_suite(suite: &Suite, tasks: &[Task], given: Given<'_>) -> Result<NeedList, Error> {
    let mut needs = Vec::new();
    let base = given.unpacked.unwrap_or(&suite.folder);
    let own = Places::of(&[base]);
    let roots = Roots::new(data_of(suite));
    scorers(tasks, &roots, &mut needs)?;
    files(suite, tasks, &own, &mut needs);
    if let Some(manifests) = &suite.world.sites {
        let named: BTreeSet<&str> =
            tasks.iter().flat_map(|task| &task.sites).map(String::as_str).collect();
        // A folder that no task names a site of need not be there.
        if !named.is_empty() {
            let all = Site::load_all(manifests).map_err(|source| Error::Manifests { source })?;
            let needs_of = SiteNeeds { base: Some(base), roots: &roots, given: given.variables };
            for site in all.iter().filter(|site| named.contains(site.name.as_str())) {
                needs_of.add(site, &mut needs)?;
            }
        }
    }
    if !needs.is_empty() {
        needs.extend(snapshots_outside(suite, tasks, &own));
    }
    Ok(NeedList::new(needs))
}

/// Adds the programs of scorers.
fn scorers(tasks: &[Task], roots: &Roots, needs: &mut Vec<Need>) -> Result<(), Error> {
    let mut commands: BTreeMap<(&Utf8Path, &[String]), Vec<&str>> = BTreeMap::new();
    for task in tasks {
        for program in task.scorer.requirements().into_iter().filter_map(Requirement::program) {
            commands.entry((&program.folder, &program.command)).or_default().push(&task.id);
        }
    }
    for ((folder, words), ids) in commands {
        let command = quoted(words.iter().map(String::as_str));
        let mut need =
            Need::new(NeedKind::Start, command, format!("the scorer of {}", some_of(&ids)));
        need.content = Some(roots.digest(folder, folder, words)?);
        needs.push(need);
    }
    Ok(())
}

fn some_of(ids: &[&str]) -> String {
    let mut ids = ids.to_vec();
    ids.dedup();
    let named = ids.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    match ids.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Adds files of the world and of tasks that lie outside of the suite, and snapshots elsewhere.
fn files(suite: &Suite, tasks: &[Task], own: &Places, needs: &mut Vec<Need>) {
    let mut read = |what: &str, by: &str, path: &Utf8Path| {
        if let Some(full) = own.outside(path) {
            needs.push(Need::new(NeedKind::Read, format!("{what} {full}"), by));
        }
    };
    if let Some(state) = &suite.world.storage_state {
        read(STATE, "the world", state);
    }
    if let Some(folder) = &suite.world.files {
        // A link in it leads nowhere: browsers get files by their real paths.
        read("the files to upload in", "the world", folder);
    }
    for task in tasks {
        if let Some(state) = &task.storage_state {
            read(STATE, &task.id, state);
        }
    }
    for snapshot in snapshots(suite, tasks).iter().filter(|path| is_address(path)) {
        let host = hosts::described(snapshot.as_str());
        needs.push(Need::new(NeedKind::Reach, format!("{host} for a snapshot"), "the world"));
    }
}

/// Returns the snapshots of the world and of these tasks, with the members of collections.
fn snapshots(suite: &Suite, tasks: &[Task]) -> Vec<Utf8PathBuf> {
    let of_tasks = tasks.iter().filter_map(|task| task.snapshots.as_ref()).flatten();
    let named: Vec<Utf8PathBuf> = suite.world.snapshots.iter().chain(of_tasks).cloned().collect();
    // What is at an address is not asked for before its user has agreed to that.
    let (away, here): (Vec<_>, Vec<_>) = named.into_iter().partition(|path| is_address(path));
    away.into_iter().chain(snapshot_files(&here)).collect()
}

fn snapshots_outside(suite: &Suite, tasks: &[Task], own: &Places) -> Vec<Need> {
    let files = snapshots(suite, tasks).into_iter().filter(|path| !is_address(path));
    let outside = files.filter_map(|path| own.outside(&path));
    outside
        .map(|full| Need::new(NeedKind::Read, format!("the snapshot {full}"), "the world"))
        .collect()
}

/// Returns the files of the suite's folder that are data of the world, from which no program is
/// started. The extension decides, because a suite may name its verifier here as well. Files to
/// upload may be anything, and thus count.
fn data_of(suite: &Suite) -> Vec<Utf8PathBuf> {
    let world = &suite.world;
    let of_tasks = suite.tasks.iter().filter_map(|task| task.snapshots.as_ref()).flatten();
    let states = suite.tasks.iter().filter_map(|task| task.storage_state.as_ref());
    let all = world.snapshots.iter().chain(of_tasks).chain(states).chain(&world.storage_state);
    let data = all.filter(|path| path.extension() == Some("json"));
    data.filter_map(|path| path.canonicalize_utf8().ok()).collect()
}
