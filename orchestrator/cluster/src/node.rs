//! Checks that a node has everything that a part needs, before it plays anything.

use std::collections::BTreeSet;

use camino::Utf8Path;
use play::machine::{self, Finding};
use results::EpisodeId;
use tasks::Suite;

use crate::Error;
use crate::folder::ClusterFolder;
use crate::plan::{Plan, agree_on_chromium, agree_on_image};
use crate::site_images::{self, SiteImages};

/// The number of files that a message names. The rest is only counted.
const NAMED: usize = 3;

/// Returns the problems of this node, a sentence each.
pub(crate) fn problems(plan: &Plan, folder: &ClusterFolder, part: u32) -> Vec<String> {
    let mut problems = other_files(plan);
    problems.extend(machine::of_node().iter().filter_map(problem));
    if problems.is_empty() {
        problems.extend(other_chromium(folder));
    }
    problems.extend(unwritable(&folder.part(&plan.token, part)));
    problems
}

/// Returns the images that sites of these episodes need.
pub(crate) fn images(
    suite: &Suite,
    episodes: &[EpisodeId],
    archive: Option<&Utf8Path>,
) -> Result<SiteImages, Error> {
    let tasks: BTreeSet<&str> = episodes.iter().map(|episode| episode.task.as_str()).collect();
    SiteImages::of(suite, &tasks, archive)
}

/// Returns the problem of a missing container engine, if a site needs one.
pub(crate) async fn engine_problem(images: &SiteImages) -> Option<String> {
    if images.is_empty() { None } else { problem(&machine::engine().await) }
}

/// Returns the images that this node lacks or has in another version than the run. The run's images
/// are those that were known where it was submitted, or else those of the first node.
pub(crate) async fn image_problems(
    images: &SiteImages,
    plan: &Plan,
    folder: &ClusterFolder,
    lock: &Utf8Path,
) -> Result<Vec<String>, Error> {
    if images.is_empty() {
        return Ok(Vec::new());
    }
    let ids = match images.provide(&plan.images, lock).await? {
        Ok(ids) => ids,
        Err(problems) => return Ok(problems),
    };
    let mut problems = Vec::new();
    for (name, here) in ids {
        let agreed = agree_on_image(folder, &name, &here)?;
        if agreed != here {
            problems.push(site_images::other(&name, &here, &agreed));
        }
    }
    Ok(problems)
}

fn problem(finding: &Finding) -> Option<String> {
    finding.found.as_ref().err().map(|wrong| format!("{}: {wrong}", finding.what))
}

/// Returns the files that differ from those of the machine that submitted the run.
fn other_files(plan: &Plan) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, expected) in &plan.files {
        match results::parts::digest(path) {
            Ok(digest) if digest == *expected => {}
            Ok(_) => {
                problems.push(format!("{path} is another file than where the run was submitted"))
            }
            Err(error) => problems.push(format!("failed to {}", error_text::with_causes(&error))),
        }
    }
    let more = problems.len().saturating_sub(NAMED);
    problems.truncate(NAMED);
    if more > 0 {
        problems.push(format!("{more} other files differ or are missing"));
    }
    problems
}

/// Returns the problem of another version of Chromium. All parts of a run use that of the machine
/// that submitted it, or else that of the first node.
fn other_chromium(folder: &ClusterFolder) -> Option<String> {
    let here = match browser::Programs::find().and_then(|programs| programs.version(false)) {
        Ok(here) => here,
        Err(error) => return Some(format!("failed to {}", error_text::with_causes(&error))),
    };
    match agree_on_chromium(folder, &here) {
        Ok(agreed) if agreed == here => None,
        Ok(agreed) => Some(format!("Chromium is {here}, and the run is played with {agreed}")),
        Err(error) => Some(format!("failed to {}", error_text::with_causes(&error))),
    }
}

fn unwritable(folder: &Utf8Path) -> Option<String> {
    let tried = std::fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
    tried.err().map(|error| format!("failed to write into {folder}: {error}"))
}
