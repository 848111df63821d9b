//! WebArena-Infinity: a site and the tasks of each application, which stay where they are.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use runs::counted;
use tasks::import::Import;
use tasks::import::infinity::{self, APPS, List, SERVE, VERIFY};

use super::Written;
use crate::failure::{OrFail, Outcome};

/// Which tasks
#[derive(clap::Args)]
pub(in crate::tasks) struct Choice {
    /// Import only this application, by the name of its folder; can be repeated
    #[arg(long = "app", value_name = "NAME")]
    apps: Vec<String>,
    /// List of tasks: real-tasks.json, or function-tasks.json with one task for each function
    #[arg(long, value_name = "LIST", value_enum, default_value_t = Tasks::Real)]
    tasks: Tasks,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Tasks {
    Real,
    Function,
}

impl Choice {
    fn list(&self) -> List {
        match self.tasks {
            Tasks::Real => List::Real,
            Tasks::Function => List::Function,
        }
    }
}

/// Writes the suite, and says what is in it.
pub(super) fn import(folder: &Utf8Path, choice: &Choice, output: &Utf8Path) -> Outcome {
    const DOING: &str = "import WebArena-Infinity";
    let folder = applications(folder, choice.list()).or_input(DOING)?;
    let apps = names(&folder, choice).or_input(DOING)?;
    let mut import = Import::default();
    for app in &apps {
        let some = read(&folder.join(app), app, choice.list()).or_input(DOING)?;
        import.tasks.extend(some.tasks);
        import.skipped.extend(some.skipped);
    }
    let suite = Written {
        name: "webarena-infinity",
        world: infinity::world(),
        manifests: apps.iter().map(|app| (app.as_str(), infinity::manifest(app))).collect(),
        files: [VERIFY, SERVE].map(|(name, text)| (Utf8PathBuf::from(name), text.to_owned())).into(),
        import: &import,
    };
    suite.write(output).or_input("write the suite")?;
    if let Err(error) = symlink(&folder, output.join(APPS)) {
        let _ = fs::remove_dir_all(output);
        return Err(error).or_input("write the suite");
    }
    let (tasks, sites) = (counted(import.tasks.len(), "task"), counted(apps.len(), "application"));
    println!("{output}: {tasks} of {sites}, served from {folder}");
    println!("Its verifiers are run by python3, which needs the package `requests`.");
    suite.say_rest(output);
    Ok(())
}

/// The folder with the applications: the one named, or `apps` in it.
fn applications(folder: &Utf8Path, list: List) -> anyhow::Result<Utf8PathBuf> {
    for inside in [folder.join(APPS), folder.to_owned()] {
        if inside.is_dir() && !found(&inside, list)?.is_empty() {
            return Ok(inside.canonicalize_utf8()?);
        }
    }
    bail!(
        "{folder} has no application, which is a folder with server.py and {}; name the benchmark's repository, or its \
         folder {APPS}",
        list.file()
    )
}

/// The folders in it that are applications, by name.
fn found(folder: &Utf8Path, list: List) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in folder.read_dir_utf8().with_context(|| folder.to_string())? {
        let path = entry?.into_path();
        if path.join("server.py").is_file() && path.join(list.file()).is_file() {
            names.extend(path.file_name().map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

/// Those that were asked for.
fn names(folder: &Utf8Path, choice: &Choice) -> anyhow::Result<Vec<String>> {
    let there = found(folder, choice.list())?;
    if let Some(unknown) = choice.apps.iter().find(|app| !there.contains(app)) {
        bail!("{folder} has no application `{unknown}`; there are: {}", there.join(", "));
    }
    Ok(there.into_iter().filter(|app| choice.apps.is_empty() || choice.apps.contains(app)).collect())
}

fn read(folder: &Utf8Path, app: &str, list: List) -> anyhow::Result<Import> {
    let file = folder.join(list.file());
    let json = fs::read_to_string(&file).with_context(|| file.to_string())?;
    infinity::infinity(app, &json).with_context(|| file.to_string())
}
