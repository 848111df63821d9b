//! The suite of TurkingBench's tasks: their pages are made when they are asked for, or Turkle has
//! them.

use std::collections::BTreeSet;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;
use turkingbench::{Batch, Folder, Split, Task};

use super::{HOST, PageHost, Source, TURKLE, VENDOR, outside, turkingbench, world};
use crate::import::{Import, ImportError, NewSuite, SkippedTask, reading};

/// The site whose copies have the tasks, as it is without them.
const TURKLE_MANIFEST: &str = include_str!("../../../../../sites/hits/site.yaml");
const TURKLE_IMAGE: &str = "sandbox/hits:1";
/// Its image with the tasks.
const IMAGE: &str = "hits-turkingbench";
/// A task has at most so many instances, so that the numbers of each task's have room, whichever
/// tasks are chosen.
const INSTANCES: u64 = 1_000_000;

/// The selection of tasks, and the folder with files of other hosts.
#[derive(Debug, Clone, Default)]
pub struct SuiteOptions {
    /// Only the tasks of this list of the benchmark's.
    pub split: Option<Split>,
    /// Only these tasks, by the names of their folders; all where there are none.
    pub tasks: Vec<String>,
    /// Only so many instances of each task, the first ones.
    pub rows: Option<usize>,
    /// A folder with the files of other hosts that pages ask for, in a folder for each host.
    pub vendor: Option<Utf8PathBuf>,
    /// Recordings with what pages ask of other hosts.
    pub snapshots: Vec<Utf8PathBuf>,
    /// Turkle itself has the tasks.
    pub turkle: bool,
}

/// A suite, and what it is made of.
pub struct TurkingBenchSuite {
    pub suite: NewSuite,
    /// The folder with the benchmark's tasks.
    pub root: Utf8PathBuf,
    /// How many of them are in it.
    pub tasks: usize,
    /// The hosts whose files pages ask for and nobody has, by the task.
    pub missing_hosts: Vec<(String, Vec<String>)>,
}

/// The suite of the benchmark's folder.
///
/// # Errors
/// When the folder is another one, or has none of the tasks that are asked for.
pub fn suite(folder: &Utf8Path, options: &SuiteOptions) -> Result<TurkingBenchSuite, ImportError> {
    let folder = Folder::open(folder)?;
    let hosts = options.hosts()?;
    let (chosen, skipped) = options.choose(&folder)?;
    let splits = splits(&folder, options)?;
    let mut import = Import { skipped, ..Import::default() };
    let (mut missing_hosts, mut files) = (Vec::new(), Vec::new());
    for task in &chosen {
        let (template, batch) = (task.template()?, task.batch()?);
        let through = options.through(&folder, task);
        let vendor = options.vendor.as_ref().map(|_| VENDOR);
        let sites: Vec<String> =
            [through.site()].into_iter().chain(vendor).map(str::to_owned).collect();
        let tags = splits.iter().filter(|(names, _)| names.contains(&task.name));
        let tags: Vec<String> = tags.map(|(_, split)| split.name().to_owned()).collect();
        let made = turkingbench(&Source {
            task,
            template: &template,
            batch: &batch,
            rows: options.rows.unwrap_or(usize::MAX),
            tags: &tags,
            sites: &sites,
            through,
        });
        if made.is_empty() {
            let reason = "its table has no instances, or no answers to them".to_owned();
            import.skipped.push(SkippedTask { id: task.name.clone(), reason });
        } else if let PageHost::Turkle(first) = through {
            let place = format!("images/{IMAGE}/load/{}.jsonl", task.slug);
            files.push((place.into(), project(task, &template, &batch, first, made.len())));
        }
        import.tasks.extend(made);
        let outside_hosts = outside(&template, &batch).into_iter();
        let missing: Vec<String> = outside_hosts.filter(|host| !hosts.contains(host)).collect();
        if !missing.is_empty() {
            missing_hosts.push((task.name.clone(), missing));
        }
    }
    // The suite may be moved, so its sites name the benchmark's folder by the whole path.
    let root = folder.path().canonicalize_utf8().map_err(reading(folder.path()))?;
    let mut manifests = if options.turkle {
        files.push((format!("images/{IMAGE}/Dockerfile").into(), DOCKERFILE.to_owned()));
        vec![(
            TURKLE.to_owned(),
            TURKLE_MANIFEST.replace(TURKLE_IMAGE, &format!("sandbox/{IMAGE}:1")),
        )]
    } else {
        vec![(PageHost::Own.site().to_owned(), manifest(&root))]
    };
    if let Some(vendor) = &options.vendor {
        let vendor = vendor.canonicalize_utf8().map_err(reading(vendor))?;
        manifests.push((VENDOR.to_owned(), vendor_manifest(&vendor, &hosts)));
    }
    let whole = |file: &Utf8PathBuf| file.canonicalize_utf8().map_err(reading(file));
    let snapshots = options.snapshots.iter().map(whole).collect::<Result<_, _>>()?;
    let suite = NewSuite::new("turkingbench", world(snapshots), import);
    Ok(TurkingBenchSuite {
        suite: NewSuite { manifests, files, ..suite },
        root,
        tasks: chosen.len(),
        missing_hosts,
    })
}

/// Adds the tasks to what copies begin with.
const DOCKERFILE: &str = "# Turkle with the tasks under `load`, each with a number of its own.
FROM sandbox/hits:1
USER root
COPY load /load
RUN cd /srv/site && PYTHONHASHSEED=0 STATE_DIR=/seed /opt/v/bin/python load.py /load
USER 10001:10001
";

/// A task as `images/hits/site/load.py` reads it: the project in the first line, and in each of the
/// others an instance.
fn project(task: &Task, template: &str, batch: &Batch, first: u64, instances: usize) -> String {
    let mut lines = vec![json!({ "name": task.name, "template": template })];
    for (number, instance) in (first..).zip(&batch.instances).take(instances) {
        let given: serde_json::Map<_, _> = batch
            .inputs
            .iter()
            .cloned()
            .zip(instance.inputs.iter().cloned().map(serde_json::Value::from))
            .collect();
        lines.push(json!({ "id": number, "inputs": given }));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

impl SuiteOptions {
    /// The hosts whose files are there.
    fn hosts(&self) -> Result<BTreeSet<String>, ImportError> {
        let Some(vendor) = &self.vendor else { return Ok(BTreeSet::new()) };
        let mut hosts = BTreeSet::new();
        for entry in fs::read_dir(vendor).map_err(reading(vendor))? {
            let entry = entry.map_err(reading(vendor))?;
            if entry.file_type().map_err(reading(vendor))?.is_dir() {
                hosts.extend(entry.file_name().to_str().map(str::to_owned));
            }
        }
        if hosts.is_empty() {
            return Err(ImportError::Unusable(format!(
                "{vendor} has no folder with the name of a host, such as code.jquery.com"
            )));
        }
        Ok(hosts)
    }

    /// Returns the server of a task's pages. In Turkle the numbers of its instances follow from its
    /// place in the whole folder.
    fn through(&self, folder: &Folder, task: &Task) -> PageHost {
        let place =
            folder.tasks().iter().position(|own| own.slug == task.slug).unwrap_or_default() as u64;
        if self.turkle { PageHost::Turkle((place + 1) * INSTANCES) } else { PageHost::Own }
    }

    /// The tasks that are wanted, and those that are and are not there.
    fn choose<'a>(
        &self,
        folder: &'a Folder,
    ) -> Result<(Vec<&'a Task>, Vec<SkippedTask>), ImportError> {
        let find = |name: &String| {
            folder.tasks().iter().find(|task| task.name == *name || task.slug == *name)
        };
        if let Some(name) = self.tasks.iter().find(|name| find(name).is_none()) {
            return Err(ImportError::Unusable(no_task(folder, name)));
        }
        let listed = self.split.map(|split| folder.split(split)).transpose()?;
        let wanted = |task: &&Task| {
            let named = self.tasks.is_empty()
                || self.tasks.iter().any(|name| *name == task.name || *name == task.slug);
            named && listed.as_ref().is_none_or(|listed| listed.contains(&task.name))
        };
        let chosen: Vec<&Task> = folder.tasks().iter().filter(wanted).collect();
        if chosen.is_empty() {
            let path = folder.path();
            return Err(ImportError::Unusable(format!(
                "none of the tasks that were asked for is in {path}"
            )));
        }
        let absent =
            listed.iter().flatten().filter(|name| self.tasks.is_empty() && find(name).is_none());
        let reason = || "the folder has no such task".to_owned();
        Ok((
            chosen,
            absent.map(|name| SkippedTask { id: name.clone(), reason: reason() }).collect(),
        ))
    }
}

/// The lists that are there; without any, tasks are in none.
fn splits(
    folder: &Folder,
    options: &SuiteOptions,
) -> Result<Vec<(Vec<String>, Split)>, ImportError> {
    match (options.split, folder.split(Split::Easy)) {
        (None, Err(_)) => Ok(Vec::new()),
        _ => Split::ALL.into_iter().map(|split| Ok((folder.split(split)?, split))).collect(),
    }
}

/// The manifest of the site that makes the pages. A JSON text is a YAML text, too, whatever is in a
/// path.
fn manifest(tasks: &Utf8Path) -> String {
    let tasks = serde_json::Value::from(tasks.as_str());
    format!(
        "title: Turk
description: Tasks for workers, one instance on each page, with what they have sent.
driver: embedded                     # pages made of files of yours, from where they are
embedded: {{turkingbench: {tasks}}}
hosts: [{HOST}]
clock: 2024-02-16T09:00:00Z
ready:
  list: {{get: /, status: 200, contains: <h1>Tasks</h1>}}
reset: restore
probes:
  sent: {{query: \"select task, instance, fields from sent order by id\"}}
"
    )
}

/// The manifest of the site that stands for other hosts.
fn vendor_manifest(files: &Utf8Path, hosts: &BTreeSet<String>) -> String {
    let files = serde_json::Value::from(files.as_str());
    let hosts = json!(hosts);
    format!(
        "title: Vendor
description: Files of other hosts that pages ask for.
driver: embedded                     # files of yours, served from where they are
embedded: {{hosts: {files}}}
hosts: {hosts}
ready:
  an answer: {{get: /there-is-no-such-file, status: 404}}
reset: never
"
    )
}

/// A folder has no such task.
pub fn no_task(folder: &Folder, name: &str) -> String {
    let known = folder.tasks().iter().flat_map(|task| [task.name.as_str(), task.slug.as_str()]);
    format!("{} has no task `{name}`{}", folder.path(), suggestions::did_you_mean(name, known))
}
